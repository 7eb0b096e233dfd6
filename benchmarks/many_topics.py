"""Words in parts against whole rows, by the number of topics: ``python -m benchmarks many_topics``.

One particle learns abstracts, and so does another one whose words are stored in the other form. A
row has the nanoseconds of the processor that a token takes in the first pass and a visit in
rejuvenation, and the ratio of words in parts to whole rows. Both are measured in the second half of
the stream, when words have the topics that they keep, minibatch by minibatch in turn.

``BENCHMARK_TOPICS=100,200`` and ``BENCHMARK_DOCUMENTS=500`` measure less.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.corpora import abstracts, minibatches
from model.compositions import compose
from model.learners import LEARNER, learner_for
from model.learners.particles import priors, stepping

TOPICS = (50, 100, 200, 512, 1000, 2000, 5000)
DOCUMENTS, MINIBATCH = 2000, 50
_PRIORS = ("hierarchical", "flat")


def many_topics() -> None:
    """Print a row for each prior and number of topics."""
    count = int(os.environ.get("BENCHMARK_DOCUMENTS", DOCUMENTS))
    given = os.environ.get("BENCHMARK_TOPICS", "")
    documents = abstracts(5)[:count]
    print("| prior | T | whole rows: first pass, visit | parts: first pass, visit | ratio |")
    print("|---|---|---|---|---|")
    for prior in _PRIORS:
        for topics in map(int, given.split(",")) if given else TOPICS:
            whole, parts = _measure(documents, topics, prior)
            ratios = ", ".join(f"{b / a:.2f}" for a, b in zip(whole, parts, strict=True))
            shown = (", ".join(f"{value:.0f}" for value in form) for form in (whole, parts))
            print(f"| {prior} | {topics:,} | {' | '.join(shown)} | {ratios} |", flush=True)


def _measure(documents: Any, topics: int, prior: str) -> list[list[float]]:
    """Return the nanoseconds of a first draw and of a visit, for whole rows and for parts."""
    settings = compose(
        LEARNER,
        {"learner": "particle-filter", "topics": topics, "prior": prior},
        {"particles": 1, "initial": "none", "challengers": "off"},
    )
    learner, batches = learner_for(settings), list(minibatches(documents, MINIBATCH))
    spent: list[dict[str, float]] = [{}, {}]
    states: list[Any] = []
    for form, least in enumerate((topics + 8, 1)):
        with _parts_from(least), _clock(spent[form]):
            states.append(learner.init(settings, "", 0))
    tokens = 0
    for number, batch in enumerate(batches):
        if number == len(batches) // 2:
            tokens = 0
            for found in spent:
                found.clear()
            before = [int(state.resampler.counters[stepping.MOVES]) for state in states]
        for form, state in enumerate(states):
            with _clock(spent[form]):
                learner.step(state, batch)
        tokens += len(batch.tokens)
    visits = [
        int(state.resampler.counters[stepping.MOVES]) - old
        for state, old in zip(states, before, strict=True)
    ]
    return [
        [1e9 * found["first_pass"] / tokens, 1e9 * found["move_units"] / visit]
        for found, visit in zip(spent, visits, strict=True)
    ]


@contextmanager
def _parts_from(topics: int) -> Iterator[None]:
    """Store words in parts from so many topics on."""
    kept, priors.PARTED_FROM = priors.PARTED_FROM, topics
    try:
        yield
    finally:
        priors.PARTED_FROM = kept


@contextmanager
def _clock(spent: dict[str, float]) -> Iterator[None]:
    """Add the processor seconds of the kernels of a step to ``spent``, by their names."""
    kernels = {name: getattr(stepping, name) for name in ("first_pass", "move_units")}

    def timed(name: str, run: Callable[..., None]) -> Callable[..., None]:
        def call(*given: Any) -> None:
            start = time.process_time()
            run(*given)
            spent[name] = spent.get(name, 0.0) + time.process_time() - start

        return call

    for name, run in kernels.items():
        setattr(stepping, name, timed(name, run))
    try:
        yield
    finally:
        for name, run in kernels.items():
            setattr(stepping, name, run)
