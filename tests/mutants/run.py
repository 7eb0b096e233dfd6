"""Plant faults that a seed draws, one at a time, and see whether the quick tests find them.

    python tests/mutants/run.py                  # twenty faults, drawn by the date
    python tests/mutants/run.py --seed=7 --count=100
    python tests/mutants/run.py --report         # docs/results/mutants.md from all outcomes

:mod:`drawing` says what a fault is. Each is planted in a copy of the tree under ``.mutants/``; the
working tree is not touched. First the test files of the module run, then those of its folder, then
all quick tests. Outcomes are appended to ``.mutants/outcomes.jsonl``, and a fault that has one is
not tried again. A fault that no test finds is read by a person: a test is missing, or the fault
changes nothing that can be seen.

The time of a test is that of the processor, so a busy machine changes no outcome. The copy keeps
its place, and its kernels stay compiled.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

from drawing import ROOT, Mutant, draw  # noqa: E402

FOLDER = ROOT / ".mutants"
COPY, OUTCOMES = FOLDER / "tree", FOLDER / "outcomes.jsonl"
REPORT = ROOT / "docs" / "results" / "mutants.md"
COUNT, GOAL = 20, 0.95
# Of the processor; a test that sleeps for ever is ended after as long by the clock.
SECONDS = 1800
# pytest's exit codes: tests failed, or could not be collected; and no tests were chosen.
FOUND, NONE = {1: "tests", 2: "import"}, 5


def outcomes() -> dict[str, dict]:
    """Return the last outcome of each mutant, by name."""
    lines = OUTCOMES.read_text(encoding="utf-8").splitlines() if OUTCOMES.exists() else []
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def copy_tree(target: Path) -> None:
    """Copy all files that git tracks or would track, and remove others but compiled kernels."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    names = {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    for path in target.rglob("*"):
        if path.is_file() and path.relative_to(target).as_posix() not in names:
            path.unlink()
    for name in sorted(names):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        # The time stays, by which Numba knows a kernel.
        (target / name).unlink(missing_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


def stages(file: str, root: Path = ROOT) -> list[list[str]]:
    """Return the arguments of pytest that are tried one after the other."""
    path = Path(file)
    folder = Path("tests") / path.parent
    own = sorted((root / folder).glob(f"test_{path.stem}*.py"))
    first = [[one.relative_to(root).as_posix() for one in own]] if own else []
    return [*first, *([[folder.as_posix()]] if (root / folder).is_dir() else []), []]


def run_tests(arguments: list[str]) -> str | None:
    """Return what found the fault; None where the tests pass."""
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "--timeout=0",
        "--hypothesis-profile=first failure",
    ]
    settings = {
        "NUMBA_CACHE_DIR": str(FOLDER / "kernels"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(COPY),
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *arguments],
            cwd=COPY,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5)),
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout"
    if done.returncode not in {0, NONE, *FOUND}:
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return FOUND.get(done.returncode)


def tried(mutant: Mutant) -> dict:
    """Return the outcome of a mutant, which is planted and taken out again."""
    path = COPY / mutant.file
    text, times = path.read_text(encoding="utf-8"), path.stat()
    try:
        path.write_text(mutant.planted(text), encoding="utf-8")
        found = (run_tests(stage) for stage in stages(mutant.file, COPY))
        by = next(filter(None, found), None)
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    row = text[: mutant.begin].rpartition("\n")[2] + text[mutant.begin :].partition("\n")[0]
    facts = {"file": mutant.file, "line": row.strip(), "old": mutant.old, "new": mutant.new}
    return {"name": mutant.name, **facts, "by": by, "date": time.strftime("%Y-%m-%d")}


def run(mutants: list[Mutant]) -> None:
    """Try mutants and append their outcomes."""
    COPY.mkdir(parents=True, exist_ok=True)
    copy_tree(COPY)
    known = outcomes()
    for mutant in mutants:
        if mutant.name not in known:
            entry = tried(mutant)
            with OUTCOMES.open("a", encoding="utf-8") as out:
                out.write(json.dumps(entry) + "\n")
            print(
                f"{entry['by'] or 'not found'}: {mutant.file}:{mutant.line} {entry['line']}",
                flush=True,
            )


def page(entries: list[dict]) -> str:
    """Return docs/results/mutants.md."""
    left = [entry for entry in entries if not entry["by"]]
    found = len(entries) - len(left)
    lines = [
        "# Mutants",
        "",
        (
            "Faults of one token, drawn by a seed from all functions of pure Python and planted one"
            " at a time, and whether the quick tests find them (`make test-mutants`; `python"
            " tests/mutants/run.py --report` writes this page)."
        ),
        "",
        (
            f"{len(entries)} faults, {found} found: {found / max(len(entries), 1):.0%} (wanted:"
            f" {GOAL:.0%}). Run: {', '.join(sorted({entry['date'] for entry in entries}))}."
        ),
        "",
        "## Not found",
        "",
    ]
    told = [
        f"- `{one['file']}`: `{one['old']}` became `{one['new'] or ' '}` in `{one['line']}`"
        for one in left
    ]
    return "\n".join([*lines, *(told or ["None."])]) + "\n"


def main() -> int:
    """Run what the command line asks for; 1 where too few faults are found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")))
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--report", action="store_true", help="write the page and run nothing")
    given = parser.parse_args()
    if given.report:
        REPORT.write_text(page(list(outcomes().values())), encoding="utf-8")
        return 0
    mutants = draw(given.seed, given.count)
    run(mutants)
    known = outcomes()
    found = sum(bool(known[mutant.name]["by"]) for mutant in mutants)
    print(f"{found} of {len(mutants)} found")
    return int(found < GOAL * len(mutants))


if __name__ == "__main__":
    sys.exit(main())
