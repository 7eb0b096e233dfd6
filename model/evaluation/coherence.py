"""Topic coherence by the documents of a reference corpus, and topics of several subjects.

**Coherence.** With n_a documents that contain word a, n_ab that contain both, N in all, and
e = n_a n_b / N, the expected number for independent words:

    PMI(a, b)  = ln((n_ab + 1) / (e + 1))
    NPMI(a, b) = PMI(a, b) / -ln((n_ab + 1) / (N + 1))

The pseudo-document on both sides smooths the ratio. So a pair of rare words has a figure near 0,
and a word that the reference lacks gives 0. The coherence of a topic is the mean over all pairs of
its first ten words (Newman, Karimi and Cavedon 2009). That of a model is the mean over its topics.
The share of pairs that never occur together is reported, too; it falls with the size of the
reference corpus.

**Mixed topics** have words of several subjects. The characteristic words of a topic are those with
the largest n_wt ln(P(w | t) / P(w)): words that are more frequent in the topic than in the model.
Frequent words that all topics have are not among them. Words of one subject occur together in
documents more often than by chance. A division of the ten characteristic words into two groups A
and B has the ratio

    (sum of n_ab + 2) / (sum of n_a n_b / N + 1),    a in A, b in B.

The figure of a topic, *across*, is the lowest ratio over all divisions into groups of at least
:data:`SMALLEST` words. A topic counts as mixed at :data:`MIXED` or below: two groups of its words
then occur together hardly more often than words of different documents. The added numbers make the
figure 2 where there is no evidence. Words that no document has are left out.
``docs/results/mixed-topics.md`` compares the figure with others on topics that were glued together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.publishing.snapshot import Snapshot

TOP_WORDS = 10
MIXED = 1.1
SMALLEST = 3
# The words that are looked at have the most tokens of the topic.
_FREQUENT = 100


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


@dataclass(frozen=True)
class Judged:
    """What is known of a topic.

    Attributes:
        words: its characteristic words.
        across: the figure of the module's docstring; None with too few words in the documents.
    """

    words: tuple[str, ...]
    across: float | None

    @property
    def mixed(self) -> bool:
        """Whether the topic is judged mixed."""
        return self.across is not None and self.across <= MIXED


def judge(snapshot: Snapshot, documents: Block) -> list[Judged]:
    """Return what documents say of each topic of a model."""
    return judge_words(characteristic_words(snapshot), documents)


def judge_words(topics: Sequence[Sequence[str]], documents: Block) -> list[Judged]:
    """Return what documents say of topics, each given as its characteristic words."""
    reference = Reference(documents, (word for words in topics for word in words))
    return [Judged(tuple(words), across(reference, words)) for words in topics]


def coherence_figures(snapshot: Snapshot, documents: Block, ids: Sequence[int]) -> dict[str, Any]:
    """Return figures of a model's topics; None without reference documents.

    Args:
        snapshot: the model.
        documents: the reference corpus.
        ids: the ids of the topics by place.

    Returns:
        ``pmi`` and ``npmi``, means over the topics; ``mixed``, the number of topics that are judged
        mixed; ``topics``, for each topic its ``topic`` (the id), ``words``, ``npmi``, ``never``,
        its ``characteristic`` words and ``across``.
    """
    if not documents:
        return dict.fromkeys(("pmi", "npmi", "mixed", "topics"))
    words, judged = snapshot.top_words(TOP_WORDS), judge(snapshot, documents)
    found = coherence(words, documents)
    topics = [
        {
            "topic": ids[topic],
            "words": top,
            "npmi": float(found.npmi[topic]),
            "never": float(found.never[topic]),
            "characteristic": list(judged[topic].words),
            "across": judged[topic].across,
        }
        for topic, top in enumerate(words)
    ]
    means = {"pmi": float(found.pmi.mean()), "npmi": float(found.npmi.mean())}
    return {**means, "mixed": sum(one.mixed for one in judged), "topics": topics}


def characteristic_words(snapshot: Snapshot, count: int = TOP_WORDS) -> list[list[str]]:
    """Return the words of each topic that tell it from the model, the most telling first."""
    totals, found = snapshot.totals, []
    for topic, rows in enumerate(snapshot.top_rows(_FREQUENT)):
        counts = snapshot.rows(np.array(rows, np.int64))
        order = most_telling(counts[:, topic] / totals[topic], counts.sum(axis=1) / totals.sum())
        found.append([snapshot.words[rows[place]] for place in order[:count].tolist()])
    return found


def most_telling(own: FloatArray, whole: FloatArray) -> LongArray:
    """Return the places of words by P(w | t) ln(P(w | t) / P(w)), the largest first.

    Args:
        own: P(w | t), float64[n], above 0.
        whole: P(w), float64[n].
    """
    order: LongArray = np.argsort(-own * np.log(own / whole), kind="stable")
    return order


def across(reference: Reference, words: Sequence[str]) -> float | None:
    """Return how often the two groups of words that are farthest apart occur together.

    Returns:
        A ratio to chance; None where fewer than two smallest groups of words are in the documents.
    """
    together = reference.together(words)
    known = np.flatnonzero(np.diag(together))
    if len(known) < 2 * SMALLEST:
        return None
    together = together[np.ix_(known, known)]
    alone = np.diag(together)
    chance = np.outer(alone, alone) / max(reference.documents, 1)
    first = _divisions(len(known))
    met, expected = (
        np.einsum("ka,ab,kb->k", first, table, 1.0 - first) for table in (together, chance)
    )
    return float(((met + 2.0) / (expected + 1.0)).min())


@lru_cache(maxsize=16)
def _divisions(words: int) -> FloatArray:
    """Return all divisions of some words into two large enough groups, 1 for the first one."""
    # The last word is always in the second group, so each division comes once.
    numbers = np.arange(1 << (words - 1))[:, None] >> np.arange(words) & 1
    sizes = numbers.sum(axis=1)
    found: FloatArray = numbers[(sizes >= SMALLEST) & (sizes <= words - SMALLEST)].astype(float)
    return found
