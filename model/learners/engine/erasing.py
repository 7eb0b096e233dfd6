"""Take documents at hand out of what ``gibbs`` has learned.

Their tokens leave n_wt and n_t, and words that no other document used leave the vocabulary. The
documents stay as empty ones, so that all others keep their numbers. How many documents and tokens
came, and the evidence, stay what they were. Births forget their snapshots and candidates, because
these counted the tokens by topics that are not known any more.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.learners.engine.holding import GibbsState
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.nursery import forget
from beam_topics.model.learners.engine.state import Array


def erase(state: GibbsState, arrivals: Array) -> int:
    """Take documents out.

    Args:
        state: Changed.
        arrivals: int64[n], how many documents came before each of them.

    Returns:
        How many of them were at hand with a token or a label.
    """
    live, archive = state.live, state.is_archive
    # An archive holds all documents in the order in which they came.
    at = arrivals if archive else np.flatnonzero(np.isin(state.marks, arrivals))
    lengths = np.diff(live.offsets[: live.documents + 1])
    labelled = np.array([label is not None for label in state.labels], np.bool_)
    found = at[(lengths[at] > 0) | labelled[at]]
    if not len(found):
        return 0
    places, offsets = live.places(found)
    words = live.words[places]
    if state.nursery and not state.is_choosing:
        learned = live.z[places] != NONE
        which = np.repeat(np.arange(len(found)), np.diff(offsets))[learned]
        pairs = np.unique(np.stack([words[learned], which]), axis=1)
        np.subtract.at(state.nursery.uses[0], pairs[0], 1)
        np.subtract.at(state.nursery.uses[1], words[learned], 1)
    live.recount(places, np.full(len(places), NONE))
    stays = np.ones(live.tokens, np.bool_)
    stays[places], lengths[found] = False, 0
    live.keep_tokens(stays, lengths)
    used = np.unique(words)
    live.tables[used] = np.minimum(live.tables[used], live.rows[used].sum(axis=1))
    for d in found.tolist():
        state.labels[d] = None
    if archive:
        state.marks[found] = found
    if state.nursery:
        forget(state.nursery)
    _leave(state, used)
    state.learned = live.workspace = None
    return len(found)


def _leave(state: GibbsState, used: Array) -> None:
    """Let those of some words leave that have no token any more."""
    live, vocabulary = state.live, state.vocabulary
    unused = used[~live.rows[used].any(axis=1) & ~np.isin(used, live.words[: live.tokens])]
    unused = unused[unused >= vocabulary.always]
    if not state.settings.vocabulary.is_open or not len(unused):
        return
    staying = np.setdiff1d(np.arange(live.size), unused)
    vocabulary.keep(staying)
    live.keep_words(staying)
    if state.nursery:
        state.nursery.keep_words(staying)
