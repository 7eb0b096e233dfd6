"""Take documents at hand out of what the learners of this room know.

Their tokens leave n_wt, n_t and P(w, z) of each particle, their units leave the reservoir, and
words that no other document used leave the vocabulary. The documents stay as empty ones. The
numbers of documents and tokens, the weights and the evidence do not change.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.arrays import LongArray
from beam_topics.model.papers.kernels import filter as alg4
from beam_topics.model.papers.state import PaperState, ensure_capacity
from beam_topics.model.papers.stored import Packed, pack_table, unpacked
from beam_topics.model.stored import checks


def erase(state: PaperState, arrivals: LongArray) -> int:
    """Take documents out.

    Args:
        state: Changed.
        arrivals: int64[n], how many documents came before each of them.

    Returns:
        How many of them were at hand with a word or a label.
    """
    history, used, found = state.history, [], 0
    # What waits is all that came.
    for number in arrivals.tolist() if state.waiting is not None else []:
        assert state.waiting is not None
        tokens, label = state.waiting[number]
        used.append(tokens)
        found += len(tokens) > 0 or label is not None
        state.waiting[number] = tokens[:0], None
    for slot in history.slots()[np.isin(history.arrival[history.slots()], arrivals)].tolist():
        tokens = history.words_of(slot)
        used.append(tokens.copy())
        found += len(tokens) > 0 or history.labels[slot] is not None
        ensure_capacity(state, len(state.particles.weight) * len(np.unique(tokens)), 0)
        alg4.take_out(state.particles, state.prior, history.pages, slot)
        history.empty(slot)
    if found:
        state.sample = None
        _leave(state, np.unique(np.concatenate(used)))
    return found


def _leave(state: PaperState, some: LongArray) -> None:
    """Drop those of some words that no particle and no document has any longer."""
    pages, held, vocabulary = state.history.pages, state.waiting or [], state.vocabulary
    slots, size, topics = state.history.slots(), len(vocabulary), state.settings.topic_count
    tokens = [tokens for tokens, _ in held] + list(map(state.history.words_of, slots.tolist()))
    parts = pack_table(state.particles.words, some, np.full(len(some), topics))
    particles = len(state.particles.weight)
    packed = Packed.of(parts, len(some), particles, topics, checks.LARGEST)
    counts = np.add.reduceat(packed.contents.sum(axis=1), packed.starts) if len(some) else some
    unused = np.setdiff1d(some[counts == 0], np.concatenate([some[:0], *tokens]))
    if not state.settings.vocabulary.is_open or not len(unused):
        return
    staying = np.setdiff1d(np.arange(size), unused)
    parts = pack_table(state.particles.words, staying, np.full(len(staying), topics))
    packed = Packed.of(parts, len(staying), particles, topics, checks.LARGEST)
    rows = unpacked(state.particles.words, np.arange(len(staying)), len(staying), packed)
    state.particles = state.particles._replace(words=rows)
    number = np.zeros(size, np.int32)
    number[staying] = np.arange(len(staying), dtype=np.int32)
    pages.words[:] = number[pages.words]
    if state.waiting is not None:
        state.waiting = [(number[tokens], label) for tokens, label in held]
    # Uses are not counted here, and none may be missing.
    vocabulary.extend(())
    vocabulary.keep(staying)
