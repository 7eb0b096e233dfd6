"""Ids of topics: who keeps one, who gets a new one, and that none is used twice."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.publishing.succession import SAME, place_of, turned_over

T = 4
STEP = st.lists(
    st.tuples(st.sampled_from([0.0, SAME - 0.01, SAME, 1.0]), st.booleans()),
    min_size=T,
    max_size=T,
)


def test_a_topic_that_is_alike_keeps_its_id():
    found = turned_over([0, 1], np.array([SAME, SAME - 1e-9]), [5, 5], [5, 5])
    assert (found.ids, found.born, found.died) == ([0, 3], [3], [1])


def test_a_topic_without_tokens_dies_and_another_one_is_born():
    found = turned_over([0, 1], np.array([1.0, 0.0]), [5, 5], [5, 0])
    assert (found.ids, found.born, found.died) == ([0, 3], [], [1])
    found = turned_over(found.ids, np.array([1.0, 0.0]), [5, 0], [5, 0])
    assert (found.ids, found.born, found.died) == ([0, 3], [], [])
    found = turned_over(found.ids, np.array([1.0, 0.0]), [5, 0], [5, 2])
    assert (found.ids, found.born, found.died) == ([0, 3], [3], [])


@given(st.lists(STEP, max_size=20))
def test_no_id_is_used_twice_and_each_is_born_before_it_dies(steps):
    ids, before = list(range(T)), [True] * T
    alive, seen = set(ids), set(ids)
    for step in steps:
        similarity, after = np.array([one for one, _ in step]), [has for _, has in step]
        found = turned_over(ids, similarity, before, after)
        assert alive.issuperset(found.died) and seen.isdisjoint(found.born)
        alive = (alive - {*found.died}) | {*found.born}
        seen |= {*found.born}
        assert [found.ids[z] % T for z in range(T)] == list(range(T))
        assert {found.ids[z] for z in range(T) if after[z]} == alive
        ids, before = found.ids, after


def test_the_place_of_a_topic():
    assert place_of(4, [0, 4, 2]) == 1 and place_of(1, [0, 4, 2]) is None
