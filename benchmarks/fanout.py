"""Labelling with two workers against one: ``python -m benchmarks fanout``.

``beam-topics infer`` labels abstracts of arXiv by Gibbs3 with 100 sweeps, in worker
processes of the local runner. Seconds are the clock's, starting included, so the machine should
have nothing else to do. ``BENCHMARK_EVERY=4`` (the default) takes every fourth abstract.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.corpora import records
from benchmarks.runners import ROOT
from benchmarks.speed import seconds

FILES, ROUNDS = 8, 2
TRAINING = [
    "--learner=o-lda",
    "--topics=100",
    "--initial=none",
    "--window=365d",
    "--publish_every=36500d",
]
LABELLING = ["--method=gibbs3", "--inference_sweeps=100", "--coverage_window=365d"]


def fanout() -> None:
    """Label arXiv by Gibbs3 with one worker and with two: equal mixtures, .65 of the time."""
    every = int(os.environ.get("BENCHMARK_EVERY", "4"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = write_files(folder, every)
        pipeline(
            "train",
            [
                f"--input={folder}/part-0.jsonl.gz",
                f"--model_store={folder}/models",
                f"--dead_letters={folder}/dead",
                *TRAINING,
            ],
        )
        taken: dict[int, list[float]] = {1: [], 2: []}
        for number in range(ROUNDS):
            for workers, times in taken.items():
                times.append(
                    seconds(lambda workers=workers, number=number: label(folder, workers, number))
                )
        found = "the same" if mixtures(folder / "1-0") == mixtures(folder / "2-0") else "OTHER"
        one, two = (min(times) for times in taken.values())
        print(
            f"{count} documents: 1 worker {one:.1f} s, 2 workers {two:.1f} s, ratio {two / one:.2f}"
            f" (wanted .65), {found} mixtures"
        )


def write_files(folder: Path, every: int) -> int:
    """Write the abstracts into several files, which workers read in parallel, and count them."""
    chosen = [
        record for number, record in enumerate(records("arxiv-cs-1994-2019")) if number % every == 0
    ]
    for part in range(FILES):
        with gzip.open(
            folder / f"part-{part}.jsonl.gz", "wt", encoding="utf-8", compresslevel=1
        ) as lines:
            lines.writelines(json.dumps(record) + "\n" for record in chosen[part::FILES])
    return len(chosen)


def label(folder: Path, workers: int, number: int) -> None:
    """One run into a folder of its own."""
    places = [
        f"--input={folder}/part-*.jsonl.gz",
        f"--model_store={folder}/models",
        f"--output={folder}/{workers}-{number}",
    ]
    runner = [f"--direct_num_workers={workers}", "--direct_running_mode=multi_processing"]
    pipeline(
        "infer", [*places, f"--dead_letters={folder}/dead-{workers}-{number}", *LABELLING, *runner]
    )


def pipeline(name: str, arguments: list[str]) -> None:
    """Run a pipeline in a process of its own, as a user would."""
    subprocess.run(
        [sys.executable, "-m", f"beam_topics.pipelines.{name}", *arguments],
        cwd=ROOT,
        check=True,
        stderr=subprocess.DEVNULL,
    )


def mixtures(folder: Path) -> list[str]:
    """Return what was written, in an order that does not depend on the run."""
    return sorted(line for path in folder.iterdir() for line in path.read_text().splitlines())
