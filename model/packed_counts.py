"""Counts of many words, in packed rows side by side: what SparseLDA samples on (:mod:`model.kernels.packed`).

A word has room for as many topics as it has tokens, at most all, so rows never move and the whole is a fraction of a dense table: a tenth
for 800 topics of 1,740 papers.

>>> counts = PackedCounts(np.array([3, 1]), topics=4)
>>> counts.bits, counts.begins.tolist(), len(counts.entries)
(2, [0, 8], 16)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.row_sums import LANES
from model.records import IntArray, LongArray

_SMALL = 2**31


class PackedCounts:
    """No tokens yet.

    Attributes:
        bits: of a topic's number in an entry. topics: T.
        begins: int64[V], where each row begins in ``entries``: int32, or int64 where counts need it. lengths: int32[V].
    """

    def __init__(self, frequency: LongArray, topics: int) -> None:
        """``frequency``: int64[V], how many tokens each word can have."""
        self.topics, self.bits = topics, max((topics - 1).bit_length(), 1)
        # A row is read in whole blocks.
        room = -(-np.minimum(np.maximum(frequency, 1), topics) // LANES) * LANES
        small = int(frequency.max(initial=0) + 1) << self.bits < _SMALL
        self.begins: LongArray = np.cumsum(room) - room
        self.entries: Any = np.zeros(int(room.sum()), np.int32 if small else np.int64)
        self.lengths: IntArray = np.zeros(len(frequency), np.int32)

    @property
    def rows(self) -> tuple[LongArray, Any, IntArray, int]:
        """What kernels take."""
        return self.begins, self.entries, self.lengths, self.bits

    def triples(self) -> tuple[LongArray, LongArray, LongArray]:
        """(words, topics, counts) of all entries, by word and topic ascending."""
        words = np.repeat(np.arange(len(self.lengths)), self.lengths)
        starts = np.cumsum(self.lengths, dtype=np.int64) - self.lengths
        entries = self.entries[self.begins[words] + np.arange(len(words)) - starts[words]].astype(np.int64)
        found = entries & ((1 << self.bits) - 1)
        order = np.lexsort((found, words))
        return words[order], found[order], entries[order] >> self.bits

    def nbytes(self) -> int:
        """Memory."""
        return int(self.begins.nbytes + self.entries.nbytes + self.lengths.nbytes)
