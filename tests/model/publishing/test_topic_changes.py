import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from made import snapshot_of

from beam_topics.model.publishing.succession import LEVEL, changes, new_words, ranks_of, topic_of

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


def grown(past, came, tokens_past, tokens_came, documents=None):
    """New words of a model in which a word had ``past`` tokens, and ``came`` more came."""
    before = snapshot_of([[0, 0], [past, 0], [tokens_past - past, 0]], words=("up", "old", "rest"))
    word = "old" if past else "up"
    counts = {"up": 0, "old": past, "rest": tokens_past - past}
    counts["rest"] += tokens_came - came
    counts[word] += came
    # Topics of the past are drawn again: half of the word is in the other topic.
    rows = [[counts["rest"], 0], [counts["old"] // 2, counts["old"] - counts["old"] // 2]]
    rows.append([counts["up"], 0])
    after = snapshot_of(rows, words=("rest", "old", "up"))
    return new_words(before, after, documents)


@pytest.mark.parametrize(
    ("past", "came", "tokens_past", "tokens_came", "found"),
    [
        # In the level for 3 words: (100 / 1100) ** 3 is 7.5e-4, and ** 2 8.3e-3.
        (0, 3, 1000, 100, ["up"]),
        (0, 2, 1000, 100, []),
        # As frequent as before, and twice as frequent.
        (100, 10, 1000, 100, []),
        (1000, 200, 100_000, 10_000, []),
        # Ten times as frequent, and hardly less.
        (3, 30, 100, 100, ["old"]),
        (4, 30, 100, 100, []),
        # Much more frequent, but most of its tokens came before.
        (20, 20, 10_000, 100, ["old"]),
        (40, 39, 10_000, 100, []),
        # Half of everything came now, so a word of five tokens proves little.
        (0, 5, 100, 100, []),
        # It lost tokens, or nothing came.
        (100, -20, 1000, 100, []),
        (0, 3, 1000, 0, []),
    ],
)
def test_a_word_is_new_by_a_test_against_the_whole_past(
    past, came, tokens_past, tokens_came, found
):
    told = grown(past, came, tokens_past, tokens_came)
    assert [(one["words"], one["came"], one["had"]) for one in told] == [
        ([word], [came], [past]) for word in found
    ]


@pytest.mark.parametrize(
    ("documents", "is_new"),
    [(None, True), ({"up": 9}, True), ({"up": 3}, True), ({"up": 2}, False), ({}, False)],
)
def test_a_document_counts_a_word_once(documents, is_new):
    # In the level for 3 words: (100 / 1100) ** 3 is 7.5e-4, and ** 2 8.3e-3.
    told = grown(0, 9, 1000, 100, documents)
    assert [one["words"] + one["came"] for one in told] == [["up", 9]] * is_new


def test_the_words_of_which_most_came_are_named_first_and_few_of_a_topic():
    words = tuple(f"w{n:02}" for n in range(15))
    before = snapshot_of([[1000, 0]], words=("old",))
    rows = [[5 + n % 12, 0] for n in range(14)] + [[0, 9], [1000, 0]]
    found = new_words(before, snapshot_of(rows, words=(*words, "old")))
    first = ["w11", "w10", "w09", "w08", "w07", "w06", "w05", "w04", "w03", "w02"]
    assert [(one["topic"], one["words"]) for one in found] == [(0, first), (1, ["w14"])]
    assert found[0]["came"] == [16, 15, 14, 13, 12, 11, 10, 9, 8, 7]


def test_words_of_a_steady_stream_are_hardly_ever_new():
    """A hundred versions that double a topic, of a word in each place of the order."""
    draws, words = np.random.default_rng(1), tuple(f"w{n}" for n in range(40))
    shares = draws.dirichlet(np.full(40, 0.5))
    false = 0
    for _ in range(100):
        past, came = draws.multinomial(500, shares), draws.multinomial(500, shares)
        before = snapshot_of(np.stack([past, 0 * past], axis=1).astype(float), words=words)
        now = np.stack([came, past], axis=1).astype(float)
        after = snapshot_of(now, words=words)
        false += bool(new_words(before, after))
    assert false <= 100 * LEVEL
