import math

import numpy as np
import pytest
from blocks import one_word_lists

from beam_topics.model.documents.block import Block
from beam_topics.model.evaluation.coherence import Reference, coherence

# a and b are in three of five documents each, in two together; c only with a; d everywhere.
DOCUMENTS = one_word_lists(["abddd", "abd", "acd", "bd", "d"])


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
