"""The documents that can be visited again: slots, and pages of tokens.

:mod:`beam_topics.model.papers.kernels.reservoir` says which units there are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.papers.kernels.copy_on_write import longer
from beam_topics.model.papers.kernels.particles import PAGE, Pages
from beam_topics.model.papers.kernels.reservoir import (
    KEPT,
    RELEASED,
    SEEN,
    WHOLE,
    Past,
    release_unit,
)
from beam_topics.model.papers.settings import FullHistory, HistorySettings


class History:
    """Documents in slots.

    :meth:`begin` stores a document and holds it. :meth:`release` ends the hold; the slots and pages
    of documents that no unit refers to are used again. With the full history the reservoir grows
    with the number of units.

    Attributes:
        whole: whether the history is full.
        past: the units.
        pages: the tokens of the documents.
        labels: the label of each slot's document.
        arrival: int64[slots], how many documents came before the slot's; -1 where it is free.
    """

    def __init__(self, settings: HistorySettings) -> None:
        self.whole, kept = isinstance(settings, FullHistory), settings.reservoir
        none, long = np.zeros(0, np.int32), np.zeros(0, np.int64)
        slots, positions = np.zeros(kept, np.int32), np.zeros(kept, np.int64)
        self.past = Past(slots, positions, none, none, np.zeros(3, np.int64))
        self.pages = Pages(np.zeros((0, PAGE), np.int32), none, none, long, long)
        self.labels: list[str | None] = []
        self.arrival = long
        self._units = 0
        self._free_slots: list[int] = []
        self._free_pages: list[int] = []

    def begin(self, tokens: IntArray, label: str | None, number: int, units: int) -> int:
        """Store a document and return its slot.

        Args:
            tokens: int32[n], word numbers.
            label: the document's label.
            number: how many documents came before it.
            units: units that it will admit.
        """
        count = max(1, -(-len(tokens) // PAGE))
        self._make_room(count, units)
        slot, pages = self._free_slots.pop(), self._free_pages[-count:]
        del self._free_pages[-count:]
        flat = np.zeros(count * PAGE, np.int32)
        flat[: len(tokens)] = tokens
        self.pages.words[pages] = flat.reshape(count, PAGE)
        self.pages.following[pages] = [*pages[1:], -1]
        self.pages.first[slot], self.pages.length[slot] = pages[0], len(tokens)
        self.pages.drawn[slot], self.past.held[slot] = 0, 1
        self.labels[slot], self.arrival[slot] = label, number
        return slot

    def release(self, slot: int) -> None:
        """End the hold on a document, and free every slot that no unit refers to any longer."""
        release_unit(self.past, slot)
        freed = self.past.released[: self.past.marks[RELEASED]].tolist()
        self.past.marks[RELEASED] = 0
        for one in freed:
            self._free_pages += self.pages_of(one)
            self.labels[one] = None
        self._free_slots += freed
        self.arrival[freed] = -1

    def empty(self, slot: int) -> None:
        """Make a document one without words and label; units of its tokens leave."""
        first, *rest = self.pages_of(slot)
        self._free_pages += rest
        self.pages.words[[first, *rest]], self.pages.following[first] = 0, -1
        self.pages.length[slot] = self.pages.drawn[slot] = 0
        self.labels[slot] = None
        past, kept = self.past, int(self.past.marks[KEPT])
        stays = (past.slot[:kept] != slot) | (past.position[:kept] == WHOLE)
        past.marks[KEPT] = left = int(stays.sum())
        for part in (past.slot, past.position):
            part[:left] = part[:kept][stays]
        if self.whole:
            past.marks[SEEN] = left
        past.held[slot] -= kept - left
        if not past.held[slot]:
            past.held[slot] = 1
            self.release(slot)

    def restore(
        self, slots: LongArray, seen: int, documents: LongArray, positions: LongArray
    ) -> None:
        """Continue from a saved history whose documents are begun and held.

        Args:
            slots: int64[D], the documents' slots.
            seen: units that were offered to the reservoir so far.
            documents: int64[n], the documents of the reservoir's units, as indices of ``slots``.
            positions: int64[n], their positions.
        """
        past, count = self.past, len(documents)
        past.slot[:count], past.position[:count] = slots[documents], positions
        past.marks[KEPT], past.marks[SEEN] = count, seen
        past.held[slots] = np.bincount(documents, minlength=len(slots))
        self.pages.drawn[slots] = self.pages.length[slots]

    def pages_of(self, slot: int) -> list[int]:
        """Return a document's pages in order."""
        found = [int(self.pages.first[slot])]
        while self.pages.following[found[-1]] >= 0:
            found.append(int(self.pages.following[found[-1]]))
        return found

    def all_pages(self, slots: LongArray) -> tuple[LongArray, LongArray]:
        """Return the pages of some documents, and how many tokens each page has; int64 both."""
        pages, lengths = [], []
        for slot in slots.tolist():
            mine = self.pages_of(slot)
            pages += mine
            left = int(self.pages.length[slot])
            lengths += [min(PAGE, left - PAGE * k) for k in range(len(mine))]
        return np.array(pages, np.int64), np.array(lengths, np.int64)

    def words_of(self, slot: int) -> IntArray:
        """Return int32, the word numbers of a document's tokens."""
        flat: IntArray = self.pages.words[self.pages_of(slot)].reshape(-1)
        return flat[: self.pages.length[slot]]

    def slots(self) -> npt.NDArray[np.int64]:
        """Return the used slots in order of arrival."""
        used = np.flatnonzero(self.arrival >= 0)
        ordered: npt.NDArray[np.int64] = used[np.argsort(self.arrival[used])]
        return ordered

    def nbytes(self) -> int:
        """Return the memory of the history in bytes, without the labels."""
        return sum(part.nbytes for part in (*self.past, *self.pages))

    def _make_room(self, pages: int, units: int) -> None:
        """Make room for one more document."""
        past, have = self.past, len(self.labels)
        self._units = wanted = self._units + units
        if self.whole and wanted > len(past.slot):
            more = max(wanted - len(past.slot), len(past.slot) // 2)
            slots, positions = (longer(part, more) for part in (past.slot, past.position))
            past = past._replace(slot=slots, position=positions)
        if not self._free_slots:
            more = max(16, have // 2)
            past = past._replace(held=longer(past.held, more), released=longer(past.released, more))
            first, length, drawn = (longer(part, more) for part in self.pages[2:])
            self.pages = self.pages._replace(first=first, length=length, drawn=drawn)
            self.arrival = np.concatenate([self.arrival, np.full(more, -1, np.int64)])
            self.labels += [None] * more
            self._free_slots = list(range(have + more - 1, have - 1, -1))
        self.past = past
        if len(self._free_pages) < pages:
            before = len(self.pages.words)
            more = max(pages, before // 2)
            words, following = (longer(part, more) for part in self.pages[:2])
            self.pages = self.pages._replace(words=words, following=following)
            self._free_pages += list(range(before + more - 1, before - 1, -1))
