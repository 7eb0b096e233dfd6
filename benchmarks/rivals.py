"""MALLET in a process of its own, with a driver that measures its time."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_SOURCE = ROOT / "benchmarks" / "mallet"
VERSION = "2.1.1"


def mallet() -> Path | None:
    """Return the folder of MALLET and its driver, which the first call fetches.

    Returns:
        None where MALLET is not available; the reason is printed.
    """
    # As pytest does: `tests` is also the name of a package of a dependency.
    sys.path.insert(0, str(ROOT / "tests"))
    from runners import tools

    digest = hashlib.sha256((_SOURCE / "Driver.java").read_bytes()).hexdigest()

    def make(place: Path) -> None:
        shutil.copy(_SOURCE / "pom.xml", place)
        tools.fetch(
            tools.program("mvn"),
            "-B",
            "-q",
            "dependency:copy-dependencies",
            "-DoutputDirectory=.",
            where=place,
        )
        tools.fetch(
            tools.program("javac"), "-cp", "*", "-d", ".", str(_SOURCE / "Driver.java"), where=place
        )

    tools.RECIPES["mallet"] = tools.Recipe(f"{VERSION}-{digest[:12]}", ".", make)
    try:
        return tools.tool("mallet")
    except tools.Unavailable as reason:
        print(f"MALLET is left out: {reason}")
        return None


def mallet_seconds(folder: Path, *given: object) -> list[float]:
    """Return what the driver prints; see mallet/Driver.java."""
    command = ["java", "-cp", f"{folder}:{folder}/*", "Driver", *map(str, given)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [float(line) for line in said.split()]


def write_numbers(path: Path, documents: Iterable[Any]) -> Path:
    """Documents of word numbers as the driver reads them: one a line."""
    path.write_text("".join(" ".join(map(str, tokens.tolist())) + "\n" for tokens in documents))
    return path
