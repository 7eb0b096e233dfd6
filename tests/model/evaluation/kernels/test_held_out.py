import itertools
from math import prod

import numpy as np
import pytest

from beam_topics.model.evaluation.kernels.held_out import (
    first_moment,
    left_to_right,
    sample_fixed,
)
from beam_topics.model.kernels.random import EVALUATION, fill_uniforms, stream_key

KEY = stream_key(5, "document")


def problem(seed, topics, n, words=4):
    generator = np.random.default_rng(seed)
    phi = generator.dirichlet(np.full(words, 0.5), topics).T.copy()
    return (
        generator.integers(0, words, n).astype(np.int32),
        phi,
        generator.uniform(0.05, 1.5, topics),
    )


def drawn(cumulated, u):
    return next(t for t, c in enumerate(cumulated) if c > u * cumulated[-1])


def prefix_sums(phi_row, alpha, counts):
    sums, total = [], 0.0
    for p, a, n in zip(phi_row.tolist(), alpha.tolist(), counts, strict=True):
        total += p * (a + n)
        sums.append(total)
    return sums


def uniforms_of(count, first, particle, sequence, key=KEY):
    values = np.empty(count)
    fill_uniforms(values, count, first, *key, particle, sequence, EVALUATION)
    return values.tolist()


def slow_first_moment(tokens, phi, alpha):
    means, p = [0.0] * len(alpha), []
    for i, w in enumerate(tokens):
        weights = [
            q * (a + m) for q, a, m in zip(phi[w].tolist(), alpha.tolist(), means, strict=True)
        ]
        total = 0.0
        for weight in weights:
            total += weight
        means = [m + weight / total for m, weight in zip(means, weights, strict=True)]
        p.append(total / (float(alpha.sum()) + i))
    return p


def resampled(weights, u):
    total, cumulated, parents = 0.0, 0.0, []
    for weight in weights:
        total += weight
    for r, weight in enumerate(weights):
        cumulated += weight
        while len(parents) < len(weights) and (len(parents) + u) * total < cumulated * len(weights):
            parents.append(r)
    return parents + [len(weights) - 1] * (len(weights) - len(parents)), total


def slow_left_to_right(tokens, phi, alpha, particles, key=KEY, bug=None):
    p = []
    counts, states = [[0] * len(alpha) for _ in range(particles)], [[] for _ in range(particles)]
    for i, w in enumerate(tokens):
        uniforms = [uniforms_of(i + 1, i * (i + 1) // 2, r, 1, key) for r in range(particles)]
        for r in range(particles):
            for j in range(i):
                old = states[r][j]
                counts[r][old] -= bug != "not taken out"
                states[r][j] = drawn(prefix_sums(phi[tokens[j]], alpha, counts[r]), uniforms[r][j])
                counts[r][old] -= bug == "not taken out"
                counts[r][states[r][j]] += 1
        weights = [
            prefix_sums(phi[w], alpha, counts[r])[-1] / (float(alpha.sum()) + i)
            for r in range(particles)
        ]
        parents, total = resampled(weights, uniforms_of(1, i, particles, 1, key)[0])
        p.append(total / particles)
        if bug == "never resampled":
            parents = range(particles)
        counts, states = [list(counts[r]) for r in parents], [list(states[r]) for r in parents]
        for r in range(particles):
            states[r].append(drawn(prefix_sums(phi[w], alpha, counts[r]), uniforms[r][i]))
            counts[r][states[r][i]] += 1
    return p


def exact(tokens, phi, alpha):
    """P(tokens): the sum over all assignments of topics."""
    total = 0.0
    for states in itertools.product(range(len(alpha)), repeat=len(tokens)):
        counts, mass = np.zeros(len(alpha)), 1.0
        for i, (w, z) in enumerate(zip(tokens, states, strict=True)):
            mass *= phi[w, z] * (alpha[z] + counts[z]) / (alpha.sum() + i)
            counts[z] += 1
        total += mass
    return total


@pytest.mark.parametrize(("topics", "n"), [(1, 3), (4, 25), (9, 1), (3, 0)])
def test_kernels_equal_their_twins(topics, n):
    tokens, phi, alpha = problem(topics, topics, n)
    total = float(alpha.sum())
    assert first_moment(tokens, phi, alpha, total).tolist() == slow_first_moment(tokens, phi, alpha)
    assert left_to_right(tokens, phi, alpha, total, 11, *KEY).tolist() == slow_left_to_right(
        tokens, phi, alpha, 11
    )


def test_sample_fixed_equals_its_twin():
    tokens, phi, alpha = problem(0, 5, 30)
    counts, states = [0] * 5, [None] * 30
    for sweep in range(4):
        for i, (w, u) in enumerate(zip(tokens, uniforms_of(30, sweep * 30, 0, 0), strict=True)):
            if sweep:
                counts[states[i]] -= 1
            states[i] = drawn(prefix_sums(phi[w], alpha, counts), u)
            counts[states[i]] += 1
    assert sample_fixed(tokens, phi, alpha, 3, *KEY).tolist() == counts


def test_one_topic_has_nothing_to_estimate():
    tokens, phi, alpha = problem(1, 1, 6)
    assert np.allclose(first_moment(tokens, phi, alpha, alpha.sum()), phi[tokens, 0], rtol=1e-12)
    assert np.allclose(
        left_to_right(tokens, phi, alpha, alpha.sum(), 2, *KEY), phi[tokens, 0], rtol=1e-12
    )


def test_first_moment_is_exact_for_two_tokens():
    tokens, phi, alpha = problem(2, 3, 2)
    assert prod(first_moment(tokens, phi, alpha, alpha.sum())) == pytest.approx(
        exact(tokens, phi, alpha), rel=1e-12
    )


def z_score(estimates, truth):
    return abs(np.mean(estimates) - truth) / (np.std(estimates) / np.sqrt(len(estimates)))


TINY = (
    np.array([0, 1, 0, 2, 0, 0], np.int32),
    np.array([[0.8, 0.1], [0.1, 0.3], [0.1, 0.6]]),
    np.array([0.2, 0.5]),
)


def test_left_to_right_is_an_unbiased_estimate_of_the_enumeration():
    tokens, phi, alpha = TINY
    estimates = [
        prod(left_to_right(tokens, phi, alpha, alpha.sum(), 3, *stream_key(1, str(run))))
        for run in range(30_000)
    ]
    assert z_score(estimates, exact(*TINY)) < 3.5


def test_many_particles_come_to_the_enumeration():
    tokens, phi, alpha = TINY
    assert prod(left_to_right(tokens, phi, alpha, alpha.sum(), 50_000, *KEY)) == pytest.approx(
        exact(*TINY), rel=0.01
    )


@pytest.mark.parametrize("bug", ["not taken out", "never resampled"])
def test_enumeration_finds_a_planted_bug(bug):
    estimates = [
        prod(slow_left_to_right(*TINY, 3, stream_key(1, str(run)), bug)) for run in range(6_000)
    ]
    assert z_score(estimates, exact(*TINY)) > 5
