"""Turn changes of a stream and duels into events (:mod:`model.events`).

Let n be the tokens of each word and topic before a duel and n' those after it, and let
o_z = sum over w of min(n_wz, n'_wz). A topic number z is born if more than half of its tokens were
not there before: o_z < n'_z / 2. What it was has ended if more than half of its tokens are
elsewhere now: o_z < n_z / 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.events import CHANGE, DOCUMENT_IDS, TOPICS_REPLACED, Event
from model.learners.particles.following import Told
from model.learners.particles.priors import word_rows
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


def topic_counts(state: ParticleState, particle: int) -> LongArray:
    """Return int64[W, T], the tokens of each word in each topic of a particle."""
    # Words that came with this minibatch may have no rows yet.
    ensure_capacity(state, 0, 0, 0)
    words = np.arange(len(state.vocabulary))
    rows = word_rows(state.population, particle, words)[:, : state.settings.topic_count]
    return rows.astype(np.int64)


def topics_replaced(
    before: LongArray,
    after: LongArray,
    documents: int,
    gains: tuple[float, float, float],
    *,
    ids: Sequence[str],
) -> Event:
    """Return the event of a duel that a challenger won.

    Args:
        before: int64[W, T], the tokens of each word in each topic before the duel.
        after: the same after it.
        documents: documents that the challenger learned anew.
        gains: gain on the judges, its standard error, gain on the past.
        ids: the ids of the documents of the minibatch that completed the judges.
    """
    kept, old, new = np.minimum(before, after).sum(axis=0), before.sum(axis=0), after.sum(axis=0)
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
