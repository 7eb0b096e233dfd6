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
  :data:`~model.learners.particles.kernels.particles.GONE`, like a token whose word left the
  vocabulary. Tokens die one by one, not with their document: of the other tokens no particle knows
  the documents, and all tokens have the same law. A document that has lost all tokens takes its
  place until it leaves as documents do.
* Which tokens die is the same in all particles of an island, so all of them continue to learn the
  same data.
* The joint probability of the tokens that live cannot be known, since documents that are not in the
  history have a part in it. Its logarithm fades by the same factor, as the sum of the tokens' parts
  does on average. It continues to rank particles, and recent tokens count more.
* A word without tokens stays in the vocabulary until it is one of the least used. A topic without
  tokens is empty.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from model.kernels.random import FORGETTING, FORGOTTEN_TOPIC
from model.learners.particles.kernels.canonical_rows import tokens_by_word
from model.learners.particles.kernels.copy_on_write import BLOCKS_EACH, reserve
from model.learners.particles.kernels.forgetting import choose_forgotten, forget_tokens
from model.learners.particles.kernels.logarithm import ln
from model.learners.particles.kernels.particles import GONE
from model.learners.particles.population import joint, over_slices
from model.learners.particles.priors import parts_each
from model.learners.particles.state import ParticleState, draws, ensure_capacity
from model.records import LongArray
from model.scaled import Scaled

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
