"""Speed of the particle kernels as ratios within one run.

Run ``python -m benchmarks kernel``, ``sharing`` or ``pass``. A and B alternate, and the fastest of
several repetitions counts, because other work on a machine can only make a run slower.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.learners import (
    LEARNER,
    BatchGibbs,
    Flat,
    Given,
    LearnerSettings,
    ParticleFilter,
    Residual,
    learner_for,
)
from beam_topics.model.learners.particles.kernels.draw import padded
from beam_topics.model.records import Minibatch, TokenisedDocument
from benchmarks.corpora import abstracts, minibatches, newsgroups, numbered, shuffled, vocabulary
from benchmarks.dense import filter_documents, new_dense

REPETITIONS = 3
FILTER: dict[str, Any] = {
    "prior": "flat",
    "particles": 100,
    "resampling": "residual",
    "ess": 20,
    "ess_check": "document",
    "rejuvenation": "never",
    "initial": "none",
    "alpha": 0.1,
    "beta": 0.01,
}


def seconds(run: Callable[[], object]) -> float:
    """Of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def learn(
    settings: LearnerSettings,
    batches: Iterable[Minibatch],
    publish: bool = False,
    unused: Iterable[str] = (),
) -> float:
    """Return the seconds of a pass of a learner that knows the words, with a snapshot if wanted."""
    learner = learner_for(settings)
    state: Any = learner.init(settings, "", 0)
    state.vocabulary.extend(unused)

    def run() -> None:
        for minibatch in batches:
            learner.step(state, minibatch)
        if publish:
            learner.snapshot(state)

    return seconds(run)


def dense_seconds(
    words: int, topics: int, particles: int, tokens: Any, offsets: Any, side_by_side: bool = True
) -> float:
    """One pass over the documents on dense tables."""
    dense = new_dense(words, particles, topics)
    steps = (particles, 1) if side_by_side else (1, words)
    alpha = np.zeros(padded(topics))
    alpha[:topics] = FILTER["alpha"]
    return seconds(
        lambda: filter_documents(*dense, *steps, alpha, FILTER["beta"], tokens, offsets, 1, 2, 1)
    )


def kernel() -> None:
    """Compare the dense kernel's particle visits with tomotopy's token visits, T = 50."""
    import tomotopy

    documents = abstracts(10)
    words = vocabulary(documents)
    tokens, offsets = numbered(documents, words)
    rival = tomotopy.LDAModel(k=50, alpha=FILTER["alpha"], eta=FILTER["beta"], seed=1)
    for document in documents:
        rival.add_doc([document.words[i] for i in document.tokens])
    alone = {"workers": 1, "parallel": tomotopy.ParallelScheme.NONE}
    rival.train(20, **alone)
    found: dict[str, list[float]] = {}
    for _ in range(REPETITIONS):
        theirs = 10 * len(tokens) / seconds(lambda: rival.train(10, **alone))
        found.setdefault(f"tomotopy {tomotopy.__version__} ({tomotopy.isa})", []).append(theirs)
        for particles in (1, 16, 100):
            some = (
                offsets[: max(1, len(offsets) // particles * 4) + 1] if particles > 4 else offsets
            )
            ours = (
                int(some[-1]) * particles / dense_seconds(len(words), 50, particles, tokens, some)
            )
            found.setdefault(f"dense, P = {particles}", []).append(ours)
    first = max(next(iter(found.values())))
    for name, rates in found.items():
        print(f"{name:28} {max(rates) / 1e6:6.2f} M visits/s {max(rates) / first:6.2f} x")


def _filter_against_dense(
    name: str, documents: list[TokenisedDocument], words: tuple[str, ...], topics: int
) -> None:
    tokens, offsets = numbered(documents, words)
    # With one limit both have one prior, hence the same draws; words that do not come only make the
    # tables larger.
    settings = compose(
        LEARNER,
        {**FILTER, "max_words": 10 * len(words), "topics": topics, "beta": FILTER["beta"] / 10},
    )
    unused = [f"~{n}" for n in range(9 * len(words))]
    batches = list(minibatches(documents, 200))
    by_token = replace(settings, resampling=Residual(FILTER["ess"], "token"))
    for chosen in (settings, by_token):
        learn(chosen, batches[:1])
    size = FILTER["particles"]
    timed: dict[str, Callable[[], float]] = {
        "shared, resampling": lambda: learn(settings, batches),
        "dense, side by side": lambda: dense_seconds(len(words), topics, size, tokens, offsets),
        "dense, one table each": lambda: dense_seconds(
            len(words), topics, size, tokens, offsets, side_by_side=False
        ),
        "shared, W tenfold": lambda: learn(settings, batches, unused=unused),
        "shared, after any token": lambda: learn(by_token, batches),
    }
    times = [{label: run() for label, run in timed.items()} for _ in range(REPETITIONS)]
    best = {label: min(found[label] for found in times) for label in timed}
    visits, shared = len(tokens) * size, best["shared, resampling"]
    print(f"{name}: W = {len(words)}, T = {topics}, {visits / 1e6:.1f} M visits")
    for label, taken in best.items():
        print(
            f"  {label:24} {visits / taken / 1e6:6.2f} M visits/s   shared is {taken / shared:.2f}"
            " x as fast"
        )


def sharing() -> None:
    """Compare the filter on shared tables with one on dense tables that never resamples.

    A second table has W ten times as large.
    """
    documents = abstracts(7)
    words = vocabulary(documents)
    # Every word of the vocabulary is in the tables; a stretch of the stream is enough to time.
    _filter_against_dense("arXiv", documents[:1500], words, 50)
    train = shuffled(newsgroups("diff3")[0], 1)
    _filter_against_dense("diff3", train, vocabulary(train), 3)


def one_pass() -> None:
    """Compare a pass with the default settings with 200 sweeps of batch Gibbs.

    The pass includes initialisation.
    """
    for subset, topics in (("diff3", 3), ("subset20", 20)):
        train = shuffled(newsgroups(subset)[0], 1)
        common: dict[str, Any] = {"topics": topics, "vocabulary": Given(vocabulary(train))}
        batches = list(minibatches(train, 100))
        default = ParticleFilter(**common)
        batch = BatchGibbs(prior=Flat(), chains=1, sweeps=200, **common)
        learn(default, batches[:3], publish=True)
        times = [
            (learn(default, batches, publish=True), learn(batch, batches, publish=True))
            for _ in range(2)
        ]
        ours, theirs = (min(column) for column in zip(*times, strict=True))
        print(
            f"{subset:10} default {ours:6.2f} s   batch Gibbs, 200 sweeps {theirs:6.2f} s   ratio"
            f" {ours / theirs:.2f}"
        )
