"""Reweighting and resampling against a twin: weights, evidence, ancestors and children's counts."""

import math

import numpy as np
import pytest
from populations import KEY, Pair
from twins import uniform

from beam_topics.model.kernels.random import FIRST_PASS, RESAMPLE
from beam_topics.model.learners.particles.kernels.particles import Draws
from beam_topics.model.learners.particles.kernels.resampling import (
    MULTINOMIAL,
    Resampler,
    resample,
    reweight,
)

THRESHOLD = 2.0


def slow_reweight(twins, evidence, threshold):
    """Return (weights, evidence, ESS) of the twins' weights, in the order of the particles."""
    top = max(exponent for _, exponent in (twin.weight for twin in twins))
    weights = [math.ldexp(twin.weight[0], max(twin.weight[1] - top, -1100)) for twin in twins]
    total = 0.0
    for weight in weights:
        total += weight
    weights = [weight / total for weight in weights]
    squares = 0.0
    for weight in weights:
        squares += weight * weight
    fraction, shift = math.frexp(evidence[0] * total)
    return weights, (fraction, evidence[1] + shift + top), 1.0 / squares


def slow_ancestors(weights, number):
    """Draw ancestors by the multinomial scheme.

    A survivor is its own first child; other children replace dead particles in order.
    """
    size, counts = len(weights), [0] * len(weights)
    ends = np.cumsum(weights).tolist()
    for k in range(size):
        u = uniform(number * size + k, KEY, 0, 1, RESAMPLE) * ends[-1]
        counts[next(p for p, end in enumerate(ends) if end > u)] += 1
    spare = iter([p for p, count in enumerate(counts) for _ in range(count - 1)])
    return [p if counts[p] else next(spare) for p in range(size)]


@pytest.mark.parametrize("threshold", [0.0, THRESHOLD])
def test_reweighting_and_resampling_equal_their_twin(threshold):
    generator, pair = np.random.default_rng(4), Pair(3, 20)
    resampler = Resampler(
        threshold,
        MULTINOMIAL,
        np.full(1, 0.5),
        np.ones(1, np.int64),
        np.full(1, 3.0),
        pair.generations,
    )
    evidence, resamplings = (0.5, 1), 0
    for length in [6, 1, 0, 40, 9, 9, 30, 2, 2, 17] * 2:
        slot = pair.learn(generator.integers(0, 20, length).tolist())
        weights, evidence, ess = slow_reweight(pair.twins, evidence, threshold)
        ancestors = np.empty(3, np.int64)
        resampled = reweight(pair.population, resampler, Draws(*KEY, 1, FIRST_PASS), ancestors)
        if resampled:
            resample(pair.population, ancestors, resampler.counters)
        assert (resampler.evidence[0], resampler.evidence_exponent[0], resampler.ess[0]) == (
            *evidence,
            ess,
        )
        assert resampled == (ess <= threshold)
        if resampled:
            ancestors = slow_ancestors(weights, resamplings)
            pair.twins = [
                twin if p == a else pair.twins[a].child()
                for p, (twin, a) in enumerate(zip(pair.twins, ancestors, strict=True))
            ]
            resamplings += 1
        for twin, weight in zip(pair.twins, weights, strict=True):
            twin.weight = (1 / 3 if resampled or not threshold else weight, 0)
        pair.assert_same()
        pair.move([(slot, -1)])
        pair.assert_same()
    assert resampler.counters[0] == resamplings
    assert (resamplings > 2) == (threshold > 0)
