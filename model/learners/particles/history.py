"""The documents that can be visited again: slots, pages of tokens, and units.

:mod:`beam_topics.model.learners.particles.kernels.history` says which units there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.learners.particles.kernels.history import (
    KEPT,
    LATER,
    LONGEST,
    RECENT,
    RELEASED,
    Past,
    admit,
)
from beam_topics.model.learners.particles.kernels.particles import PAGE, Pages
from beam_topics.model.learners.particles.rejuvenation import FullHistory, HistorySettings
from beam_topics.model.records import IntArray, LongArray

# The position of a unit that is a whole document.
WHOLE_DOCUMENT = -1
# Documents as int32 word numbers, with their labels.
Documents = list[tuple[IntArray, str | None]]
# Documents and positions of units.
Units = tuple[LongArray, LongArray]


class History:
    """Documents in slots.

    ``begin`` stores a document and holds it. ``release`` ends the hold; the slots and pages of
    documents that no unit refers to are used again. With the full history there is no ring of the
    newest units, and the reservoir grows with the number of units.

    Attributes:
        whole: whether the history is full.
        tokens: whether units are single tokens; otherwise they are documents.
        past: the units.
        pages: the tokens of the documents.
        labels: the label of each slot's document, for in-sample measures.
        arrival: int64[slots], the number of the slot's document in order of arrival; -1 where free.
        arrived: documents that have arrived so far.
        received: tokens that this object has stored so far.
        units: units that have arrived so far, counted with the full history only.
    """

    def __init__(self, settings: HistorySettings, tokens: bool = False) -> None:
        """Make a history without documents.

        Args:
            settings: which units can be visited.
            tokens: whether units are single tokens; otherwise they are documents.
        """
        self.whole = isinstance(settings, FullHistory)
        newest, kept = settings.newest, settings.reservoir
        self.tokens = tokens
        self.past = Past(
            newest_slot=np.zeros(newest, np.int32),
            newest_position=np.zeros(newest, np.int64),
            kept_slot=np.zeros(kept, np.int32),
            kept_position=np.zeros(kept, np.int64),
            held=np.zeros(0, np.int32),
            released=np.zeros(0, np.int32),
            marks=np.zeros(5, np.int64),
            sizes=np.array([self.tokens, 1, 0, 0], np.int64),
        )
        self.pages = Pages(
            np.zeros((0, PAGE), np.int32),
            np.zeros(0, np.int32),
            np.zeros(0, np.int32),
            np.zeros(0, np.int64),
        )
        self.labels: list[str | None] = []
        self.arrival = np.zeros(0, np.int64)
        self.arrived = self.received = 0
        self.units = 0
        self._free_slots: list[int] = []
        self._free_pages: list[int] = []

    def begin(self, tokens: IntArray, label: str | None) -> int:
        """Store a document of word numbers and return its slot."""
        return int(self.begin_all([(tokens, label)])[0])

    def begin_all(self, documents: Sequence[tuple[IntArray, str | None]]) -> IntArray:
        """Store several documents and return their slots as int32[D]."""
        lengths = [len(tokens) for tokens, _ in documents]
        counts = [max(1, -(-length // PAGE)) for length in lengths]
        starts, total = [0, *accumulate(counts[:-1])], sum(counts)
        if self.whole:
            self._grow_reservoir(sum(lengths) if self.tokens else len(documents))
        while len(self._free_slots) < len(documents):
            self._grow_slots(len(self.labels))
        if len(self._free_pages) < total:
            self._grow_pages(max(total, len(self.pages.words)))
        slots = _take_last(self._free_slots, len(documents))
        pages = _take_last(self._free_pages, total)
        self._write(pages, starts, [tokens for tokens, _ in documents])
        self.pages.first[slots] = pages[starts[: len(documents)]]
        self.pages.length[slots] = lengths
        if not self.tokens:
            self.past.sizes[LONGEST] = max(int(self.past.sizes[LONGEST]), *lengths, 0)
        self.past.held[slots] = 1
        self.arrival[slots] = np.arange(self.arrived, self.arrived + len(documents))
        self.arrived += len(documents)
        self.received += sum(lengths)
        for slot, (_, label) in zip(slots.tolist(), documents, strict=True):
            self.labels[slot] = label
        return slots

    def restore(
        self,
        slots: LongArray,
        *,
        arrival: LongArray,
        arrived: int,
        seen: int,
        newest: Units,
        kept: Units,
    ) -> None:
        """Continue from a saved history whose documents are stored in ``slots``.

        Args:
            slots: int64[D].
            arrival: int64[D], the arrival number of each document.
            arrived: documents that have arrived so far.
            seen: units that were offered to the reservoir so far.
            newest: the units of the ring as indices into ``slots``, with positions.
            kept: the units of the reservoir, likewise.
        """
        past = self.past
        self.arrival[slots], self.arrived = arrival, arrived
        past.marks[:4] = (
            len(newest[0]) % max(1, len(past.newest_slot)),
            len(newest[0]),
            len(kept[0]),
            seen,
        )
        past.newest_slot[: len(newest[0])], past.newest_position[: len(newest[0])] = (
            slots[newest[0]],
            newest[1],
        )
        past.kept_slot[: len(kept[0])], past.kept_position[: len(kept[0])] = slots[kept[0]], kept[1]
        past.held[:] = 0
        np.add.at(past.held, slots[np.concatenate([newest[0], kept[0]])], 1)

    def admit(self, slot: int, key0: int, key1: int) -> None:
        """Make a document available to visits, as a whole or token by token."""
        if not self.tokens:
            admit(self.past, slot, WHOLE_DOCUMENT, key0, key1)
            return
        for position in range(int(self.pages.length[slot])):
            admit(self.past, slot, position, key0, key1)

    def count_as_newest(self, units: int) -> None:
        """Let the last units, and those that come, have most visits.

        Args:
            units: units since the last change of the stream, at least one.
        """
        past = self.past
        arrived = self.arrival[past.kept_slot[: past.marks[KEPT]]]
        past.sizes[RECENT] = units
        past.sizes[LATER] = np.count_nonzero(arrived >= self.arrived - units)

    def release(self, slots: Sequence[int]) -> None:
        """End the hold on documents, and free every slot that no unit refers to any more."""
        past = self.past
        freed = past.released[: past.marks[RELEASED]].tolist()
        past.marks[RELEASED] = 0
        for slot in slots:
            past.held[slot] -= 1
            if not past.held[slot]:
                freed.append(slot)
        for slot in freed:
            self._free_pages.extend(self.pages_of(slot))
            self.labels[slot] = None
        self._free_slots += freed
        self.arrival[freed] = -1
        if not self.tokens and self.pages.length[freed].max(initial=0) == past.sizes[LONGEST]:
            past.sizes[LONGEST] = self.pages.length[self.arrival >= 0].max(initial=0)

    def pages_of(self, slot: int) -> list[int]:
        """Return a document's pages in order."""
        found = [int(self.pages.first[slot])]
        while self.pages.following[found[-1]] >= 0:
            found.append(int(self.pages.following[found[-1]]))
        return found

    def all_pages(self, slots: LongArray) -> LongArray:
        """Return the pages of several documents, one document after another, as int64."""
        counts = self._page_counts(slots)
        starts, at, step = np.cumsum(counts) - counts, self.pages.first[slots], 0
        found = np.empty(int(counts.sum()), np.int64)
        while len(at):
            found[starts + step] = at
            step += 1
            longer = counts > step
            starts, counts, at = starts[longer], counts[longer], self.pages.following[at[longer]]
        return found

    def page_lengths(self, slots: LongArray) -> LongArray:
        """Return how many tokens each page of :meth:`all_pages` has."""
        counts = self._page_counts(slots)
        before = np.repeat(np.cumsum(counts) - counts, counts)
        place = np.arange(len(before)) - before
        lengths: LongArray = np.repeat(self.pages.length[slots], counts) - PAGE * place
        return np.clip(lengths, 0, PAGE)

    def _page_counts(self, slots: LongArray) -> LongArray:
        """Return how many pages each document has; an empty one has one."""
        counts: LongArray = np.maximum(1, -(-self.pages.length[slots] // PAGE))
        return counts

    def words_of(self, slot: int) -> IntArray:
        """Return int32, the word numbers of a document's tokens."""
        flat: IntArray = self.pages.words[self.pages_of(slot)].reshape(-1)[
            : self.pages.length[slot]
        ]
        return flat

    def slots(self) -> npt.NDArray[np.int64]:
        """Return the used slots in order of arrival."""
        used = np.flatnonzero(self.arrival >= 0)
        ordered: npt.NDArray[np.int64] = used[np.argsort(self.arrival[used])]
        return ordered

    def nbytes(self) -> int:
        """Return the memory of the history in bytes, without the labels."""
        return sum(part.nbytes for part in (*self.past, *self.pages))

    def _write(self, pages: IntArray, starts: list[int], documents: list[IntArray]) -> None:
        """Write the tokens of documents to pages.

        Args:
            pages: the pages of all documents, one document after another.
            starts: the index in ``pages`` of each document's first page.
            documents: the word numbers of each document.
        """
        words = np.zeros((len(pages), PAGE), np.int32)
        flat = words.reshape(-1)
        following = np.empty_like(pages)
        following[:-1] = pages[1:]
        for start, tokens in zip(starts, documents, strict=False):
            flat[start * PAGE : start * PAGE + len(tokens)] = tokens
            # A document's last page comes before the first page of the next document. The index -1
            # is the very last page.
            following[start - 1] = -1
        self.pages.words[pages] = words
        self.pages.following[pages] = following

    def _grow_reservoir(self, count: int) -> None:
        """Make room for ``count`` more units, so that the reservoir never has to drop one."""
        self.units += count
        have = len(self.past.kept_slot)
        if self.units > have:
            more = max(self.units - have, have // 2)
            kept_slot, kept_position = (
                _longer(self.past.kept_slot, more),
                _longer(self.past.kept_position, more),
            )
            self.past = self.past._replace(kept_slot=kept_slot, kept_position=kept_position)

    def _grow_slots(self, have: int) -> None:
        more = max(16, have // 2)
        self.pages = self.pages._replace(
            first=_longer(self.pages.first, more), length=_longer(self.pages.length, more)
        )
        self.past = self.past._replace(
            held=_longer(self.past.held, more), released=_longer(self.past.released, more)
        )
        self.arrival = np.concatenate([self.arrival, np.full(more, -1, np.int64)])
        self.labels += [None] * more
        self._free_slots += list(range(have + more - 1, have - 1, -1))

    def _grow_pages(self, more: int) -> None:
        have = len(self.pages.words)
        words = np.concatenate([self.pages.words, np.zeros((more, PAGE), np.int32)])
        self.pages = self.pages._replace(words=words, following=_longer(self.pages.following, more))
        self._free_pages += list(range(have + more - 1, have - 1, -1))


def _take_last(free: list[int], count: int) -> IntArray:
    """Remove ``count`` numbers from the end of a list and return them."""
    if not count:
        return np.zeros(0, np.int32)
    taken = np.array(free[-count:], np.int32)
    del free[-count:]
    return taken


def _longer(array: npt.NDArray[Any], more: int) -> npt.NDArray[Any]:
    return np.concatenate([array, np.zeros(more, array.dtype)])
