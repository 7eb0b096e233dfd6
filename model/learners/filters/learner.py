"""A learner whose minibatches pass through filters first.

The filters run one after the other, in this order:

1. near copies of documents are left out (:mod:`beam_topics.model.learners.filters.floods`),
2. and what a source has above its share (:mod:`beam_topics.model.learners.filters.floods`);
3. phrases are joined (:mod:`beam_topics.model.learners.filters.phrases`);
4. frequent words are left out (:mod:`beam_topics.model.learners.filters.frequent_words`). This
   comes after phrases, as in inference, where words that a model does not have are left out last.

A minibatch without any documents left is not passed to the learner. Documents that are left out
are labelled like all others, because labels do not come from the learner.

A filter is a function from minibatch to minibatch with a state of its own. What it does depends on
the minibatches alone, like everything that is learned, and its state is saved with that of the
learner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.learners.base import (
    Arrivals,
    HoldsDocuments,
    Learner,
    LearnerSettings,
    LearnsRuns,
    StepInfo,
    Summary,
)
from beam_topics.model.learners.filters.floods import NearCopies, Sources
from beam_topics.model.learners.filters.frequent_words import FrequentWords
from beam_topics.model.learners.filters.phrases import LearnedPhrases
from beam_topics.model.learners.filters.settings import Keep, NoPhrases
from beam_topics.model.publishing.events import Event
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.stored import wire


class Filter(Protocol):
    """The state of a filter.

    Attributes:
        counter: the field of :class:`~beam_topics.model.learners.base.StepInfo` that counts the
            documents that the filter leaves out; empty for a filter that keeps them all.
    """

    counter: ClassVar[str]

    @property
    def events(self) -> tuple[Event, ...]:
        """Return the events of the last minibatch; not saved."""

    @classmethod
    def new(cls, settings: LearnerSettings) -> Self:
        """Return the state before the first minibatch."""

    def take(self, minibatch: Minibatch) -> Minibatch:
        """Return what is left of a minibatch, and remember what is needed of it."""

    def forget(self) -> None:
        """Forget ids and signatures of documents, and words and pairs that came once."""

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


_STATE = b"BTR2"


def filters_of(settings: LearnerSettings) -> list[type[Filter]]:
    """Return the filters that the settings ask for, in their order."""
    wanted: list[tuple[bool, type[Filter]]] = [
        (not isinstance(settings.duplicates, Keep), NearCopies),
        (settings.max_source_share < 1, Sources),
        (not isinstance(settings.phrases, NoPhrases), LearnedPhrases),
        (settings.max_df < 1, FrequentWords),
    ]
    return [kind for is_wanted, kind in wanted if is_wanted]


@dataclass
class FilteredState:
    """The state of a learner and of its filters."""

    filters: list[Filter]
    state: Any


class Filtered(NamedTuple):
    """What the filters made of a minibatch.

    Attributes:
        minibatch: what is learned; None where all documents are left out.
        events: what the filters reported.
        left_out: the number of documents that were left out, by the filter's counter.
    """

    minibatch: Minibatch | None
    events: tuple[Event, ...]
    left_out: dict[str, int]


class FilteredLearner:
    """A learner whose input is filtered; see the module's docstring.

    Args:
        inner: the learner that learns what the filters leave.
    """

    def __init__(self, inner: Learner[Any]) -> None:
        self._inner = inner

    def init(self, settings: Any, key: str, island: int, threads: int = 1) -> FilteredState:
        filters = [kind.new(settings) for kind in filters_of(settings)]
        return FilteredState(filters, self._inner.init(settings, key, island, threads))

    def step(self, state: FilteredState, minibatch: Minibatch) -> StepInfo:
        def step(minibatches: Sequence[Minibatch]) -> list[StepInfo]:
            return [self._inner.step(state.state, one) for one in minibatches]

        return self._learn(state, [minibatch], step)[0]

    def _learn(
        self,
        state: FilteredState,
        minibatches: Sequence[Minibatch],
        steps: Callable[[Sequence[Minibatch]], list[StepInfo]],
    ) -> list[StepInfo]:
        """Learn what the filters leave of minibatches, by ``steps``."""
        filtered = [_through(state.filters, minibatch) for minibatch in minibatches]
        left = [one.minibatch for one in filtered if one.minibatch is not None]
        # What a step did that learned nothing has the figures of the step before it.
        last: Any = self._inner.summary(state.state) if filtered[0].minibatch is None else None
        learned, infos = iter(steps(left) if left else []), []
        for one in filtered:
            last = next(learned) if one.minibatch is not None else _nothing_after(last)
            infos.append(replace(last, events=(*one.events, *last.events), **one.left_out))
        return infos

    def snapshot(self, state: FilteredState, chain: int | None = None) -> Snapshot:
        snapshot = self._inner.snapshot(state.state, chain)
        for one in reversed(state.filters):
            snapshot = one.published(snapshot)
        return snapshot

    def held(self, state: FilteredState, after: int = 0) -> list[list[str]]:
        inner = self._inner
        return inner.held(state.state, after) if isinstance(inner, HoldsDocuments) else []

    def erase(self, state: FilteredState, arrivals: Any, came: int) -> int | None:
        for one in state.filters:
            one.forget()
        inner = self._inner
        return inner.erase(state.state, arrivals, came) if isinstance(inner, HoldsDocuments) else 0

    def summary(self, state: FilteredState, chain: int | None = None) -> Summary:
        return self._inner.summary(state.state, chain)

    def arrivals(self, state: FilteredState, after: int, unlearned: bool = False) -> Arrivals:
        return self._inner.arrivals(state.state, after, unlearned)

    def witness(self, state: FilteredState) -> bytes:
        return self._inner.witness(state.state)

    def save(self, state: FilteredState) -> bytes:
        filters = (one.to_bytes() for one in state.filters)
        return wire.pack(_STATE, {}, *filters, self._inner.save(state.state))

    def load(
        self, settings: LearnerSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> FilteredState:
        kinds = filters_of(settings)
        _, (*filters, inner) = wire.unpack(_STATE, data, len(kinds) + 1)
        found = [kind.from_bytes(settings, blob) for kind, blob in zip(kinds, filters, strict=True)]
        return FilteredState(found, self._inner.load(settings, key, island, inner, threads))

    def nbytes(self, state: FilteredState) -> int:
        return self._inner.nbytes(state.state) + sum(one.nbytes() for one in state.filters)


class FilteredRuns(FilteredLearner):
    """The same where the learner learns several minibatches in one call."""

    def steps(self, state: FilteredState, minibatches: Sequence[Minibatch]) -> list[StepInfo]:
        assert isinstance(self._inner, LearnsRuns)
        inner = self._inner
        return self._learn(state, minibatches, lambda some: inner.steps(state.state, some))


def filtered(learner: Learner[Any]) -> FilteredLearner:
    """Return a learner whose input passes through the filters of its settings."""
    return (FilteredRuns if isinstance(learner, LearnsRuns) else FilteredLearner)(learner)


def _through(filters: Sequence[Filter], minibatch: Minibatch) -> Filtered:
    """Run the filters over a minibatch, until one leaves nothing of it."""
    events: list[Event] = []
    left_out: dict[str, int] = {}
    for one in filters:
        came = len(minibatch)
        minibatch = one.take(minibatch)
        events += one.events
        if one.counter:
            left_out[one.counter] = came - len(minibatch)
        if came and not len(minibatch):
            return Filtered(None, tuple(events), left_out)
    return Filtered(minibatch, tuple(events), left_out)


def _nothing_after(last: StepInfo | Summary) -> StepInfo:
    """Return what a step did that learned nothing, after another one or where a learner stands."""
    return StepInfo(documents=0, tokens=0, unknown_tokens=0, words=last.words, ess=last.ess)
