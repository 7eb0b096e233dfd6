"""Draws of words in parts: the bits of their twin, and the law of the dense weights."""

import math

import numba
import numpy as np
import pytest
from twins import draw_in_parts as slow_draw

from beam_topics.model.learners.particles.kernels import first_pass, parts, sparse_draw
from beam_topics.model.learners.particles.kernels.copy_on_write import new_table
from beam_topics.model.learners.particles.kernels.draw import new_scratch, padded

TOPICS = (1, 8, 9, 50, 130, 300)


class Case:
    """Gains, strengths and a word in parts; ``old`` is the topic of a token that moves, or -1."""

    def __init__(self, topics, generator, filled, zeros=0.0, moves=False):
        tp = self.tp = padded(topics)
        self.gain, self.strength = np.zeros(tp), 1.0 + generator.random(tp) * 5
        self.gain[:topics] = generator.gamma(0.3, size=topics) * 10.0 ** generator.integers(-8, 3)
        self.gain[1:topics] *= generator.random(topics - 1) >= zeros
        self.base = float((1.0 - generator.random()) * 10.0 ** generator.integers(-6, 1))
        self.discount = float(generator.choice([0.0, 0.3]))
        self.rows = np.zeros((tp // parts.PART + 1, 2 * parts.PART), np.int32)
        self.parts = np.zeros(parts.found_length.py_func(tp), np.int64)
        self.parts[0] = 1
        for t in generator.choice(topics, min(filled, topics), replace=False).tolist():
            n = int(generator.integers(1, 9))
            self.put(t, n, int(generator.integers(1, n + 1)))
            self.note(t)
        self.old, self.q_old = -1, 0.0
        if moves and filled:
            old = int(np.argmax(self.counts()[0] * (self.gain > 0)))
            self.old, self.q_old = old, float(self.weights()[old] * generator.random())
        self.sums = np.zeros(sparse_draw.sums_length.py_func(tp))
        self.scratch = new_scratch(tp + parts.PART)
        sparse_draw.add_up(self.sums, self.gain, self.strength)

    def put(self, t, n, k):
        """Write counts to row 1 + part."""
        row = self.rows[1 + t // parts.PART]
        row[t % parts.PART], row[parts.PART + t % parts.PART] = n, k

    def note(self, t):
        """List the part of a topic."""
        count = int(self.parts[0]) if self.parts[2] else 0
        noted = sorted({*self.parts[1 : 1 + 2 * count : 2].tolist(), t // parts.PART})
        self.parts[0] = len(noted)
        for c, part in enumerate(noted):
            self.parts[1 + 2 * c], self.parts[2 + 2 * c] = part, 1 + part

    def counts(self):
        rows = self.rows[1:]
        return rows[:, : parts.PART].reshape(-1), rows[:, parts.PART :].reshape(-1)

    def draw(self, u):
        return drawn(
            self.sums,
            self.scratch,
            self.gain,
            self.strength,
            self.rows,
            self.parts,
            self.discount,
            self.base,
            self.old,
            self.q_old,
            u,
        )

    def slow(self, u):
        lists = (array.tolist() for array in (self.gain, self.strength, *self.counts()))
        return slow_draw(*lists, self.discount, self.base, u, self.old, self.q_old)

    def weights(self):
        """The weights of every topic, as a draw of a whole row has them."""
        counts, tables = self.counts()
        q = self.gain * ((counts - self.discount * tables) + self.strength * self.base)
        if self.old >= 0:
            q[self.old] = self.q_old
        return q


@numba.njit(error_model="numpy")
def drawn(sums, scratch, gain, strength, rows, found, discount, base, old, q_old, u):
    mass, _ = sparse_draw.weigh_parts(scratch, gain, rows, rows.shape[1], found, discount, old)
    return sparse_draw.pick_in_parts(
        sums, scratch, gain, strength, found, mass, base, old, q_old, u
    )


def cases(topics, seed=0):
    generator = np.random.default_rng([topics, seed])
    for filled in (0, 1, 3, 20, topics):
        for zeros in (0.0, 0.6):
            for moves in (False, True):
                yield Case(topics, generator, filled, zeros, moves), generator


def boundaries(q, total):
    """Uniforms at, and one step beside, each place where a topic ends."""
    ends = np.cumsum(q)[:40] / total
    return [u for end in ends for u in (math.nextafter(end, 0), end, math.nextafter(end, 1))]


@pytest.mark.parametrize("topics", TOPICS)
def test_draws_equal_their_twin(topics):
    for case, generator in cases(topics):
        q = case.weights()
        smooth = boundaries(case.gain * case.strength * case.base, q.sum())
        own = boundaries(np.maximum(q - case.gain * case.strength * case.base, 0.0), q.sum())
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
    """The planted bug: a token joins a topic, and the list does not have its part."""
    case = Case(300, np.random.default_rng(8), 3)
    t = int(np.where(case.counts()[0][:300] == 0, case.gain[:300], 0).argmax())
    case.put(t, 5, 1)
    assert not is_law(case)
    case.note(t)
    assert is_law(case)


def test_a_token_that_stays_in_the_smoothing_is_found():
    """The planted bug: the smoothing is read with the old topic in it."""
    case = Case(300, np.random.default_rng(9), 3)
    case.old, case.base = int(case.gain.argmax()), 1e3
    assert is_law(case)
    case.sums[-1] += case.gain[case.old] * case.strength[case.old]
    assert not is_law(case)


@pytest.mark.parametrize("length", [parts.PART, 2 * parts.PART])
def test_a_copy_has_its_parts_in_order_and_once(length):
    tp = 520
    own, listed = np.empty((tp // parts.PART + 1) * length, np.int32), np.zeros(133, np.int64)
    noted, counts = set(), np.zeros(tp, np.int64)
    words = new_table(1, 1, length, 1)
    for t in np.random.default_rng(3).integers(tp, size=300).tolist():
        count(words, tp, own, listed, t)
        noted.add(t // parts.PART)
        counts[t] += 1
        assert listed[0] == len(noted)
        assert listed[1 : 1 + 2 * len(noted) : 2].tolist() == sorted(noted)
    for c in range(len(noted)):
        part, place = listed[1 + 2 * c : 3 + 2 * c].tolist()
        found = own[place * length : place * length + parts.PART].tolist()
        assert found == counts[part * parts.PART : (part + 1) * parts.PART].tolist()


@numba.njit(error_model="numpy")
def count(words, tp, own, listed, t):
    first_pass.count_in_copy(words, tp, own, listed, t, False)
