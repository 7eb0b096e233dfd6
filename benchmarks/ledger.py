"""Results of single runs, one line of JSON each, so that an interrupted experiment can continue.

A run is named by (experiment, dataset, row, seed). A run whose name is in the file is not made
again. The files are in ``docs/results/`` beside the pages, so tables and plots need no new run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

Result = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """What names a run."""

    experiment: str
    dataset: str
    row: str
    seed: int


class Ledger:
    """The lines of one file, in the order in which they were written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lines: list[Result] = (
            [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        )

    def holds(self, run: Run) -> bool:
        """Whether this run was made."""
        return any(
            all(line[name] == value for name, value in asdict(run).items()) for line in self.lines
        )

    def make(self, runs: Iterable[Run], work: Callable[[Run], Result]) -> None:
        """Make the runs that are not there yet, one after another, and record each when it ends."""
        for run in runs:
            if self.holds(run):
                continue
            begin = time.perf_counter()
            line = {**asdict(run), **work(run)}
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")
            self.lines.append(line)
            print(
                f"{time.strftime('%H:%M:%S')} {run.dataset} {run.row} {run.seed}:"
                f" {time.perf_counter() - begin:.1f} s",
                flush=True,
            )

    def of(self, **wanted: Any) -> list[Result]:
        """Return the lines whose fields have these values."""
        return [
            line
            for line in self.lines
            if all(line[name] == value for name, value in wanted.items())
        ]


def size_of(dataset: str) -> int:
    """Return N of a dataset's name, as in ``alone-7000 2``."""
    return int(dataset.split("-")[1].split()[0])


def mean_and_error(values: Iterable[float]) -> tuple[float, float, float]:
    """Return the mean, the sample standard deviation and the standard error of the mean.

    The last two are nan for one value.
    """
    array = np.array(list(values), np.float64)
    deviation = float(array.std(ddof=1)) if len(array) > 1 else float("nan")
    return float(array.mean()), deviation, deviation / len(array) ** 0.5


def newest_seconds(runs: Sequence[dict[str, Any]]) -> float:
    """Return the median of the newest five runs' seconds.

    Older runs may have used other kernels, and the first run of a program compiles.
    """
    return float(np.median([line["seconds"] for line in runs[-5:]]))


def shown(values: Iterable[float], digits: int = 3) -> str:
    """``.612 ± .013``: mean and standard error, as the documents write them."""
    mean, _, error = mean_and_error(values)
    number = f"{mean:.{digits}f}"
    return number if error != error else f"{number} ± {error:.{digits}f}"


def print_table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table in Markdown."""
    names = list(head)
    print(f"\n{title}\n\n| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
