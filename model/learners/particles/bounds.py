"""A test for changes that compares a block with two bounds.

With the level l of a block, the divergence D of its shares from those of the remembered blocks
together, and the mean and the standard deviation of both over the remembered blocks, a block tells
a change if

    l < mean - max(1/2, 4 deviations)   or   D > mean + max(0.03, 6 deviations)

and at least three blocks are remembered. The first comparison finds new words, the second documents
of another sort. The rate of false alarms is not known, and slow changes are told early or not at
all. Square roots are IEEE operations, so all machines decide alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from model.learners.particles.change_blocks import (
    Alarm,
    Block,
    ChangeTest,
    divergences,
    total_shares,
)
from model.learners.particles.kernels.arrivals import divergence

LEAST_BLOCKS = 3
FALL, FALL_DEVIATIONS = 0.5, 4.0
SHIFT, SHIFT_DEVIATIONS = 0.03, 6.0


@dataclass
class Bounds(ChangeTest):
    """The state of the test; no block waits."""

    def add(self, block: Block) -> Alarm | None:
        alarm = tells_change(block, self.blocks)
        if alarm:
            self.begin_again()
        self.remember([block])
        return alarm


def tells_change(block: Block, before: Sequence[Block]) -> Alarm | None:
    """Return why a block is unlike those before it, or None."""
    if len(before) < LEAST_BLOCKS:
        return None
    total = total_shares(before)
    rises = block.shares - total / len(before)
    mean, deviation = _mean_and_deviation([one.level for one in before])
    bound = mean - max(FALL, FALL_DEVIATIONS * deviation)
    if block.level < bound:
        return Alarm("evidence", {"found": block.level, "usual": mean, "bound": bound}, rises)
    mean, deviation = _mean_and_deviation(divergences(before, total))
    bound = mean + max(SHIFT, SHIFT_DEVIATIONS * deviation)
    found = float(divergence(block.shares, total))
    if found > bound:
        return Alarm("shares", {"found": found, "usual": mean, "bound": bound}, rises)
    return None


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((one - mean) ** 2 for one in values) / (len(values) - 1))
