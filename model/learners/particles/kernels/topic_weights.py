"""Draws of the weights of topics given the topics of documents (Teh et al. 2006, section 5.3).

A document draws its topics with Dirichlet parameters alpha_t = A pi_t, and the weights pi of all T
topics have a Dirichlet distribution with parameters gamma / T. Tables make the conditional
distributions simple. The n_td tokens of document d in topic t sit at m_td tables: the i-th token
(counted from 0) opens one with probability alpha_t / (alpha_t + i) (Antoniak 1974). With
m_t = sum over d of m_td,

    pi ~ Dirichlet(gamma / T + m_t),

A has the distribution of a concentration of D restaurants with n_d tokens at m_d tables, and gamma
that of one restaurant with m_t tables of topic t and base 1 / T
(:mod:`beam_topics.model.learners.particles.kernels.topic_weights`).

Weights below :data:`LEAST` are raised to it, so that no weight is 0.

Draws of the concentrations a and a_0 given the tables (Teh 2006, appendix A).

With n_z tokens at k_z tables in topic z, discount d, and a gamma prior of shape :data:`SHAPE` and
rate :data:`RATE`, auxiliary variables make the conditional distribution of a a gamma distribution:

    x_z ~ Beta(a + 1, n_z - 1),   y_zi ~ Bernoulli(a / (a + d i)) for i = 1 .. k_z - 1,
    a ~ Gamma(shape + sum of y_zi, rate - sum of ln x_z).

The same holds for a_0, where the M tables are the tokens. The tables of that level are drawn too:
of the m_w tables of word w, the i-th (counted from 0) opens one with probability
a_0 G(w) / (a_0 G(w) + i).

Gamma variables are made from named uniforms by the method of Marsaglia and Tsang (2000), normal
variables by that of Box and Muller, beta variables from two gamma variables. Uniforms are numbered
from ``index``. Each function returns the next unused number.
"""

from __future__ import annotations

import math

import numpy as np

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.kernels.random import fill_uniforms, uniform

# The gamma prior has mean 1,000 and is nearly flat.
SHAPE, RATE = 1.0, 0.001

_AT_ONCE = 512


@kernel
def gamma(shape, draws, particle, index):
    """Draw from Gamma(shape, 1) for shape >= 1, and return (the value, the next index).

    With d = shape - 1/3 and a standard normal x, d (1 + x / sqrt(9 d))^3 has nearly this
    distribution; a rejection step makes it exact.
    """
    d = shape - 1.0 / 3.0
    while True:
        radius = math.sqrt(
            -2.0
            * math.log(
                1.0
                - uniform(index, draws.key0, draws.key1, particle, draws.sequence, draws.purpose)
            )
        )
        angle = (
            2.0
            * math.pi
            * uniform(index + 1, draws.key0, draws.key1, particle, draws.sequence, draws.purpose)
        )
        u = 1.0 - uniform(
            index + 2, draws.key0, draws.key1, particle, draws.sequence, draws.purpose
        )
        index += 3
        x = radius * math.cos(angle)
        cube = (1.0 + x / math.sqrt(9.0 * d)) ** 3
        if cube > 0.0 and math.log(u) < 0.5 * x * x + d - d * cube + d * math.log(cube):
            return d * cube, index


@kernel
def log_beta(first, second, draws, particle, index):
    """Draw x from Beta(first, second), both >= 1, and return (ln x, the next index)."""
    one, index = gamma(first, draws, particle, index)
    other, index = gamma(second, draws, particle, index)
    return math.log(one / (one + other)), index


@kernel
def count_successes(strength, step, end, draws, particle, index, uniforms):
    """Return (successes, the next index) of the Bernoulli trials i = 1..end-1.

    Trial i succeeds with probability strength / (strength + step i).
    """
    found = 0
    for start in range(1, end, len(uniforms)):
        count = min(len(uniforms), end - start)
        fill_uniforms(
            uniforms, count, index, draws.key0, draws.key1, particle, draws.sequence, draws.purpose
        )
        for i in range(count):
            found += uniforms[i] * (strength + step * (start + i)) < strength
        index += count
    return found, index


@kernel
def draw_a(a, tokens, tables, discount, draws, particle, index):
    """Draw a and return (a, the next index). tokens, tables: int64[T], n_z and k_z."""
    logs, shape, uniforms = 0.0, SHAPE, np.empty(_AT_ONCE)
    for z in range(len(tokens)):
        if tokens[z] > 1:
            log, index = log_beta(a + 1.0, tokens[z] - 1.0, draws, particle, index)
            logs += log
        # The first table of each topic is certain and carries no information.
        if discount > 0.0:
            old, index = count_successes(a, discount, tables[z], draws, particle, index, uniforms)
        else:
            old = max(tables[z] - 1, 0)
        shape += old
    value, index = gamma(shape, draws, particle, index)
    return value / (RATE - logs), index


@kernel
def draw_a_0(a_0, shared, base, draws, particle, index):
    """Draw a_0 and return (a_0, the next index).

    shared: int64[W], m_w, at least one of them above 0. base: float64[W], G.
    """
    opened, everyone, uniforms = 0, 0, np.empty(_AT_ONCE)
    for w in range(len(shared)):
        if shared[w] > 0:
            found, index = count_successes(
                a_0 * base[w], 1.0, shared[w], draws, particle, index, uniforms
            )
            opened += 1 + found
            everyone += shared[w]
    log, index = log_beta(a_0 + 1.0, max(everyone - 1.0, 1.0), draws, particle, index)
    # The first table of all is certain.
    value, index = gamma(SHAPE + (opened - 1), draws, particle, index)
    return value / (RATE - log), index


@kernel
def log_joint_terms(tokens, tables, shared, base, a, a_0, discount):
    """Return the terms of ln P(w, z, tables) that depend on a and a_0; arguments as above."""
    found = math.lgamma(a_0)
    for z in range(len(tokens)):
        found += math.lgamma(a) - math.lgamma(a + tokens[z])
        if discount > 0.0:
            found += (
                tables[z] * math.log(discount)
                + math.lgamma(a / discount + tables[z])
                - math.lgamma(a / discount)
            )
        else:
            found += tables[z] * math.log(a)
    everyone = 0
    for w in range(len(shared)):
        if shared[w] == 1:
            found += math.log(a_0 * base[w])
        elif shared[w] > 1:
            found += math.lgamma(a_0 * base[w] + shared[w]) - math.lgamma(a_0 * base[w])
        everyone += shared[w]
    return found - math.lgamma(a_0 + everyone)


LEAST = 2.0**-60


@kernel
def count_tables(counts, alpha, draws, particle, index):
    """Draw the tables of documents.

    Args:
        counts: int[D, T], n_td.
        alpha: float64[T].
        draws: names the draws.
        particle: names the draws, too.
        index: the number of the first draw.

    Returns:
        int64[D], m_d, the tables of each document; int64[T], m_t; the next index.
    """
    documents, topics = counts.shape
    of_documents, of_topics = np.zeros(documents, np.int64), np.zeros(topics, np.int64)
    uniforms = np.empty(_AT_ONCE)
    for d in range(documents):
        for t in range(topics):
            if counts[d, t] > 0:
                found, index = count_successes(
                    alpha[t], 1.0, np.int64(counts[d, t]), draws, particle, index, uniforms
                )
                of_documents[d] += 1 + found
                of_topics[t] += 1 + found
    return of_documents, of_topics, index


@kernel
def draw_weights(of_topics, spread, draws, particle, index):
    """Draw pi and return (float64[T], the next index).

    Args:
        of_topics: int64[T], m_t.
        spread: gamma / T.
        draws: names the draws.
        particle: names the draws, too.
        index: the number of the first draw.
    """
    weights = np.empty(len(of_topics))
    total = 0.0
    for t in range(len(of_topics)):
        shape, factor = spread + of_topics[t], 1.0
        if shape < 1.0:
            # Gamma(shape) is Gamma(shape + 1) times a uniform to the power 1 / shape.
            u = 1.0 - uniform(
                index, draws.key0, draws.key1, particle, draws.sequence, draws.purpose
            )
            factor = math.exp(math.log(u) / shape)
            shape, index = shape + 1.0, index + 1
        value, index = gamma(shape, draws, particle, index)
        weights[t] = value * factor
        total += weights[t]
    for t in range(len(of_topics)):
        weights[t] = max(weights[t] / total, LEAST)
    return weights, index


@kernel
def log_topics(counts, alpha):
    """Return ln P(z of documents | alpha); counts: int[D, T], alpha: float64[T]."""
    found, whole = 0.0, 0.0
    for t in range(len(alpha)):
        whole += alpha[t]
    for d in range(len(counts)):
        tokens = 0
        for t in range(len(alpha)):
            if counts[d, t] > 0:
                tokens += counts[d, t]
                found += math.lgamma(alpha[t] + counts[d, t]) - math.lgamma(alpha[t])
        found -= math.lgamma(whole + tokens) - math.lgamma(whole)
    return found
