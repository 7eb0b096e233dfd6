import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from made import snapshot_of

from model.publishing.topic_changes import changes, ranks_of, topic_of

WORDS = ("sea", "sun", "ice", "fog")
COUNTS = arrays.arrays(np.float64, (8, 3), elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.0]))


def test_ranks():
    snapshot = snapshot_of([[3, 0], [3, 1], [0, 0], [9, 2]], words=WORDS)
    found = ranks_of(snapshot, ("fog", "sun", "sea", "ice", "never"), [0, 5])
    assert found == {
        "fog": {"0": 1, "5": 1},
        "sun": {"0": 3, "5": 2},
        "sea": {"0": 2},
        "ice": {},
        "never": {},
    }


@settings(max_examples=60)
@given(COUNTS)
def test_ranks_are_places_among_the_top_words(counts):
    snapshot = snapshot_of(counts)
    top = snapshot.top_words(8)
    for word, ranks in ranks_of(snapshot, snapshot.words, range(3)).items():
        assert ranks == {str(z): t.index(word) + 1 for z, t in enumerate(top) if word in t}


def test_what_entered_and_left():
    before = snapshot_of([[9, 5], [8, 4], [0, 3], [1, 0]], words=WORDS)
    after = snapshot_of(
        [[9, 4], [1, 5], [7, 3], [0, 0], [8, 0]], words=("sea", "sun", "ice", "fog", "new")
    )
    assert changes(before, after, 2) == [{"topic": 0, "entered": {"new": 2}, "left": {"sun": 4}}]
    gone = snapshot_of([[9, 4], [7, 3]], words=("sea", "ice"))
    assert changes(before, gone, 2) == [
        {"topic": 0, "entered": {"ice": 2}, "left": {"sun": None}},
        {"topic": 1, "entered": {"ice": 2}, "left": {"sun": None}},
    ]
    assert changes(before, before) == []


@pytest.mark.parametrize(
    ("ranks", "topic"), [({"1": 4, "12": 2, "9": 2}, "9"), ({"0": 1}, "0"), ({}, None)]
)
def test_the_topic_where_a_word_stands_highest(ranks, topic):
    assert topic_of(ranks) == topic
