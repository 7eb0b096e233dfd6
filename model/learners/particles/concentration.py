"""Learning of a and a_0 of the hierarchical prior from the tables.

Each particle has its own a and a_0, which are redrawn after a minibatch. A draw reads every word of
the vocabulary, so there is one draw for every :data:`TOKENS_A_WORD` tokens per word: one after each
minibatch of usual size, and one after several of the small minibatches that short windows make.

:mod:`model.learners.particles.kernels.concentration` has the sampler. The draws are functions of
(seed, key, particle, minibatch, index).
"""

from __future__ import annotations

import numpy as np

from model.kernels.random import CONCENTRATION
from model.learners.particles.kernels.concentration import draw_a, draw_a_0, log_joint_terms
from model.learners.particles.priors import shared_tables
from model.learners.particles.state import ParticleState, draws, ensure_capacity
from model.scaled import Scaled

TOKENS_A_WORD = 0.25


def draw_is_due(before: int, after: int, words: int) -> bool:
    """Return whether a draw follows a minibatch.

    Args:
        before: tokens that were learned before the minibatch.
        after: tokens that were learned with the minibatch.
        words: the size of the vocabulary.
    """
    every = max(1, int(TOKENS_A_WORD * words))
    return after // every > before // every


def learn_concentrations(state: ParticleState, purpose: int = CONCENTRATION) -> None:
    """Draw a and a_0 of each particle, and update its joint probability.

    Args:
        state: the learner's state.
        purpose: names the draws (:mod:`model.kernels.random`).
    """
    if not state.settings.prior.learns_concentrations:
        return
    ensure_capacity(state, 0, 0, 0)
    population, topics, words = (
        state.population,
        state.settings.topic_count,
        np.arange(len(state.vocabulary)),
    )
    named, used, discount = draws(state, purpose), state.concentrated, state.prior.discount
    for particle in range(len(population.weight)):
        if not population.tables[particle]:
            continue
        identity, (a, a_0) = (
            int(population.identity[particle]),
            population.concentration[particle].tolist(),
        )
        tokens, tables = (
            population.totals[particle, :topics],
            population.topic_tables[particle, :topics],
        )
        shared, base = shared_tables(population, state.prior, particle, words), state.prior.base
        before = log_joint_terms(tokens, tables, shared, base, a, a_0, discount)
        a, index = draw_a(a, tokens, tables, discount, named, identity, state.concentrated)
        a_0, index = draw_a_0(a_0, shared, base, named, identity, index)
        population.concentration[particle], used = (a, a_0), max(used, index)
        change = (
            log_joint_terms(tokens, tables, shared, base, a, a_0, discount) - before
        ) / np.log(2.0)
        whole = int(np.floor(change))
        joint = Scaled.of(
            float(population.joint[particle]), int(population.joint_exponent[particle])
        ) * Scaled.of(2.0 ** (change - whole), whole)
        population.joint[particle], population.joint_exponent[particle] = (
            joint.mantissa,
            joint.exponent,
        )
    state.concentrated = used
