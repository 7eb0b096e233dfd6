"""A learner that changes the words of minibatches, around another learner.

Its memory says which words: phrases (:mod:`model.learners.phrases`) or words that are too frequent
(:mod:`model.learners.frequent_words`). A minibatch is changed by what was remembered of those
before it, so the change is known before the minibatch comes. A version says what is needed to
change the words of other documents in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

from model import wire
from model.learners.around import Around, Surrounded
from model.learners.base import Learner, LearnerSettings, StepInfo
from model.learners.frequent_words import FrequencyMemory
from model.learners.phrase_settings import NoPhrases
from model.learners.phrases import PhraseMemory
from model.records import Minibatch
from model.snapshot import Snapshot

_STATE = b"BTR1"


class WordMemory(Protocol):
    """What the words of minibatches are changed by."""

    @classmethod
    def new(cls, settings: LearnerSettings) -> Self:
        """Return the memory of a new learner."""

    def take(self, minibatch: Minibatch) -> Minibatch:
        """Return the minibatch with other words, and remember it."""

    def published(self, snapshot: Snapshot) -> Snapshot:
        """Return a version of the learner within as it is published."""

    def to_bytes(self) -> bytes:
        """Return the memory in canonical form."""

    @classmethod
    def from_bytes(cls, settings: LearnerSettings, data: bytes) -> Self:
        """Return the memory that :meth:`to_bytes` wrote.

        Raises:
            DamagedDataError: the bytes do not fit the settings.
        """

    def nbytes(self) -> int:
        """Return about how much memory it takes, in bytes."""


@dataclass
class Rewritten(Surrounded):
    """The state of a learner, and what the words of its minibatches are changed by."""

    memory: WordMemory


class Rewriting(Around):
    """A learner around another one; see the module's docstring.

    Args:
        inner: the learner that learns the changed minibatches.
        memory: the class of the memory.
    """

    def __init__(self, inner: Learner[Any], memory: type[WordMemory]) -> None:
        super().__init__(inner)
        self._memory = memory

    def init(self, settings: Any, key: str, island: int, threads: int = 1) -> Rewritten:
        inner = self._inner.init(settings, key, island, threads)
        return Rewritten(inner, settings, self._memory.new(settings))

    def step(self, state: Rewritten, minibatch: Minibatch) -> StepInfo:
        return self._inner.step(state.state, state.memory.take(minibatch))

    def snapshot(self, state: Surrounded, chain: int | None = None) -> Snapshot:
        published: Snapshot = state.memory.published(self._inner.snapshot(state.state, chain))
        return published

    def save(self, state: Rewritten) -> bytes:
        return wire.pack(_STATE, {}, state.memory.to_bytes(), self._inner.save(state.state))

    def load(
        self, settings: LearnerSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> Rewritten:
        _, (memory, inner) = wire.unpack(_STATE, data, 2)
        state = self._inner.load(settings, key, island, inner, threads)
        return Rewritten(state, settings, self._memory.from_bytes(settings, memory))

    def nbytes(self, state: Rewritten) -> int:
        return self._inner.nbytes(state.state) + state.memory.nbytes()


def rewritten(learner: Learner[Any], settings: LearnerSettings) -> Learner[Any]:
    """Return a learner that changes the words of minibatches as the settings say, around a learner.

    Phrases are joined before words are left out, as in inference, where words that a model does not
    have are left out last.
    """
    if settings.max_df < 1:
        learner = Rewriting(learner, FrequencyMemory)
    if not isinstance(settings.phrases, NoPhrases):
        learner = Rewriting(learner, PhraseMemory)
    return learner
