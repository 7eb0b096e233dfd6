"""Topic coherence: pointwise mutual information over the documents of a reference corpus.

With n_a documents that contain word a, n_ab that contain both, N in all, and e = n_a n_b / N, the
expected number for independent words:

    PMI(a, b)  = ln((n_ab + 1) / (e + 1))
    NPMI(a, b) = PMI(a, b) / -ln((n_ab + 1) / (N + 1))

The pseudo-document on both sides smooths the ratio. So the figure of a pair of rare words is near
0, and a word that the reference does not have gives 0. The coherence of a topic is the mean over
all pairs of its first ten words (Newman, Karimi and Cavedon 2009). That of a model is the mean over
its topics.

A topic that is a mixture of several subjects has groups of first words that do not occur together.
Two words are apart if they occur together in fewer documents than independent words, n_ab < e, or
in none. A topic is judged mixed if at least :data:`MIXED` of its pairs are apart. Of ten words, k
that are apart from the others make k (10 - k) of 45 pairs: 9 for one odd word, 16 (.36) for two,
and 21 (.47) for three. So the threshold of .4 lies between two odd words and a second subject.

The share of pairs that never occur together is reported, too. It does not decide, because it falls
with the size of the reference corpus: among 19,000 documents most words meet once by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from model.records import FloatArray, TokenisedDocument
from model.snapshot import Snapshot

TOP_WORDS = 10
# The share of pairs that are apart, from which a topic is judged mixed.
MIXED = 0.4


@dataclass(frozen=True)
class Coherence:
    """Means over each topic's pairs of words, float64[T] each; 0 with fewer than two words.

    Attributes:
        pmi: PMI.
        npmi: NPMI.
        never: the share of pairs that no document has.
        apart: the share of pairs that occur together less often than by chance, or never.
    """

    pmi: FloatArray
    npmi: FloatArray
    never: FloatArray
    apart: FloatArray

    @property
    def mixed(self) -> int:
        """The number of topics that are judged mixed."""
        return int(np.count_nonzero(self.apart >= MIXED))


class Pairs(NamedTuple):
    """Figures of pairs of words, float64[n (n - 1) / 2] each; see :class:`Coherence`."""

    pmi: FloatArray
    npmi: FloatArray
    never: FloatArray
    apart: FloatArray


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
        # Imported here: programs print this module's constants without it.
        from scipy.sparse import csr_array

        held_by = csr_array(
            (np.ones(len(rows)), (rows, columns)), shape=(max(size, 1), max(len(self._column), 1))
        )
        self._documents = size
        self._together = csr_array(held_by.T @ held_by)

    def pairs(self, words: Sequence[str]) -> Pairs:
        """Return the figures of each pair of some words."""
        columns = [self._column[word] for word in words]
        together = self._together[columns][:, columns].toarray()
        alone = np.diag(together)
        first, second = np.triu_indices(len(columns), 1)
        seen, whole = together[first, second], max(self._documents, 1)
        pmi = np.log((seen + 1.0) / (alone[first] * alone[second] / whole + 1.0))
        apart = (seen == 0) | (seen < alone[first] * alone[second] / whole)
        # A pair that is in every document has the PMI 0 and the probability 1.
        npmi = pmi / np.maximum(-np.log((seen + 1.0) / (whole + 1.0)), 1e-12)
        return Pairs(pmi, npmi, (seen == 0).astype(np.float64), apart.astype(np.float64))

    def coherence(self, topics: Iterable[Sequence[str]]) -> Coherence:
        """Return the coherence of topics, each given as its first words."""
        means = [
            [float(part.mean()) if len(part) else 0.0 for part in self.pairs(words)]
            for words in topics
        ]
        return Coherence(*np.array(means, np.float64).reshape(-1, len(Pairs._fields)).T)


def coherence(topics: Sequence[Sequence[str]], documents: Iterable[TokenisedDocument]) -> Coherence:
    """Return the coherence of topics, each given as its first words, against a reference corpus."""
    return Reference(documents, (word for words in topics for word in words)).coherence(topics)


def coherence_figures(snapshot: Snapshot, reference: Sequence[TokenisedDocument]) -> dict[str, Any]:
    """Return figures of a model's topics; None without reference documents.

    Returns:
        ``pmi`` and ``npmi``, means over the topics; ``mixed``, the number of topics that are judged
        mixed; ``topics``, for each topic its ``words``, ``npmi``, ``never`` and ``apart``.
    """
    if not reference:
        return dict.fromkeys(("pmi", "npmi", "mixed", "topics"))
    words = snapshot.top_words(TOP_WORDS)
    found = coherence(words, reference)
    columns = zip(words, found.npmi, found.never, found.apart, strict=True)
    topics = [
        {"words": top, "npmi": float(npmi), "never": float(never), "apart": float(apart)}
        for top, npmi, never, apart in columns
    ]
    means = {"pmi": float(found.pmi.mean()), "npmi": float(found.npmi.mean())}
    return {**means, "mixed": found.mixed, "topics": topics}
