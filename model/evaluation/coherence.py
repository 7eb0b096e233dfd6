"""Topic coherence: pointwise mutual information over the documents of a reference corpus.

With n_a documents that contain word a, n_ab that contain both, N in all, and e = n_a n_b / N, the
expected number for independent words:

    PMI(a, b)  = ln((n_ab + 1) / (e + 1))
    NPMI(a, b) = PMI(a, b) / -ln((n_ab + 1) / (N + 1))

The pseudo-document on both sides smooths the ratio. So the figure of a pair of rare words is near
0, and a word that the reference does not have gives 0. The coherence of a topic is the mean over
all pairs of its first ten words (Newman, Karimi and Cavedon 2009). That of a model is the mean over
its topics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from model.records import FloatArray, TokenisedDocument
from model.snapshot import Snapshot

TOP_WORDS = 10


@dataclass(frozen=True)
class Coherence:
    """The mean PMI and NPMI of each topic's pairs of words.

    Attributes:
        pmi, npmi: float64[T]; 0 for a topic of fewer than two words.
    """

    pmi: FloatArray
    npmi: FloatArray


class Reference:
    """Which documents of a reference corpus contain which words.

    Args:
        documents: the reference corpus.
        words: all words that will be looked up.
    """

    def __init__(self, documents: Iterable[TokenisedDocument], words: Iterable[str]) -> None:
        self._column = {word: number for number, word in enumerate(sorted(set(words)))}
        rows: list[int] = []
        columns: list[int] = []
        size = 0
        for document in documents:
            held = [self._column[word] for word in document.words if word in self._column]
            columns += held
            rows += [size] * len(held)
            size += 1
        held_by = csr_array(
            (np.ones(len(rows)), (rows, columns)), shape=(max(size, 1), max(len(self._column), 1))
        )
        self._documents = size
        self._together = csr_array(held_by.T @ held_by)

    def pairs(self, words: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Return (PMI, NPMI) of each pair of some words, float64[n (n - 1) / 2] each."""
        columns = [self._column[word] for word in words]
        together = self._together[columns][:, columns].toarray()
        alone = np.diag(together)
        first, second = np.triu_indices(len(columns), 1)
        seen, whole = together[first, second], max(self._documents, 1)
        pmi = np.log((seen + 1.0) / (alone[first] * alone[second] / whole + 1.0))
        # A pair that is in every document has the PMI 0 and the probability 1.
        npmi = pmi / np.maximum(-np.log((seen + 1.0) / (whole + 1.0)), 1e-12)
        return pmi, npmi

    def coherence(self, topics: Iterable[Sequence[str]]) -> Coherence:
        """Return the coherence of topics, each given as its first words."""
        means = [
            [float(part.mean()) if len(part) else 0.0 for part in self.pairs(words)]
            for words in topics
        ]
        both = np.array(means).reshape(-1, 2)
        return Coherence(both[:, 0], both[:, 1])


def coherence(topics: Sequence[Sequence[str]], documents: Iterable[TokenisedDocument]) -> Coherence:
    """Return the coherence of topics, each given as its first words, against a reference corpus."""
    return Reference(documents, (word for words in topics for word in words)).coherence(topics)


def coherence_figures(
    snapshot: Snapshot, reference: Sequence[TokenisedDocument]
) -> dict[str, float | None]:
    """Return ``pmi`` and ``npmi``, means over the topics; None without reference documents."""
    if not reference:
        return {"pmi": None, "npmi": None}
    found = coherence(snapshot.top_words(TOP_WORDS), reference)
    return {"pmi": float(found.pmi.mean()), "npmi": float(found.npmi.mean())}
