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
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from beam_topics.model.compositions import compose
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.learners.particles import priors, stepping
from benchmarks.corpora import abstracts, minibatches

TOPICS = (50, 100, 200, 257, 512, 1000, 2000, 5000)
DOCUMENTS, MINIBATCH = 1000, 50
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
    first = _spent(documents, topics, prior, "never")
    both = _spent(documents, topics, prior, "document")
    found = []
    for (alone, tokens, _), (seconds, _, visits) in zip(first, both, strict=True):
        found.append([1e9 * alone / tokens, 1e9 * (seconds - alone) / visits])
    return found


def _spent(
    documents: Any, topics: int, prior: str, rejuvenation: str
) -> list[tuple[float, int, int]]:
    """Return (seconds of the kernel, tokens, visits) for whole rows and for parts."""
    settings = compose(
        LEARNER,
        {
            "learner": "particle-filter",
            "topics": topics,
            "prior": prior,
            "rejuvenation": rejuvenation,
        },
        {"particles": 1, "initial": "none"}
        | ({"challengers": "off"} if rejuvenation != "never" else {}),
    )
    learner, batches = learner_for(settings), list(minibatches(documents, MINIBATCH))
    states: list[Any] = []
    for least in (topics + 8, 1):
        with _parts_from(least):
            states.append(learner.init(settings, "", 0))
    warm_up, spent, visits = len(batches) // 2, [0.0, 0.0], [0, 0]
    for number, batch in enumerate(batches):
        for form, state in enumerate(states):
            with _clock() as seconds:
                info = learner.step(state, batch)
            if number >= warm_up:
                spent[form] += sum(seconds)
                visits[form] += info.moves
    tokens = sum(len(batch.tokens) for batch in batches[warm_up:])
    return [(spent[form], tokens, visits[form]) for form in (0, 1)]


@contextmanager
def _parts_from(topics: int) -> Iterator[None]:
    """Store words in parts from so many topics on."""
    kept, priors.PARTED_FROM = priors.PARTED_FROM, topics
    try:
        yield
    finally:
        priors.PARTED_FROM = kept


@contextmanager
def _clock() -> Iterator[list[float]]:
    """Give the processor seconds of each call of the kernel."""
    seconds: list[float] = []
    kernel = stepping.run_chains

    def timed(*given: Any) -> Any:
        start = time.process_time()
        found = kernel(*given)
        seconds.append(time.process_time() - start)
        return found

    stepping.run_chains = timed
    try:
        yield seconds
    finally:
        stepping.run_chains = kernel
