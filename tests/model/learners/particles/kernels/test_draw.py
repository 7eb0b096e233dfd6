"""The draws against their twin: the same bits of topic and total."""

import math

import numba
import numpy as np
import pytest
from twins import draw as slow_draw

from beam_topics.model.learners.particles.kernels import draw as draws

TOPICS = (1, 2, 3, 7, 8, 9, 16, 17, 50, 200)


@numba.njit(
    nogil=True, error_model="numpy"
)  # not cached: numba does not show the code of cached kernels
def plain(scratch, gain, row, share, u):
    return draws.draw(scratch, gain, row, share, u)


@numba.njit(nogil=True, error_model="numpy")
def without(scratch, gain, row, share, old, q_old, u):
    return draws.draw_without(scratch, gain, row, share, old, q_old, u)


@numba.njit(nogil=True, error_model="numpy")
def discounted(scratch, gain, row, discount, strength, base, u):
    return draws.draw_discounted(scratch, gain, row, discount, strength, base, u)


@numba.njit(nogil=True, error_model="numpy")
def discounted_without(scratch, gain, row, discount, strength, base, old, q_old, u):
    return draws.draw_discounted_without(
        scratch, gain, row, discount, strength, base, old, q_old, u
    )


@numba.njit(nogil=True, error_model="numpy")
def put(row, t, value):
    draws.put(row, t, value)


def cases(topics, generator, count):
    tp = draws.padded(topics)
    for kind in range(count):
        gain, row = np.zeros(tp), np.zeros(tp, np.int32 if kind % 2 else np.int64)
        gain[:topics] = generator.gamma(0.3, size=topics) * 10.0 ** generator.integers(-8, 3)
        if kind % 3 == 1:
            gain[1:topics] *= generator.random(topics - 1) < 0.4
        if kind % 4:
            row[:topics] = generator.poisson(generator.choice([0.05, 2, 1e5]), topics)
        if kind % 7 == 6:
            row[:] = generator.integers(
                0, 9, tp
            )  # counts in the pads do not matter: their gain is 0
        yield gain, row, (1.0 - generator.random()) * 10.0 ** generator.integers(-6, 1)


def check(topics, q, u, got):
    t, total, back = slow_draw(q, u)
    assert got == (t, total)
    assert 0 <= t < topics
    assert q[t] > 0
    return back


@pytest.mark.parametrize("topics", TOPICS)
def test_draws_equal_their_twin(topics):
    generator = np.random.default_rng(topics)
    scratch = draws.new_scratch(draws.padded(topics))
    for gain, row, share in cases(topics, generator, 60):
        g, n = gain.tolist(), row.tolist()
        strength, base = generator.random(len(g)) * 5, float(generator.random())
        q = [x * (float(y) + share) for x, y in zip(g, n, strict=True)]
        tables = np.minimum(row, generator.integers(0, 4, len(row))).astype(row.dtype)
        parts = zip(g, n, tables.tolist(), strength.tolist(), strict=True)
        off = [x * ((float(y) - 0.3 * float(k)) + c * base) for x, y, k, c in parts]
        both = np.concatenate([row, tables])
        old = int(generator.choice(np.flatnonzero(gain)))
        q_old = float((1.0 - generator.random()) * (1 + sum(q)) * generator.choice([1, 1e-9]))
        q_moved, off_moved = list(q), list(off)
        q_moved[old] = off_moved[old] = q_old
        for u in [0.0, 2.0**-53, 0.5, 1 - 2.0**-53, *generator.random(3)]:
            check(topics, q, u, plain(scratch, gain, row, share, u))
            check(topics, off, u, discounted(scratch, gain, both, 0.3, strength, base, u))
            found = without(scratch, gain, row, share, old, q_old, u)
            assert found == slow_draw(q_moved, u)[0]
            found = discounted_without(scratch, gain, both, 0.3, strength, base, old, q_old, u)
            assert found == slow_draw(off_moved, u)[0]


def test_a_move_is_right_at_every_boundary_of_the_old_topic():
    """The old topic is tried first; it is found where the search finds it, and nowhere else."""
    generator, stayed, left = np.random.default_rng(3), 0, 0
    for topics in (1, 3, 9, 17, 50):
        scratch = draws.new_scratch(draws.padded(topics))
        for gain, row, share in cases(topics, generator, 6):
            q = [x * (float(y) + share) for x, y in zip(gain.tolist(), row.tolist(), strict=True)]
            for old in np.flatnonzero(gain).tolist():
                total, so_far = slow_draw(q, 0.0)[1], 0.0
                for j in [8 * block + lane for lane in range(8) for block in range(len(q) // 8)]:
                    so_far += q[j]
                    if j % 8 == old % 8 or j // 8 == old // 8:
                        u = so_far / total
                        for near in (0.0, math.nextafter(u, 0), u, math.nextafter(u, 2)):
                            found = without(scratch, gain, row, share, old, q[old], min(near, 1.0))
                            assert found == slow_draw(q, min(near, 1.0))[0]
                            stayed, left = stayed + (found == old), left + (found != old)
    assert stayed and left


@pytest.mark.parametrize("topics", TOPICS)
def test_a_number_is_put_in_its_place(topics):
    row = draws.aligned(draws.padded(topics))
    row[:] = np.arange(len(row))
    for t in range(topics):
        before = row.tolist()
        put(row, t, 0.5 - t)
        assert row.tolist() == [*before[:t], 0.5 - t, *before[t + 1 :]]


def test_every_boundary_between_topics():
    """Test u one step below, at and above each boundary, and beyond the last one."""
    generator, went_back = np.random.default_rng(1), 0
    for topics in (3, 9, 50):
        scratch = draws.new_scratch(draws.padded(topics))
        for gain, row, share in cases(topics, generator, 12):
            q = [x * (float(y) + share) for x, y in zip(gain.tolist(), row.tolist(), strict=True)]
            total, so_far = slow_draw(q, 0.0)[1], 0.0
            for j in [8 * block + lane for lane in range(8) for block in range(len(q) // 8)]:
                so_far += q[j]
                u = so_far / total if total else 0.0
                for near in (math.nextafter(u, 0), u, math.nextafter(u, 2)):
                    if near <= 1:
                        went_back += check(topics, q, near, plain(scratch, gain, row, share, near))
    assert went_back


def test_topics_come_in_proportion_to_their_weights():
    gain, row, share = next(cases(50, np.random.default_rng(1), 1))
    q, hits, scratch = gain * (row + share), np.zeros(len(gain)), draws.new_scratch(len(gain))
    for i in range(20_000):
        hits[plain(scratch, gain, row, share, (i + 0.5) / 20_000)[0]] += 1
    assert np.abs(hits - 20_000 * q / q.sum()).max() < 2


def test_no_product_is_contracted_into_a_sum():
    scratch, gain, row = draws.new_scratch(8), np.ones(8), np.ones(8, np.int32)
    plain(scratch, gain, row, 0.1, 0.5)
    discounted(scratch, gain, np.ones(16, np.int32), 0.3, gain, 0.1, 0.5)
    code = "".join([*plain.inspect_asm().values(), *discounted.inspect_asm().values()])
    assert "mul" in code
    assert not any(word in code for word in ("fmadd", "fmsub", "fmla"))


def test_scratch_lies_on_a_line_of_the_cache():
    assert all(draws.new_scratch(draws.padded(topics)).ctypes.data % 64 == 0 for topics in TOPICS)


def test_arrays_of_another_type_are_refused():
    with pytest.raises(numba.core.errors.TypingError, match="row must be"):
        plain(draws.new_scratch(8), np.zeros(8), np.zeros(8), 0.1, 0.5)
