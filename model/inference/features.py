"""Documents as counts of the words that a model knows, for many documents in a few calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.records import FloatArray, IntArray, LongArray, TokenisedDocument
from beam_topics.model.snapshot import Snapshot
from beam_topics.model.words.known_words import first_uses, known_words

# Documents whose words are looked up in one call.
_TOGETHER = 256


# The feature of a word that occurs n times. Square roots are correctly rounded on every processor;
# logarithms are not.
_VALUES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "roots": np.sqrt,
    "counts": lambda occurrences: occurrences,
}
FEATURES = tuple(_VALUES)


def feature_values(features: str, occurrences: FloatArray) -> FloatArray:
    """Return the features of words by their number of occurrences.

    Args:
        features: one of :data:`FEATURES`.
        occurrences: float[N].

    Returns:
        float[N].
    """
    return _VALUES[features](occurrences)


@dataclass(frozen=True, eq=False)
class WordCounts:
    """The known words of D documents, one document after the other, each in order of first use.

    Attributes:
        rows: int64[N], rows of the snapshot, distinct within a document.
        occurrences: int64[N], how often each occurs in its document.
        offsets: int64[D + 1]; document d has rows[offsets[d]:offsets[d + 1]].
        tokens: int64[D], the number of known tokens of each document.
    """

    rows: LongArray
    occurrences: LongArray
    offsets: LongArray
    tokens: LongArray

    def document_slices(self) -> Iterator[slice]:
        """Return the slice of ``rows`` of each document."""
        return (
            slice(begin, end)
            for begin, end in zip(
                self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True
            )
        )

    def matrix(self, words: int, dtype: npt.DTypeLike, features: str = "counts") -> Any:
        """Return the features of the documents, a CSR matrix [D, words]."""
        # Imported here: it takes longer than all the rest of the options of a command line.
        from scipy.sparse import csr_array

        values = feature_values(features, self.occurrences.astype(dtype))
        return csr_array((values, self.rows, self.offsets), shape=(len(self.tokens), words))


class NumberedDocuments(list[TokenisedDocument]):
    """Documents with the rows of their words in a model, which are looked up once.

    Phrases of the model have taken the place of their words (:func:`numbered`).

    Attributes:
        snapshot: The model.
        offsets: int64[D + 1]; the words of document d are offsets[d] to offsets[d + 1] - 1.
    """

    def __init__(self, snapshot: Snapshot, documents: Sequence[TokenisedDocument]) -> None:
        super().__init__(documents)
        self.snapshot = snapshot
        self.offsets = np.cumsum([0, *(len(document.words) for document in self)])

    def chosen(self, places: Sequence[int]) -> NumberedDocuments:
        """Return the documents at some places, with the rows that were looked up."""
        found = NumberedDocuments(self.snapshot, [self[place] for place in places])
        parts = (self.rows[self.offsets[place] : self.offsets[place + 1]] for place in places)
        found.rows = np.concatenate([np.zeros(0, np.int64), *parts])
        return found

    @cached_property
    def rows(self) -> LongArray:
        """int64[offsets[D]], the row of each document's words; -1 where a word has none."""
        # A call costs as much as a hundred words. The arrays of all documents would be new pages of
        # memory, which cost more.
        groups = (self[begin : begin + _TOGETHER] for begin in range(0, len(self), _TOGETHER))
        words = ([word for document in group for word in document.words] for group in groups)
        return np.concatenate([np.zeros(0, np.int64), *map(self.snapshot.rows_of, words)])


def numbered(snapshot: Snapshot, documents: Sequence[TokenisedDocument]) -> NumberedDocuments:
    """Return documents with the rows of their words, as they are if they have them already.

    Phrases of the model take the place of their words.
    """
    if isinstance(documents, NumberedDocuments) and documents.snapshot is snapshot:
        return documents
    return NumberedDocuments(snapshot, snapshot.joined(documents))


def word_counts(snapshot: Snapshot, documents: Sequence[TokenisedDocument]) -> WordCounts:
    """Count the words of documents, without those that the model does not know."""
    found = numbered(snapshot, documents)
    rows, starts = found.rows, found.offsets
    uses = (np.bincount(document.tokens, minlength=len(document.words)) for document in found)
    occurrences = np.concatenate([np.zeros(0, np.int64), *uses])
    known = np.flatnonzero(rows >= 0)
    rows, occurrences, offsets = rows[known], occurrences[known], np.searchsorted(known, starts)
    if snapshot.buckets:
        rows, occurrences, offsets = _joined(rows, occurrences, offsets)
    return WordCounts(
        rows, occurrences, offsets, np.diff(np.concatenate([[0], np.cumsum(occurrences)])[offsets])
    )


def known_tokens(snapshot: Snapshot, document: TokenisedDocument) -> tuple[LongArray, IntArray]:
    """Return a document without the words that the model does not know.

    Returns:
        int64[V], rows of the snapshot, the document's known words in order of first use; int32[n],
        its tokens as indices into them.
    """
    rows = snapshot.rows_of(document.words)
    if not snapshot.buckets and (rows >= 0).all():
        return rows, document.tokens.copy()
    rows, columns = known_words(rows, distinct=not snapshot.buckets)
    tokens = columns[document.tokens]
    return rows, tokens[tokens >= 0]


def _joined(
    rows: LongArray, occurrences: LongArray, offsets: LongArray
) -> tuple[LongArray, LongArray, LongArray]:
    """Merge words of one bucket in one document, at the first of them."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first, numbers = first_uses(owners * (int(rows.max(initial=0)) + 1) + rows)
    together = np.zeros(len(first), np.int64)
    np.add.at(together, numbers, occurrences)
    return rows[first], together, np.searchsorted(first, offsets)
