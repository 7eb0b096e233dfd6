"""Time a newcomer's path: install the wheel, learn an own CSV file, write the first report.

    python -m benchmarks.first_report                    # the State of the Union addresses as CSV
    python -m benchmarks.first_report --csv posts.csv
    python -m benchmarks.first_report --python python3.13  # the environment's Python

The wheel is built before the clock starts. The environment is empty: nothing is installed and no
kernel is compiled. pip uses its cache, so the time of a download depends on what it holds;
``--no_cache`` leaves the cache out. The goal is 180 seconds and 3 options.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from beam_topics.pipelines.demo import corpus_folder, records

ROOT = Path(__file__).parent.parent
WANTED_SECONDS, WANTED_OPTIONS = 180, 3


def write_addresses(path: Path) -> int:
    """Write the State of the Union addresses as CSV, and return the number of records."""
    rows = [(row["text"], row["timestamp"]) for row in records(corpus_folder())]
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([("passage", "held_on"), *rows])
    return len(rows)


def built_wheel(folder: Path) -> Path:
    """Build the wheel of this tree."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True)
    (found,) = folder.glob("*.whl")
    return found


def processor_seconds() -> float:
    """Return the processor seconds of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command: Sequence[str | Path], where: Path) -> float:
    """Run a command in a folder, and return the seconds that it took."""
    outside = ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in outside}
    environment["HOME"] = str(where)
    if cache := os.environ.get("HOME"):
        environment.setdefault("PIP_CACHE_DIR", f"{cache}/.cache/pip")
    start = time.monotonic()
    subprocess.run(command, cwd=where, env=environment, check=True)
    return time.monotonic() - start


def main() -> int:
    """Run the path, and print a JSON line of its times."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--csv", type=Path, help="a file of documents; without it, the addresses")
    parser.add_argument("--no_cache", action="store_true", help="pip downloads everything")
    parser.add_argument("--python", default=sys.executable, help="the Python of the environment")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        documents = home / "documents.csv"
        if given.csv is None:
            write_addresses(documents)
        else:
            documents.write_bytes(given.csv.read_bytes())
        wheel = built_wheel(home / "dist")
        load, used = os.getloadavg()[0], processor_seconds()
        times = path_of(home, wheel, given.python, ["--no-cache-dir"] if given.no_cache else [])
        found = {
            **{step: round(seconds, 1) for step, seconds in times.items()},
            "total": round(sum(times.values()), 1),
            "processor": round(processor_seconds() - used, 1),
            "wanted": WANTED_SECONDS,
            "options": 0,
            "most_options": WANTED_OPTIONS,
            "report_bytes": (home / "documents.topics" / "report.html").stat().st_size,
            "load_before": round(load, 1),
            "load_after": round(os.getloadavg()[0], 1),
        }
    print(json.dumps(found))
    return int(found["total"] > WANTED_SECONDS)


def path_of(home: Path, wheel: Path, python: str, pip_options: Sequence[str]) -> dict[str, float]:
    """Walk the path from an empty environment to the report, and return the seconds by step."""
    made = timed([python, "-m", "venv", home / "env"], home)
    bin_folder = home / "env" / "bin"
    pip = [bin_folder / "python", "-m", "pip", "install", "-q", *pip_options]
    command = bin_folder / "beam-topics"
    return {
        "environment": made,
        "install": timed([*pip, f"{wheel}[report]"], home),
        "train": timed([command, "train", "documents.csv"], home),
        "report": timed([command, "report", "documents.topics"], home),
    }


if __name__ == "__main__":
    sys.exit(main())
