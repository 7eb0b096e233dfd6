"""Shared rows against an array for each particle, under random operations.

The operations are reads, writes, inheritance, growth and sweeps.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.papers.kernels import copy_on_write

PARTICLES, LENGTH = 4, 3


class Shared:
    """A table and its expected content, ``plain[p][i]``."""

    def __init__(self):
        self.table = copy_on_write.new_table(PARTICLES, 5, LENGTH)
        self.plain = [np.zeros((5, LENGTH), np.int64) for _ in range(PARTICLES)]
        self.generation, self.given = list(range(1, PARTICLES + 1)), PARTICLES

    def write(self, p, i, value, fill):
        i %= len(self.plain[p])
        self.table = copy_on_write.with_capacity(self.table, len(self.plain[p]), 1)
        row = copy_on_write.own_row(self.table, p, i, self.generation[p], not fill)
        if fill:
            self.table.rows[row] = self.plain[p][i] = value + np.arange(LENGTH)
        else:
            self.table.rows[row, value % LENGTH] += value
            self.plain[p][i, value % LENGTH] += value

    def inherit(self, ancestors):
        """Resample; a survivor is its own ancestor, and sharers get new generations."""
        ancestors = [p if p in ancestors else a for p, a in enumerate(ancestors)]
        copy_on_write.inherit(self.table, np.array(ancestors, np.int64))
        self.plain = [self.plain[a].copy() for a in ancestors]
        for p, a in enumerate(ancestors):
            if ancestors.count(a) > 1:
                self.given += 1
                self.generation[p] = self.given

    def grow(self, more):
        self.plain = [
            np.concatenate([rows, np.zeros((more, LENGTH), np.int64)]) for rows in self.plain
        ]
        self.table = copy_on_write.with_rows(self.table, len(self.plain[0]))

    def sweep(self):
        copy_on_write.sweep(self.table)

    def check(self):
        for p, rows in enumerate(self.plain):
            found = [
                self.table.rows[copy_on_write.row_of.py_func(self.table, p, i)].tolist()
                for i in range(len(rows))
            ]
            assert found == rows.tolist()
        assert not self.table.rows[0].any()
        assert not self.table.blocks[0].any()


PARTICLE = st.integers(0, PARTICLES - 1)
STEP = st.one_of(
    st.tuples(st.just("write"), PARTICLE, st.integers(0, 300), st.integers(1, 9), st.booleans()),
    st.tuples(st.just("inherit"), st.lists(PARTICLE, min_size=PARTICLES, max_size=PARTICLES)),
    st.tuples(st.just("grow"), st.integers(1, 90)),
    st.tuples(st.just("sweep")),
)


@settings(max_examples=60)
@given(st.lists(STEP, max_size=60))
def test_a_shared_table_is_an_array_for_each_particle(steps):
    shared = Shared()
    for name, *arguments in steps:
        getattr(shared, name)(*arguments)
    shared.check()


def test_a_long_life():
    generator, shared = np.random.default_rng(1), Shared()
    shared.grow(120)
    for _ in range(4000):
        p, i, value = (int(generator.integers(n)) for n in (4, 120, 9))
        shared.write(p, i, 1 + value, bool(generator.random() < 0.3))
        if generator.random() < 0.1:
            shared.inherit(generator.integers(4, size=4).tolist())
    shared.check()
    assert len(shared.table.rows) < 4 * 4 * 125, "rows that nobody reaches must be used again"


def test_a_table_without_new_generations_is_found_out():
    """The negative control: children that keep their generations write to rows that they share."""
    shared = Shared()
    shared.write(0, 1, 5, False)
    shared.inherit([0, 0, 2, 3])
    shared.generation[0] = 1
    shared.write(0, 1, 7, False)
    with pytest.raises(AssertionError):
        shared.check()


def test_rows_are_copied_at_the_first_write_only():
    shared = Shared()
    shared.write(0, 1, 5, False)
    shared.inherit([0, 0, 0, 0])
    shared.table = copy_on_write.with_capacity(shared.table, 5, 10)
    before = shared.table.cursors.copy()
    for value in range(1, 6):
        own = copy_on_write.own_row(shared.table, 2, 1, shared.generation[2], True)
        shared.table.rows[own, 0] += value
        shared.plain[2][1, 0] += value
    taken = shared.table.cursors - before
    assert (taken[copy_on_write.NEXT_ROW], taken[copy_on_write.NEXT_BLOCK]) == (1, 2)
    shared.check()


@pytest.mark.parametrize("particles", [1, 3])
def test_no_write_needs_more_blocks_than_are_counted(particles):
    table = copy_on_write.new_table(particles, 3000, LENGTH)
    count = 3000 * particles
    blocks = int(copy_on_write.blocks_needed.py_func(table, count, particles))
    assert blocks < count
    table = copy_on_write.with_capacity(table, 3000, count)
    before = table.cursors[copy_on_write.NEXT_BLOCK]
    for p in range(particles):
        for i in range(3000):
            copy_on_write.own_row(table, p, i, p + 1, True)
    assert table.cursors[copy_on_write.NEXT_BLOCK] - before <= blocks
