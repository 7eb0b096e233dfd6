"""Documents as the model sees them: which of its words occur how often, for many documents in a few calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from model.records import FloatArray, IntArray, LongArray, TokenisedDocument
from model.snapshot import Snapshot

# What a classifier sees of a word that occurs n times: n itself, or its square root.
FEATURES = ("roots", "counts")


def feature_values(features: str, times: FloatArray) -> FloatArray:
    """One of :data:`FEATURES` of float[N] numbers of occurrences. A root, not a logarithm: every processor rounds it alike."""
    return np.sqrt(times) if features == "roots" else times


@dataclass(frozen=True, eq=False)
class WordCounts:
    """The known words of D documents, one document behind the other, each in order of first use.

    Attributes:
        rows: int64[N], rows of the snapshot, distinct within a document. times: int64[N], how often each occurs there.
        offsets: int64[D + 1]: document d has rows[offsets[d]:offsets[d + 1]]. tokens: int64[D], its known tokens.
    """

    rows: LongArray
    times: LongArray
    offsets: LongArray
    tokens: LongArray

    def each(self) -> Iterator[slice]:
        """Where each document's words are."""
        return (slice(begin, end) for begin, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True))

    def matrix(self, words: int, dtype: npt.DTypeLike, features: str = "counts") -> Any:
        """scipy's CSR [D, words] of the counts, or of their roots."""
        values = feature_values(features, self.times.astype(dtype))
        return csr_array((values, self.rows, self.offsets), shape=(len(self.tokens), words))


def word_counts(snapshot: Snapshot, documents: Sequence[TokenisedDocument]) -> WordCounts:
    """The documents' words, without those that the model does not know."""
    starts = np.cumsum([0, *(len(document.words) for document in documents)])
    # Document by document: arrays of a whole batch would be new pages of memory, which cost more than a call each.
    rows = np.concatenate([np.zeros(0, np.int64), *(snapshot.rows_of(document.words) for document in documents)])
    uses = (np.bincount(document.tokens, minlength=len(document.words)) for document in documents)
    times = np.concatenate([np.zeros(0, np.int64), *uses])
    known = np.flatnonzero(rows >= 0)
    rows, times, offsets = rows[known], times[known], np.searchsorted(known, starts)
    if snapshot.buckets:
        rows, times, offsets = _joined(rows, times, offsets)
    return WordCounts(rows, times, offsets, np.diff(np.concatenate([[0], np.cumsum(times)])[offsets]))


def _joined(rows: LongArray, times: LongArray, offsets: LongArray) -> tuple[LongArray, LongArray, LongArray]:
    """Words of one bucket in one document are one word, where the first of them was."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    names = owners * (int(rows.max(initial=0)) + 1) + rows
    _, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    together = np.zeros(len(first), np.int64)
    np.add.at(together, inverse, times)
    order = np.argsort(first)
    kept = first[order]
    return rows[kept], together[order], np.searchsorted(kept, offsets)


def tokens_of(times: LongArray) -> IntArray:
    """int32[times.sum()]: number v so often as times[v] says, ascending: tokens, word by word."""
    return np.repeat(np.arange(len(times), dtype=np.int32), times)
