"""Draws of words in parts: the bits of their twin, and the law of the dense weights."""

import math

import numpy as np
import pytest
from twins import draw_in_parts as slow_draw

from model.learners.particles.kernels import parts, sparse_draw
from model.learners.particles.kernels.draw import padded

TOPICS = (1, 8, 9, 50, 130, 300)


class Case:
    """Gains, strengths and a word's buffer."""

    def __init__(self, topics, generator, filled, zeros=0.0):
        tp = self.tp = padded(topics)
        self.gain, self.strength = np.zeros(tp), 1.0 + generator.random(tp) * 5
        self.gain[:topics] = generator.gamma(0.3, size=topics) * 10.0 ** generator.integers(-8, 3)
        self.gain[1:topics] *= generator.random(topics - 1) >= zeros
        self.base = float((1.0 - generator.random()) * 10.0 ** generator.integers(-6, 1))
        self.discount = float(generator.choice([0.0, 0.3]))
        self.row = np.zeros(2 * tp + parts.PART + parts.list_length.py_func(tp), np.int32)
        for t in generator.choice(topics, min(filled, topics), replace=False).tolist():
            self.row[t] = generator.integers(1, 9)
            self.row[tp + t] = generator.integers(1, self.row[t] + 1)
            parts.insert_part(self.row, t, tp)
        self.sums = np.zeros(sparse_draw.sums_length.py_func(tp))
        self.marks = np.zeros(tp // parts.PART)
        sparse_draw.add_up(self.sums, self.gain, self.strength)

    def draw(self, u):
        given = (self.sums, self.marks, self.gain, self.strength, self.row)
        return sparse_draw.draw_in_parts(*given, self.discount, self.base, u)

    def slow(self, u):
        counts, tables = self.row[: self.tp], self.row[self.tp : 2 * self.tp]
        lists = (array.tolist() for array in (self.gain, self.strength, counts, tables))
        return slow_draw(*lists, self.discount, self.base, u)

    def weights(self):
        """The weights of every topic, as a draw of a whole row has them."""
        counts, tables = self.row[: self.tp], self.row[self.tp : 2 * self.tp]
        return self.gain * ((counts - self.discount * tables) + self.strength * self.base)


def cases(topics, seed=0):
    generator = np.random.default_rng([topics, seed])
    for filled in (0, 1, 3, 20, topics):
        for zeros in (0.0, 0.6):
            yield Case(topics, generator, filled, zeros), generator


def boundaries(q, total):
    """Uniforms at, and one step beside, each place where a topic ends."""
    ends = np.cumsum(q)[:40] / total
    return [u for end in ends for u in (math.nextafter(end, 0), end, math.nextafter(end, 1))]


@pytest.mark.parametrize("topics", TOPICS)
def test_draws_equal_their_twin(topics):
    for case, generator in cases(topics):
        q = case.weights()
        smooth = boundaries(case.gain * case.strength * case.base, q.sum())
        own = boundaries(q - case.gain * case.strength * case.base, q.sum())
        late = [1 - u for u in smooth[:20]]
        some = [0.0, 2.0**-53, 1 - 2.0**-53, 1.0, *generator.random(20), *smooth, *own, *late]
        for u in some:
            if not 0 <= u <= 1:
                continue
            t, total = case.draw(u)
            assert (t, total) == case.slow(u)
            assert total == pytest.approx(q.sum(), rel=1e-12)
            assert q[t] > 0


@pytest.mark.parametrize("topics", TOPICS)
def test_sums_that_are_added_up_again_are_those_of_the_weights(topics):
    for case, generator in cases(topics):
        for t in generator.integers(topics, size=10).tolist():
            case.gain[t], case.strength[t] = generator.gamma(0.3), 1 + generator.random()
            sparse_draw.add_up_again(case.sums, case.gain, case.strength, t)
        found = case.sums.copy()
        sparse_draw.add_up(case.sums, case.gain, case.strength)
        assert found.tolist() == case.sums.tolist()


def is_law(case, grid=20_000):
    """Whether topics come in proportion to the dense weights over a grid of uniforms.

    A topic has at most two stretches of uniforms, each of which a grid counts to less than one.
    """
    q, hits = case.weights(), np.zeros(case.tp)
    for i in range(grid):
        hits[case.draw((i + 0.5) / grid)[0]] += 1
    return bool(np.abs(hits - grid * q / q.sum()).max() < 2.5)


def test_topics_come_in_proportion_to_their_weights():
    assert all(is_law(case) for case, _ in cases(300, seed=1))


def raise_a_gain(case):
    largest = int(case.gain.argmax())
    case.gain[largest] *= 2.0
    return largest


def test_a_sum_that_is_not_added_up_again_is_found():
    """The planted bug: the gain of a topic changes, and the sums do not."""
    case = Case(300, np.random.default_rng(7), 3)
    largest = raise_a_gain(case)
    assert not is_law(case)
    sparse_draw.add_up_again(case.sums, case.gain, case.strength, largest)
    assert is_law(case)


def test_a_part_that_is_not_noted_is_found():
    """The planted bug: a token joins a topic, and the buffer does not list its part."""
    case = Case(300, np.random.default_rng(8), 3)
    t = int(np.where(case.row[:300] == 0, case.gain[:300], 0).argmax())
    case.row[t], case.row[case.tp + t] = 5, 1
    assert not is_law(case)
    parts.insert_part(case.row, t, case.tp)
    assert is_law(case)


def test_parts_are_noted_in_order_and_once():
    tp = 520
    row, noted = np.zeros(tp + parts.list_length.py_func(tp), np.int32), set()
    for t in np.random.default_rng(3).integers(tp, size=300).tolist():
        parts.insert_part(row, t, tp)
        noted.add(t // parts.PART)
        assert row[tp] == len(noted)
        assert row[tp + 1 : tp + 1 + len(noted)].tolist() == sorted(noted)
