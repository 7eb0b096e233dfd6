"""What a learner remembers of its stream: its last change, the trials held, the documents waiting.

Minibatches are put together to blocks of at least as many documents as judge a duel. A block has a
level, the log evidence per token (of each document before it is learned), and shares, the mean
topic proportions of its documents. A test says when blocks tell a change, and with which block it
began (:mod:`beam_topics.model.learners.particles.following`). All blocks are forgotten when a
change is told, and when a challenger wins, because topics then have another meaning.
:mod:`beam_topics.model.learners.particles.trials` says when trials are held.

A sequential test for changes of a stream, with a stated rate of false alarms.

The stream comes in blocks of documents (:mod:`beam_topics.model.learners.particles.following`). Two
figures of a block are tested: its level l, the log evidence per token, and ln D, where D is the
Jensen-Shannon divergence of its topic shares from those of the remembered blocks together. A change
lowers l, because words are new, or raises D, because topics have other shares. Let x be -l or ln D.

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

from beam_topics.model.kernels.special import ln
from beam_topics.model.learners.particles.history import Documents
from beam_topics.model.learners.particles.kernels.arrivals import divergence
from beam_topics.model.records import FloatArray
from beam_topics.model.scaled import Scaled

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


# When trials are due, as multiples of the number of judges. At the start these are documents of the
# stream: a first trial at 5 times the judges is worse where a stream is sorted by subject
# (docs/results/drift.md).
AT_START = (4.0, 8.0, 16.0)
# After a change they are documents since the change. The last two make room again: a slow change
# has few documents of the new kind when it is told, so a trial that was won may have made room for
# others. Afterwards a trial is due whenever the number of documents has grown fourfold.
AFTER_CHANGE = (1.0, 2.5, 5.0)
AGAIN = (10.0, 20.0)
# The distance of later trials that are steady.
STEADY = 5.0
# How many topics of a change are named.
MOST_ROSE = 3


@dataclass(frozen=True)
class Told:
    """A change that blocks tell.

    Attributes:
        by: ``evidence`` or ``shares``, see :class:`Alarm`.
        figures: the figures that decided, by name.
        rose: the topics whose shares rose most, at most :data:`MOST_ROSE`.
        documents: documents since the change began.
        tokens: scored tokens of them.
    """

    by: str
    figures: dict[str, float]
    rose: tuple[int, ...]
    documents: int
    tokens: int


@dataclass
class Following:
    """What a learner knows of its stream.

    Attributes:
        judges: how many documents decide a duel.
        test: tells changes.
        changed: documents that had been learned when the last change began.
        changes: how many changes there were.
        trial: how many trials were held since the last change.
        fresh: whether no trial was won since the last change, so there is no room for it yet.
        won: duels that a challenger won.
        held: documents that wait for the duel.
        began: documents that had been learned before the first block that waits in the test.
        since: scored tokens of the blocks that wait.
        evidence: the evidence of the block that is being put together.
        tokens: its scored tokens.
        documents: its documents.
        shares: the sum of its documents' topic proportions.
        steady: whether later trials come at equal distances (:data:`STEADY`). It is not stored,
            because each step sets it.
    """

    judges: int
    test: Cusum = field(default_factory=Cusum)
    changed: int = 0
    changes: int = 0
    trial: int = 0
    fresh: bool = False
    won: int = 0
    held: Documents = field(default_factory=list)
    began: int = 0
    since: int = 0
    evidence: Scaled = field(default_factory=lambda: Scaled(0.5, 1))
    tokens: int = 0
    documents: int = 0
    shares: FloatArray = field(default_factory=lambda: np.zeros(0))
    steady: bool = False

    def due(self, documents: int) -> bool:
        """Return whether a learner that has learned so many documents is to be challenged."""
        sizes = self._sizes()
        later = max(0, self.trial - len(sizes) + 1)
        size = sizes[min(self.trial, len(sizes) - 1)]
        size = size + later * STEADY if self.steady else size * 4.0**later
        return documents - self.changed >= size * self.judges

    @property
    def makes_room(self) -> bool:
        """Return whether challengers of the next trial empty topics for new documents."""
        return self.fresh or self.trial >= len(AFTER_CHANGE)

    @property
    def repeated(self) -> bool:
        """Return whether the next trial is one of the later ones."""
        return self.trial >= len(self._sizes())

    def _sizes(self) -> tuple[float, ...]:
        return (*AFTER_CHANGE, *AGAIN) if self.changes else AT_START

    def trial_held(self, documents: int, won: bool) -> None:
        """Take note of a trial; those that are due at the same time are not held again."""
        while self.due(documents):
            self.trial += 1
        if won:
            self.fresh = False
            self.won += 1
            self.test.begin_again()

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
        told = self._test(block, learned)
        self.evidence, self.tokens, self.documents, self.shares = Scaled(0.5, 1), 0, 0, np.zeros(0)
        return told

    def _test(self, block: Block, learned: int) -> Told | None:
        """Test a block whose documents are counted; a change that it tells begins."""
        if not self.test.waiting:
            self.began, self.since = learned - self.documents, 0
        self.since += self.tokens
        alarm = self.test.add(block)
        if not alarm:
            return None
        self.changed, self.trial, self.fresh = self.began, 0, True
        self.changes += 1
        return Told(alarm.by, alarm.figures, _rose(alarm), learned - self.began, self.since)


def _rose(alarm: Alarm) -> tuple[int, ...]:
    """Return the topics whose shares rose most, the largest rise first."""
    rises = alarm.rises.tolist()
    order = sorted(range(len(rises)), key=lambda topic: (-rises[topic], topic))
    return tuple(topic for topic in order[:MOST_ROSE] if rises[topic] > 0)


def logarithm(number: Scaled) -> float:
    """Return the natural logarithm, by IEEE operations."""
    return float(ln(number.mantissa) + number.exponent * ln(2.0))
