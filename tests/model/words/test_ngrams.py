from collections import Counter

import ngram_twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.words.character_model import NgramModel, code_points

FEW = settings(max_examples=100)
# Few letters, so that runs come again; a mark that words do not hold, and characters of one to four
# bytes.
LETTERS = st.text(
    "abc\N{LATIN SMALL LETTER E WITH ACUTE}\N{GRINNING FACE}\U0010ffff", min_size=1, max_size=9
)


@FEW
@given(
    st.lists(LETTERS, min_size=1, max_size=30, unique=True),
    st.lists(LETTERS, max_size=5),
    st.integers(0, 4),
)
def test_bit_for_bit_as_the_twin(words, others, order):
    spelling = NgramModel.fit(words, order)
    asked = [*words, *others, "zq", "a" * 700]
    products, exponents = spelling.probabilities(asked)
    assert list(zip(products.tolist(), exponents.tolist(), strict=True)) == [
        ngram_twin.spelled(spelling, word) for word in asked
    ]


@FEW
@given(st.lists(LETTERS, max_size=30, unique=True), st.integers(0, 4))
def test_the_runs_are_counted_once_for_each_word(words, order):
    marked = ["\n" * order + word for word in words]
    found = Counter(text[at : at + order + 1] for text in marked for at in range(len(text) - order))
    spelling = NgramModel.fit(words, order)
    assert spelling.text == "".join(sorted(found))
    assert spelling.counts.tolist() == [found[run] for run in sorted(found)]
    assert spelling.runs.dtype == np.uint32 and spelling.counts.dtype == np.int64


@pytest.mark.parametrize("bug", ["what a context leaves", "kinds"])
def test_the_twin_would_find_a_bug(bug, monkeypatch):
    spelling = NgramModel.fit(["sea", "seas", "seed", "sees"], 2)
    right = ngram_twin.tables

    def wrong(*arguments):
        seen, left = right(*arguments)
        return (
            (seen, dict.fromkeys(left, 1.0))
            if bug == "what a context leaves"
            else ({run: p * 0.99 for run, p in seen.items()}, left)
        )

    monkeypatch.setattr(ngram_twin, "tables", wrong)
    products, exponents = spelling.probabilities(["seat"])
    assert (products[0], exponents[0]) != ngram_twin.spelled(spelling, "seat")


def test_no_words():
    products, exponents = NgramModel.fit(["sea"], 3).probabilities([])
    assert len(products) == len(exponents) == 0


def test_codes():
    assert code_points(["a\N{GRINNING FACE}", "\ud800"]).tolist() == [97, 0x1F600, 0xD800]
    assert code_points([]).dtype == np.uint32
