"""Words that are in too many documents of the stream, which are left out.

``--max_df=0.5`` leaves out words that more than half of the documents have. The documents that
have a word are counted in bounded memory (:class:`FrequentItems`). Once :data:`LEAST` documents
have come, a word whose count has a lower bound above the share is left out from the next minibatch
on, so no word below the share is left out. It returns when the upper bound is below :data:`BACK` of
the share. At :data:`HORIZON` documents all counts are halved, so the words follow the stream.

What was learned about a word before it was left out stays in the counts of the learner and fades
as others are added. A version does not have the word, so it is unknown to inference.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np

from beam_topics.model.arrays import LongArray
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.learners.base import LearnerSettings
from beam_topics.model.publishing.events import Event
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.stored import checks, wire

T = TypeVar("T", bound=Hashable)


@dataclass
class FrequentItems(Generic[T]):
    """Counts of frequent items in bounded memory, with bounds for their errors.

    This is the summary of Misra and Gries (1982), as Agarwal et al. (2012, "Mergeable summaries")
    add to it. When more than twice ``most`` items are counted, the count that comes after the
    ``most`` largest ones is subtracted from all, and items without a count leave. The sum of what
    was subtracted bounds how much any count is too small. Of N occurrences in all it is at most
    N / most. The counts depend on the sum of what is added between two prunings, and not on its
    order.

    Attributes:
        most: how many items are kept by a pruning.
        counts: the counts, each at most the true one.
        short: how much each of them is too small at most; the count of an item that is not kept.
    """

    most: int
    counts: dict[T, int] = field(default_factory=dict)
    short: int = 0

    def least(self, item: T) -> int:
        """Return a lower bound of the count of an item."""
        return self.counts.get(item, 0)

    def greatest(self, item: T) -> int:
        """Return an upper bound of the count of an item."""
        return self.counts.get(item, 0) + self.short

    def add(self, items: Iterable[tuple[T, int]]) -> None:
        """Add occurrences, positive numbers; :meth:`prune` is called afterwards by the caller."""
        counts = self.counts
        for item, count in items:
            counts[item] = counts.get(item, 0) + count

    def prune(self) -> None:
        """Keep ``most`` items, where there are more than twice as many."""
        if len(self.counts) <= 2 * self.most:
            return
        values = np.fromiter(self.counts.values(), np.int64, len(self.counts))
        place = len(values) - self.most - 1
        by = int(np.partition(values, place)[place])
        self.subtract(by)

    def subtract(self, by: int) -> None:
        """Subtract a number from all counts; items without a count leave."""
        self.counts = {item: count - by for item, count in self.counts.items() if count > by}
        self.short += by

    def halve(self) -> None:
        """Halve all counts; the bounds then hold for half of the true counts."""
        halves = ((item, count // 2) for item, count in self.counts.items())
        self.counts = {item: count for item, count in halves if count}
        self.short = self.short // 2 + 1


LEAST = 500
BACK = 0.9
HORIZON = 1 << 17
# Words whose counts are kept. The error of a count is at most the mean number of words of a
# document over this number, as a share of the documents.
_MOST = 20_000
_STATE = b"BTW1"
_WORD_BYTES = 160


@dataclass
class FrequentWords:
    """The filter that leaves words out, with the counts by which they are found.

    Attributes:
        share: the largest share of documents.
        counts: documents that have each word.
        documents: documents that were counted.
        out: the words that are left out.
    """

    counter: ClassVar[str] = ""
    events: ClassVar[tuple[Event, ...]] = ()

    share: float
    counts: FrequentItems[str] = field(default_factory=lambda: FrequentItems(_MOST))
    documents: int = 0
    out: set[str] = field(default_factory=set)

    @classmethod
    def new(cls, settings: LearnerSettings) -> Self:
        return cls(settings.max_df)

    def take(self, minibatch: Minibatch) -> Minibatch:
        left = _without(minibatch, self.out)
        came = _documents_of(minibatch)
        self.counts.add(zip(minibatch.words, came, strict=True))
        self.documents += len(minibatch)
        if self.documents >= LEAST:
            bound = self.share * self.documents
            self.out = {word for word in self.out if self.counts.greatest(word) >= BACK * bound}
            self.out.update(word for word in minibatch.words if self.counts.least(word) > bound)
        self.counts.prune()
        if self.documents >= HORIZON:
            self.documents //= 2
            self.counts.halve()
        return left

    def forget(self) -> None:
        self.counts.subtract(1)

    def published(self, snapshot: Snapshot) -> Snapshot:
        return snapshot.without(self.out)

    def to_bytes(self) -> bytes:
        items = sorted(self.counts.counts.items())
        header = {"documents": self.documents, "short": self.counts.short}
        counts = np.array([count for _, count in items], np.int64)
        return wire.pack(
            _STATE,
            header,
            wire.words_to_bytes(sorted(self.out)),
            wire.words_to_bytes([word for word, _ in items]),
            wire.array_to_bytes(counts, "<i8"),
        )

    @classmethod
    def from_bytes(cls, settings: LearnerSettings, data: bytes) -> Self:
        header, (out, words, counts) = wire.unpack(_STATE, data, 3)
        found, known = cls.new(settings), wire.words_from_bytes(words)
        listed, name = wire.words_from_bytes(out), "documents of frequent words"
        found.documents = checks.whole(name, checks.field(header, "documents"), 0, HORIZON)
        found.counts.short = checks.whole(f"short of {name}", checks.field(header, "short"))
        values: LongArray = wire.array_from_bytes(counts, "<i8")
        checks.sized(name, values, len(known))
        checks.within(name, values, 1, HORIZON)
        checks.distinct("frequent words", known)
        checks.distinct("words that are left out", listed)
        checks.whole("number of frequent words", len(known), 0, 2 * _MOST + 1)
        found.counts.counts = dict(zip(known, values.tolist(), strict=True))
        found.out = set(listed)
        return found

    def nbytes(self) -> int:
        return _WORD_BYTES * (len(self.counts.counts) + len(self.out))


def _documents_of(minibatch: Minibatch) -> list[int]:
    """Return the number of documents that have each word of a minibatch."""
    size = max(len(minibatch.words), 1)
    documents = np.repeat(np.arange(len(minibatch)), np.diff(minibatch.offsets))
    distinct = np.unique(documents * size + minibatch.tokens) % size
    found: list[int] = np.bincount(distinct, minlength=len(minibatch.words)).tolist()
    return found


def _without(minibatch: Minibatch, out: set[str]) -> Minibatch:
    """Return a minibatch without the tokens of some words."""
    left = np.array([word not in out for word in minibatch.words], np.bool_)
    if left.all():
        return minibatch
    return minibatch.tokens_where(left[minibatch.tokens])
