"""Which topics are judged mixed: topics that are glued together are told, clean ones are not."""

import math

import numpy as np
import pytest
from blocks import one_word_lists
from made import snapshot_of

from beam_topics.model.documents.block import Block
from beam_topics.model.evaluation.coherence import (
    MIXED,
    Judged,
    Reference,
    across,
    characteristic_words,
    coherence,
    coherence_figures,
    judge,
)

# a and b are in three of five documents each, in two together; c only with a; d everywhere.
DOCUMENTS = one_word_lists(["abddd", "abd", "acd", "bd", "d"])
SUBJECTS, WORDS, COMMON = 8, 15, 5


def expected(together, first, second, documents=5):
    pmi = math.log((together + 1) / (first * second / documents + 1))
    return pmi, pmi / -math.log((together + 1) / (documents + 1)) if together < documents else 0.0


def test_the_formula_of_each_pair():
    pmi, npmi, never = Reference(DOCUMENTS, "abcd").pairs(["a", "b", "c", "d"])
    pairs = [(2, 3, 3), (1, 3, 1), (3, 3, 5), (0, 3, 1), (3, 3, 5), (1, 1, 5)]
    assert pmi.tolist() == pytest.approx([expected(*pair)[0] for pair in pairs])
    assert npmi.tolist() == pytest.approx([expected(*pair)[1] for pair in pairs])
    assert never.tolist() == [0, 0, 0, 1, 0, 0]


def test_a_word_counts_once_in_a_document_and_order_is_of_no_account():
    found = Reference(DOCUMENTS, "ad").pairs(["d", "a"])
    assert found.pmi.tolist() == [pytest.approx(expected(3, 3, 5)[0])]


def test_topics_have_the_mean_of_their_pairs():
    found = coherence([["a", "b", "c"], ["a"], []], DOCUMENTS)
    pairs = [expected(2, 3, 3), expected(1, 3, 1), expected(0, 3, 1)]
    assert found.pmi.tolist() == pytest.approx([np.mean([pmi for pmi, _ in pairs]), 0, 0])
    assert found.npmi.tolist() == pytest.approx([np.mean([npmi for _, npmi in pairs]), 0, 0])
    assert found.never.tolist() == [1 / 3, 0, 0]


@pytest.mark.parametrize("documents", [DOCUMENTS, Block.empty()])
def test_what_the_reference_does_not_have_says_nothing(documents):
    found = coherence([["x", "y"], ["a", "x"]], documents)
    assert found.pmi.tolist() == found.npmi.tolist() == [0, 0]


def test_words_that_are_always_together_are_the_most_coherent():
    together = one_word_lists(["xy" if n % 2 else "pq" for n in range(100)])
    found = coherence([["x", "y"], ["x", "p"]], together)
    assert found.npmi[0] == pytest.approx(1, abs=0.1)
    assert found.npmi[1] < -0.5


def test_a_word_in_every_document():
    everywhere = one_word_lists(["xy"] * 4)
    found = coherence([["x", "y"]], everywhere)
    assert found.pmi.tolist() == found.npmi.tolist() == [0]


def stream(count=400, length=12, own=0.6, seed=1):
    """Documents of one subject each, with common words and words of all subjects."""
    generator = np.random.default_rng(seed)
    found = []
    for number in range(count):
        subject, words = number % SUBJECTS, []
        for chance in generator.random(length):
            which = subject if chance < own else int(generator.integers(SUBJECTS))
            rank = min(int(generator.exponential(4)), WORDS - 1)
            words.append(f"s{which}w{rank}" if chance < 0.8 else f"c{generator.integers(COMMON)}")
        found.append(words)
    return one_word_lists(found)


def counts_of(documents):
    """The tokens of each word in documents of each subject, and the words."""
    words = sorted(documents.words)
    counts = np.zeros((len(words), SUBJECTS))
    for number in range(len(documents)):
        for word in documents.words_of(number):
            counts[words.index(word), number % SUBJECTS] += 1
    return counts, tuple(words)


def test_topics_that_are_glued_together_are_told_and_clean_ones_are_not():
    documents = stream()
    counts, words = counts_of(documents)
    clean = judge(snapshot_of(counts, words=words), documents)
    assert [one.mixed for one in clean] == [False] * SUBJECTS
    # Topics 0 and 1 become one, and so do 2 and 3, which is twice as large.
    glued = np.stack([counts[:, 0] + counts[:, 1], counts[:, 2] + 2 * counts[:, 3]], axis=1)
    model = snapshot_of(np.concatenate([glued, counts[:, 4:]], axis=1), words=words)
    judged = judge(model, documents)
    assert [one.mixed for one in judged] == [True, True, *[False] * (SUBJECTS - 4)]
    # With documents that none of the topics was learned from, too.
    assert [one.mixed for one in judge(model, stream(seed=2))][:3] == [True, True, False]


def test_the_least_ratio_of_all_divisions_is_taken():
    # Two groups of three words: a group is whole in each of its ten documents, and two hold both.
    first, second = ["a", "b", "c"], ["x", "y", "z"]
    documents = one_word_lists([*[first, second] * 8, *[first + second] * 2])
    reference = Reference(documents, "abcxyz")
    # Nine pairs meet in 2 documents; by chance they meet in 10 x 10 / 18.
    assert across(reference, [*first, *second]) == pytest.approx((9 * 2 + 2) / (900 / 18 + 1))
    assert reference.together(["a", "x"]).tolist() == [[10, 2], [2, 10]]


@pytest.mark.parametrize("known", [5, 6])
def test_words_that_no_document_has_do_not_count(known):
    words = [f"w{n}" for n in range(10)]
    documents = one_word_lists([words[:known]] * 4)
    found = across(Reference(documents, words), words)
    assert found is None if known < 6 else found == pytest.approx((9 * 4 + 2) / (9 * 4 + 1))
    assert across(Reference(Block.empty(), words), words) is None


def test_without_evidence_no_topic_is_mixed():
    assert not Judged(("a",), None).mixed and not Judged(("a",), 2.0).mixed
    assert Judged(("a",), MIXED).mixed


def test_characteristic_words_are_not_those_that_all_topics_have():
    counts = [[90, 90, 90], [9, 0, 1], [0, 9, 0], [0, 0, 9], [5, 0, 0]]
    snapshot = snapshot_of(counts, words=("all", "a", "b", "c", "rare"))
    assert [words[0] for words in characteristic_words(snapshot)] == ["a", "b", "c"]
    assert characteristic_words(snapshot, 2)[0] == ["a", "rare"]


def test_the_figures_of_a_model():
    documents = stream(80)
    counts, words = counts_of(documents)
    snapshot = snapshot_of(counts, words=words)
    ids = [one + 3 for one in range(snapshot.topic_count)]
    figures = coherence_figures(snapshot, documents, ids)
    tops, judged = snapshot.top_words(10), judge(snapshot, documents)
    found = coherence(tops, documents)
    assert figures["npmi"] == found.npmi.mean()
    assert figures["mixed"] == sum(one.mixed for one in judged)
    assert figures["topics"][1] == {
        "topic": 4,
        "words": tops[1],
        "npmi": found.npmi[1],
        "never": found.never[1],
        "characteristic": list(judged[1].words),
        "across": judged[1].across,
    }
    assert set(coherence_figures(snapshot, [], ids).values()) == {None}
