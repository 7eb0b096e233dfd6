"""Turn changes of a stream and duels into events (:mod:`model.events`).

Let n be the tokens of each word and topic before a duel and n' those after it, and let
o_z = sum over w of min(n_wz, n'_wz). A topic number z is born if more than half of its tokens were
not there before: o_z < n'_z / 2. What it was has ended if more than half of its tokens are
elsewhere now: o_z < n_z / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from model.events import CHANGE, DOCUMENT_IDS, TOPICS_REPLACED, Event
from model.learners.particles.following import Told
from model.learners.particles.priors import word_cells
from model.learners.particles.state import ParticleState, ensure_capacity
from model.records import LongArray


def change_told(told: Told, ids: Sequence[str]) -> Event:
    """Return the event of a change.

    Args:
        told: what the blocks tell.
        ids: the ids of the documents of the last minibatch of the block.
    """
    return Event(
        CHANGE,
        told.documents,
        told.tokens,
        list(told.rose),
        told.by,
        told.figures,
        list(ids[-DOCUMENT_IDS:]),
    )


class TopicCounts(NamedTuple):
    """The tokens of words in topics, where there are any.

    Attributes:
        places: int64[n], w T + z, ascending.
        tokens: int64[n], n_wz.
        topics: T.
    """

    places: LongArray
    tokens: LongArray
    topics: int


def topic_counts(state: ParticleState, particle: int) -> TopicCounts:
    """Return the tokens of each word in each topic of a particle."""
    # Words that came with this minibatch may have no rows yet.
    ensure_capacity(state, 0, 0, 0)
    cells = word_cells(state.population, state.prior, particle, len(state.vocabulary))
    topics = state.settings.topic_count
    return TopicCounts(cells[:, 0] * topics + cells[:, 1], cells[:, 2], topics)


def topics_replaced(
    before: TopicCounts,
    after: TopicCounts,
    documents: int,
    gains: tuple[float, float, float],
    *,
    ids: Sequence[str],
) -> Event:
    """Return the event of a duel that a challenger won.

    Args:
        before: the tokens of each word in each topic before the duel.
        after: the same after it.
        documents: documents that the challenger learned anew.
        gains: gain on the judges, its standard error, gain on the past.
        ids: the ids of the documents of the minibatch that completed the judges.
    """
    both, at, there = np.intersect1d(
        before.places, after.places, assume_unique=True, return_indices=True
    )
    kept = _by_topic(both, np.minimum(before.tokens[at], after.tokens[there]), before.topics)
    old, new = (_by_topic(*counts) for counts in (before, after))
    born, ended = np.flatnonzero(2 * kept < new), np.flatnonzero(2 * kept < old)
    figures = dict(zip(("gain", "standard_error", "gain_on_past"), gains, strict=True))
    figures |= {"born": len(born), "ended": len(ended)}
    return Event(
        TOPICS_REPLACED,
        documents,
        int(new[born].sum()),
        born.tolist(),
        "duel",
        figures,
        list(ids[-DOCUMENT_IDS:]),
    )


def _by_topic(places: LongArray, tokens: LongArray, topics: int) -> LongArray:
    """Return int64[T], the sums of tokens."""
    sums = np.zeros(topics, np.int64)
    np.add.at(sums, places % topics, tokens)
    return sums
