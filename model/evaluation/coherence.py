"""Topic coherence: pointwise mutual information over the documents of a reference corpus.

With n_a documents that contain word a, n_ab that contain both, N in all, and e = n_a n_b / N, the
expected number for independent words:

    PMI(a, b)  = ln((n_ab + 1) / (e + 1))
    NPMI(a, b) = PMI(a, b) / -ln((n_ab + 1) / (N + 1))

The pseudo-document on both sides smooths the ratio. So the figure of a pair of rare words is near
0, and a word that the reference does not have gives 0. The coherence of a topic is the mean over
all pairs of its first ten words (Newman, Karimi and Cavedon 2009). That of a model is the mean over
its topics.

The share of pairs that never occur together is reported, too. It falls with the size of the
reference corpus. :mod:`beam_topics.model.evaluation.mixed` judges which topics are mixtures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.documents.block import Block

TOP_WORDS = 10


class Coherence(NamedTuple):
    """Figures of pairs of words, or their means over the pairs of each topic, float64 each.

    Attributes:
        pmi: PMI.
        npmi: NPMI.
        never: the share of pairs that no document has.
    """

    pmi: FloatArray
    npmi: FloatArray
    never: FloatArray


class Reference:
    """Which documents of a reference corpus contain which words.

    Args:
        documents: the reference corpus.
        words: all words that will be looked up.

    Attributes:
        documents: the number of documents.
    """

    def __init__(self, documents: Block, words: Iterable[str]) -> None:
        self._column = {word: number for number, word in enumerate(sorted(set(words)))}
        size, width = len(documents), max(len(self._column), 1)
        column = np.array([self._column.get(word, -1) for word in documents.words], np.int64)
        columns = column[documents.tokens]
        rows = np.repeat(np.arange(size), documents.lengths)
        rows, columns = np.divmod(np.unique((rows * width + columns)[columns >= 0]), width)
        # Imported here: programs print this module's constants without it.
        from scipy.sparse import csr_array

        held_by = csr_array((np.ones(len(rows)), (rows, columns)), shape=(max(size, 1), width))
        self.documents = size
        self._together = csr_array(held_by.T @ held_by)

    def together(self, words: Sequence[str]) -> FloatArray:
        """Return how many documents have both of two words; on the diagonal, how many have one."""
        columns = [self._column[word] for word in words]
        found: FloatArray = self._together[columns][:, columns].toarray()
        return found

    def pairs(self, words: Sequence[str]) -> Coherence:
        """Return the figures of each pair of some words."""
        together = self.together(words)
        alone = np.diag(together)
        first, second = np.triu_indices(len(words), 1)
        seen, whole = together[first, second], max(self.documents, 1)
        pmi = np.log((seen + 1.0) / (alone[first] * alone[second] / whole + 1.0))
        # A pair that is in every document has the PMI 0 and the probability 1.
        npmi = pmi / np.maximum(-np.log((seen + 1.0) / (whole + 1.0)), 1e-12)
        return Coherence(pmi, npmi, (seen == 0).astype(np.float64))

    def coherence(self, topics: Iterable[Sequence[str]]) -> Coherence:
        """Return the coherence of topics, each given as its first words."""
        means = [
            [float(part.mean()) if len(part) else 0.0 for part in self.pairs(words)]
            for words in topics
        ]
        return Coherence(*np.array(means, np.float64).reshape(-1, len(Coherence._fields)).T)


def coherence(topics: Sequence[Sequence[str]], documents: Block) -> Coherence:
    """Return the coherence of topics, each given as its first words, against a reference corpus."""
    return Reference(documents, (word for words in topics for word in words)).coherence(topics)
