"""Learn an archive: documents that are all there when learning begins.

:func:`archive` visits D documents in the order of a hash.

1. *Start*: some documents, in one sequence (S = 1), many times. They choose the topics.
2. *Levels*: each doubles the documents. The new half gets its first topics given the model of all
   documents before it. Then all documents of the level are visited ceil(D / their number) times.
   So a level costs about D visits whatever its size, and the early ones, which shape the topics,
   come often.
3. *Sweeps* over all documents, an epoch each.
4. *Last sweeps* over all documents, several epochs each, which are closer to the exact law
   (:mod:`beam_topics.model.learners.engine.epoch`).

alpha is fixed. Learned from the start, its sum falls before topics are good, documents keep few
topics, and the chain gets stuck; learned in the late sweeps, it changes no measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beam_topics.model.kernels.random import ORDER, uniform
from beam_topics.model.learners.engine.epoch import epoch
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.state import Array, State


@dataclass(frozen=True)
class Schedule:
    """How often an archive is visited.

    Attributes:
        start: the documents of the start.
        start_sweeps: the sweeps over them.
        sweeps: the sweeps over all documents, the last ones apart.
        last: the last sweeps.
        parts: the epochs of each of the last sweeps.
    """

    start: int = 500
    start_sweeps: int = 30
    sweeps: int = 40
    last: int = 5
    parts: int = 10

    def __post_init__(self) -> None:
        if min(self.start, self.start_sweeps, self.parts) < 1 or min(self.sweeps, self.last) < 0:
            raise ValueError(f"{self}: sweeps and last are 0 or more, the others 1 or more")


class Step(NamedTuple):
    """An epoch of a schedule.

    Attributes:
        stage: "start", "level", "sweep" or "last".
        documents: int64[n], the documents to visit.
        shards: S, or None for the state's.
    """

    stage: str
    documents: Array
    shards: int | None = None


def archive(
    state: State,
    schedule: Schedule = Schedule(),
    pool: Executor | None = None,
    watch: Callable[[Step, State], None] | None = None,
) -> State:
    """Learn all documents of a state that has learned none.

    Args:
        state: changed.
        schedule: how often documents are visited.
        pool: threads for the work.
        watch: called after each epoch.

    Returns:
        The state.

    Raises:
        ValueError: a token has a topic, so something was learned before.
    """
    if (state.z[: state.tokens] != NONE).any():
        raise ValueError("the state has learned from its documents; an archive begins with none")
    for step in steps(hashed_order(state), schedule):
        epoch(state, step.documents, step.shards, pool)
        if watch is not None:
            watch(step, state)
    return state


def steps(order: Array, schedule: Schedule) -> Iterator[Step]:
    """Yield the epochs of a schedule over documents in an order."""
    total, seen = len(order), min(schedule.start, len(order))
    for _ in range(schedule.start_sweeps):
        yield Step("start", order[:seen], 1)
    while seen < total:
        yield Step("level", order[seen : 2 * seen])
        seen = min(2 * seen, total)
        for _ in range(math.ceil(total / seen) if seen < total else 0):
            yield Step("level", order[:seen])
    for _ in range(schedule.sweeps):
        yield Step("sweep", order)
    for _ in range(schedule.last):
        for part in range(min(schedule.parts, max(total, 1))):
            yield Step("last", order[part :: schedule.parts])


def hashed_order(state: State) -> Array:
    """Return all documents in the order of named uniforms, int64[D]."""
    key0, key1 = state.key
    places = [uniform(0, key0, key1, d, 0, ORDER) for d in range(state.documents)]
    return np.argsort(np.array(places), kind="stable")
