"""Plant the faults of ``mutants.toml`` one at a time and see whether the quick tests find them.

Each fault is planted in a copy of the tree under a temporary folder; the working tree is not
touched. First the tests that the fault names run. Where these pass, with ``--folder``, all quick
tests of the folder that mirrors the file's run too. Outcomes are appended to a file under
``.mutants/``, so a run that was stopped goes on where it was. Shards may run on several machines:
copy their files together, then write the report.

    python tests/mutants/run.py                    # all that have no outcome yet
    python tests/mutants/run.py --shard=1/4        # the first quarter
    python tests/mutants/run.py --only=labelling   # those whose file has this in its name
    python tests/mutants/run.py --again            # forget the outcomes of those that are chosen
    python tests/mutants/run.py --report           # write docs/results/mutants.md from all outcomes

Compiled kernels of the tree serve the copy (``compiled.py``). A fault in a kernel is compiled in a
folder of its own, with the kernels that use it. The time of a test is that of the processor, so a
busy machine changes no outcome.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE)]

from compiled import compiled_in, copy_compiled  # noqa: E402

from beam_topics.model.kernels.jit import cache_folder  # noqa: E402

PACKAGES = ("model", "transforms", "pipelines")
OUTCOMES = ROOT / ".mutants"
REPORT = ROOT / "docs" / "results" / "mutants.md"
KILLED, SURVIVED, NOT_RUN = "killed", "survived", "not run"
# Of the processor; a test that sleeps for ever is ended after ten times as long by the clock.
SECONDS = 600
GOAL = 0.95
# pytest's exit codes: tests failed, or could not be collected. Others are errors of the list.
FOUND_BY = {1: "tests", 2: "import"}


@dataclass(frozen=True)
class Mutant:
    """One entry of the list; ``file`` and ``tests`` are where they were when it was written."""

    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]

    @property
    def name(self):
        return hashlib.sha256(f"{self.old}\0{self.new}\0{self.breaks}".encode()).hexdigest()[:16]

    def path(self, root=ROOT):
        """The file that has the text, relative to the root: the named one, else the only other."""
        if occurrences(root / self.file, self.old) == 1:
            return Path(self.file)
        found = [
            path
            for package in PACKAGES
            for path in sorted((root / package).rglob("*.py"))
            if occurrences(path, self.old) == 1
        ]
        if len(found) != 1:
            raise LookupError(f"{self.file}: {len(found)} files hold this text once: {self.old!r}")
        return found[0].relative_to(root)

    def test_paths(self, root=ROOT):
        """The tests as arguments of pytest; a file that was moved is found by its name."""
        return tuple(self._test_path(root, test) for test in self.tests)

    def _test_path(self, root, test):
        file, _, rest = test.partition("::")
        if not (root / file).exists():
            found = list((root / "tests").rglob(Path(file).name))
            if len(found) != 1:
                raise LookupError(f"{file}: {len(found)} test files have this name")
            file = str(found[0].relative_to(root))
        return f"{file}::{rest}" if rest else file


def occurrences(path, text):
    return path.read_text(encoding="utf-8").count(text) if path.is_file() else 0


def listed():
    """All mutants, in the order of the list."""
    entries = tomllib.loads((HERE / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]


def outcomes():
    """The last outcome of each mutant, by name."""
    lines = [
        line
        for path in sorted(OUTCOMES.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def copy_tree(target):
    """All files that git tracks or would track."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines():
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


def run_tests(root, tests, cache, seconds=SECONDS, shown=False):
    """What found the fault; None where the tests pass."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "--timeout=0",
        "--hypothesis-profile=first failure",
        *tests,
    ]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment,
            capture_output=not shown,
            text=True,
            timeout=10 * seconds,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout"
    if done.returncode and done.returncode not in FOUND_BY:
        raise SystemExit(
            f"pytest ended with {done.returncode} for"
            f" {' '.join(tests)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return FOUND_BY.get(done.returncode)


def try_one(mutant, copy, cache, folder):
    """The outcome of one mutant, planted in ``copy`` and taken out again."""
    path = mutant.path(copy)
    text = (copy / path).read_text(encoding="utf-8")
    times, compiled = (copy / path).stat(), compiled_in(cache, copy)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as own:
        place = own if "kernels" in path.parts else cache
        try:
            (copy / path).write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
            if place == own:
                copy_compiled(compiled, copy, compiled_in(own, copy), copy, path)
            by = run_tests(copy, mutant.test_paths(copy), place)
            mirrored = Path("tests") / path.parent
            if by is None and folder and (copy / mirrored).is_dir():
                by = run_tests(copy, [str(mirrored)], place) and "folder"
        finally:
            (copy / path).write_text(text, encoding="utf-8")
            # Numba compares the time.
            os.utime(copy / path, ns=(times.st_atime_ns, times.st_mtime_ns))
    seconds = round(time.monotonic() - begun, 1)
    return {
        "name": mutant.name,
        "outcome": KILLED if by else SURVIVED,
        "by": by,
        "seconds": seconds,
        "date": time.strftime("%Y-%m-%d"),
    }


def run(mutants, number, of, folder):
    """Try mutants and append their outcomes."""
    OUTCOMES.mkdir(exist_ok=True)
    cache = Path(os.environ.get("NUMBA_CACHE_DIR") or OUTCOMES / "kernels").resolve()
    with (
        tempfile.TemporaryDirectory() as name,
        (OUTCOMES / f"{number}-of-{of}.jsonl").open("a", encoding="utf-8") as out,
    ):
        copy = Path(name)
        copy_tree(copy)
        copy_compiled(cache_folder(ROOT / "model"), ROOT, compiled_in(cache, copy), copy)
        tests = sorted({test for mutant in mutants for test in mutant.test_paths(copy)})
        print(
            f"{len(mutants)} mutants; first their {len(tests)} test files without any", flush=True
        )
        if tests and (failed := run_tests(copy, tests, cache, SECONDS * 4, shown=True)):
            raise SystemExit(f"the tests fail without a mutant ({failed}); nothing was tried")
        for place, mutant in enumerate(mutants, 1):
            entry = try_one(mutant, copy, cache, folder)
            out.write(json.dumps(entry) + "\n")
            out.flush()
            print(
                f"{place}/{len(mutants)} {entry['outcome']} ({entry['by']}, {entry['seconds']} s)"
                f" {mutant.file}: {mutant.breaks}",
                flush=True,
            )


def report():
    """docs/results/mutants.md; returns the share that was killed of those that were run."""
    known, mutants = outcomes(), listed()
    rows = [
        (mutant, known.get(mutant.name, {"outcome": NOT_RUN, "by": None, "date": ""}))
        for mutant in mutants
    ]
    counts = {
        outcome: sum(entry["outcome"] == outcome for _, entry in rows)
        for outcome in (KILLED, SURVIVED, NOT_RUN)
    }
    share = counts[KILLED] / max(counts[KILLED] + counts[SURVIVED], 1)
    dates = sorted({entry["date"] for _, entry in rows if entry["date"]})
    lines = [
        "# Mutants",
        "",
        (
            "One-line faults, each planted alone, and whether the quick tests find them. `make"
            " test-mutants` runs them; `python tests/mutants/run.py --report` writes this page. The"
            " list is `tests/mutants/mutants.toml`."
        ),
        "",
        (
            f"{len(mutants)} mutants: {counts[KILLED]} killed, {counts[SURVIVED]} survived,"
            f" {counts[NOT_RUN]} not run. Killed of those that were run: {share:.1%}"
            f" (wanted: at least {GOAL:.0%}). Run: {', '.join(dates) or 'never'}."
        ),
        "",
        "| file | faults | killed |",
        "|---|---|---|",
    ]
    for file in dict.fromkeys(mutant.file for mutant in mutants):
        of_file = [entry["outcome"] for mutant, entry in rows if mutant.file == file]
        lines.append(f"| `{file}` | {len(of_file)} | {of_file.count(KILLED)} |")
    lines += ["", "## Survivors", ""]
    survivors = [mutant for mutant, entry in rows if entry["outcome"] == SURVIVED]
    lines += [
        f"- `{mutant.file}`, {mutant.breaks}: `{mutant.old.strip()}` became `{mutant.new.strip()}`"
        for mutant in survivors
    ] or ["None."]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return share


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--shard", default="1/1", help="k/n: every n-th mutant, beginning with the k-th"
    )
    parser.add_argument("--only", default="", help="those whose file has this in its name")
    parser.add_argument("--again", action="store_true", help="also those that have an outcome")
    parser.add_argument(
        "--folder", action="store_true", help="run the mirrored folder where the named tests pass"
    )
    parser.add_argument("--report", action="store_true", help="write the page and run nothing")
    given = parser.parse_args()
    if not given.report:
        number, of = map(int, given.shard.split("/"))
        known = {} if given.again else outcomes()
        run(
            [m for m in listed()[number - 1 :: of] if given.only in m.file and m.name not in known],
            number,
            of,
            given.folder,
        )
    share = report()
    print(f"{share:.1%} killed; {REPORT.relative_to(ROOT)}")
    return share < GOAL


if __name__ == "__main__":
    sys.exit(main())
