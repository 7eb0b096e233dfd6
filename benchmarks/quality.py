"""Held-out nMI of every learner on subsets of 20 Newsgroups after one pass.

``python -m benchmarks.quality --help`` has the options. Preparation and protocol are those of May
et al. (2014): documents shuffled, a given vocabulary, T = the number of groups. The topics are
fixed at the end, and five Gibbs sweeps run over the test documents. The cluster of a document is
its most frequent topic. The nMI is normalised by the arithmetic mean.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from beam_topics.model.evaluation.held_out import clusters, nmi
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import minibatches, newsgroups, shuffled, vocabulary

CANINI: dict[str, Any] = {
    "learner": "particle-filter",
    "alpha": 0.1,
    "beta": 0.1,
    "initial_sweeps": 200,
    "chains": 1,
}
METHODS: dict[str, dict[str, Any]] = {
    "o-lda": {**CANINI, "learner": "o-lda", "particles": 1},
    "incremental-gibbs": {
        **CANINI,
        "learner": "incremental-gibbs",
        "particles": 1,
        "rejuvenation": "tokens",
        "rejuvenation_unit": "token",
        "moves": 4,
        "reservoir": 1_000_000,
    },
    "paper-filter": {
        **CANINI,
        "particles": 100,
        "resampling": "residual",
        "ess": 20,
        "rejuvenation": "resampling",
        "rejuvenation_unit": "token",
        "moves": 30,
        "reservoir": 1000,
    },
    "whole-documents": {**CANINI, "particles": 1},
    "default": {},
    "archive": {"schedule": "archive"},
    "batch": {
        "learner": "batch-gibbs",
        "alpha": 0.1,
        "beta": 0.1,
        "chains": 1,
        "sweeps": 200,
    },
}


_corpus = cache(newsgroups)


def run(subset: str, method: str, changes: dict[str, Any], seed: int) -> dict[str, Any]:
    """One run: held-out nMI, seconds of learning, visits per token."""
    train, test = _corpus(subset)
    chosen: dict[str, Any] = {
        "topics": 20 if subset == "subset20" else 3,
        "seed": seed,
        **METHODS[method],
    }
    if METHODS[method].get("initial_sweeps"):
        chosen["initial_documents"] = len(train) // 10
    settings = compose(
        LEARNER, {"vocabulary": "given", "vocabulary_file": vocabulary(train), **chosen, **changes}
    )
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    start, moves = time.perf_counter(), 0
    for minibatch in minibatches(shuffled(train, seed), 100):
        moves += learner.step(state, minibatch).moves
    snapshot = learner.snapshot(state)
    seconds = time.perf_counter() - start
    found = clusters(snapshot, test, seed)
    tokens = len(train.tokens)
    return {
        "subset": subset,
        "method": method,
        "seed": seed,
        "nmi": nmi(test.labels, found),
        "seconds": seconds,
        "moves": moves * getattr(settings, "particles", 1) / tokens,
        "log_joint": learner.summary(state).posterior.log(),
    }


def runs(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """All runs, in processes of their own where asked to."""
    changes = json.loads(arguments.settings)
    plan = [
        (s, m, changes, seed)
        for s in arguments.subsets
        for m in arguments.methods
        for seed in range(1, arguments.seeds + 1)
    ]
    with ProcessPoolExecutor(arguments.processes) as pool:
        yield from pool.map(run, *zip(*plan, strict=True))


def main() -> None:
    """Print a line for each subset and method: mean, deviation, standard error, seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subsets", nargs="+", default=["diff3", "rel3", "sim3", "subset20"])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--settings", default="{}", help="learner settings to change, as JSON")
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in runs(parser.parse_args()):
        found.setdefault((one["subset"], one["method"]), []).append(one)
    print(
        f"{'subset':10} {'method':18} {'nMI':>6} {'dev':>6} {'s.e.':>6} {'seconds':>8}"
        f" {'moves/token':>12} {'log joint':>12}"
    )
    for (subset, method), results in found.items():
        scores = np.array([result["nmi"] for result in results])
        deviation = scores.std(ddof=1) if len(scores) > 1 else float("nan")
        means = [
            float(np.mean([result[name] for result in results]))
            for name in ("seconds", "moves", "log_joint")
        ]
        print(
            f"{subset:10} {method:18} {scores.mean():6.3f} {deviation:6.3f}"
            f" {deviation / len(scores) ** 0.5:6.3f} {means[0]:8.2f} {means[1]:12.1f}"
            f" {means[2]:12.0f}"
        )


if __name__ == "__main__":
    main()
