"""A sequential test for changes of a stream, with a stated rate of false alarms.

The stream comes in blocks of documents (:mod:`model.learners.particles.following`). Two figures of
a block are tested: its level l, the log evidence per token, and ln D, where D is the Jensen-Shannon
divergence of its topic shares from those of the remembered blocks together. A change lowers l,
because words are new, or raises D, because topics have other shares. Let x be -l or ln D.

1. With the mean m and the standard deviation s of x over the n remembered blocks,
   t = (x - m) / (s sqrt(1 + 1 / n)). For normal x it has Student's distribution with f = n - 1
   degrees of freedom. Wallace's transformation makes it normal:

       z = (8 f + 1) / (8 f + 3) sqrt(f ln(1 + t^2 / f)), with the sign of t.

   So the test knows how uncertain few blocks leave m and s, and one outlier is not unlimited.
2. A CUSUM adds up what is unusual: S = max(0, S + z / :data:`WIDER` - :data:`ALLOWED`). There is a
   sum for each of the two figures. A change is told if one exceeds h.
3. A block is remembered when both sums are 0. Until then it waits, so a slow change does not become
   what is usual. The change began with the first block that waits.

h follows from the rate A, the blocks between two false alarms. With k = :data:`ALLOWED`, Siegmund
(1985) gives (e^x - x - 1) / (2 k^2) for the mean number of independent normal z up to the first
S > h, where x = 2 k (h + 1.166). It is solved for twice A, because there are two sums.
:data:`WIDER` is a margin for noise that is neither normal nor independent: the rate holds with
Student's t with 5 degrees of freedom, with skewed noise, and with an autocorrelation of 0.3.
Independent normal noise gives alarms more rarely than stated, and noise that is both skewed and
correlated up to twice as often. ``tests/statistical/test_false_alarms.py`` measures all of it.

This is the self-starting CUSUM of Hawkins (1987), but blocks wait before they are remembered, and
the number of remembered ones is bounded. Logarithms and square roots are made of IEEE operations,
so all machines decide alike.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from model.learners.particles.kernels.arrivals import divergence
from model.learners.particles.kernels.logarithm import ln
from model.records import FloatArray

REMEMBERED = 20
FIGURES = ("evidence", "shares")
LEAST_BLOCKS = 5
ALLOWED, WIDER = 0.75, 1.8
# Figures that vary less than this, in nats and as a ratio, are taken to vary as much: a stream of
# nearly equal documents has no noise to compare a difference with.
LEAST_DEVIATIONS = (0.02, 0.1)
_LEAST_DIVERGENCE = 1e-9
_OVERSHOOT = 1.166
_STEPS = 60


@dataclass(frozen=True, eq=False)
class Block:
    """Documents that were learned one after the other.

    Attributes:
        level: the log evidence per token.
        shares: float64[T], the mean topic proportions.
    """

    level: float
    shares: FloatArray


@dataclass(frozen=True)
class Alarm:
    """Why a change is told.

    Attributes:
        by: ``evidence`` if the level is too low, ``shares`` if the shares are too far from usual.
        figures: the figures that decided, by name; ``found`` is the mean level, or the mean
            divergence, since the change began, and ``usual`` the same before it.
        rises: float64[T], by how much the mean share of each topic rose.
    """

    by: str
    figures: dict[str, float]
    rises: FloatArray


@dataclass
class Cusum:
    """The state of the test.

    Attributes:
        threshold: h.
        blocks: the remembered blocks, at most :data:`REMEMBERED`.
        waiting: the newest blocks, which are not remembered yet, at most :data:`REMEMBERED`.
        sums: what is added up over them, for each of :data:`FIGURES`.
    """

    threshold: float = math.inf
    blocks: deque[Block] = field(default_factory=deque)
    waiting: list[Block] = field(default_factory=list)
    sums: tuple[float, float] = (0.0, 0.0)

    def add(self, block: Block) -> Alarm | None:
        """Take note of a block, and return why it tells a change, or None."""
        if len(self.blocks) < LEAST_BLOCKS:
            self.blocks.append(block)
            return None
        first, second = unusual(block, self.blocks)
        self.sums = _raised(self.sums[0], first), _raised(self.sums[1], second)
        self.waiting.append(block)
        if max(self.sums) > self.threshold:
            alarm = self._alarm()
            self.begin_again()
            return alarm
        joining = len(self.waiting) if max(self.sums) == 0.0 else len(self.waiting) - REMEMBERED
        if joining > 0:
            self.remember(self.waiting[:joining])
            del self.waiting[:joining]
        return None

    def begin_again(self) -> None:
        """Forget all blocks."""
        self.blocks.clear()
        self.waiting, self.sums = [], (0.0, 0.0)

    def remember(self, blocks: Sequence[Block]) -> None:
        """Remember blocks, and forget those that are too many."""
        self.blocks += blocks
        while len(self.blocks) > REMEMBERED:
            self.blocks.popleft()

    def _alarm(self) -> Alarm:
        which = 0 if self.sums[0] >= self.sums[1] else 1
        total = total_shares(self.blocks)
        if which:
            found = [float(divergence(block.shares, total)) for block in self.waiting]
            usual = divergences(self.blocks, total)
        else:
            found = [block.level for block in self.waiting]
            usual = [block.level for block in self.blocks]
        figures = {
            "found": sum(found) / len(found),
            "usual": sum(usual) / len(usual),
            "sum": self.sums[which],
            "threshold": self.threshold,
        }
        rises = total_shares(self.waiting) / len(self.waiting) - total / len(self.blocks)
        return Alarm(FIGURES[which], figures, rises)


def unusual(block: Block, blocks: Sequence[Block]) -> tuple[float, float]:
    """Return z of the level and of the divergence of a block.

    Args:
        block: the block.
        blocks: at least two remembered blocks.
    """
    total = total_shares(blocks)
    levels = [-one.level for one in blocks]
    usual = [_ln_of(one) for one in divergences(blocks, total)]
    found = _ln_of(float(divergence(block.shares, total)))
    return (
        _normal(-block.level, levels, LEAST_DEVIATIONS[0]),
        _normal(found, usual, LEAST_DEVIATIONS[1]),
    )


def threshold_of(false_alarms: float) -> float:
    """Return h.

    Args:
        false_alarms: A, the mean number of blocks between two false alarms.
    """
    x = 1.0
    for _ in range(_STEPS):
        x = float(ln(2.0 * ALLOWED * ALLOWED * 2.0 * false_alarms + x + 1.0))
    return max(0.0, x / (2.0 * ALLOWED) - _OVERSHOOT)


def _normal(value: float, usual: Sequence[float], least: float) -> float:
    """Return z of a value beside usual ones, whose deviation is at least ``least``."""
    count, freedom = len(usual), len(usual) - 1
    mean = sum(usual) / count
    deviation = math.sqrt(sum((one - mean) ** 2 for one in usual) / freedom)
    t = (value - mean) / (max(deviation, least) * math.sqrt(1.0 + 1.0 / count))
    z = math.sqrt(freedom * float(ln(1.0 + t * t / freedom)))
    return math.copysign(z * (8 * freedom + 1) / (8 * freedom + 3), t)


def _raised(total: float, z: float) -> float:
    return max(0.0, total + z / WIDER - ALLOWED)


def _ln_of(found: float) -> float:
    return float(ln(max(found, _LEAST_DIVERGENCE)))


def total_shares(blocks: Sequence[Block]) -> FloatArray:
    """Return float64[T], the sum of the shares of blocks."""
    total = np.zeros(len(blocks[0].shares))
    for block in blocks:
        total = total + block.shares
    return total


def divergences(blocks: Sequence[Block], total: FloatArray) -> list[float]:
    """Return the divergence of each remembered block from the others; ``total`` is of all."""
    return [float(divergence(one.shares, total - one.shares)) for one in blocks]
