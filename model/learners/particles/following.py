"""What a learner remembers of its stream: its last change, the trials held, the documents waiting.

Minibatches are put together to blocks of at least as many documents as judge a duel. A block has a
level, the log evidence per token (of each document before it is learned), and shares, the mean
topic proportions of its documents. A test says when blocks tell a change, and with which block it
began (:mod:`model.learners.particles.sequential_test`). All blocks are forgotten when a change is
told, and when a challenger wins, because topics then have another meaning.
:mod:`model.learners.particles.trials` says when trials are held.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from model.learners.particles.history import Documents
from model.learners.particles.kernels.logarithm import ln
from model.learners.particles.sequential_test import Alarm, Block, Cusum
from model.records import FloatArray
from model.scaled import Scaled

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
