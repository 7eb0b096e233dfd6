"""Counts of many words in packed rows side by side, on which SparseLDA samples.

A row (:mod:`beam_topics.model.inference.kernels.row_sums`) has room for the topics of its word, in
whole blocks. It is moved to the end of all rows when it needs more. The space that it leaves is
recovered when the rows are packed anew. A table of 400 topics and 1,740 papers takes a twentieth of
a dense one. No sampled bit depends on where rows are.

>>> counts = PackedCounts(np.array([3, 1]), topics=4)
>>> counts.bits, counts.begins.tolist(), counts.capacities.tolist()
(2, [0, 8], [8, 8])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.inference.kernels.row_sums import LANES
from beam_topics.model.papers.kernels.packed_rows import copy_rows
from beam_topics.model.papers.kernels.records import PackedRows, SweepPosition

_INT32_LIMIT = 2**31
# Free entries behind the rows, as a share of the rows.
_FREE_SHARE = 0.25
# Rows are packed anew when they take more than this factor of what they need.
_REPACK_FACTOR = 1.75


class PackedCounts:
    """Counts n_wt in packed rows, all 0 at first.

    Attributes:
        topics: T.
        bits: width of a topic number in an entry.
        begins: int64[V], where each row begins in ``entries``.
        entries: int32, or int64 where the counts need it.
        lengths: int32[V], the number of entries in each row.
        capacities: int32[V], the number of entries that each row has room for.
        end_of_rows: int64[1], the first entry behind all rows.
    """

    def __init__(self, frequency: LongArray, topics: int) -> None:
        """Create empty counts.

        Args:
            frequency: int64[V], the largest number of tokens that each word can have.
            topics: T.
        """
        self.topics, self.bits = topics, max((topics - 1).bit_length(), 1)
        small = int(frequency.max(initial=0) + 1) << self.bits < _INT32_LIMIT
        self.begins: LongArray = np.zeros(len(frequency), np.int64)
        self.lengths: IntArray = np.zeros(len(frequency), np.int32)
        self.capacities: IntArray = np.zeros(len(frequency), np.int32)
        self.end_of_rows: LongArray = np.zeros(1, np.int64)
        self.entries: Any = np.zeros(0, np.int32 if small else np.int64)
        self._pack()

    @property
    def rows(self) -> PackedRows:
        """The arrays, for kernels; valid until the rows are packed anew."""
        return PackedRows(
            self.begins, self.entries, self.lengths, self.capacities, self.end_of_rows, self.bits
        )

    def sweep(self, documents: int, kernel: Callable[[PackedRows, SweepPosition], None]) -> None:
        """Run a kernel over all documents, and pack the rows anew where it runs out of room.

        Args:
            documents: D.
            kernel: continues a sweep from its position, as
                :func:`beam_topics.model.papers.kernels.sparse_lda.sweep_documents` does.
        """
        position = SweepPosition(np.zeros(2, np.int64), np.zeros(1))
        kernel(self.rows, position)
        while position.progress[0] < documents:
            self._pack()
            kernel(self.rows, position)
        if len(self.entries) > _REPACK_FACTOR * self._padded(self.lengths).sum() + self.topics:
            self._pack()

    def _pack(self) -> None:
        """Put the rows side by side, with free entries behind them.

        There is space for the longest row that is possible, at least.
        """
        capacities = self._padded(self.lengths)
        begins, end = np.cumsum(capacities) - capacities, int(capacities.sum())
        size = end + int(_FREE_SHARE * end) + self.topics + LANES
        self.entries = copy_rows(self.begins, self.entries, self.lengths, begins, size)
        self.begins, self.capacities = begins, capacities.astype(np.int32)
        self.end_of_rows[0] = end

    def _padded(self, lengths: Any) -> LongArray:
        """Return lengths in whole blocks. Rows are read in blocks, so each has one at least."""
        padded: LongArray = -(-np.maximum(lengths, 1).astype(np.int64) // LANES) * LANES
        return padded

    def triples(self) -> tuple[LongArray, LongArray, LongArray]:
        """Return (words, topics, counts) of all entries, by word and topic ascending."""
        words = np.repeat(np.arange(len(self.lengths)), self.lengths)
        starts = np.cumsum(self.lengths, dtype=np.int64) - self.lengths
        entries = self.entries[self.begins[words] + np.arange(len(words)) - starts[words]].astype(
            np.int64
        )
        found = entries & ((1 << self.bits) - 1)
        order = np.lexsort((found, words))
        return words[order], found[order], entries[order] >> self.bits
