import numpy as np
import pytest
from scipy.special import digamma

from beam_topics.model.learners.variational.kernels.variational_estep import (
    Sticks,
    StickUpdate,
    expected_logs,
    learn,
    look_up,
    means,
)


def sticks_of(sizes, words=9, seed=4):
    generator, topics, room = np.random.default_rng(seed), len(sizes), max(sizes) + 2
    position, numbers = np.full((words, topics), -1, np.int32), np.zeros((topics, room), np.int32)
    for k, size in enumerate(sizes):
        numbers[k, :size] = generator.permutation(words)[:size]
        position[numbers[k, :size], k] = np.arange(size)
    use, rest = (
        generator.gamma(0.5, 4.0, (topics, room)),
        1 + generator.gamma(2.0, 9.0, (topics, room)),
    )
    return Sticks(numbers, use, rest, np.array(sizes), position)


def test_expectations_are_those_of_the_betas():
    sticks = sticks_of([4, 0, 7])
    for kernel in (expected_logs, means):
        weight, left = np.empty(sticks.use.shape), np.empty(3)
        kernel(0, 2, sticks, weight, left)
        kernel(2, 3, sticks, weight, left)
        for k, size in enumerate(sticks.size):
            nu1, nu2 = 1 + sticks.use[k, :size], sticks.rest[k, :size]
            if kernel is means:
                broken, kept = nu1 / (nu1 + nu2), nu2 / (nu1 + nu2)
            else:
                broken, kept = (np.exp(digamma(nu) - digamma(nu1 + nu2)) for nu in (nu1, nu2))
            before = np.concatenate([[1.0], np.cumprod(kept)])
            assert weight[k, :size] == pytest.approx(broken * before[:-1], rel=1e-9)
            assert left[k] == pytest.approx(before[-1], rel=1e-9)
    assert weight[0, :4].sum() + left[0] == pytest.approx(1)


def test_a_step_learns_uses_and_what_comes_after_them():
    """Eq. 8 and 9, of words in the order and of words that join it."""
    sticks, step, concentration, scale, entry = sticks_of([4, 0, 7]), 0.25, 3.0, 2.0, 5.0
    rows, counts = np.array([8, 2, 5]), np.array([[1, 0, 2], [3, 2, 0], [0, 1, 1]], np.int32)
    use, rest, sums = sticks.use.copy(), sticks.rest.copy(), np.empty((3, 2))
    orders = [list(sticks.words[k, : sticks.size[k]]) for k in range(3)]
    for k, order in enumerate(orders):
        for v, w in enumerate(rows):
            if counts[v, k] and w not in order:
                use[k, len(order)], rest[k, len(order)] = 0.0, entry
                order.append(w)
        gain = [scale * sum(counts[v, k] for v in range(3) if rows[v] == w) for w in order]
        for t in range(len(order)):
            later = concentration + sum(gain[t + 1 :])
            use[k, t] = (1 - step) * use[k, t] + step * gain[t]
            rest[k, t] = (1 - step) * rest[k, t] + step * later
    update = StickUpdate(scale, step, concentration, entry)
    learn(0, 2, rows, counts, update, sticks, sums)
    learn(2, 3, rows, counts, update, sticks, sums)
    for k, order in enumerate(orders):
        size = len(order)
        assert sticks.words[k, :size].tolist() == order and sticks.size[k] == size
        assert sticks.position[order, k].tolist() == list(range(size))
        assert sticks.use[k, :size] == pytest.approx(use[k, :size])
        assert sticks.rest[k, :size] == pytest.approx(rest[k, :size])
        assert sums[k] == pytest.approx([use[k, :size].sum(), rest[k, :size].sum()])


def test_a_stick_that_is_used_up_leaves_something():
    sticks = sticks_of([2000], words=2000)
    sticks.use[:], sticks.rest[:] = 1e6, 1.0
    weight, left = np.empty(sticks.use.shape), np.empty(1)
    expected_logs(0, 1, sticks, weight, left)
    assert (weight[0, :2000] > 0).all()
    assert left[0] > 0


def test_words_outside_a_set_get_what_is_outside():
    sticks = sticks_of([4, 0, 7])
    rows, weight = np.array([0, 8, 3, 50]), np.arange(27.0).reshape(3, 9) + 1
    outside, found = np.full((4, 3), 0.25), np.empty((4, 3))
    look_up(rows, sticks, weight, outside, found)
    for v, w in enumerate(rows):
        for k in range(3):
            t = sticks.position[w, k] if w < 9 else -1
            assert found[v, k] == (weight[k, t] if t >= 0 else 0.25)
