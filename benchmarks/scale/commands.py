"""Commands of a checkout, and what they cost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

# Run by its path, so that it imports the model of the tree that is measured.
BARE = Path(__file__).parent / "bare.py"

# Runs a command as its only child, so that the children's usage is that of the command.
CHILD = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
if done.returncode:
    sys.exit(done.stderr.decode())
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


class Row(NamedTuple):
    """A measurement.

    Attributes:
        name: What was measured.
        seconds: Processor seconds.
        ratio: In relation to what the row says, or None.
        wanted: What the ratio, or the seconds, should be at most; "" where nothing is asked.
        facts: Other figures.
    """

    name: str
    seconds: float
    ratio: float | None = None
    wanted: str = ""
    facts: str = ""


class Command(NamedTuple):
    """What a command cost: processor seconds, and the most memory in megabytes."""

    seconds: float
    megabytes: float

    @property
    def memory(self) -> str:
        """The most memory, as a fact of a row."""
        return f"{self.megabytes:,.0f} MB"


@dataclass(frozen=True)
class Tree:
    """A checkout of the project.

    Attributes:
        path: Its folder.
    """

    path: Path

    def spent(self, program: str, *flags: str) -> Command:
        """Run a program as a user would, and return what it cost."""
        return self.cost(sys.executable, "-m", f"beam_topics.pipelines.{program}", *flags)

    def least(self, program: str, *flags: str) -> float:
        """Return the least seconds of three runs; the first may compile byte code."""
        return min(self.spent(program, *flags).seconds for _ in range(3))

    def bare(self, name: str, *given: object) -> list[float]:
        """Return what a function of :mod:`benchmarks.scale.bare` prints, with this tree's model."""
        done = self._run(sys.executable, str(BARE), name, *map(str, given))
        return [float(word) for word in done.split()]

    def cost(self, *given: str) -> Command:
        """Run a command, and return what it cost."""
        return Command(*map(float, self._run(sys.executable, "-c", CHILD, *given).split()))

    def _run(self, *command: str) -> str:
        """Return what a command prints.

        An installation has byte code, so the commands may write it, whatever the environment says.

        Raises:
            SystemExit: it fails.
        """
        own = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(self.path)}
        done = subprocess.run(
            command, cwd=self.path, capture_output=True, text=True, env={**os.environ, **own}
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
        return done.stdout


def against_first(rows: Iterable[Row], wanted: str = "") -> Iterator[Row]:
    """Yield rows with their ratios to the first; the others take what is wanted of them."""
    first = 0.0
    for row in rows:
        limit = row.wanted or (wanted if first else "")
        first = first or row.seconds
        yield row._replace(ratio=row.seconds / first, wanted=limit)


def sizes_of(paths: Iterable[Path]) -> list[int]:
    """Return the bytes of each file; folders are left out."""
    return [path.stat().st_size for path in paths if path.is_file()]


def places(folder: Path, name: str, models: str = "models") -> list[str]:
    """Return the flags that name input, store and dead letters."""
    return [
        f"--input={folder}/{name}.jsonl",
        f"--model_store={folder}/{models}",
        f"--dead_letters={folder}/dead",
    ]


def labelled(folder: Path, name: str, models: str = "models") -> list[str]:
    """Return the flags of a program that labels documents."""
    given = places(folder, name, models)
    return [*given, f"--output={folder}/mixtures", "--coverage_window=365d"]
