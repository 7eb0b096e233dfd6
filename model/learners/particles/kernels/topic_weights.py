"""Draws of the weights of topics given the topics of documents (Teh et al. 2006, section 5.3).

A document draws its topics with Dirichlet parameters alpha_t = A pi_t, and the weights pi of all T
topics have a Dirichlet distribution with parameters gamma / T. Tables make the conditional
distributions simple. The n_td tokens of document d in topic t sit at m_td tables: the i-th token
(counted from 0) opens one with probability alpha_t / (alpha_t + i) (Antoniak 1974). With
m_t = sum over d of m_td,

    pi ~ Dirichlet(gamma / T + m_t),

A has the distribution of a concentration of D restaurants with n_d tokens at m_d tables, and gamma
that of one restaurant with m_t tables of topic t and base 1 / T
(:mod:`model.learners.particles.kernels.concentration`).

Weights below :data:`LEAST` are raised to it, so that no weight is 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from model.kernels.jit import kernel
from model.kernels.random import uniform
from model.learners.particles.kernels.concentration import count_successes, gamma

LEAST = 2.0**-60

_AT_ONCE = 512


@kernel
def count_tables(counts: Any, alpha: Any, draws: Any, particle: Any, index: Any) -> Any:
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
def draw_weights(of_topics: Any, spread: Any, draws: Any, particle: Any, index: Any) -> Any:
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
def log_topics(counts: Any, alpha: Any) -> Any:
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
