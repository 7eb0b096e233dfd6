"""Documents as counts of the words that a model knows, for many documents in a few calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.kernels import random
from beam_topics.model.kernels.first_uses import number_in_documents
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.words.word_list import first_uses

FEATURES = ("roots", "counts")


def feature_values(features: str, occurrences: FloatArray) -> FloatArray:
    """Return the features of words by their number of occurrences.

    Args:
        features: one of :data:`FEATURES`.
        occurrences: float[N].

    Returns:
        float[N].
    """
    # Square roots are correctly rounded on every processor; logarithms are not.
    return np.sqrt(occurrences) if features == "roots" else occurrences


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
        return (slice(begin, end) for begin, end in pairwise(self.offsets.tolist()))

    def matrix(self, words: int, dtype: npt.DTypeLike, features: str = "counts") -> Any:
        """Return the features of the documents, a CSR matrix [D, words]."""
        # Imported here: it takes longer than all the rest of the options of a command line.
        from scipy.sparse import csr_array

        values = feature_values(features, self.occurrences.astype(dtype))
        return csr_array((values, self.rows, self.offsets), shape=(len(self.tokens), words))


@dataclass(frozen=True, eq=False)
class NumberedDocuments:
    """Documents with the rows of their words in a model, which are looked up once.

    Attributes:
        snapshot: The model.
        block: D documents, with the phrases of the model in the place of their words.
    """

    snapshot: Snapshot
    block: Block

    def __len__(self) -> int:
        return len(self.block)

    @cached_property
    def rows(self) -> LongArray:
        """int64[W], the row of each word of the block; -1 for a word that the model lacks."""
        return self.snapshot.rows_of(self.block.words)

    @cached_property
    def counts(self) -> WordCounts:
        """The words of the documents that the model knows."""
        block = self.block
        used, occurrences, offsets, _ = number_in_documents(
            block.tokens, block.offsets, len(block.words)
        )
        rows = self.rows[used]
        known = np.flatnonzero(rows >= 0)
        rows, occurrences = rows[known], occurrences[known]
        offsets = np.searchsorted(known, offsets)
        if self.snapshot.buckets:
            rows, occurrences, offsets = _joined(rows, occurrences, offsets)
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(occurrences)])
        return WordCounts(rows, occurrences, offsets, np.diff(sums[offsets]))

    def known_tokens(self) -> tuple[LongArray, LongArray]:
        """Return the rows of the known tokens, int64[n], and their bounds, int64[D + 1]."""
        rows = self.rows[self.block.tokens]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows >= 0)])
        return rows[rows >= 0], before[self.block.offsets]

    def draw_keys(self, seed: int) -> LongArray:
        """Return int64[D, 2], the keys of the draws of each document, by its id and model key."""
        keys = [random.stream_key(seed, self.block.name(row)) for row in range(len(self))]
        return np.array(keys, np.int64).reshape(-1, 2)


def numbered(snapshot: Snapshot, block: Block) -> NumberedDocuments:
    """Return documents for a model, with its phrases in the place of their words."""
    return NumberedDocuments(snapshot, snapshot.joined(block))


def _joined(
    rows: LongArray, occurrences: LongArray, offsets: LongArray
) -> tuple[LongArray, LongArray, LongArray]:
    """Merge words of one bucket in one document, at the first of them."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    first, numbers = first_uses(owners * (int(rows.max(initial=0)) + 1) + rows)
    together = np.zeros(len(first), np.int64)
    np.add.at(together, numbers, occurrences)
    return rows[first], together, np.searchsorted(first, offsets)
