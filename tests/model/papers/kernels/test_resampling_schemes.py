"""The number of children of each particle: against twins, and in expectation."""

import math
from bisect import bisect_right
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest
from alarm import agrees_in_means
from twins import uniform

from beam_topics.model.kernels.random import RESAMPLE
from beam_topics.model.papers.kernels import resampling

KEY = (11, 12)
SCHEMES = resampling.SCHEMES
Weighted = namedtuple("Weighted", ["weight", "weight_exponent"])
OMEGA = np.array([0.05, 0.4, 0.0, 0.15, 0.3, 0.1])


def kernel_children(weight, scheme, index, sequence=1):
    counts = np.empty(len(weight), np.int64)
    resampling.draw_offspring(
        np.array(weight), SCHEMES.index(scheme), counts, *KEY, 7, sequence, index
    )
    return counts


def slow_children(weight, scheme, index, sequence=1, bug=None):
    size = len(weight)
    weight = [1 / size] * size if bug == "weights ignored" else weight
    counts, share = [0] * size, list(weight)
    if scheme == "residual":
        counts = [math.floor(w * size) for w in weight]
        share = [w * size - count for w, count in zip(weight, counts, strict=True)]
    cumulative = np.cumsum(share).tolist()
    left = size - sum(counts)
    for k in range(left):
        u = uniform(index * size + k, KEY, 7, sequence, RESAMPLE)
        p = (
            int(u * size)
            if bug == "residue drawn evenly"
            else min(bisect_right(cumulative, u * cumulative[-1]), size - 1)
        )
        counts[p] += 1
    return counts


@pytest.mark.parametrize("scheme", SCHEMES)
def test_children_equal_their_twin(scheme):
    generator = np.random.default_rng(1)
    for index in range(300):
        size = int(generator.integers(1, 12))
        weight = generator.gamma(0.3, size=size) * (generator.random(size) < 0.8)
        weight[generator.integers(size)] += 0.1
        weight = weight / weight.sum()
        counts = kernel_children(weight, scheme, index)
        assert counts.tolist() == slow_children(weight.tolist(), scheme, index)
        assert counts.sum() == size
        assert not counts[weight == 0].any()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_children_are_expected_in_proportion_to_weight(scheme):
    drawn = np.array([kernel_children(OMEGA, scheme, index, 2) for index in range(4000)])
    kept = OMEGA > 0
    assert not drawn[:, ~kept].any()
    assert agrees_in_means(drawn[:, kept], OMEGA[kept] * len(OMEGA))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("bug", ["weights ignored", "residue drawn evenly"])
def test_a_planted_bug_is_found(scheme, bug):
    drawn = np.array(
        [slow_children(OMEGA.tolist(), scheme, index, 2, bug) for index in range(4000)]
    )
    assert not agrees_in_means(drawn, OMEGA * len(OMEGA))


def test_what_the_residual_scheme_promises():
    for index in range(200):
        weight = np.random.default_rng(index).dirichlet(np.full(9, 0.4))
        expected = weight * 9
        assert (kernel_children(weight, "residual", index) >= np.floor(expected)).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_even_and_single_weights_leave_no_choice(scheme):
    assert kernel_children([0.0, 1.0, 0.0], scheme, 5).tolist() == [0, 3, 0]
    assert kernel_children([1.0], scheme, 5).tolist() == [1]
    if scheme != "multinomial":
        assert kernel_children([0.25] * 4, scheme, 5).tolist() == [1] * 4


def test_survivors_are_their_own_first_child():
    generator = np.random.default_rng(3)
    for _ in range(100):
        counts = generator.multinomial(7, generator.dirichlet(np.full(7, 0.4)))
        ancestors = np.full(7, -1)
        resampling.ancestors_from_counts(counts, ancestors)
        assert np.bincount(ancestors, minlength=7).tolist() == counts.tolist()
        assert all(ancestors[p] == p for p in range(7) if counts[p])


# A particle that once fell too far behind has the weight 0, whatever its exponent says.
@pytest.mark.parametrize(("dead", "far"), [(0.9, -9000), (0.0, 0), (0.0, -9000)])
def test_weights_are_normalised_exactly(dead, far):
    mantissa, exponent = (
        np.array([dead, 0.5, 0.75, 0.5]),
        np.array([far, -5000, -4999, -5003], np.int64),
    )
    truth = [Fraction(m) * Fraction(2) ** int(e) for m, e in zip(mantissa, exponent, strict=True)]
    evidence, evidence_exponent = np.array([0.625]), np.array([12], np.int64)
    figures = evidence, evidence_exponent, np.zeros(1), np.zeros(4, np.int64)
    particles = Weighted(mantissa, exponent)
    ess = resampling.normalise_weights(particles, resampling.Resampler(2.0, 0, *figures))
    shares = [float(value / sum(truth)) for value in truth]
    assert mantissa == pytest.approx(shares, rel=1e-15)
    assert not exponent.any()
    assert ess == pytest.approx(1 / sum(share * share for share in shares))
    found = Fraction(float(evidence[0])) * Fraction(2) ** int(evidence_exponent[0])
    assert float(found / (Fraction(0.625) * 4096 * sum(truth))) == pytest.approx(1)
    assert 0.5 <= evidence[0] < 1
