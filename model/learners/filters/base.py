"""A filter: a function from minibatch to minibatch with a state of its own.

Filters run before the learner (:mod:`model.learners.filters.learner`). Some leave documents out
(:mod:`model.learners.filters.floods`), others change the words of documents. What a filter does
depends on the minibatches alone, like everything that is learned, and its state is saved with that
of the learner.
"""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

from model.events import Event
from model.learners.base import LearnerSettings
from model.records import Minibatch
from model.snapshot import Snapshot


class Filter(Protocol):
    """The state of a filter.

    Attributes:
        counter: the field of :class:`~model.learners.base.StepInfo` that counts the documents that
            the filter leaves out; empty for a filter that keeps them all.
    """

    counter: ClassVar[str]

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what the last minibatch told; not saved."""

    @classmethod
    def new(cls, settings: LearnerSettings) -> Self:
        """Return the state before the first minibatch."""

    def take(self, minibatch: Minibatch) -> Minibatch:
        """Return what is left of a minibatch, and remember what is needed of it."""

    def published(self, snapshot: Snapshot) -> Snapshot:
        """Return a version of the learner as it is published."""

    def to_bytes(self) -> bytes:
        """Return the state in canonical form."""

    @classmethod
    def from_bytes(cls, settings: LearnerSettings, data: bytes) -> Self:
        """Return the state that :meth:`to_bytes` wrote.

        Raises:
            DamagedDataError: the bytes do not fit the settings.
        """

    def nbytes(self) -> int:
        """Return about how much memory the state takes, in bytes."""
