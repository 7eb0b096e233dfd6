"""The windows of a restored job: the same documents in each as before.

A runner restores a job to a state before some of the versions that the job published, and reads
its log again from there. Late documents then arrive earlier or later than the first time. They
would join other windows, and the job would publish other versions in place of those that people
have seen. So the model store records in which window each document of a version was learned
(:mod:`beam_topics.model.learner_log.known`). Until the newest recorded window closes,

1. a document joins the window that was recorded for it. A document without a record joins the
   window after the newest one, or its own if that is later;
2. a window waits for all of its recorded documents, at most until event time passes what had been
   read when the newest window was cut. A log is read in order, so all of them have come by then.

What the job learned after its newest version is not recorded, because nobody has seen it.

>>> cuts = Cuts(np.array([3, 5], np.uint64), np.array([20, 10]), 30, 40, lambda block: block)
>>> cuts.joined(np.array([3, 4, 5, 4], np.uint64), np.array([10, 10, 10, 50])).tolist()
[20, 30, 10, 50]
>>> cuts.lacks(10, [np.array([4], np.uint64)]), cuts.lacks(20, [np.array([3], np.uint64)])
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import LongArray
from beam_topics.model.documents.block import Block

Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Cuts:
    """The recorded windows of a model key; there is at least one document.

    Attributes:
        hashes: uint64[n], the hashes of the documents, ascending.
        ends: int64[n], the end of the window of each.
        after: The end of the window after the newest one.
        patience: The event time from which windows close with the documents that they have.
        hashes_of: Returns the hashes of the documents of a block.
    """

    hashes: Hashes
    ends: LongArray
    after: int
    patience: int
    hashes_of: Callable[[Block], Hashes]

    @cached_property
    def windows(self) -> list[int]:
        """The ends of the windows, ascending."""
        found: list[int] = np.unique(self.ends).tolist()
        return found

    @property
    def newest(self) -> int:
        """The end of the newest window."""
        return self.windows[-1]

    def between(self, closed: int | None, time: int) -> list[int]:
        """Return the ends of the windows after the last closed one and up to a time, ascending."""
        return [end for end in self.windows if (closed is None or closed < end) and end <= time]

    def joined(self, block: Block, ends: LongArray) -> LongArray:
        """Return the end of the window that each document joins, int64[D].

        Args:
            block: The documents.
            ends: int64[D], the ends of the windows that they would join without a record.
        """
        found = self.hashes_of(block)
        places = np.minimum(np.searchsorted(self.hashes, found), len(self.hashes) - 1)
        recorded = self.ends[places]
        is_recorded = (self.hashes[places] == found) & (recorded >= ends)
        return np.where(is_recorded, recorded, np.where(ends <= self.newest, self.after, ends))

    def lacks(self, end: int, waiting: Iterable[Block]) -> bool:
        """Return whether a window still lacks a recorded document.

        Args:
            end: The end of the window.
            waiting: The documents of the window that have arrived.
        """
        found = [self.hashes_of(block) for block in waiting]
        wanted = self.hashes[self.ends == end]
        return not found or not np.isin(wanted, np.concatenate(found)).all()
