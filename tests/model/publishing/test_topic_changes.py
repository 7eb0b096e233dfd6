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
    found = ranks_of(snapshot, ("fog", "sun", "sea", "ice", "never"))
    assert found == {
        "fog": [1, 1],
        "sun": [3, 2],
        "sea": [2, None],
        "ice": [None, None],
        "never": [None, None],
    }


@settings(max_examples=60)
@given(COUNTS)
def test_ranks_are_places_among_the_top_words(counts):
    snapshot = snapshot_of(counts)
    top = snapshot.top_words(8)
    for word, ranks in ranks_of(snapshot, snapshot.words).items():
        assert ranks == [words.index(word) + 1 if word in words else None for words in top]


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
    ("ranks", "topic"), [([None, 4, 2, 2], 2), ([None, None], None), ([], None)]
)
def test_the_topic_where_a_word_stands_highest(ranks, topic):
    assert topic_of(ranks) == topic
