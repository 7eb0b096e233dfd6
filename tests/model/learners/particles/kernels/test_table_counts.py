"""V(n, t) against exact Stirling numbers, and against a sampler that keeps each table's size."""

from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from alarm import agrees_in_counts
from twins import closing

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.learners.particles.kernels.table_counts import (
    EXACT,
    MINIMAL,
    NONE,
    SAMPLED,
    closing_probabilities,
    closing_probability,
    opens_table,
    probability_to_close,
    update_counts,
)

closing_probability_of = kernel(lambda closing, n, t: closing_probability(closing, n, t))


@cache
def stirling(n, t, discount):
    if n == 0 or t == 0 or t > n:
        return Fraction(int(n == t == 0))
    return stirling(n - 1, t - 1, discount) + (n - 1 - discount * t) * stirling(n - 1, t, discount)


@pytest.mark.parametrize("discount", [Fraction(0), Fraction(1, 4)])
def test_v_is_the_ratio_of_stirling_numbers(discount):
    table = closing_probabilities(float(discount), SAMPLED)
    for n in range(1, 41):
        for t in range(1, n + 1):
            exact = stirling(n - 1, t - 1, discount) / stirling(n, t, discount)
            assert table.exact[t, n] == pytest.approx(float(exact), rel=1e-13)
            assert closing_probability_of(table, n, t) == table.exact[t, n]


def test_the_twin_has_the_same_bits():
    for discount in (0.0, 0.35):
        table, twin = closing_probabilities(discount, SAMPLED).exact, closing(discount, 60)
        assert all(table[t, n] == value for (n, t), value in twin.items())


def slow(n, discount, tables):
    """Return V(n, .) from logarithms of the Stirling numbers."""
    t, last = np.arange(tables + 1), np.full(tables + 1, -np.inf)
    last[0] = 0.0
    for m in range(1, n + 1):
        with np.errstate(divide="ignore"):
            weights = np.log(np.maximum(m - 1 - discount * t, 0.0))
        shifted = np.concatenate([[-np.inf], last[:-1]])
        before, last = shifted, np.logaddexp(shifted, last + weights)
    return np.where(t > 0, np.exp(before - np.where(np.isfinite(last), last, 0.0)), 0.0)


@pytest.mark.parametrize("discount", [0.0, 0.35])
def test_beyond_the_exact_part_it_is_close(discount):
    table = closing_probabilities(discount, SAMPLED)
    for n in (EXACT + 1, 3001, 5000):
        exact = slow(n, discount, 600)
        for t in (2, 3, 10, 100, 512):
            assert closing_probability_of(table, n, t) == pytest.approx(exact[t], rel=1e-3), (n, t)
        assert closing_probability_of(table, n, 600) == pytest.approx(exact[600], rel=0.1)
    ends = [closing_probability_of(table, n, 20) for n in (65_536, 65_537, 10**6, 10**8)]
    assert ends == sorted(ends, reverse=True)
    assert ends[-1] > 0


@pytest.mark.parametrize("t", [1, 7, 512, 513, 700, EXACT, 5000])
def test_edges(t):
    table = closing_probabilities(0.0, SAMPLED)
    assert closing_probability_of(table, t, t) == 1.0
    assert closing_probability_of(table, t + 1, t) < 1.0
    assert closing_probability_of(table, 50, 1) == 0.0


def by_sizes(n, t, draws, seed):
    """Return how often the last of n tokens has a table of its own, given t tables.

    The partitions are drawn token by token.
    """
    generator, found = np.random.default_rng(seed), []
    while len(found) < draws:
        sizes = []
        for i in range(n):
            u = generator.random() * (1.5 + i)
            if u < 1.5:
                sizes.append(1)
                last = len(sizes) - 1
                continue
            last = int(np.searchsorted(np.cumsum(sizes), u - 1.5, side="right"))
            sizes[last] += 1
        if len(sizes) == t:
            found.append(int(sizes[last] == 1))
    return np.bincount(found, minlength=2)


def test_v_is_what_happens_at_tables():
    """The negative control is tables / tokens, which is close to V for two tokens."""
    share = closing_probabilities(0.0, SAMPLED).exact[3, 5]
    found = by_sizes(5, 3, 6000, 1)
    assert agrees_in_counts(found, [1 - share, share])
    assert not agrees_in_counts(found, [1 - 0.4, 0.4])


def test_rules():
    closing_of = {
        kind: SimpleNamespace(tables=kind, discount=0.25, closing=closing_probabilities(0.25, kind))
        for kind in (NONE, MINIMAL, SAMPLED)
    }
    assert not opens_table.py_func(closing_of[NONE], 0, 0, 1.0, 0.0)
    assert opens_table.py_func(closing_of[MINIMAL], 0, 0, 1.0, 0.9)
    assert not opens_table.py_func(closing_of[MINIMAL], 3, 1, 1.0, 0.0)
    assert probability_to_close.py_func(closing_of[NONE], 1, 0) == 0.0
    assert probability_to_close.py_func(closing_of[MINIMAL], 1, 1) == 1.0
    assert probability_to_close.py_func(closing_of[MINIMAL], 2, 1) == 0.0
    # 3 - .25 * 2 = 2.5 against 1.5: opened below 1.5 / 4.
    assert opens_table.py_func(closing_of[SAMPLED], 3, 2, 1.5, 0.374)
    assert not opens_table.py_func(closing_of[SAMPLED], 3, 2, 1.5, 0.376)


def test_update_counts_keeps_the_sums():
    row = np.zeros(24, np.int32)
    for t, step, tables in ((2, 1, True), (2, 1, False), (5, 1, True), (2, -1, False)):
        update_counts.py_func(row, 8, t, step, tables)
    assert row[:8].tolist() == [0, 0, 1, 0, 0, 1, 0, 0]
    assert row[8:16].tolist() == [0, 0, 1, 0, 0, 1, 0, 0]
    assert row[16:].tolist() == [2, 0, 0, 0, 0, 0, 0, 0]
