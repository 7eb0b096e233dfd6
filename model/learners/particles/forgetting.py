"""Forgetting with a half-life: every learned token has an exponentially distributed lifetime.

With half-life h, a token that was learned survives an event time of x with probability 2^(-x / h).
So at any time the state is a state of the sampler over the tokens that are alive: counts and
numbers of tables are whole numbers, no kernel of the sampler changes, and the expected counts fade
exactly. Fractional counts would fade without noise, but they have no number of tables and no joint
probability.

Time is the end of a minibatch's window, or with ``--half_life=auto`` the number of tokens learned
before the minibatch. Tokens are forgotten before a minibatch is learned, when a multiple of
h / :data:`TICKS` has passed since the last one. A lifetime begins when the token is learned.
Documents that wait are not forgotten before.

* A token of the history that dies becomes
  :data:`~beam_topics.model.learners.particles.kernels.particles.GONE`, like a token whose word left
  the vocabulary. Tokens die one by one, not with their document: of the other tokens no particle
  knows the documents, and all tokens have the same law. A document that has lost all tokens takes
  its place until it leaves as documents do.
* Which tokens die is the same in all particles of an island, so all of them continue to learn the
  same data.
* The joint probability of the tokens that live cannot be known, since documents that are not in the
  history have a part in it. Its logarithm fades by the same factor, as the sum of the tokens' parts
  does on average. It continues to rank particles, and recent tokens count more.
* A word without tokens stays in the vocabulary until it is one of the least used. A topic without
  tokens is empty.

Remove words from the vocabulary, so that a stream with ever new words needs bounded memory.

A word that is removed takes its counts and its tables with it. Its tokens stay in the history as
:data:`~beam_topics.model.learners.particles.kernels.particles.GONE` and count for no document. A
word that returns is new. The joint probability and the evidence still cover the removed words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from beam_topics.model import checks
from beam_topics.model.kernels.random import FORGETTING, FORGOTTEN_TOPIC
from beam_topics.model.kernels.special import ln
from beam_topics.model.kernels.threads import over_slices
from beam_topics.model.learners.particles.kernels.canonical_rows import tokens_by_word
from beam_topics.model.learners.particles.kernels.copy_on_write import (
    BLOCKS_EACH,
    new_table,
    reserve,
)
from beam_topics.model.learners.particles.kernels.forgetting import choose_forgotten, forget_tokens
from beam_topics.model.learners.particles.kernels.particles import GONE
from beam_topics.model.learners.particles.kernels.parts import filled_parts
from beam_topics.model.learners.particles.packing import Packed, pack_table, unpacked
from beam_topics.model.learners.particles.population import joint
from beam_topics.model.learners.particles.priors import parts_each, with_words, word_rows
from beam_topics.model.learners.particles.state import ParticleState, draws, ensure_capacity
from beam_topics.model.records import IntArray, LongArray
from beam_topics.model.scaled import Scaled

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
    words = unpacked(empty, new, len(staying) * max(1, each), packed)
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


# Tokens are forgotten this often in a half-life.
TICKS = 64
_LN_2 = float(ln(2.0))
# Binary digits of a fraction that a float64 beside a large whole number has at most.
_DIGITS = 53


def forget(state: ParticleState, time: int) -> None:
    """Let tokens die whose lifetime ends before a time.

    Args:
        state: the learner's state, between two minibatches.
        time: event time in microseconds, or learned tokens. A time before an earlier one changes
            nothing.
    """
    half_life, before = state.half_life, state.time
    if not half_life:
        return
    state.time = time if before is None else max(before, time)
    ticks = 0 if before is None else TICKS * state.time // half_life - TICKS * before // half_life
    if ticks and state.population.totals.any():
        _forget(state, ticks)


def _forget(state: ParticleState, ticks: int) -> None:
    ensure_capacity(state, 0, 0, 0)
    slots, history = state.history.slots(), state.history
    begins, places = tokens_by_word(history.pages, slots, len(state.vocabulary))
    log_survival = -ticks / TICKS * _LN_2
    chosen, others = choose_forgotten(
        state.population, begins, log_survival, draws(state, FORGETTING)
    )
    _reserve_rows(state, begins, chosen, others)
    run = partial(
        forget_tokens,
        state.population,
        state.prior,
        begins,
        places,
        chosen,
        others,
        draws(state, FORGOTTEN_TOPIC),
    )
    over_slices(len(state.population.weight), state.threads, run)
    history.pages.words.reshape(-1)[places[chosen]] = GONE
    for particle in range(len(state.population.weight)):
        faded = _power(joint(state.population, particle), survival(ticks))
        state.population.joint[particle] = faded.mantissa
        state.population.joint_exponent[particle] = faded.exponent


def survival(ticks: int) -> float:
    """Return 2^(-ticks / TICKS), by IEEE operations."""
    root, factor = 0.5, 1.0
    for _ in range(TICKS.bit_length() - 1):
        root = math.sqrt(root)
    for _ in range(ticks % TICKS):
        factor *= root
    return math.ldexp(factor, -(ticks // TICKS))


def _power(product: Scaled, power: float) -> Scaled:
    """Return a number below 1 to a power, by IEEE operations."""
    logarithm = (product.exponent + float(ln(product.mantissa)) / _LN_2) * power
    whole = math.floor(logarithm)
    fraction, mantissa, root = logarithm - whole, 1.0, 2.0
    for _ in range(_DIGITS):
        fraction, root = 2.0 * fraction, math.sqrt(root)
        if fraction >= 1.0:
            fraction, mantissa = fraction - 1.0, mantissa * root
    return Scaled.of(mantissa, whole)


def _reserve_rows(
    state: ParticleState, begins: LongArray, chosen: LongArray, others: LongArray
) -> None:
    """Reserve a row for each particle and word, or part of a word, that loses tokens."""
    losing = others > 0
    losing[np.searchsorted(begins, chosen, side="right") - 1] = True
    each = -(-len(state.population.weight) // state.threads)
    rows = each * int(np.count_nonzero(losing))
    if parts_each(state.population):
        # Each token that goes has a part of its own at most.
        rows = each * (len(chosen) + int(others.sum()))
    words = reserve(state.population.words, rows, BLOCKS_EACH * rows)
    state.population = state.population._replace(words=words)
