"""Shared equal rows against lists: which words share, who owns, and what is read and written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.learners.particles.history import History
from beam_topics.model.learners.particles.kernels import copy_on_write, equal_rows
from beam_topics.model.learners.particles.rejuvenation import Reservoir

LENGTH, GENERATION = 3, 4


def table_of(rows):
    """Return a table of one particle, which owns a row for each word that has counts."""
    table = copy_on_write.with_capacity(
        copy_on_write.new_table(1, 1, LENGTH, 1), len(rows), len(rows), 1
    )
    for word, row in enumerate(rows):
        if any(row):
            own = copy_on_write.own_row(table, 0, word, GENERATION, 0, False)
            table.rows[own] = row
    return table


def places(table, words):
    return [int(copy_on_write.row_of.py_func(table, 0, word)) for word in range(words)]


def contents(table, words):
    return [table.rows[place].tolist() for place in places(table, words)]


def twin(rows, own):
    """The word whose row each word has: its own, or that of the first with an equal row."""
    first: dict = {}
    return [
        word if own[word] or not any(row) else first.setdefault(tuple(row), word)
        for word, row in enumerate(rows)
    ]


def check(table, rows, own):
    before = places(table, len(rows))
    equal_rows.merge_equal_rows(table, np.array(own))
    after = places(table, len(rows))
    assert after == [before[word] for word in twin(rows, own)]
    assert contents(table, len(rows)) == rows
    for word, place in enumerate(after):
        alone = place > 0 and after.count(place) == 1
        assert table.row_owner[place] == (GENERATION if alone else -1), word


words = st.lists(
    st.tuples(st.lists(st.integers(0, 2), min_size=LENGTH, max_size=LENGTH), st.booleans()),
    min_size=1,
    max_size=60,
)


@settings(max_examples=60)
@given(words)
def test_words_that_are_not_at_hand_share_equal_rows(words):
    rows, own = [row for row, _ in words], [bool(kept) for _, kept in words]
    check(table_of(rows), rows, own)


def test_many_words_share_few_rows():
    generator = np.random.default_rng(1)
    rows = generator.integers(0, 2, (3000, LENGTH)).tolist()
    own = (generator.random(3000) < 0.2).tolist()
    table = table_of(rows)
    check(table, rows, own)
    assert len(set(places(table, 3000))) <= sum(own) + 2**LENGTH
    left, _ = copy_on_write.sweep(table)
    kept = np.ones(len(table.rows), np.bool_)
    kept[table.free_rows[:left]] = False
    numbers = (np.cumsum(kept) - 1).astype(np.uint32)
    equal_rows.renumber_rows(table, numbers)
    moved = table._replace(rows=table.rows[kept])
    assert contents(moved, 3000) == rows


def test_a_merge_again_leaves_what_is_shared():
    rows = [[1, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0, 0]]
    table = table_of(rows)
    for _ in range(2):
        equal_rows.merge_equal_rows(table, np.zeros(4, np.bool_))
        assert len(set(places(table, 4))) == 2
        assert (table.row_owner[places(table, 4)] == [-1, -1, GENERATION, -1]).all()


@pytest.mark.parametrize("adopts", [False, True])
def test_a_write_leaves_the_other_words(adopts):
    """Also after the particle has adopted what it reaches."""
    rows = [[1, 0, 0]] * 5 + [[2, 0, 0]]
    table = table_of(rows)
    equal_rows.merge_equal_rows(table, np.zeros(6, np.bool_))
    if adopts:
        table.row_owner[:] = -1
        copy_on_write.adopt(table, GENERATION)
        assert table.row_owner[places(table, 6)[5]] == GENERATION
    table = copy_on_write.reserve(table, 1, 2)
    table.rows[copy_on_write.own_row(table, 0, 3, GENERATION, 0, True), 1] += 7
    assert contents(table, 6) == [*rows[:3], [1, 7, 0], *rows[4:]]


def test_rows_that_are_not_owned_are_counted():
    table = table_of([[1, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 0], [3, 0, 0]])
    equal_rows.merge_equal_rows(table, np.zeros(5, np.bool_))

    def counted(*words):
        return equal_rows.count_unowned(table, np.isin(np.arange(5), words), GENERATION)

    assert counted() == counted(2, 4) == 0
    assert counted(0, 1, 2) == 2
    # A word without tokens has no row yet.
    assert counted(3, 4) == 1
    assert equal_rows.count_unowned(table, np.ones(5, np.bool_), GENERATION + 1) == 5


def test_words_at_hand_are_those_of_documents_that_can_be_visited():
    history = History(Reservoir(newest=10))
    documents = [[3, 5], list(range(20, 60)), [], [-1, 7]]
    slots = history.begin_all([(np.array(one, np.int32), None) for one in documents])
    left = history.begin(np.array([8, 9], np.int32), None)
    history.release([left])
    found = equal_rows.words_at_hand(history.pages, history.arrival, 70)
    assert np.flatnonzero(found).tolist() == [3, 5, 7, *range(20, 60)]
    # A unit that left the ring may be visited until its slot is free.
    history.past.held[slots] = 0
    assert (equal_rows.words_at_hand(history.pages, history.arrival, 70) == found).all()
