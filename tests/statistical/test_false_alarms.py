"""The rate of false alarms of the CUSUM, measured on long made-up sequences of blocks.

A rate A is stated: at least A blocks between two false alarms. With n blocks and at least A between
two alarms the number of alarms is at most about n / A; a Poisson number of this mean exceeds it by
four standard deviations with a probability below 0.001.
"""

import math

import numpy as np
import pytest

from beam_topics.model.learners.particles import following
from beam_topics.model.learners.particles.following import Block, Cusum, threshold_of

pytestmark = pytest.mark.slow

TOPICS, BLOCKS, STATED = 10, 5000, 100
KINDS = {
    "normal": lambda generator, size: generator.standard_normal(size),
    "heavy tails": lambda generator, size: generator.standard_t(5, size) / math.sqrt(5 / 3),
    # The long tail is on the side that is tested.
    "skewed": lambda generator, size: (2 - generator.gamma(2.0, 1.0, size)) / math.sqrt(2),
}


def noise(generator, kind, correlation, columns):
    """float64[BLOCKS, columns] with variance 1, autoregressive of order 1."""
    fresh = KINDS[kind](generator, (BLOCKS, columns))
    found = fresh.copy()
    for row in range(1, BLOCKS):
        found[row] = correlation * found[row - 1] + math.sqrt(1 - correlation**2) * fresh[row]
    return found


def alarms(kind, correlation, seed=1):
    generator = np.random.default_rng(seed)
    levels = -8 + 0.1 * noise(generator, kind, correlation, 1)[:, 0]
    shares = np.exp(0.25 * noise(generator, kind, correlation, TOPICS))
    shares /= shares.sum(axis=1, keepdims=True)
    test = Cusum(threshold=threshold_of(STATED))
    blocks = (Block(float(level), row) for level, row in zip(levels, shares, strict=True))
    return sum(test.add(block) is not None for block in blocks)


def most(per_block=1 / STATED):
    return BLOCKS * per_block + 4 * math.sqrt(BLOCKS * per_block)


@pytest.mark.parametrize(
    ("kind", "correlation"),
    [("normal", 0.0), ("normal", 0.3), ("heavy tails", 0.0), ("heavy tails", 0.3), ("skewed", 0.0)],
)
def test_false_alarms_are_no_more_frequent_than_stated(kind, correlation):
    assert alarms(kind, correlation) <= most()


def test_skewed_and_correlated_noise_has_at_most_twice_the_stated_rate():
    assert alarms("skewed", 0.3) <= most(2 / STATED)


def test_the_measurement_finds_a_test_that_ignores_how_few_blocks_it_knows(monkeypatch):
    """The planted bug: z is taken for t with the bounds of normal noise, without the margin."""
    monkeypatch.setattr(following, "WIDER", 1.0)
    monkeypatch.setattr(
        following,
        "_normal",
        lambda value, usual, least: (value - np.mean(usual)) / np.std(usual),
    )
    assert alarms("heavy tails", 0.3) > 2 * most()
