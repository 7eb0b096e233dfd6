import numpy as np

from beam_topics.model.learners.particles.kernels.canonical_rows import distinct_rows
from beam_topics.model.learners.particles.kernels.copy_on_write import (
    inherit,
    new_table,
    own_row,
    reserve,
    row_of,
)

PARTICLES = 5


def written(generator, order):
    """Return a table with few distinct contents, written in a given order of particles.

    Some particles inherit their rows.
    """
    table = reserve(new_table(PARTICLES, 70, 4, 1), 2000, 200)
    contents = generator.integers(0, 2, (PARTICLES, 70, 4))
    contents[3] = contents[1]
    for p in order:
        for i in range(0, 70, 3):
            table.rows[own_row(table, p, i, p + 1, 0, False)] = contents[p, i]
    return table, contents


def test_distinct_rows_equal_a_dictionary():
    table, contents = written(np.random.default_rng(1), range(PARTICLES))
    logical = np.array([0, 3, 4, 69, 6])
    live = np.array([4, 2, 4, 4, 1])
    which, rows, counts = distinct_rows(table, logical, live)
    at = 0
    for n, i in enumerate(logical):
        numbers = {}
        truth = contents[:, i] if i % 3 == 0 else np.zeros((PARTICLES, 4), int)
        expected = [
            numbers.setdefault(tuple(truth[p, : live[n]]), len(numbers)) for p in range(PARTICLES)
        ]
        assert which[n].tolist() == expected
        assert counts[n] == len(numbers)
        assert [tuple(table.rows[row, : live[n]]) for row in rows[at : at + counts[n]]] == list(
            numbers
        )
        at += counts[n]
    assert at == len(rows)


def test_sharing_and_order_of_writing_leave_no_trace():
    one, contents = written(np.random.default_rng(1), range(PARTICLES))
    other, _ = written(np.random.default_rng(1), [4, 3, 2, 1, 0])
    inherit(other, np.array([0, 1, 2, 1, 4]))
    logical, live = np.arange(70), np.full(70, 4)
    which, rows, counts = distinct_rows(one, logical, live)
    again, other_rows, other_counts = distinct_rows(other, logical, live)
    assert which.tolist() == again.tolist()
    assert counts.tolist() == other_counts.tolist()
    assert one.rows[rows].tolist() == other.rows[other_rows].tolist()
    assert one.rows[row_of.py_func(one, 3, 3)].tolist() == contents[1, 3].tolist()
