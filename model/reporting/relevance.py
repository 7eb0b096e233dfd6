"""Rank the words of topics by probability, relevance and FREX, and mark topics that say little.

Relevance (Sievert and Shirley 2014) of word w in topic z, with lambda from 0 to 1:

    r(w, z) = lambda ln P(w | z) + (1 - lambda) ln (P(w | z) / P(w))

FREX (Bischof and Airoldi 2012) is the weighted harmonic mean of two empirical distribution
functions over the words of z: that of P(w | z), and that of the exclusivity P(w | z) / sum over j
of P(w | j).

Only words with a count in z are ranked. The probabilities are those of
:class:`beam_topics.model.publishing.snapshot.Snapshot`, with the prior. P(w) is the sum over z of
P(z) P(w | z), where P(z) is the topic's share of the tokens that the model holds.

**Boilerplate.** A text that stands in many documents in one form, as a footer or the header of a
mail, gives its words like counts. The counts of a subject's words fall steeply. The measure of a
topic is the largest share of its tokens that :data:`LEAST_WORDS` or more of its :data:`FIRST` most
frequent words hold whose counts, :data:`LEAST_COUNT` or more, are within :data:`WIDTH` of the
largest of them. A topic is marked from :data:`SHARE` on, and from :data:`TIMES` times the lower
quartile of the model's topics: where most topics have flat counts, as in made-up texts, the counts
say nothing.

**Like another topic.** The Hellinger distance to the nearest topic is at most :data:`ALIKE`, about
what random halves of one topic have (``docs/results/marks.md``).

A topic with fewer tokens than its prior has pseudo-counts is not judged. A mark hides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.publishing.snapshot import Snapshot

# The weight of exclusivity in FREX.
FREX_WEIGHT = 0.5
FIRST, LEAST_WORDS, LEAST_COUNT = 30, 5, 30
WIDTH, SHARE, TIMES = 0.8, 0.2, 3
ALIKE = 0.5
# Words whose dense probabilities are computed at a time.
_BLOCK = 20_000
# Distances are rounded, so that the last bits of a linear algebra library do not show.
DIGITS = 6


def topic_shares(snapshot: Snapshot) -> FloatArray:
    """Return each topic's share of the tokens that the model holds, float64[T]."""
    total = float(snapshot.totals.sum())
    shares: FloatArray = snapshot.totals / total if total else np.zeros(snapshot.topic_count)
    return shares


@dataclass(frozen=True, eq=False)
class WordStatistics:
    """The statistics of each pair of a topic and a word with a count in it.

    The pairs of topic z are ``starts[z]`` to ``starts[z + 1]``, in the order of
    :meth:`beam_topics.model.publishing.snapshot.Snapshot.top_words`.

    Attributes:
        starts: int64[T + 1].
        words: int64[nnz], the row of the word.
        counts: float64[nnz], n_wz.
        probability: float64[nnz], P(w | z).
        lift: float64[nnz], P(w | z) / P(w).
        exclusivity: float64[nnz], P(w | z) / sum over j of P(w | j).
    """

    starts: LongArray
    words: LongArray
    counts: FloatArray
    probability: FloatArray
    lift: FloatArray
    exclusivity: FloatArray

    @cached_property
    def frex(self) -> FloatArray:
        """float64[nnz], FREX with equal weights."""
        found = np.zeros(len(self.words))
        for topic in range(len(self.starts) - 1):
            at = self.span(topic)
            rare, often = _ecdf(self.exclusivity[at]), _ecdf(self.probability[at])
            found[at] = 1 / (FREX_WEIGHT / rare + (1 - FREX_WEIGHT) / often)
        return found

    def span(self, topic: int) -> slice:
        """Return the place of a topic's pairs."""
        return slice(int(self.starts[topic]), int(self.starts[topic + 1]))

    def relevance(self, topic: int, weight: float) -> FloatArray:
        """Return r(w, z) of a topic's pairs, with ``weight`` for lambda."""
        at = self.span(topic)
        lift: FloatArray = np.log(self.lift[at])
        found: FloatArray = weight * np.log(self.probability[at]) + (1 - weight) * lift
        return found

    def by_relevance(self, topic: int, weight: float, count: int) -> LongArray:
        """Return the places of a topic's most relevant pairs; equals are in their order."""
        return self._first(topic, self.relevance(topic, weight), count)

    def by_frex(self, topic: int, count: int) -> LongArray:
        """Return the places of the pairs with the largest FREX; equals are in their order."""
        return self._first(topic, self.frex[self.span(topic)], count)

    def candidates(self, topic: int, weights: Iterable[float], count: int) -> LongArray:
        """Return the places of all pairs that are among the first with some weight, ascending."""
        found = [self.by_relevance(topic, weight, count) for weight in weights]
        return np.unique(np.concatenate([*found, self.by_frex(topic, count)]))

    def _first(self, topic: int, score: FloatArray, count: int) -> LongArray:
        order = np.argsort(-score, kind="stable")[:count]
        return order.astype(np.int64) + int(self.starts[topic])


def word_statistics(snapshot: Snapshot) -> WordStatistics:
    """Return the statistics of all pairs of a topic and a word with a count in it."""
    by_word = snapshot.count_rows
    # Of equal counts, words stay in their order.
    order = np.lexsort((-snapshot.counts, snapshot.topics))
    words, topics = by_word[order], snapshot.topics[order]
    counts = snapshot.counts[order]
    prior, norm = snapshot.prior, snapshot.normalisers
    own = prior.strength / norm
    probability = (counts + prior.strength[topics] * prior.base[words]) / norm[topics]
    share, size = topic_shares(snapshot), len(snapshot.words)
    held = counts / norm[topics]
    marginal = np.bincount(words, held * share[topics], size) + prior.base * float(own @ share)
    everywhere = np.bincount(words, held, size) + prior.base * float(own.sum())
    return WordStatistics(
        np.searchsorted(topics, np.arange(snapshot.topic_count + 1)).astype(np.int64),
        words.astype(np.int64),
        counts,
        probability,
        probability / marginal[words],
        probability / everywhere[words],
    )


def _ecdf(values: FloatArray) -> FloatArray:
    """Return the share of the values that are at most as large as each."""
    found: FloatArray = np.searchsorted(np.sort(values), values, side="right") / len(values)
    return found


def marks_of(
    snapshot: Snapshot, statistics: WordStatistics, apart: FloatArray, ids: Sequence[int]
) -> list[str]:
    """Return the mark of each topic with its reason; empty without one.

    ``apart`` are the :func:`distances`, float64[T, T].
    """
    marks = [""] * len(ids)
    judged = np.flatnonzero(snapshot.totals > snapshot.prior.strength).tolist()
    if len(judged) < 2:
        return marks
    flat = {
        z: _flat(statistics.counts[statistics.span(z)][:FIRST], snapshot.totals[z]) for z in judged
    }
    shares = sorted(share for share, _ in flat.values())
    least = max(SHARE, TIMES * shares[(len(shares) - 1) // 4])
    others = apart[np.ix_(judged, judged)] + np.eye(len(judged))
    for at, z in enumerate(judged):
        share, words = flat[z]
        near = int(np.argmin(others[at]))
        if share >= least:
            marks[z] = f"boilerplate ({words} words with like counts hold {share:.0%})"
        elif others[at, near] <= ALIKE:
            marks[z] = f"like {ids[judged[near]]} (distance {others[at, near]:.2f})"
    return marks


def _flat(counts: FloatArray, total: float) -> tuple[float, int]:
    """Return the largest share of the tokens that words with like counts hold, and their number.

    The counts are those of the first words, descending.
    """
    best = (0.0, 0)
    for at, largest in enumerate(counts[counts >= LEAST_COUNT].tolist()):
        held = counts[at:][counts[at:] >= max(LEAST_COUNT, WIDTH * largest)]
        if len(held) >= LEAST_WORDS:
            best = max(best, (float(held.sum() / total), len(held)))
    return best


def distances(snapshot: Snapshot) -> FloatArray:
    """Return the Hellinger distances between the topics' word distributions, float64[T, T]."""
    topics = snapshot.topic_count
    common = np.zeros((topics, topics))
    for first in range(0, len(snapshot.words), _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, len(snapshot.words)))
        counts = snapshot.rows(rows) + snapshot.prior.shares(rows)
        roots = np.sqrt(counts / snapshot.normalisers)
        common += roots.T @ roots
    found: FloatArray = np.sqrt(np.clip(1 - common, 0, 1))
    np.fill_diagonal(found, 0.0)
    return np.round(found, DIGITS)
