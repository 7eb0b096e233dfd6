"""Remove words from the vocabulary, so that a stream with ever new words needs bounded memory.

A word that is removed takes its counts and its tables with it. Its tokens stay in the history as
:data:`~model.learners.particles.kernels.particles.GONE` and count for no document. A word that
returns is new. The joint probability and the evidence still cover the removed words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model import checks
from model.learners.particles.kernels.copy_on_write import new_table
from model.learners.particles.kernels.particles import GONE
from model.learners.particles.kernels.parts import filled_parts
from model.learners.particles.packing import Packed, pack_table, unpack_table
from model.learners.particles.priors import parts_each, with_words, word_rows
from model.learners.particles.state import ParticleState
from model.records import IntArray, LongArray

# Words whose whole rows are summed at once.
_WORDS = 1024


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
    _renumber_rows(state, numbers, staying)
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


def _renumber_rows(state: ParticleState, numbers: IntArray, staying: LongArray) -> None:
    """Keep the rows of the words in ``staying``; ``numbers`` are the new numbers by old number."""
    table, each = with_words(state.population, len(numbers)), parts_each(state.population)
    length, old, new = table.rows.shape[1], staying, np.arange(len(staying))
    if each:
        old = filled_parts(table, 0, (len(numbers) - 1) * each)
        old = old[numbers[old // each] != GONE]
        new = numbers[old // each].astype(np.int64) * each + old % each
    blobs = pack_table(table, old, np.full(len(old), length))
    packed = Packed.of(blobs, len(old), len(table.line), length, checks.LARGEST)
    empty = new_table(len(table.line), 1, length, state.threads, table.rows.dtype)
    words = unpack_table(empty, new, len(staying) * max(1, each), packed)
    state.population = state.population._replace(words=words)


def _forget_counts(state: ParticleState, leaving: LongArray) -> None:
    """Subtract the words in ``leaving`` from n_z, k_z and M of each particle."""
    population, tp = state.population, len(state.prior.alpha)
    for particle in range(len(population.weight)):
        for begin in range(0, len(leaving), _WORDS):
            some = leaving[begin : begin + _WORDS]
            sums = word_rows(population, particle, some).sum(axis=0, dtype=np.int64)
            population.totals[particle] -= sums[:tp]
            if len(sums) > tp:
                population.topic_tables[particle] -= sums[tp : 2 * tp]
                population.tables[particle] -= sums[2 * tp]


def _forget_tokens(state: ParticleState, numbers: IntArray) -> None:
    """Renumber the history's tokens."""
    history = state.history
    pages = history.all_pages(history.slots())
    history.pages.words[pages] = numbers[history.pages.words[pages]]


def _without_gone(tokens: IntArray) -> IntArray:
    return tokens[tokens != GONE]
