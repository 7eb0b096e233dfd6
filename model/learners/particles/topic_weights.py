"""Learning of the weights of topics from the documents at hand.

alpha_t = A (e / T + (1 - e) pi_t). A is T times ``--alpha``, and pi has a Dirichlet distribution
with parameters gamma / T, where gamma is a concentration with a nearly flat prior. Weights are
learned with ``--topics=auto``, where e is :data:`EVEN`. The even part keeps topics of few
documents, such as those of a new domain, from losing their weight to the largest ones. A table is
of the even part or of pi, and only tables of pi count when pi and gamma are drawn. They are drawn
after each minibatch, given the topics of the documents of the history
(:mod:`beam_topics.model.learners.particles.kernels.topic_weights`). Documents that have left the
history do not count. So the weights are those of the newest documents and of a sample of the past,
and the weight of a topic that fades falls.

The sampler is exact for the documents at hand. P(w, z) takes the factor by which the probability of
their topics changes.

Learning of a and a_0 of the hierarchical prior from the tables.

Each particle has its own a and a_0, which are redrawn after a minibatch. A draw reads every word of
the vocabulary, so there is one draw for every :data:`TOKENS_A_WORD` tokens per word: one after each
minibatch of usual size, and one after several of the small minibatches that short windows make.

:mod:`beam_topics.model.learners.particles.kernels.topic_weights` has the sampler. The draws are
functions of (seed, key, particle, minibatch, index).
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.random import CONCENTRATION, TOPIC_WEIGHTS, fill_uniforms
from beam_topics.model.learners.particles.kernels.particles import Draws, Population, Prior
from beam_topics.model.learners.particles.kernels.topic_weights import (
    count_tables,
    draw_a,
    draw_a_0,
    draw_weights,
    log_joint_terms,
    log_topics,
)
from beam_topics.model.learners.particles.population import joint
from beam_topics.model.learners.particles.priors import shared_tables, sum_of, with_alpha
from beam_topics.model.learners.particles.state import (
    ParticleState,
    document_counts,
    draws,
    ensure_capacity,
)
from beam_topics.model.records import FloatArray, IntArray, LongArray
from beam_topics.model.scaled import Scaled

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
        purpose: names the draws (:mod:`beam_topics.model.kernels.random`).
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


# e with --topics=auto, the part of A in which all topics are alike.
EVEN = 0.5


def learn_weights(state: ParticleState, population: Population | None = None) -> None:
    """Draw gamma and the weights of the topics; nothing where weights are even.

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
    counts = document_counts(state, population, 0, state.history.slots())
    state.prior, state.gamma, state.weighed = weighed(
        population, state.prior, state.gamma, counts, (named, state.weighed)
    )


def make_even(state: ParticleState, population: Population) -> None:
    """Make the weights of all topics alike, with the same A.

    Args:
        state: the learner's state; its prior changes.
        population: one particle; its joint probability changes.
    """
    topics, prior = state.settings.topic_count, state.prior
    counts = document_counts(state, population, 0, state.history.slots())
    after = np.full(topics, prior.alpha_sum / topics)
    _change_joint(population, log_topics(counts, after) - log_topics(counts, prior.alpha[:topics]))
    state.prior = with_alpha(prior, after)


def weighed(
    population: Population,
    prior: Prior,
    gamma: float,
    counts: IntArray,
    names: tuple[Draws, int],
) -> tuple[Prior, float, int]:
    """Return a prior with new weights, the new gamma, and the number of the next draw.

    Args:
        population: one particle; its joint probability changes with the weights.
        prior: the prior.
        gamma: the concentration of the weights.
        counts: int32[D, T], n_td.
        names: the names of the draws, and the number of the first draw.
    """
    named, index = names
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
    counts: IntArray,
    alpha: FloatArray,
    gamma: float,
    names: tuple[Draws, int, int],
) -> tuple[FloatArray, float, int]:
    """Draw alpha and gamma given the topics of documents.

    Args:
        counts: int[D, T], n_td.
        alpha: float64[T], of sum A.
        gamma: the concentration of the weights.
        names: the names of the draws, the particle, and the number of the first draw.

    Returns:
        float64[T], alpha; gamma; the number of the next draw.
    """
    named, identity, index = names
    topics, whole = counts.shape[1], sum_of(alpha)
    _, of_topics, index = count_tables(counts, alpha, named, identity, index)
    of_weights, index = tables_of_weights(of_topics, alpha, (named, identity, index))
    base = np.full(topics, 1.0 / topics)
    gamma, index = draw_a_0(gamma, of_weights, base, named, identity, index)
    weights, index = draw_weights(of_weights, gamma / topics, named, identity, index)
    found: FloatArray = whole * (EVEN * base + (1.0 - EVEN) * weights)
    return found, float(gamma), int(index)


def tables_of_weights(
    of_topics: LongArray, alpha: FloatArray, names: tuple[Draws, int, int]
) -> tuple[LongArray, int]:
    """Draw which tables are of pi and not of the even part.

    Args:
        of_topics: int64[T], m_t.
        alpha: float64[T].
        names: the names of the draws, the particle, and the number of the first draw.

    Returns:
        int64[T], the tables of pi; the number of the next draw.
    """
    draws, identity, index = names
    uniforms, topics = np.empty(int(of_topics.sum())), len(alpha)
    key = draws.key0, draws.key1, identity, draws.sequence, draws.purpose
    fill_uniforms(uniforms, len(uniforms), index, *key)
    of_pi = 1.0 - EVEN / topics * sum_of(alpha) / alpha
    place = np.repeat(np.arange(topics), of_topics)
    found: LongArray = np.bincount(place[uniforms < of_pi[place]], minlength=topics)
    return found.astype(np.int64), index + len(uniforms)


def _change_joint(population: Population, logarithm: float) -> None:
    change = logarithm / np.log(2.0)
    whole = int(np.floor(change))
    product = joint(population, 0) * Scaled.of(2.0 ** (change - whole), whole)
    population.joint[0], population.joint_exponent[0] = product.mantissa, product.exponent
