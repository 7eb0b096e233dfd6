"""Score documents under fixed topics.

phi is float64[V, T], P(w | z) of the documents' own V words, and never changes here. Kernels for
evaluation return probabilities or counts and leave logarithms to their callers. So their bits
depend on no library.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import EVALUATION, fill_uniforms, uniform

# The ``sequence`` that keeps the uniforms of the two samplers apart.
_SWEEPS, _LEFT_TO_RIGHT = 0, 1


@inlined
def draw_topic(cumulated, u):
    """Return the first t whose prefix sum is above u times the whole sum.

    Its own weight is positive.
    """
    last = cumulated.shape[0] - 1
    x = u * cumulated[last]
    if x >= cumulated[last]:
        # u is below 1, but the product may be rounded up to the sum.
        x = np.nextafter(cumulated[last], 0.0)
    t = 0
    for k in range(last):
        t += cumulated[k] <= x
    return t


@kernel
def dense_rows(rows, offsets, topics, counts, strength, base):
    """Return n_wt + s_t B(w) of some words as a dense table.

    Args:
        rows: int64[V], rows of the model; -1 is a word without counts.
        offsets: int64, where each row of the model begins in ``topics`` and ``counts``.
        topics: the topics of the model's sparse rows.
        counts: their counts.
        strength: float64[T], s_t.
        base: float64[V], B(w) of these words.

    Returns:
        float64[V, T].
    """
    table = np.empty((rows.shape[0], strength.shape[0]))
    for v in range(rows.shape[0]):
        for t in range(strength.shape[0]):
            table[v, t] = strength[t] * base[v]
        if rows[v] >= 0:
            for at in range(offsets[rows[v]], offsets[rows[v] + 1]):
                table[v, topics[at]] += counts[at]
    return table


@inlined
def _prefix_sums(cumulated, phi, v, alpha, in_document):
    """Set the prefix sums of phi[v, t] (alpha_t + n_td); return the whole sum."""
    total = 0.0
    for t in range(alpha.shape[0]):
        total += phi[v, t] * (alpha[t] + in_document[t])
        cumulated[t] = total
    return total


@kernel
def first_moment(tokens, phi, alpha, alpha_sum):
    """Return the first-moment estimate of each token's probability.

    p_i = sum_t phi[w_i, t] (alpha_t + m_t) / (sum alpha + i), i from 0. Then each m_t grows by its
    share of the sum.

    Args:
        tokens: int32[n], rows of ``phi``.
        phi: float64[V, T].
        alpha: float64[T].
        alpha_sum: sum of alpha.

    Returns:
        float64[n].
    """
    n = tokens.shape[0]
    mean = np.zeros(alpha.shape[0])
    weights = np.empty(alpha.shape[0])
    p = np.empty(n)
    for i in range(n):
        total = 0.0
        for t in range(alpha.shape[0]):
            weights[t] = phi[tokens[i], t] * (alpha[t] + mean[t])
            total += weights[t]
        for t in range(alpha.shape[0]):
            mean[t] += weights[t] / total
        p[i] = total / (alpha_sum + i)
    return p


@inlined
def _resample(parents, weights, u):
    """Resample systematically: fill ``parents`` in proportion to the weights, by one uniform.

    Returns:
        The sum of the weights.
    """
    particles = weights.shape[0]
    total = 0.0
    for r in range(particles):
        total += weights[r]
    cumulated = 0.0
    child = 0
    for r in range(particles):
        cumulated += weights[r]
        while child < particles and (child + u) * total < cumulated * particles:
            parents[child] = r
            child += 1
    # Rounding may leave the last sum a little short.
    parents[child:] = particles - 1
    return total


@kernel
def left_to_right(tokens, phi, alpha, alpha_sum, particles, key0, key1):
    """Return the mean over the particles of P(w_i | a particle's topics of the tokens before i).

    Before each token, a particle redraws the topics of all tokens before it in one sweep. Then
    particles are resampled by the probabilities that they gave the token, and draw its topic. This
    takes R n^2 / 2 draws.

    Args:
        tokens: int32[n], rows of ``phi``.
        phi: float64[V, T].
        alpha: float64[T].
        alpha_sum: sum of alpha.
        particles: R.
        key0: the first half of the stream key of the document.
        key1: the second half.

    Returns:
        float64[n].
    """
    n = tokens.shape[0]
    p = np.empty(n)
    weights, parents = np.empty(particles), np.empty(particles, np.int64)
    in_document = np.zeros((particles, alpha.shape[0]), np.int64)
    cumulated = np.empty(alpha.shape[0])
    states = np.zeros((particles, n), np.int32)
    uniforms = np.empty((particles, n))
    for i in range(n):
        for r in range(particles):
            fill_uniforms(
                uniforms[r], i + 1, i * (i + 1) // 2, key0, key1, r, _LEFT_TO_RIGHT, EVALUATION
            )
            for j in range(i):
                in_document[r, states[r, j]] -= 1
                _prefix_sums(cumulated, phi, tokens[j], alpha, in_document[r])
                states[r, j] = draw_topic(cumulated, uniforms[r, j])
                in_document[r, states[r, j]] += 1
            weights[r] = _prefix_sums(cumulated, phi, tokens[i], alpha, in_document[r]) / (
                alpha_sum + i
            )
        p[i] = (
            _resample(
                parents, weights, uniform(i, key0, key1, particles, _LEFT_TO_RIGHT, EVALUATION)
            )
            / particles
        )
        states, in_document = states[parents], in_document[parents]
        for r in range(particles):
            _prefix_sums(cumulated, phi, tokens[i], alpha, in_document[r])
            states[r, i] = draw_topic(cumulated, uniforms[r, i])
            in_document[r, states[r, i]] += 1
    return p


@kernel
def sample_fixed(tokens, phi, alpha, sweeps, key0, key1):
    """Return n_td, int64[T], after a first pass and ``sweeps`` Gibbs sweeps."""
    n = tokens.shape[0]
    in_document = np.zeros(alpha.shape[0], np.int64)
    cumulated = np.empty(alpha.shape[0])
    states = np.empty(n, np.int32)
    uniforms = np.empty(n)
    for sweep in range(sweeps + 1):
        fill_uniforms(uniforms, n, sweep * n, key0, key1, 0, _SWEEPS, EVALUATION)
        for i in range(n):
            if sweep > 0:
                in_document[states[i]] -= 1
            _prefix_sums(cumulated, phi, tokens[i], alpha, in_document)
            states[i] = draw_topic(cumulated, uniforms[i])
            in_document[states[i]] += 1
    return in_document


SWEEPS, KEPT = 10, 6
