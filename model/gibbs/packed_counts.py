"""Counts of many words, in packed rows side by side: what SparseLDA samples on
(:mod:`model.gibbs.kernels.packed_rows`).

A row has room for the topics that its word has, in whole blocks, and moves to the end of all rows
when it needs more; what it left is won back when the rows are packed anew. So a table of 400 topics
and 1,740 papers is a twentieth of a dense one. No bit depends on places.

>>> counts = PackedCounts(np.array([3, 1]), topics=4)
>>> counts.bits, counts.begins.tolist(), counts.rooms.tolist()
(2, [0, 8], [8, 8])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from model.gibbs.kernels.packed_rows import copy_rows
from model.gibbs.kernels.row_sums import LANES
from model.records import FloatArray, IntArray, LongArray

_INT32_LIMIT = 2**31
# Free entries behind the rows, as a share of the rows; and how many times what the rows need may be
# held before they are packed anew.
_FREE_SHARE, _REPACK_FACTOR = 0.25, 1.75


class PackedCounts:
    """No tokens yet.

    Attributes:
        bits: of a topic's number in an entry. topics: T. begins: int64[V], where each row begins in
        ``entries``: int32, or int64 where counts need it. lengths: int32[V]. rooms: int32[V], how
        many entries each row has room for. used: int64[1], the first entry behind all rows.
    """

    def __init__(self, frequency: LongArray, topics: int) -> None:
        """``frequency``: int64[V], how many tokens each word can have."""
        self.topics, self.bits = topics, max((topics - 1).bit_length(), 1)
        small = int(frequency.max(initial=0) + 1) << self.bits < _INT32_LIMIT
        self.begins: LongArray = np.zeros(len(frequency), np.int64)
        self.lengths: IntArray = np.zeros(len(frequency), np.int32)
        self.capacities: IntArray = np.zeros(len(frequency), np.int32)
        self.end_of_rows: LongArray = np.zeros(1, np.int64)
        self.entries: Any = np.zeros(0, np.int32 if small else np.int64)
        self._pack()

    @property
    def rows(self) -> tuple[LongArray, Any, IntArray, int]:
        """What kernels take that leave the rows where they are."""
        return self.begins, self.entries, self.lengths, self.bits

    @property
    def growth(self) -> tuple[IntArray, LongArray]:
        """What kernels that move rows take besides."""
        return self.capacities, self.end_of_rows

    def run(self, documents: int, kernel: Callable[[LongArray, FloatArray], None]) -> None:
        """Pass over so many documents: ``kernel`` goes on from (progress, carried) until there
        is no room (:mod:`model.gibbs.kernels.sparse_lda`).
        """
        progress, carried = np.zeros(2, np.int64), np.zeros(1)
        kernel(progress, carried)
        while progress[0] < documents:
            self._pack()
            kernel(progress, carried)
        if len(self.entries) > _REPACK_FACTOR * self._padded(self.lengths).sum() + self.topics:
            self._pack()

    def _pack(self) -> None:
        """Rows side by side, as short as can be, with free entries behind them: for the longest
        row that there can be, at least.
        """
        capacities = self._padded(self.lengths)
        begins, end_of_rows = np.cumsum(capacities) - capacities, int(capacities.sum())
        self.entries = copy_rows(
            self.begins,
            self.entries,
            self.lengths,
            begins,
            end_of_rows + int(_FREE_SHARE * end_of_rows) + self.topics + LANES,
        )
        self.begins, self.capacities, self.end_of_rows[0] = (
            begins,
            capacities.astype(np.int32),
            end_of_rows,
        )

    def _padded(self, lengths: Any) -> LongArray:
        """In whole blocks; a row is read in blocks, and has one at least."""
        capacities: LongArray = -(-np.maximum(lengths, 1).astype(np.int64) // LANES) * LANES
        return capacities

    def triples(self) -> tuple[LongArray, LongArray, LongArray]:
        """(words, topics, counts) of all entries, by word and topic ascending."""
        words = np.repeat(np.arange(len(self.lengths)), self.lengths)
        starts = np.cumsum(self.lengths, dtype=np.int64) - self.lengths
        entries = self.entries[self.begins[words] + np.arange(len(words)) - starts[words]].astype(
            np.int64
        )
        found = entries & ((1 << self.bits) - 1)
        order = np.lexsort((found, words))
        return words[order], found[order], entries[order] >> self.bits

    def nbytes(self) -> int:
        """Memory."""
        return int(
            self.begins.nbytes + self.entries.nbytes + self.lengths.nbytes + self.capacities.nbytes
        )
