import math

import numpy as np
import pytest
from corpora import document_of
from made import snapshot_of

from model.evaluation.coherence import Reference, coherence, coherence_figures

# a and b are in three of five documents each, in two together; c only with a; d everywhere.
DOCUMENTS = [
    document_of(text.split(), n)
    for n, text in enumerate(["a b d d d", "a b d", "a c d", "b d", "d"])
]


def expected(together, first, second, documents=5):
    pmi = math.log((together + 1) / (first * second / documents + 1))
    return pmi, pmi / -math.log((together + 1) / (documents + 1)) if together < documents else 0.0


def test_the_formula_of_each_pair():
    pmi, npmi, never, apart = Reference(DOCUMENTS, "abcd").pairs(["a", "b", "c", "d"])
    pairs = [(2, 3, 3), (1, 3, 1), (3, 3, 5), (0, 3, 1), (3, 3, 5), (1, 1, 5)]
    assert pmi.tolist() == pytest.approx([expected(*pair)[0] for pair in pairs])
    assert npmi.tolist() == pytest.approx([expected(*pair)[1] for pair in pairs])
    assert never.tolist() == [0, 0, 0, 1, 0, 0]
    assert apart.tolist() == [0, 0, 0, 1, 0, 0]


def test_a_word_counts_once_in_a_document_and_order_is_of_no_account():
    found = Reference(DOCUMENTS, "ad").pairs(["d", "a"])
    assert found.pmi.tolist() == [pytest.approx(expected(3, 3, 5)[0])]


def test_topics_have_the_mean_of_their_pairs():
    found = coherence([["a", "b", "c"], ["a"], []], DOCUMENTS)
    pairs = [expected(2, 3, 3), expected(1, 3, 1), expected(0, 3, 1)]
    assert found.pmi.tolist() == pytest.approx([np.mean([pmi for pmi, _ in pairs]), 0, 0])
    assert found.npmi.tolist() == pytest.approx([np.mean([npmi for _, npmi in pairs]), 0, 0])
    assert found.never.tolist() == [1 / 3, 0, 0] and found.mixed == 0


@pytest.mark.parametrize("documents", [DOCUMENTS, []])
def test_what_the_reference_does_not_have_says_nothing(documents):
    found = coherence([["x", "y"], ["a", "x"]], documents)
    assert found.pmi.tolist() == found.npmi.tolist() == [0, 0]


def test_words_that_are_always_together_are_the_most_coherent():
    together = [document_of(["x", "y"] if n % 2 else ["p", "q"], n) for n in range(100)]
    found = coherence([["x", "y"], ["x", "p"]], together)
    assert found.npmi[0] == pytest.approx(1, abs=0.1)
    assert found.npmi[1] < -0.5


def test_a_word_in_every_document():
    everywhere = [document_of(["x", "y"], n) for n in range(4)]
    found = coherence([["x", "y"]], everywhere)
    assert found.pmi.tolist() == found.npmi.tolist() == [0]


def test_words_that_meet_less_often_than_by_chance_are_apart():
    # x and y are in half of the documents each, and meet in one of 40, not in ten.
    documents = [document_of(["x"] if n % 2 else ["y"], n) for n in range(39)]
    documents.append(document_of(["x", "y"], 39))
    pairs = Reference(documents, "xy").pairs(["x", "y"])
    assert (pairs.never.tolist(), pairs.apart.tolist()) == ([0], [1])


@pytest.mark.parametrize(("others", "mixed"), [(0, 0), (1, 0), (2, 0), (3, 1), (5, 1)])
def test_a_topic_with_a_second_subject_is_judged_mixed(others, mixed):
    sea, court = (tuple(f"{name}{n}" for n in range(10)) for name in ("sea", "court"))
    documents = [document_of((sea, court)[n % 2], n) for n in range(20)]
    topic = [*sea[: 10 - others], *court[:others]]
    found = coherence([topic, sea], documents)
    assert found.apart.tolist() == [pytest.approx(others * (10 - others) / 45), 0]
    assert found.mixed == mixed


def test_the_figures_of_a_model():
    snapshot = snapshot_of([[9, 0], [5, 0], [0, 3]], words=("a", "b", "c"))
    figures = coherence_figures(snapshot, DOCUMENTS)
    found = coherence([["a", "b"], ["c"]], DOCUMENTS)
    assert (figures["npmi"], figures["mixed"]) == (found.npmi.mean(), 0)
    assert figures["topics"][0] == {
        "words": ["a", "b"],
        "npmi": found.npmi[0],
        "never": 0.0,
        "apart": 0.0,
    }
    assert set(coherence_figures(snapshot, []).values()) == {None}
