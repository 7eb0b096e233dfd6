"""``infer`` over more and more documents: does memory stay flat?

``python -m benchmarks infer_memory``. Abstracts of arXiv, in the order of their dates, are labelled
by one small model, of 50 topics learned from the first 2,000. Each run is a whole command in a
process of its own; its peak of resident megabytes and its seconds on the processor are printed.
``BENCHMARK_DOCUMENTS`` are the numbers of documents, with commas. ``BENCHMARK_SHUFFLED=1`` gives
them in another order, so that the documents of a day are far apart. ``BENCHMARK_TREE`` is the tree
whose ``infer`` is measured (this one). ``BENCHMARK_STORE`` is a folder for the model, which is
learned there once; without it a model is learned for the run alone.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks.corpora import records

LEARNED = 2_000
DOCUMENTS = "2000,20000,85505"
_TREE = str(Path(__file__).parent.parent)


def infer_memory() -> None:
    """Peak megabytes and processor seconds of ``infer`` by the number of documents."""
    tree = os.environ.get("BENCHMARK_TREE", _TREE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Path(os.environ.get("BENCHMARK_STORE", folder / "models"))
        if not store.exists():
            files = f"--input={_written(folder, LEARNED)}"
            small = ("--learner=o-lda", "--particles=1", "--topics=50")
            _command(_TREE, folder, "train", files, f"--model_store={store}", *small)
        for count in map(int, os.environ.get("BENCHMARK_DOCUMENTS", DOCUMENTS).split(",")):
            given = _written(folder, count, shuffled="BENCHMARK_SHUFFLED" in os.environ)
            output = folder / f"mixtures-{count}"
            megabytes, seconds = _command(
                tree,
                folder,
                "infer",
                f"--input={given}",
                f"--model_store={store}",
                f"--output={output}",
                f"--coverage={folder}/coverage",
                "--inference_sweeps=1",
            )
            written = list(output.iterdir())
            rows = sum(path.read_bytes().count(b"\n") for path in written)
            print(
                f"{count:6} documents: peak {megabytes:5.0f} MB, {seconds:5.1f} s of the processor;"
                f" {rows} rows in {len(written)} files",
                flush=True,
            )


def _written(folder: Path, count: int, *, shuffled: bool = False) -> Path:
    """Write the first abstracts to a file of JSON lines, and return it."""
    path = folder / f"{count}.jsonl"
    found = list(islice(records("arxiv-cs-1994-2019"), count))
    if shuffled:
        random.Random(1).shuffle(found)
    with path.open("w") as file:
        file.writelines(json.dumps(record) + "\n" for record in found)
    return path


def _command(tree: str, folder: Path, *arguments: str) -> tuple[float, float]:
    """Run a program of a tree; return its peak of resident megabytes and its seconds."""
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "beam_topics", *arguments, f"--dead_letters={folder}/dead"],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": tree},
            stdout=log,
            stderr=log,
        )
        # The peak that the system keeps of a process that ended has that of its parent in it.
        status, peak = Path(f"/proc/{process.pid}/status"), 0
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            found = re.search(r"VmHWM:\s*(\d+)", status.read_text())
            peak = int(found[1]) if found else peak
            time.sleep(0.02)
    if ended[1]:
        raise SystemExit((folder / "log").read_text())
    return peak / 1024, ended[2].ru_utime + ended[2].ru_stime
