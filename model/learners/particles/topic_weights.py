"""Learning of the weights of topics from the documents at hand.

alpha_t = A pi_t, where pi has a Dirichlet distribution with parameters gamma / T, and A and gamma
are concentrations with nearly flat priors. After a minibatch, A, gamma and pi are drawn given the
topics of the documents of the history (:mod:`model.learners.particles.kernels.topic_weights`).
Documents that have left the history do not count. So the weights are those of the newest documents
and of a sample of the past, and the weight of a topic that fades falls.

The sampler is exact for the documents at hand. P(w, z) takes the factor by which the probability of
their topics changes.
"""

from __future__ import annotations

import numpy as np

from model.kernels.random import TOPIC_WEIGHTS
from model.learners.particles.kernels.concentration import draw_a, draw_a_0
from model.learners.particles.kernels.copy_on_write import Table
from model.learners.particles.kernels.particles import Draws, Population, Prior
from model.learners.particles.kernels.topic_weights import (
    count_tables,
    draw_weights,
    log_topics,
)
from model.learners.particles.population import joint
from model.learners.particles.priors import places_of, sum_of, with_alpha
from model.learners.particles.state import ParticleState, draws, ensure_capacity
from model.records import FloatArray, IntArray, LongArray
from model.scaled import Scaled


def learn_weights(state: ParticleState, population: Population | None = None) -> None:
    """Draw A, gamma and the weights of the topics; nothing where weights are even.

    Args:
        state: the learner's state.
        population: one particle whose topics count; that of the state if None.
    """
    if not state.settings.learns_topics:
        return
    if population is None:
        ensure_capacity(state, 0, 0, 0)
        population = state.population
    named = draws(state, TOPIC_WEIGHTS)
    state.prior, state.gamma, state.weighed = weighed(
        population, state.prior, state.gamma, state.history.slots(), named, state.weighed
    )


def weighed(
    population: Population,
    prior: Prior,
    gamma: float,
    slots: IntArray | LongArray,
    named: Draws,
    index: int,
) -> tuple[Prior, float, int]:
    """Return a prior with new weights, the new gamma, and the next index.

    The joint probability of particle 0, the only one, changes with them.
    """
    counts = document_counts(population, slots, int(np.count_nonzero(prior.alpha)))
    if not counts.any():
        return prior, gamma, index
    before = log_topics(counts, prior.alpha[: counts.shape[1]])
    identity = int(population.identity[0])
    after, gamma, index = drawn_alpha(
        counts, prior.alpha[: counts.shape[1]], gamma, (named, identity, index)
    )
    _change_joint(population, log_topics(counts, after) - before)
    return with_alpha(prior, after), gamma, index


def drawn_alpha(
    counts: LongArray, alpha: FloatArray, gamma: float, names: tuple[Draws, int, int]
) -> tuple[FloatArray, float, int]:
    """Draw alpha and gamma given the topics of documents.

    Args:
        counts: int[D, T], n_td.
        alpha: float64[T], A pi.
        gamma: the concentration of the weights.
        names: the names of the draws, the particle, and the number of the first draw.

    Returns:
        float64[T], alpha; gamma; the number of the next draw.
    """
    named, identity, index = names
    topics, tokens = counts.shape[1], counts.sum(axis=1).astype(np.int64)
    of_documents, of_topics, index = count_tables(counts, alpha, named, identity, index)
    whole, index = draw_a(sum_of(alpha), tokens, of_documents, 0.0, named, identity, index)
    even = np.full(topics, 1.0 / topics)
    gamma, index = draw_a_0(gamma, of_topics, even, named, identity, index)
    weights, index = draw_weights(of_topics, gamma / topics, named, identity, index)
    found: FloatArray = whole * weights
    return found, float(gamma), int(index)


def document_counts(population: Population, slots: IntArray | LongArray, topics: int) -> LongArray:
    """Return int[D, T], n_td of documents in particle 0."""
    if not len(slots):
        return np.zeros((0, topics), np.int32)
    table = population.documents
    assert isinstance(table, Table)  # the settings refuse the full history
    rows = table.rows[places_of(table, 0, slots.astype(np.int64))]
    return np.ascontiguousarray(rows[:, :topics])


def _change_joint(population: Population, logarithm: float) -> None:
    change = logarithm / np.log(2.0)
    whole = int(np.floor(change))
    product = joint(population, 0) * Scaled.of(2.0 ** (change - whole), whole)
    population.joint[0], population.joint_exponent[0] = product.mantissa, product.exponent
