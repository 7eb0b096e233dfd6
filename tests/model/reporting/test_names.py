"""Names cover a topic's own documents and few others; phrases; equal inputs give equal names."""

import numpy as np
import pytest
from made import manifest_of, random_snapshot, snapshot_of

from beam_topics.model.reporting.names import (
    MOST_WORDS,
    USUAL_LENGTH,
    Expected,
    Pairs,
    candidates,
    counted_words,
    mean_length,
    model_names,
    names_by_documents,
    words_of,
)
from beam_topics.model.reporting.relevance import word_statistics

WORDS = ("common", "match", "goal", "court", "judge", "supreme")
# "common" is the most frequent word of both topics.
COUNTS = [[90.0, 90.0], [40.0, 0.0], [30.0, 0.0], [0.0, 40.0], [0.0, 30.0], [0.0, 25.0]]
DOCUMENTS = [
    *[(0, ["common", f"x{n}", "match"]) for n in range(6)],
    *[(0, ["common", f"y{n}", "goal"]) for n in range(6)],
    *[(1, ["common", "supreme", "court"])] * 8,
    *[(1, ["common", "judge"])] * 4,
]


def words_by(snapshot, documents):
    counted = counted_words(documents, snapshot.numbers)
    return words_of(snapshot, word_statistics(snapshot), counted)


def test_words_that_all_documents_hold_are_no_name():
    assert words_by(snapshot_of(COUNTS, WORDS), DOCUMENTS) == [
        ["match", "goal"],
        ["court", "judge"],
    ]


def test_a_word_is_in_the_names_of_the_topics_that_have_it_most_often():
    # Each topic has two words of its own, and one that others have, too.
    counts = np.vstack([np.kron(np.eye(8), [[30.0], [20.0]]), np.full((1, 8), 40.0)])
    counts[-1, [6, 2, 5, 3]] = 70, 60, 55, 50
    words = [f"own{n}" if n % 2 else f"first{n}" for n in range(16)]
    snapshot = snapshot_of(counts, (*words, "shared"))
    own = [(z, ["shared", words[2 * z + n % 2]]) for z in range(8) for n in range(9)]
    strange = [(8, ["x"])] * 600
    names = words_by(snapshot, [*own, *strange])
    assert [z for z, name in enumerate(names) if "shared" in name] == [2, 3, 5, 6]
    assert all(words[2 * z] in name for z, name in enumerate(names) if "shared" not in name)


def test_a_topic_whose_words_others_keep_has_a_name():
    names = words_by(snapshot_of(np.ones((1, 7)), ("shared",)), [])
    assert names == [["shared"]] * 7


def test_a_word_that_stands_in_a_phrase_is_named_by_it():
    names = names_by_documents(snapshot_of(COUNTS, WORDS), DOCUMENTS)
    assert names == ["match, goal", "supreme court, judge"]


@pytest.mark.parametrize(
    ("documents", "terms"),
    [
        ([["new", "york"]] * 4 + [["x"]] * 50, ["york"]),  # too seldom
        ([["new", "york"]] * 5 + [["x"]] * 50, ["new york"]),
        ([["new", "york"]] * 5 + [["x", "york"], ["york"]] * 3 + [["x"]] * 50, ["york"]),
        ([["new", "york"]] * 5 + [["new"]] * 1000, ["york"]),  # by chance
    ],
)
def test_a_phrase_is_a_pair_that_is_nearly_always_together(documents, terms):
    pairs = Pairs([frozenset({"york"})])
    for words in documents:
        pairs.add(0, words)
    assert pairs.phrased(0, ["york"]) == terms


def test_a_word_is_in_one_phrase_only():
    pairs = Pairs([frozenset({"a", "b", "c"})])
    for _ in range(6):
        pairs.add(0, ["a", "b", "c"])
        pairs.add(0, ["x", "y", "z", "u"])
    assert pairs.phrased(0, ["a", "b", "c"]) == ["a b", "c"]


def test_a_name_has_one_form_of_a_word():
    words = ("learning", "learned", "matrix", "court", "judge")
    counts = [[9.0, 0.0], [8.0, 0.0], [7.0, 0.0], [0.0, 5.0], [0.0, 4.0]]
    snapshot = snapshot_of(counts, words)
    names = model_names(snapshot, word_statistics(snapshot), length=1.0)
    assert names == ["learning, matrix", "court, judge"]


def test_expected_gains_by_hand():
    """Two topics of equal shares; their documents have 60 % of their tokens from them."""
    snapshot = snapshot_of([[30.0, 0.0], [10.0, 20.0], [0.0, 20.0]], ("a", "b", "c"))
    rows = np.arange(3)
    p = (snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers
    tokens = 5.0 * (0.6 * p + 0.4 * p.mean(axis=1, keepdims=True))
    held = 1 - np.exp(-tokens / 2)
    cover = Expected(snapshot, 5.0).cover(0, [0, 1, 2])
    assert cover.gains() == pytest.approx(held[:, 0] - 0.3 * held[:, 1])
    cover.add(0)
    left = (1 - held[0]) * held
    assert cover.gains() == pytest.approx(left[:, 0] - 0.3 * left[:, 1])


def test_the_model_names_by_frequent_words_before_rare_ones_of_one_topic_alone():
    """The first word has 30 % of a topic and 15 % of the other one, the rest 7 % each."""
    own, others = ([f"{letter}{what}" for letter in "abcdefghij"] for what in ("own", "other"))
    counts = [[30.0, 15.0], *[[7.0, 0.0]] * 10, *[[0.0, 8.5]] * 10]
    snapshot = snapshot_of(counts, ("often", *own, *others))
    assert model_names(snapshot, word_statistics(snapshot), 20.0)[0].startswith("often, ")


def test_a_topic_without_words_has_no_name():
    snapshot = snapshot_of([[3.0, 0.0], [1.0, 0.0]])
    assert model_names(snapshot, word_statistics(snapshot))[1] == ""


def test_a_topic_without_own_documents_is_named_by_the_model():
    snapshot = snapshot_of(COUNTS, WORDS)
    names = names_by_documents(snapshot, [one for one in DOCUMENTS if one[0] == 0])
    assert names[1] == model_names(snapshot, word_statistics(snapshot))[1] != ""


def drawn(snapshot, seed, count=300):
    generator = np.random.default_rng(seed)
    dense = snapshot.rows(np.arange(len(snapshot.words)))
    for _ in range(count):
        topic = int(generator.integers(snapshot.topic_count))
        shares = 0.6 * dense[:, topic] / dense[:, topic].sum() + 0.4 / len(dense)
        rows = generator.choice(len(dense), 8, p=shares / shares.sum())
        yield topic, [snapshot.words[row] for row in rows]


def gain(documents, topic, words):
    own, other = (
        np.mean([bool({*words} & {*held}) for of, held in documents if (of == topic) is wanted])
        for wanted in (True, False)
    )
    return own - 0.7 * other


@pytest.mark.parametrize("seed", range(3))
def test_a_name_gains_more_than_the_first_words(seed):
    snapshot = random_snapshot(seed, words=200)
    documents = list(drawn(snapshot, seed))
    names = words_by(snapshot, documents)
    assert all(1 <= len(words) <= MOST_WORDS for words in names)
    for words in (names, snapshot.top_words(3)):
        gained = np.mean([gain(documents, topic, some) for topic, some in enumerate(words)])
        if words is names:
            best = gained
    assert best > gained + 0.03


def test_names_do_not_depend_on_the_order_of_documents():
    snapshot = random_snapshot(4, words=200)
    documents = list(drawn(snapshot, 4))
    assert names_by_documents(snapshot, documents) == (
        names_by_documents(snapshot, documents[::-1])
    )


def test_candidates_begin_with_the_most_frequent_words():
    snapshot = random_snapshot(8, words=200)
    found = word_statistics(snapshot)
    first = [snapshot.numbers[word] for word in snapshot.top_words(3)[1]]
    assert candidates(found, 1)[:3] == first


def test_the_mean_length_is_that_of_the_learned_documents():
    assert mean_length(manifest_of(1)) == 10
    assert mean_length(manifest_of(1, documents=0)) == USUAL_LENGTH
