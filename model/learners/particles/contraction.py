"""Remove words from the vocabulary, so that a stream with ever new words needs bounded memory.

A word that is removed takes its counts and its tables with it. Its tokens stay in the history as
:data:`~model.learners.particles.kernels.particles.GONE` and count for no document. A word that
returns is new. The joint probability and the evidence still cover the removed words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model import checks
from model.learners.particles.kernels.copy_on_write import new_table, with_rows
from model.learners.particles.kernels.particles import GONE
from model.learners.particles.packing import Packed, pack_table, unpack_table
from model.learners.particles.priors import row_length, word_rows
from model.learners.particles.saving import count_documents_of
from model.learners.particles.state import ParticleState
from model.records import IntArray, LongArray


def make_room_for_words(state: ParticleState, words: Sequence[str]) -> None:
    """Remove the least used words if the words of a minibatch need their room."""
    if not state.settings.vocabulary.is_open:
        return
    staying = state.vocabulary.staying(words)
    if staying is not None:
        _contract(state, staying)


def _contract(state: ParticleState, staying: LongArray) -> None:
    """Keep only the words in ``staying``, and number them anew in their order."""
    # New numbers by old number. GONE is -1, so the last entry maps it to itself.
    numbers = np.full(len(state.vocabulary) + 1, GONE, np.int32)
    numbers[staying] = np.arange(len(staying))
    leaving = np.setdiff1d(np.arange(len(state.vocabulary)), staying)
    _forget_counts(state, leaving)
    table, length = state.population.words, row_length(state.prior)
    blobs = pack_table(with_rows(table, len(numbers)), staying, np.full(len(staying), length))
    packed = Packed.of(blobs, len(staying), len(table.line), length, checks.LARGEST)
    empty = new_table(len(table.line), 1, length, state.threads, table.rows.dtype)
    words = unpack_table(empty, np.arange(len(staying)), len(staying), packed)
    state.population = state.population._replace(words=words)
    state.prior = state.prior._replace(
        base=state.prior.base[: state.based][staying[staying < state.based]]
    )
    state.based = len(state.prior.base)
    state.vocabulary.keep(staying)
    _forget_tokens(state, numbers)
    state.begun = None
    if state.waiting:
        state.waiting = [(_without_gone(numbers[tokens]), label) for tokens, label in state.waiting]
    if state.following:
        held = state.following.held
        state.following.held = [(_without_gone(numbers[tokens]), label) for tokens, label in held]


def _forget_counts(state: ParticleState, leaving: LongArray) -> None:
    """Subtract the words in ``leaving`` from n_z, k_z and M of each particle."""
    population, tp = state.population, len(state.prior.alpha)
    for particle in range(len(population.weight)):
        sums = word_rows(population, particle, leaving).sum(axis=0, dtype=np.int64)
        population.totals[particle] -= sums[:tp]
        if len(sums) > tp:
            population.topic_tables[particle] -= sums[tp : 2 * tp]
            population.tables[particle] -= sums[2 * tp]


def _forget_tokens(state: ParticleState, numbers: IntArray) -> None:
    """Renumber the history's tokens, and count documents again that lose tokens."""
    history, touched = state.history, []
    for slot in history.slots().tolist():
        pages = history.pages_of(slot)
        before = history.pages.words[pages]
        after = numbers[before]
        if ((after == GONE) & (before != GONE)).any():
            touched.append(slot)
        history.pages.words[pages] = after
    count_documents_of(state, np.array(touched, np.int64))


def _without_gone(tokens: IntArray) -> IntArray:
    return tokens[tokens != GONE]
