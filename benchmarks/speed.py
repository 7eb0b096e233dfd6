"""A pass of the default learner beside batch Gibbs: ``python -m benchmarks pass``.

A and B alternate, and the fastest of several repetitions counts, because other work on a machine
can only make a run slower.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.learners import BatchGibbs, Gibbs, Given, LearnerSettings, learner_for
from benchmarks.corpora import minibatches, newsgroups, shuffled, vocabulary


def seconds(run: Callable[[], object]) -> float:
    """Of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def learn(
    settings: LearnerSettings,
    batches: Iterable[Minibatch],
    publish: bool = False,
) -> float:
    """Return the seconds of a pass of a learner that knows the words, with a snapshot if wanted."""
    learner = learner_for(settings)
    state: Any = learner.init(settings, "", 0)

    def run() -> None:
        for minibatch in batches:
            learner.step(state, minibatch)
        if publish:
            learner.snapshot(state)

    return seconds(run)


def one_pass() -> None:
    """Compare a pass with the default settings with 200 sweeps of batch Gibbs.

    The pass includes initialisation.
    """
    for subset, topics in (("diff3", 3), ("subset20", 20)):
        train = shuffled(newsgroups(subset)[0], 1)
        common: dict[str, Any] = {"topics": topics, "vocabulary": Given(vocabulary(train))}
        batches = list(minibatches(train, 100))
        default = Gibbs(**common)
        batch = BatchGibbs(chains=1, sweeps=200, **common)
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
