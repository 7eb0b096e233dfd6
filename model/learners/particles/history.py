"""The documents that can be visited again: slots and pages for their tokens, and who may be
visited (:mod:`model.learners.particles.kernels.history`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from model.learners.particles.kernels.history import LONGEST, RELEASED, Past, admit
from model.learners.particles.kernels.particles import PAGE, Pages
from model.options import Kinds, Record, option
from model.records import IntArray, LongArray

WHOLE_DOCUMENT = -1
# The documents and the positions of units.
Units = tuple[LongArray, LongArray]


class HistorySettings(Record):
    """Which of the past can be visited."""

    @property
    def newest(self) -> int:
        """How many of the newest documents or tokens."""
        return 0

    @property
    def reservoir(self) -> int:
        """The size of the uniform sample of earlier ones."""
        return 0

    @property
    def newest_share(self) -> float:
        """The share of visits that goes to the newest."""
        return 0.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be visited."""
        return False


@dataclass(frozen=True)
class Reservoir(HistorySettings):
    """A bounded part: the newest, and a uniform sample of all that came before them."""

    kind = "reservoir"

    newest: int = option(
        2500, "how many of the newest can be visited", unit="documents or tokens", least=0
    )
    reservoir: int = option(
        500,
        "size of the uniform sample of earlier ones that can be visited",
        unit="documents or tokens",
        least=0,
    )
    newest_share: float = option(
        0.85,
        "share of the visits that goes to the newest",
        least=0,
        most=1,
        remedy="Give for example 0.85.",
        only_where=(
            lambda past: past.newest and past.reservoir,
            "--newest and --reservoir are above 0",
        ),
    )

    @property
    def is_empty(self) -> bool:
        return not self.newest and not self.reservoir


@dataclass(frozen=True)
class FullHistory(HistorySettings):
    """Everything, for study: the state grows on and on, and one thread learns."""

    kind = "full"


HISTORIES = Kinds(Reservoir, FullHistory)
NOTHING = Reservoir(newest=0, reservoir=0)


class History:
    """Documents in slots. ``begin`` puts one in and holds it, ``release`` lets go of some, and
    slots and pages are used again.

    ``arrival[slot]`` numbers the documents in the order in which they came; ``labels[slot]`` is
    kept for in-sample measures. With the whole past there is no ring of the newest, and the
    reservoir grows with the ``units`` that there were.
    """

    def __init__(self, settings: HistorySettings, tokens: bool = False) -> None:
        """Units are single ``tokens``, or whole documents."""
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
            sizes=np.array([self.tokens, 1], np.int64),
        )
        self.pages = Pages(
            np.zeros((0, PAGE), np.int32),
            np.zeros(0, np.int32),
            np.zeros(0, np.int32),
            np.zeros(0, np.int64),
        )
        self.labels: list[str | None] = []
        self.token_draws = np.zeros(0, np.int64)
        self.arrived = 0
        self.units = 0
        self._free_slots: list[int] = []
        self._free_pages: list[int] = []

    def begin(self, tokens: IntArray, label: str | None) -> int:
        """Put a document's tokens (word numbers) into a slot of its own; the slot."""
        return int(self.begin_all([(tokens, label)])[0])

    def begin_all(self, documents: Sequence[tuple[IntArray, str | None]]) -> IntArray:
        """The same for several; int32[D], their slots."""
        lengths = np.array([len(tokens) for tokens, _ in documents], np.int64)
        counts = np.maximum(1, -(-lengths // PAGE))
        total = int(counts.sum())
        if self.whole:
            self._keep_units(int(lengths.sum()) if self.tokens else len(documents))
        while len(self._free_slots) < len(documents):
            self._grow_slots(len(self.labels))
        if len(self._free_pages) < total:
            self._grow_pages(max(total, len(self.pages.words)))
        slots, taken = _last(self._free_slots, len(documents)), _last(self._free_pages, total)
        starts = np.cumsum(counts) - counts
        self._write(
            slots,
            taken,
            starts,
            lengths,
            np.concatenate([np.zeros(0, np.int32), *(tokens for tokens, _ in documents)]),
        )
        self.past.held[slots] = 1
        self.token_draws[slots] = np.arange(self.arrived, self.arrived + len(documents))
        self.arrived += len(documents)
        for slot, (_, label) in zip(slots.tolist(), documents, strict=True):
            self.labels[slot] = label
        return slots

    def restore(
        self,
        slots: LongArray,
        token_draws: LongArray,
        arrived: int,
        seen: int,
        newest: Units,
        kept: Units,
    ) -> None:
        """Go on from a saved history, whose documents have begun in ``slots``: who may be
        visited, as indices into ``slots``.
        """
        past = self.past
        self.token_draws[slots], self.arrived = token_draws, arrived
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
        """The document can be visited from now on: as a whole, or each of its tokens."""
        if not self.tokens:
            admit(self.past, slot, WHOLE_DOCUMENT, key0, key1)
            return
        for position in range(int(self.pages.length[slot])):
            admit(self.past, slot, position, key0, key1)

    def release(self, slots: Sequence[int]) -> None:
        """The documents are no longer being learned: free them and all others that no unit holds
        any more.
        """
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
        self.token_draws[freed] = -1
        if not self.tokens and self.pages.length[freed].max(initial=0) == past.sizes[LONGEST]:
            past.sizes[LONGEST] = self.pages.length[self.token_draws >= 0].max(initial=0)

    def pages_of(self, slot: int) -> list[int]:
        """A document's pages in order."""
        found = [int(self.pages.first[slot])]
        while self.pages.following[found[-1]] >= 0:
            found.append(int(self.pages.following[found[-1]]))
        return found

    def all_pages(self, slots: LongArray) -> LongArray:
        """int64: the pages of documents, one document's after the other's."""
        counts = np.maximum(1, -(-self.pages.length[slots] // PAGE))
        starts, at, step = np.cumsum(counts) - counts, self.pages.first[slots], 0
        found = np.empty(int(counts.sum()), np.int64)
        while len(at):
            found[starts + step] = at
            step += 1
            longer = counts > step
            starts, counts, at = starts[longer], counts[longer], self.pages.following[at[longer]]
        return found

    def words_of(self, slot: int) -> IntArray:
        """int32: the word numbers of a document's tokens."""
        flat: IntArray = self.pages.words[self.pages_of(slot)].reshape(-1)[
            : self.pages.length[slot]
        ]
        return flat

    def slots(self) -> npt.NDArray[np.int64]:
        """The slots in use, in order of arrival."""
        used = np.flatnonzero(self.token_draws >= 0)
        ordered: npt.NDArray[np.int64] = used[np.argsort(self.token_draws[used])]
        return ordered

    def nbytes(self) -> int:
        """Memory that the history holds, labels left out."""
        return sum(part.nbytes for part in (*self.past, *self.pages))

    def _write(
        self,
        slots: IntArray,
        taken: IntArray,
        starts: LongArray,
        lengths: LongArray,
        tokens: IntArray,
    ) -> None:
        """``taken``: the documents' pages one after the other, each document's from its start
        on.
        """
        counts = np.append(starts[1:], len(taken)) - starts
        full = np.zeros(len(taken) * PAGE, np.int32)
        full[
            np.arange(len(tokens))
            + np.repeat(starts * PAGE - (np.cumsum(lengths) - lengths), lengths)
        ] = tokens
        self.pages.words[taken] = full.reshape(-1, PAGE)
        following = np.append(taken[1:], -1)
        following[starts + counts - 1] = -1
        self.pages.following[taken] = following
        self.pages.first[slots] = taken[starts]
        self.pages.length[slots] = lengths
        if not self.tokens:
            self.past.sizes[LONGEST] = max(self.past.sizes[LONGEST], int(lengths.max(initial=0)))

    def _keep_units(self, count: int) -> None:
        """Room in the reservoir for these, too: what is never full never lets go of anything."""
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
        self.token_draws = np.concatenate([self.token_draws, np.full(more, -1, np.int64)])
        self.labels += [None] * more
        self._free_slots += list(range(have + more - 1, have - 1, -1))

    def _grow_pages(self, more: int) -> None:
        have = len(self.pages.words)
        words = np.concatenate([self.pages.words, np.zeros((more, PAGE), np.int32)])
        self.pages = self.pages._replace(words=words, following=_longer(self.pages.following, more))
        self._free_pages += list(range(have + more - 1, have - 1, -1))


def _last(free: list[int], count: int) -> IntArray:
    """Take so many from the end."""
    if not count:
        return np.zeros(0, np.int32)
    taken = np.array(free[-count:], np.int32)
    del free[-count:]
    return taken


def _longer(array: npt.NDArray[Any], more: int) -> npt.NDArray[Any]:
    return np.concatenate([array, np.zeros(more, array.dtype)])
