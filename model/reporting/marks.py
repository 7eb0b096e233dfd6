"""Marks of topics that say little by themselves: boilerplate, and a topic like another one.

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

from collections.abc import Sequence

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.reporting.relevance import WordStatistics

FIRST, LEAST_WORDS, LEAST_COUNT = 30, 5, 30
WIDTH, SHARE, TIMES = 0.8, 0.2, 3
ALIKE = 0.5
# Words whose dense probabilities are computed at a time.
_BLOCK = 20_000
# Distances are rounded, so that the last bits of a linear algebra library do not show.
DIGITS = 6


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
