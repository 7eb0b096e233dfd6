"""Blocks of a stream's documents, and what the tests for changes have in common.

:mod:`model.learners.particles.sequential_test` and :mod:`model.learners.particles.bounds` have the
tests, and :mod:`model.learners.particles.change_settings` the choice between them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from model.learners.particles.kernels.arrivals import divergence
from model.records import FloatArray

REMEMBERED = 20
FIGURES = ("evidence", "shares")


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
class ChangeTest(ABC):
    """The state of a test.

    Attributes:
        blocks: the remembered blocks, at most :data:`REMEMBERED`.
        waiting: the newest blocks, which are not remembered yet, at most :data:`REMEMBERED`.
        sums: what is added up over them, for each of :data:`FIGURES`.
    """

    blocks: deque[Block] = field(default_factory=deque)
    waiting: list[Block] = field(default_factory=list)
    sums: tuple[float, float] = (0.0, 0.0)

    @abstractmethod
    def add(self, block: Block) -> Alarm | None:
        """Take note of a block, and return why it tells a change, or None."""

    def begin_again(self) -> None:
        """Forget all blocks."""
        self.blocks.clear()
        self.waiting, self.sums = [], (0.0, 0.0)

    def remember(self, blocks: Sequence[Block]) -> None:
        """Remember blocks, and forget those that are too many."""
        self.blocks += blocks
        while len(self.blocks) > REMEMBERED:
            self.blocks.popleft()


def total_shares(blocks: Sequence[Block]) -> FloatArray:
    """Return float64[T], the sum of the shares of blocks."""
    total = np.zeros(len(blocks[0].shares))
    for block in blocks:
        total = total + block.shares
    return total


def divergences(blocks: Sequence[Block], total: FloatArray) -> list[float]:
    """Return the divergence of each remembered block from the others; ``total`` is of all."""
    return [float(divergence(one.shares, total - one.shares)) for one in blocks]
