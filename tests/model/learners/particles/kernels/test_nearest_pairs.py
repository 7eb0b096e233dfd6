"""The pair of topics that loses the least, beside a search of all pairs."""

import numpy as np
import pytest

from model.learners.particles.kernels.nearest_pairs import (
    nearest_pair,
    nearest_topics,
    update_nearest,
)


def searched(losses, live, joins):
    """The first of the least pairs in the order of rows."""
    pairs = [
        (losses[x, y], x, y)
        for x in range(len(losses))
        for y in range(x + 1, len(losses))
        if live[x] and joins[y]
    ]
    return min(pairs)[1:] if pairs else (-1, -1)


@pytest.mark.parametrize("seed", range(20))
def test_each_absorption_leaves_the_least_pair(seed):
    random = np.random.default_rng(seed)
    topics = 9

    def drawn(size):
        # Few values, so that many are equal.
        return random.integers(0, 6, size).astype(float)

    losses = drawn((topics, topics))
    losses = np.triu(losses, 1) + np.triu(losses, 1).T
    live, seeded = random.random(topics) < 0.9, np.arange(topics) < seed % 4
    joins = live & ~seeded
    nearest, pairs = nearest_topics(losses, live, joins), 0
    while (pair := tuple(map(int, nearest_pair(losses, nearest)))) != (-1, -1):
        assert pair == searched(losses, live, joins)
        old, new = (pair[1], pair[0]) if seeded[pair[0]] or random.random() < 0.5 else pair
        losses[old, :] = losses[:, old] = 0.0
        row = drawn(topics) * live
        losses[new, :] = losses[:, new] = row
        live[old] = joins[old] = False
        update_nearest(losses, live, joins, nearest, new)
        pairs += 1
    assert searched(losses, live, joins) == (-1, -1) and pairs >= 3


def test_without_topics_there_is_no_pair():
    none = np.zeros(3, np.bool_)
    assert nearest_pair(np.zeros((3, 3)), nearest_topics(np.zeros((3, 3)), none, none)) == (-1, -1)
