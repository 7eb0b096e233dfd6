"""The kernels of topic weights against slow twins, bit for bit, and against known laws."""

import math

import numpy as np
from alarm import agrees_in_counts, agrees_in_means
from populations import KEY
from twins import uniform

from beam_topics.model.kernels.random import TOPIC_WEIGHTS
from beam_topics.model.learners.particles.kernels.particles import Draws
from beam_topics.model.learners.particles.kernels.topic_weights import (
    LEAST,
    count_tables,
    draw_weights,
    log_topics,
)

ALPHA = np.array([0.7, 0.05, 2.0])
COUNTS = np.array([[5, 0, 2], [1, 40, 0], [0, 0, 0], [3, 1, 600]], np.int32)


def named(index, sequence=3):
    return uniform(index, KEY, 5, sequence, TOPIC_WEIGHTS)


def twin_of_tables(counts, alpha, index):
    of_documents, of_topics = [0] * len(counts), [0] * len(alpha)
    for d, row in enumerate(counts.tolist()):
        for t, tokens in enumerate(row):
            for i in range(tokens):
                opened = i == 0 or named(index) * (alpha[t] + i) < alpha[t]
                index += i > 0
                of_documents[d] += opened
                of_topics[t] += opened
    return of_documents, of_topics, index


def twin_of_gamma(shape, index):
    d = shape - 1 / 3
    while True:
        radius = math.sqrt(-2 * math.log(1 - named(index)))
        x = radius * math.cos(2 * math.pi * named(index + 1))
        u, index = 1 - named(index + 2), index + 3
        cube = (1 + x / math.sqrt(9 * d)) ** 3
        if cube > 0 and math.log(u) < 0.5 * x * x + d - d * cube + d * math.log(cube):
            return d * cube, index


def twin_of_weights(of_topics, spread, index):
    values = []
    for tables in of_topics:
        shape, factor = spread + tables, 1.0
        if shape < 1:
            factor = math.exp(math.log(1 - named(index)) / shape)
            shape, index = shape + 1, index + 1
        value, index = twin_of_gamma(shape, index)
        values.append(value * factor)
    total = 0.0
    for value in values:
        total += value
    return [max(value / total, LEAST) for value in values], index


def test_tables_as_the_twin():
    found = count_tables(COUNTS, ALPHA, Draws(*KEY, 3, TOPIC_WEIGHTS), 5, 7)
    assert tuple(np.array(part).tolist() for part in found) == twin_of_tables(COUNTS, ALPHA, 7)


def test_weights_as_the_twin():
    for tables, spread in (([3, 0, 40], 0.02), ([0, 0, 0, 1], 0.5), ([7, 8], 4.0)):
        found, index = draw_weights(np.array(tables), spread, Draws(*KEY, 3, TOPIC_WEIGHTS), 5, 11)
        twin, last = twin_of_weights(tables, spread, 11)
        assert index == last
        np.testing.assert_allclose(found, twin, rtol=1e-14)
    assert found.min() >= LEAST


def tables_of_five(strength, replicas=4000):
    counts, alpha = np.array([[5]], np.int32), np.array([strength])
    found = [
        int(count_tables(counts, alpha, Draws(*KEY, n, TOPIC_WEIGHTS), 0, 0)[0][0])
        for n in range(replicas)
    ]
    return np.bincount(found, minlength=6)[1:]


def test_tables_have_the_law_of_antoniak():
    first_kind = np.array([24.0, 50.0, 35.0, 10.0, 1.0])
    law = first_kind * 0.7 ** np.arange(1, 6)
    assert agrees_in_counts(tables_of_five(0.7), law / law.sum())
    assert not agrees_in_counts(tables_of_five(0.9), law / law.sum())


def test_weights_have_a_dirichlet_law():
    tables, spread = np.array([2, 0, 5]), 0.1
    found = [
        draw_weights(tables, spread, Draws(*KEY, n, TOPIC_WEIGHTS), 0, 0)[0] for n in range(4000)
    ]
    shapes = tables + spread
    assert agrees_in_means(found, shapes / shapes.sum())
    assert not agrees_in_means(found, (tables + 0.3) / (tables + 0.3).sum())


def test_the_probability_of_topics_is_that_of_the_urn():
    truth = 0.0
    for row in COUNTS[:2].tolist():
        seen = [0, 0, 0]
        for t, tokens in enumerate(row):
            for _ in range(tokens):
                truth += math.log((ALPHA[t] + seen[t]) / (ALPHA.sum() + sum(seen)))
                seen[t] += 1
    assert math.isclose(log_topics(COUNTS[:2], ALPHA), truth, rel_tol=1e-12)
