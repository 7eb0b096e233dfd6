"""Tables of parts add up to the table of the whole, whatever the parts and their order."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from blocks import count_in
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reporting import trends
from beam_topics.model.reporting.trends import OTHERS, Trends, added_up
from beam_topics.model.stored import wire
from beam_topics.model.times import to_iso

DOCUMENTS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["", "a"]),
        st.lists(st.floats(0, 1), min_size=3, max_size=3),
        st.integers(0, 2**20),
    ),
    max_size=20,
)


def table_of(documents):
    found = Trends(3)
    known = np.array([words for _, _, _, words in documents], np.int64)
    found.add(
        [start for start, _, _, _ in documents],
        np.reshape([shares for _, _, shares, _ in documents], (-1, 3)),
        tokens=known + 1,
        words_known=known,
        groups=[group for _, group, _, _ in documents],
        named=[(start, group) for start, group, _, _ in documents],
    )
    return found


@given(DOCUMENTS, st.sampled_from([1, 2**20]))
def test_a_block_counts_as_its_documents_do_one_by_one(documents, times):
    """Also where a sum is beyond 2**63."""
    documents = [(*place, shares, known * times) for *place, shares, known in documents]
    one_by_one = Trends(3)
    for start, group, shares, known in documents:
        named = start, group
        count_in(one_by_one, start, group, shares, tokens=known + 1, words_known=known, named=named)
    whole = table_of(documents)
    assert whole == one_by_one
    windows = dict(whole.windows())
    assert list(windows) == sorted({start for start, *_ in documents})
    assert {p: c for one in windows.values() for p, c in one.cells.items()} == whole.cells


@given(DOCUMENTS, st.randoms(use_true_random=False), st.integers(1, 4))
def test_parts_in_any_order_add_up_to_the_whole(documents, random, count):
    shuffled = list(documents)
    random.shuffle(shuffled)
    merged = Trends(3)
    for part in range(count):
        merged.merge(table_of(shuffled[part::count]))
    assert merged == table_of(documents)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["", OTHERS, *"abcdefg"])), max_size=40),
    st.randoms(use_true_random=False),
    st.integers(1, 5),
)
def test_the_groups_that_are_kept_do_not_depend_on_the_parts(documents, random, count):
    def counted(some):
        found = Trends(1)
        for start, group in some:
            number = ord(group[-1:] or "z")
            count_in(found, start, group, [0.5], tokens=number, words_known=1, named=(start, group))
        return found

    with patch.object(trends, "MOST_GROUPS", 3):
        whole, shuffled = counted(documents), list(documents)
        random.shuffle(shuffled)
        parts = [counted(shuffled[part::count]).to_bytes() for part in range(count)]
        (merged,) = added_up(parts)
    assert merged == whole and Trends.from_bytes(whole.to_bytes()) == whole
    for start in (0, 1):
        mine = {group for s, group in documents if s == start} - {"", OTHERS}
        kept = sorted(mine, key=lambda group: wire.digest(group.encode()))[:3]
        others = {OTHERS} if mine - set(kept) or (start, OTHERS) in documents else set()
        empty = {""} if (start, "") in documents else set()
        assert {g for s, g in whole.cells if s == start} == {*kept, *others, *empty}
    assert sum(cell.documents for cell in whole.cells.values()) == len(documents)


def test_more_groups_than_the_bound_are_refused(monkeypatch):
    table = Trends(1)
    for group in "abc":
        count_in(table, 0, group, [0.5], tokens=1, words_known=1)
    monkeypatch.setattr(trends, "MOST_GROUPS", 2)
    with pytest.raises(DamagedDataError, match="groups of a window of trends: found more, allowed"):
        Trends.from_bytes(table.to_bytes())


@given(DOCUMENTS)
def test_means_and_tokens_are_those_of_the_documents(documents):
    for (start, group), cell in table_of(documents).cells.items():
        mine = [(p, known) for s, g, p, known in documents if (s, g) == (start, group)]
        assert cell.documents == len(mine)
        assert cell.words_known == sum(known for _, known in mine) == cell.tokens - len(mine)
        for topic in range(3):
            mean = sum(Fraction(p[topic]) for p, _ in mine) / len(mine)
            # Half a unit, and the rounding of one division.
            bound = Fraction(1, 2**41) + Fraction(1, 10**15)
            assert abs(Fraction(cell.mean_shares()[topic]) - mean) < bound
            tokens = float(sum(Fraction(p[topic]) * known for p, known in mine))
            assert cell.expected_tokens()[topic] == pytest.approx(tokens, rel=1e-9, abs=1e-4)


def test_floating_point_sums_would_depend_on_the_order():
    values = [0.1, 0.2, 0.3]
    assert sum(values) != sum(values[::-1])
    one, other = Trends(1), Trends(1)
    for value in values:
        count_in(one, 0, "", [value], tokens=1, words_known=1)
    for value in values[::-1]:
        count_in(other, 0, "", [value], tokens=1, words_known=1)
    assert one == other


@given(DOCUMENTS)
def test_a_table_is_read_as_it_was_written(documents):
    table = table_of(documents)
    assert Trends.from_bytes(table.to_bytes()) == table
    assert table_of(documents[::-1]).to_bytes() == table.to_bytes()


def test_tables_of_other_topics_are_added_up_apart():
    one, two = Trends(1), Trends(2)
    count_in(one, 0, "", [1.0], tokens=1, words_known=1)
    count_in(two, 0, "", [0.5, 0.5], tokens=1, words_known=1)
    found = added_up([two.to_bytes(), one.to_bytes(), two.to_bytes()])
    assert [table.topics for table in found] == [1, 2]
    assert [table.cells[0, ""].documents for table in found] == [1, 2]


def test_tables_of_other_ids_have_a_column_for_each():
    """In place 1 another topic was born; rows are by id, whatever the order of parts."""
    one, two = Trends(3), Trends(3, ids=(0, 4, 2))
    count_in(one, 0, "", [0.25, 0.5, 0.25], tokens=4, words_known=4)
    count_in(two, 0, "", [0.5, 0.25, 0.25], tokens=8, words_known=8)
    parts = [one.to_bytes(), two.to_bytes()]
    (alone,) = added_up(parts[1:])
    assert alone.ids == (0, 4, 2)
    for order in (parts, parts[::-1]):
        (found,) = added_up(order)
        rows = {row["topic"]: row for row in found.records()}
        assert list(rows) == [0, 1, 2, 4, None]
        assert [rows[z]["mean_share"] for z in rows] == [0.375, 0.25, 0.25, 0.125, 0.0]
        assert [rows[z]["tokens"] for z in rows] == [5, 2, 3, 2, 0]
        assert {row["documents"] for row in rows.values()} == {2}


def test_documents_without_a_known_word_have_a_record_of_their_own():
    table = Trends(2)
    count_in(table, 0, "", [0.25, 0.75], tokens=4, words_known=4, named=(0, "a"))
    for name in "bcd":
        count_in(table, 0, "", [0.0, 0.0], tokens=2, words_known=0, named=(0, name))
    *topics, none = Trends.from_bytes(table.to_bytes()).records()
    assert (none["topic"], none["mean_share"], none["documents"]) == (None, 0.75, 4)
    assert (none["tokens"], none["typical"]) == (0.0, [])
    assert [row["mean_share"] for row in topics] == [0.0625, 0.1875]
    assert [[one["id"] for one in row["typical"]] for row in topics] == [["a"], ["a"]]


def test_records_are_in_the_order_of_windows_and_topics():
    table = table_of([(3, "", [0.5, 0.5, 0.0], 4), (1, "a", [1.0, 0.0, 0.0], 2)])
    found = list(table.records())
    places = [(r["window_start"][-3:], r["group"], r["topic"]) for r in found]
    wanted = [("01Z", "a"), ("03Z", "")]
    assert places == [(start, group, topic) for start, group in wanted for topic in (0, 1, 2, None)]
    assert [r["tokens"] for r in found] == [2, 0, 0, 0, 2, 2, 0, 0]


CELL = {
    "start": 0, "group": "", "documents": 1, "tokens": 2, "words_known": 1, "none": 0,
    "shares": [5], "topic_tokens": [5], "typical": [[[5, 0, "a"]]],
}  # fmt: skip
WHOLE = {"topics": 1, "ids": [0], "cells": [CELL]}


@pytest.mark.parametrize(
    "header",
    [
        {"topics": 0, "cells": []},
        {"topics": 1, "cells": {}},
        {"topics": 1, "cells": [{**CELL, "documents": 0}]},
        {"topics": 1, "cells": [{**CELL, "tokens": -1}]},
        {"topics": 1, "cells": [{**CELL, "none": 2}]},
        {"topics": 1, "cells": [{**CELL, "shares": [5, 5]}]},
        {"topics": 1, "cells": [{**CELL, "topic_tokens": [-5]}]},
        {"topics": 1, "cells": [{**CELL, "shares": [2**200]}]},
        {"topics": 1, "cells": [{**CELL, "start": "0"}]},
        {"topics": 1, "cells": [CELL, CELL]},
        {"topics": 1, "cells": [{**CELL, "typical": [[[5, n, "a"] for n in range(4)]]}]},
        {"topics": 1, "cells": [{**CELL, "typical": []}]},
        {"topics": 1, "cells": [{**CELL, "typical": [[[5, 0]]]}]},
        {"topics": 1, "cells": [{**CELL, "typical": [[[-5, 0, "a"]]]}]},
        {"topics": 1, "cells": [{**CELL, "typical": [[[5, 1, "a"], [5, 0, "a"]]]}]},
        {"topics": 1, "ids": [-1]},
        {"topics": 1, "ids": [0, 0], "cells": []},
        {"topics": 1, "ids": "0", "cells": []},
        {"topics": 1, "ids": [0, 3]},
        {"topics": 1, "cells": [{k: v for k, v in CELL.items() if k != "tokens"}]},
    ],
)
def test_damage_is_told(header):
    with pytest.raises(DamagedDataError):
        Trends.from_bytes(wire.pack(Trends.MAGIC, {**WHOLE, **header}))


@pytest.mark.parametrize("missing", ["topics", "ids", "cells"])
def test_a_missing_field_is_told(missing):
    header = {name: value for name, value in WHOLE.items() if name != missing}
    with pytest.raises(DamagedDataError, match=missing):
        Trends.from_bytes(wire.pack(Trends.MAGIC, header))


def test_a_whole_table_is_read():
    table = Trends.from_bytes(wire.pack(Trends.MAGIC, WHOLE))
    assert table.cells[0, ""].typical == [[(5, 0, "a")]]


NAMED = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from("abc")))


@given(NAMED, st.randoms(use_true_random=False), st.integers(1, 4))
def test_typical_documents_are_the_best_of_all_once_each_whatever_the_parts(found, random, count):
    """A document is its time, id and share, each one of a few, so that many are equal."""
    shuffled = list(found)
    random.shuffle(shuffled)
    merged = Trends(1)
    for part in range(count):
        table = Trends(1)
        for quarters, time, id in shuffled[part::count]:
            count_in(table, 0, "", [quarters / 4], tokens=1, words_known=1, named=(time, id))
        merged.merge(Trends.from_bytes(table.to_bytes()))
    best = sorted(set(found), key=lambda one: (-one[0], one[1], one[2]))[:3]
    shown = [row["typical"] for row in merged.records()] or [[]]
    assert [(d["share"] * 4, d["timestamp"][-3:], d["id"]) for d in shown[0]] == [
        (quarters, to_iso(time)[-3:], id) for quarters, time, id in best
    ]
