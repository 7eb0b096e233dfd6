import numpy as np
import pytest
from scipy.special import digamma

from model.learners.variational.kernels.sticks import Sticks, expected_logs, look_up, means


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
