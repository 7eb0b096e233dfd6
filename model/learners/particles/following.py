"""What a learner remembers of its stream: its last change, the trials held, the documents waiting.

Minibatches are put together to blocks of at least as many documents as judge a duel. A block has a
level l, the log evidence per token (of each document before it is learned), and shares, the mean
topic proportions of its documents. D is the Jensen-Shannon divergence (nats) of its shares from
those of the other remembered blocks together. With the mean and the standard deviation over the
remembered blocks (at most 20), a block tells a change if

    l < mean - max(1/2, 4 deviations)   or   D > mean + max(0.03, 6 deviations)

and at least three blocks are remembered. The first test finds new words, the second documents of
another sort. The blocks are dropped when a change is told, and when a challenger wins, because
topics then have another meaning. Logarithms and square roots are made of IEEE operations, so all
machines decide alike. :mod:`model.learners.particles.trials` says when trials are held.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from model.learners.particles.history import Documents
from model.learners.particles.kernels.divergence import divergence
from model.learners.particles.kernels.logarithm import ln
from model.records import FloatArray
from model.scaled import Scaled

# When trials are due, in documents since the start or the change, as multiples of the number of
# judges. Afterwards a trial is due whenever the number of documents has grown fourfold.
AT_START = (4.0, 8.0, 16.0)
AFTER_CHANGE = (1.0, 2.5, 5.0)
REMEMBERED, LEAST_BLOCKS = 20, 3
FALL, FALL_DEVIATIONS = 0.5, 4.0
SHIFT, SHIFT_DEVIATIONS = 0.03, 6.0
# How many topics of a change are named.
MOST_ROSE = 3


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
class Told:
    """Why a block tells a change.

    Attributes:
        by: ``evidence`` if the level is too low, ``shares`` if D is too large.
        found: the level or D of the block.
        usual: the mean over the remembered blocks.
        bound: what ``found`` is beyond.
        rose: the topics whose shares rose most, at most :data:`MOST_ROSE`.
        documents: documents of the block.
        tokens: its scored tokens.
    """

    by: str
    found: float
    usual: float
    bound: float
    rose: tuple[int, ...]
    documents: int = 0
    tokens: int = 0


@dataclass
class Following:
    """What a learner knows of its stream.

    Attributes:
        judges: how many documents decide a duel.
        changed: documents that had been learned when the last change began.
        changes: how many changes there were.
        trial: how many trials were held since the last change.
        fresh: whether no trial was won since the last change, so there is no room for it yet.
        won: duels that a challenger won.
        held: documents that wait for the duel.
        blocks: the last blocks.
        evidence: the evidence of the block that is being put together.
        tokens: its scored tokens.
        documents: its documents.
        shares: the sum of its documents' topic proportions.
    """

    judges: int
    changed: int = 0
    changes: int = 0
    trial: int = 0
    fresh: bool = False
    won: int = 0
    held: Documents = field(default_factory=list)
    blocks: deque[Block] = field(default_factory=deque)
    evidence: Scaled = field(default_factory=lambda: Scaled(0.5, 1))
    tokens: int = 0
    documents: int = 0
    shares: FloatArray = field(default_factory=lambda: np.zeros(0))

    def due(self, documents: int) -> bool:
        """Return whether a learner that has learned so many documents is to be challenged."""
        sizes = AFTER_CHANGE if self.changes else AT_START
        later = max(0, self.trial - len(sizes) + 1)
        size = sizes[min(self.trial, len(sizes) - 1)] * 4.0**later
        return documents - self.changed >= size * self.judges

    @property
    def repeated(self) -> bool:
        """Return whether the next trial is one of the later ones."""
        return self.trial >= len(AFTER_CHANGE if self.changes else AT_START)

    def trial_held(self, documents: int, won: bool) -> None:
        """Take note of a trial; those that are due at the same time are not held again."""
        while self.due(documents):
            self.trial += 1
        if won:
            self.fresh = False
            self.won += 1
            self.blocks.clear()

    def notice(
        self, evidence: Scaled, tokens: int, documents: int, shares: FloatArray, learned: int
    ) -> Told | None:
        """Take note of what a step learned, and return why it tells a change; None for no change.

        Args:
            evidence: P(scored tokens | everything before).
            tokens: the scored tokens; 0 for an initial batch, which tells nothing.
            documents: documents of the step.
            shares: float64[T], the sum of the documents' topic proportions.
            learned: documents so far, these included.
        """
        if not tokens:
            return None
        self.evidence = self.evidence * evidence
        self.tokens += tokens
        self.documents += documents
        self.shares = shares if not len(self.shares) else self.shares + shares
        if self.documents < self.judges:
            return None
        block = Block(logarithm(self.evidence) / self.tokens, self.shares / self.documents)
        told = tells_change(block, self.blocks)
        if told:
            told = replace(told, documents=self.documents, tokens=self.tokens)
            self.changed, self.trial, self.fresh = learned - self.documents, 0, True
            self.changes += 1
            self.blocks.clear()
        self.blocks.append(block)
        while len(self.blocks) > REMEMBERED:
            self.blocks.popleft()
        self.evidence, self.tokens, self.documents, self.shares = Scaled(0.5, 1), 0, 0, np.zeros(0)
        return told


def tells_change(block: Block, before: Sequence[Block]) -> Told | None:
    """Return why a block is unlike those before it, or None."""
    if len(before) < LEAST_BLOCKS:
        return None
    total = np.zeros(len(block.shares))
    for one in before:
        total = total + one.shares
    mean, deviation = _mean_and_deviation([one.level for one in before])
    bound = mean - max(FALL, FALL_DEVIATIONS * deviation)
    if block.level < bound:
        return Told("evidence", block.level, mean, bound, _rose(block, total / len(before)))
    # Each remembered block is compared with the other remembered ones.
    usual = [divergence(one.shares, total - one.shares) for one in before]
    mean, deviation = _mean_and_deviation(usual)
    found, bound = (
        float(divergence(block.shares, total)),
        mean + max(SHIFT, SHIFT_DEVIATIONS * deviation),
    )
    if found > bound:
        return Told("shares", found, mean, bound, _rose(block, total / len(before)))
    return None


def _rose(block: Block, usual: FloatArray) -> tuple[int, ...]:
    """Return the topics whose shares rose most, the largest rise first."""
    rises = (block.shares - usual).tolist()
    order = sorted(range(len(rises)), key=lambda topic: (-rises[topic], topic))
    return tuple(topic for topic in order[:MOST_ROSE] if rises[topic] > 0)


def logarithm(number: Scaled) -> float:
    """Return the natural logarithm, by IEEE operations."""
    return float(ln(number.mantissa) + number.exponent * ln(2.0))


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((one - mean) ** 2 for one in values) / (len(values) - 1))
