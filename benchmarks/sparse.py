"""SparseLDA against the samplers of MALLET and tomotopy.

Run ``python -m benchmarks sparse``. Each runs batch Gibbs on all 1,740 NIPS papers (2.45 M tokens
without stop words and words of fewer than three papers), alpha = .1, beta = .01, one thread each,
in turns. The measurement starts after ``WARM`` sweeps, because a new chain has longer rows than one
that has converged. Times are processor seconds. ``BENCHMARK_TOPICS=50,400,800`` names other numbers
of topics.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from beam_topics.model.kernels.random import stream_key
from beam_topics.model.learners.batch_gibbs.sparse_chains import SparseChain
from benchmarks.corpora import numbered, vocabulary
from benchmarks.inference import papers
from benchmarks.rivals import mallet, mallet_seconds, write_numbers

ALPHA, BETA = 0.1, 0.01
WARM, SWEEPS, ROUNDS = 40, 5, 2


def sparse() -> None:
    """Compare SparseLDA with MALLET and tomotopy: visits a second, and memory."""
    documents = papers()
    words = vocabulary(documents)
    tokens, offsets = numbered(documents, words)
    texts = np.split(tokens, offsets[1:-1])
    for topics in map(int, os.environ.get("BENCHMARK_TOPICS", "400,800").split(",")):
        compare(texts, words, topics)


def compare(texts: list[Any], words: tuple[str, ...], topics: int) -> None:
    """One number of topics."""
    visits = sum(map(len, texts))
    chain = SparseChain(
        texts,
        np.full(topics, ALPHA),
        BETA * len(words),
        np.full(len(words), 1 / len(words)),
        stream_key(1, "benchmark"),
    )
    seconds_of(lambda: [chain.sweep() for _ in range(WARM)])
    runs: dict[str, Callable[[], list[float]]] = {
        "ours, sparse": lambda: [seconds_of(chain.sweep) for _ in range(SWEEPS)]
    }
    with tempfile.TemporaryDirectory() as name:
        folder = mallet()
        if folder is not None:
            source = write_numbers(Path(name) / "papers", texts)
            runs["MALLET"] = lambda: mallet_seconds(
                folder, source, topics, ALPHA, BETA, WARM, 1, SWEEPS
            )
        runs["tomotopy"] = tomotopy_seconds(texts, topics)
        found: dict[str, list[float]] = {label: [] for label in runs}
        for _ in range(ROUNDS):
            for label, run in runs.items():
                found[label] += run()
    ours = min(found["ours, sparse"])
    print(f"T = {topics}: {len(texts)} papers, {visits} tokens, {len(words)} words")
    for label, taken in found.items():
        rate, middle = visits / min(taken) / 1e6, visits / float(np.median(taken)) / 1e6
        print(
            f"  {label:14} {rate:6.2f} M visits/s (median {middle:.2f})   ours, sparse, is"
            f" {min(taken) / ours:.2f} x as fast",
            flush=True,
        )
    table = 4 * topics * len(words)
    print(
        f"  counts of words: {chain.counts.nbytes() / 1e6:.1f} MB,"
        f" {chain.counts.nbytes() / table:.3f} of a dense table",
        flush=True,
    )


def seconds_of(run: Callable[[], object]) -> float:
    """Return the processor seconds of a call in this process."""
    start = time.process_time()
    run()
    return time.process_time() - start


def tomotopy_seconds(texts: list[Any], topics: int) -> Callable[[], list[float]]:
    """Of some sweeps, after the first ones."""
    import tomotopy

    rival = tomotopy.LDAModel(k=topics, alpha=ALPHA, eta=BETA, seed=1)
    rival.optim_interval = 0
    for tokens in texts:
        rival.add_doc(list(map(str, tokens.tolist())))
    alone = {"workers": 1, "parallel": tomotopy.ParallelScheme.NONE}
    rival.train(WARM, **alone)
    return lambda: [seconds_of(lambda: rival.train(1, **alone)) for _ in range(SWEEPS)]
