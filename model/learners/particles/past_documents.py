"""The documents at hand: the newest ones, and those that stand for the past of the stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model.learners.particles.kernels.history import HEAD, KEPT, RING, SEEN
from model.learners.particles.state import ParticleState
from model.records import FloatArray, IntArray

# How many of the ring's older documents, and how many of the reservoir's, stand for all of them.
SAMPLE, KEPT_SAMPLE = 600, 500


@dataclass(frozen=True)
class Past:
    """Documents at hand that are older than those of a restart.

    Attributes:
        slots: int[D], the documents.
        omega: float64[D], how many documents of the stream each of them stands for.
    """

    slots: IntArray
    omega: FloatArray


def split_history(state: ParticleState, newest: int) -> tuple[IntArray, Past]:
    """Return the slots of the newest documents, and the older documents at hand.

    The latter are a sample of the ring's older documents, and one of the reservoir.
    """
    past = state.history.past
    ring, kept = int(past.marks[RING]), int(past.marks[KEPT])
    ages = np.arange(ring)
    by_age = past.newest_slot[(past.marks[HEAD] - 1 - ages) % max(1, len(past.newest_slot))]
    restarted, older = by_age[:newest], by_age[newest:]
    sample, reservoir = spread(older, SAMPLE), spread(past.kept_slot[:kept], KEPT_SAMPLE)
    omega = np.concatenate(
        [
            np.full(len(sample), len(older) / max(1, len(sample))),
            np.full(len(reservoir), past.marks[SEEN] / max(1, len(reservoir))),
        ]
    )
    return restarted, Past(np.concatenate([sample, reservoir]), omega)


def spread(slots: IntArray, most: int) -> IntArray:
    """Return at most so many of some slots, at equal distances."""
    return slots[np.linspace(0, len(slots) - 1, min(most, len(slots))).astype(int)]
