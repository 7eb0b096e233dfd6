"""Joining phrases, against a readable twin that walks over a list of words."""

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.words.phrases import Phrases

LETTERS = st.sampled_from("abc")
TEXTS = st.lists(st.lists(LETTERS, max_size=12), min_size=1, max_size=5)
SETS = st.sets(st.lists(LETTERS, min_size=2, max_size=3).map("_".join), max_size=8)


def twin(words, phrases):
    """Join from left to right, a single word at a time."""
    found = []
    for word in words:
        if found and f"{found[-1]}_{word}" in phrases:
            found[-1] += f"_{word}"
        else:
            found.append(word)
    return found


def texts_of(documents):
    return [[d.words[token] for token in d.tokens.tolist()] for d in documents]


@given(st.lists(LETTERS, max_size=20), SETS)
def test_words_are_joined_from_left_to_right(words, phrases):
    assert Phrases(phrases).in_words(words) == twin(words, phrases)


@given(TEXTS, SETS)
def test_a_minibatch_is_joined_as_its_documents_are(texts, phrases):
    some = Phrases(phrases)
    documents = [document_of(words, n) for n, words in enumerate(texts)]
    (minibatch,) = minibatches_of(documents, len(documents))
    joined = some.in_block(minibatch)
    alone = [some.in_block(document) for document in documents]
    assert texts_of(joined.documents()) == texts_of(alone) == [twin(w, phrases) for w in texts]
    # A word without a token has no number, and numbers are in order of first use.
    assert joined.tokens.size == 0 or joined.tokens.max() == len(joined.words) - 1
    _, first = np.unique(joined.tokens, return_index=True)
    assert (np.diff(first) > 0).all()


@given(st.lists(LETTERS, max_size=20), SETS)
def test_a_joined_text_stays_as_it_is(words, phrases):
    some = Phrases(phrases)
    assert some.in_words(some.in_words(words)) == some.in_words(words)


@given(SETS, SETS)
def test_what_is_removed_is_joined_no_longer(phrases, removed):
    some = Phrases(phrases | removed)
    for phrase in removed:
        some.discard(phrase)
    left = phrases - removed
    assert list(some) == sorted(left)
    assert len(some) == len(left)
    words = list("abcabcaabbccab")
    assert some.in_words(words) == Phrases(left).in_words(words)


@pytest.mark.parametrize("word", ["", "_", "a", "_a", "a_"])
def test_what_is_no_phrase_by_its_form_is_left_out(word):
    assert list(Phrases([word])) == []


def test_phrases_do_not_cross_documents():
    documents = [document_of(["new"], 0), document_of(["york"], 1)]
    (minibatch,) = minibatches_of(documents, 2)
    assert Phrases(["new_york"]).in_block(minibatch) is minibatch
