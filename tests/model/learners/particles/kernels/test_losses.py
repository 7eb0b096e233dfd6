"""What documents lose when two topics become one, and the pair of topics that loses the least."""

import numpy as np
import pytest
import restart_twin
from restart_twin import KINDS, TEXTS, copied, pair_of

from beam_topics.model.learners.particles.kernels.losses import (
    add_losses,
    merge,
    names_of,
    nearest_pair,
    nearest_topics,
    sample_of,
    update_nearest,
)
from beam_topics.model.learners.particles.kernels.particles import GONE
from beam_topics.model.learners.particles.kernels.restarting import absorb

OMEGA = np.array([1.0, 2.5, 1.0, 0.5, 3.0, 1.0])


@pytest.fixture(params=KINDS, ids=str)
def learned(request):
    return pair_of(*request.param, topics=4)


def sampled(pair):
    """A copy of the first particle, and the sample of all its documents."""
    population, slots = copied(pair, 0), np.arange(len(TEXTS), dtype=np.int32)
    return population, sample_of(population, pair.prior, pair.history.pages, slots, OMEGA)


def losses_of(pair, population, sample, only=-1):
    losses = np.zeros((4, 4))
    add_losses(population, pair.prior, sample, only, losses)
    return losses


def assert_formula(losses, twin):
    assert losses.tolist() == losses.T.tolist()
    used = [t for t in range(4) if twin.totals[t]]
    assert len(used) > 2
    for x in used:
        for y in used:
            if x < y:
                assert losses[x, y] == pytest.approx(
                    restart_twin.loss(twin, x, y, OMEGA), abs=1e-10
                )


def test_every_pair_loses_what_the_formula_says(learned):
    assert_formula(losses_of(learned, *sampled(learned)), learned.twins[0])


def test_one_topics_pairs_are_a_part_of_all(learned):
    population, sample = sampled(learned)
    every, only = losses_of(learned, population, sample), losses_of(learned, population, sample, 1)
    kept = np.zeros_like(every)
    kept[1, :], kept[:, 1] = every[1, :], every[:, 1]
    assert only.tolist() == kept.tolist()


def test_after_a_topic_absorbed_another_its_pairs_lose_what_the_formula_says(learned):
    population, sample = sampled(learned)
    losses, twin, words = losses_of(learned, population, sample), learned.twins[0], learned.words
    used = np.flatnonzero(population.totals[0, :4]).tolist()
    old, new = used[0], used[-1]
    absorb(population, learned.prior, words, old, new)
    restart_twin.absorb(twin, old, new)
    merge(population, learned.prior, sample, old, new)
    names = np.arange(len(sample.first))
    names[old] = new
    assert names_of(sample).tolist() == names.tolist()
    losses[[old, new], :] = 0.0
    losses[:, [old, new]] = 0.0
    add_losses(population, learned.prior, sample, new, losses)
    twin_losses = losses_of(learned, population, sample)
    assert losses[new].tolist() == twin_losses[new].tolist()
    for x in set(used) - {old, new}:
        expected = restart_twin.loss(twin, x, new, OMEGA)
        assert losses[x, new] == pytest.approx(expected, abs=1e-10)


def test_words_that_left_the_vocabulary_are_not_sampled(learned):
    pages = learned.history.pages
    _, before = sampled(learned)
    pages.words[pages.words == 3] = GONE
    _, after = sampled(learned)
    assert 3 in before.numbers and 3 not in after.numbers
    assert len(after.word) < len(before.word)


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
