"""Documents as the model sees them: which of its words occur how often, for many documents in a
few calls.
"""

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


def feature_values(features: str, occurrences: FloatArray) -> FloatArray:
    """One of :data:`FEATURES` of float[N] numbers of occurrences. A root, not a logarithm: every
    processor rounds it alike.
    """
    return np.sqrt(occurrences) if features == "roots" else occurrences


@dataclass(frozen=True, eq=False)
class WordCounts:
    """The known words of D documents, one document behind the other, each in order of first use.

    Attributes:
        rows: int64[N], rows of the snapshot, distinct within a document. times: int64[N], how often
        each occurs there. offsets: int64[D + 1]: document d has rows[offsets[d]:offsets[d + 1]].
        tokens: int64[D], its known tokens.
    """

    rows: LongArray
    occurrences: LongArray
    offsets: LongArray
    tokens: LongArray

    def document_slices(self) -> Iterator[slice]:
        """Where each document's words are."""
        return (
            slice(begin, end)
            for begin, end in zip(
                self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True
            )
        )

    def matrix(self, words: int, dtype: npt.DTypeLike, features: str = "counts") -> Any:
        """scipy's CSR [D, words] of the counts, or of their roots."""
        values = feature_values(features, self.occurrences.astype(dtype))
        return csr_array((values, self.rows, self.offsets), shape=(len(self.tokens), words))


def word_counts(snapshot: Snapshot, documents: Sequence[TokenisedDocument]) -> WordCounts:
    """The documents' words, without those that the model does not know."""
    starts = np.cumsum([0, *(len(document.words) for document in documents)])
    # Document by document: arrays of a whole batch would be new pages of memory, which cost more
    # than a call each.
    rows = np.concatenate(
        [np.zeros(0, np.int64), *(snapshot.rows_of(document.words) for document in documents)]
    )
    uses = (np.bincount(document.tokens, minlength=len(document.words)) for document in documents)
    occurrences = np.concatenate([np.zeros(0, np.int64), *uses])
    known = np.flatnonzero(rows >= 0)
    rows, occurrences, offsets = rows[known], occurrences[known], np.searchsorted(known, starts)
    if snapshot.buckets:
        rows, occurrences, offsets = _joined(rows, occurrences, offsets)
    return WordCounts(
        rows, occurrences, offsets, np.diff(np.concatenate([[0], np.cumsum(occurrences)])[offsets])
    )


def known_tokens(snapshot: Snapshot, document: TokenisedDocument) -> tuple[LongArray, IntArray]:
    """The document without the words that the model does not know.

    Returns:
        int64[V]: rows of the snapshot, the document's known words in order of first use; int32[n]:
        its tokens as indices into them.
    """
    rows = snapshot.rows_of(document.words)
    known, tokens = rows >= 0, document.tokens
    if known.all():
        tokens = tokens.copy()
    else:
        rows, tokens = rows[known], (np.cumsum(known, dtype=np.int32) - 1)[tokens[known[tokens]]]
    if snapshot.buckets:
        first, numbers = _by_first_use(rows)
        rows, tokens = rows[first], numbers[tokens]
    return rows, tokens


def _joined(
    rows: LongArray, occurrences: LongArray, offsets: LongArray
) -> tuple[LongArray, LongArray, LongArray]:
    """Words of one bucket in one document are one word, where the first of them was."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first, numbers = _by_first_use(owners * (int(rows.max(initial=0)) + 1) + rows)
    together = np.zeros(len(first), np.int64)
    np.add.at(together, numbers, occurrences)
    return rows[first], together, np.searchsorted(first, offsets)


def _by_first_use(names: LongArray) -> tuple[LongArray, IntArray]:
    """int64: where each distinct name is first, ascending; int32[len(names)]: which of those
    each name is.
    """
    _, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(first)
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order))
    return first[order], places[inverse]


def repeat_words(occurrences: LongArray) -> IntArray:
    """int32[times.sum()]: number v so often as times[v] says, ascending: tokens, word by word."""
    return np.repeat(np.arange(len(occurrences), dtype=np.int32), occurrences)
