"""A block of documents has the words that each document has alone, for all options."""

import gzip
import json
import os
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.words import forms
from beam_topics.model.words import tokeniser as module
from beam_topics.model.words.forms import FormNumbers
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.model.words.word_forms import FORMS

LANGUAGES = ("none", "none"), ("en", "none"), ("de,fr", "language"), ("language", "language")
OPTIONS = st.builds(
    lambda languages, **others: TokeniserSettings(
        stop_words=languages[0], key_from=languages[1], **others
    ),
    st.sampled_from(LANGUAGES),
    min_length=st.integers(1, 3),
    max_length=st.sampled_from([4, 40]),
    stemmer=st.sampled_from(["none", "english", "turkish"]),
    word_forms=st.just(TokeniserSettings.word_forms)
    | st.lists(st.sampled_from([*FORMS]), unique=True).map(tuple),
    strip=st.sampled_from([(), ("html", "mail")]),
)
# Words of one and of two numbers, and longer ones; signs that join, apostrophes and other scripts.
PIECES = [
    *"aBé1'-.&+#@_ß ²İΣ\u200d\u0301\U0001f600\n",
    "''",
    "the",
    "l'eau",
    "c++",
    "gpt-4",
    ".net",
    "737-MAX",
    "401(k)",
    " &amp;",
    " reddit.com/a",
    " US",
    "'IT' ",
    "\ud800",
]
PIECES += [
    "a" * 15 + "b",
    "b" * 16,
    "b" * 17,
    "eighteight",
    "eighteighs",
    "schöngeistig",
    "nation's",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.characters(codec="utf-8"), max_size=30).map("".join)
DATA = os.environ.get("BEAM_TOPICS_DATA")
CORPORA = ["arxiv-cs-1994-2019", "20news-bydate", "nips-00-12", "de-news-en-stemmed"]


def check_equal(tokeniser, alone, texts):
    """Check the words of a block, which kernels cut, against those of regular expressions."""
    key = alone.key(texts[0])
    documents = [Document(f"d{at}", at, text, "l", key) for at, text in enumerate(texts)]
    found = [one.to_bytes() for one in tokeniser.block(documents).documents()]
    words = [alone._kept(alone._clean(text), key) for text in texts]
    assert found == [
        Block.of_words([document], [one]).to_bytes()
        for document, one in zip(documents, words, strict=True)
    ]


BLOCKS = st.lists(st.lists(TEXTS, min_size=1, max_size=5), min_size=1, max_size=3)


@settings(max_examples=300)
@given(OPTIONS, BLOCKS)
def test_blocks_equal_documents_alone(options, blocks):
    with pytest.MonkeyPatch.context() as patch:
        # Forms take the rows of others, and the memo begins anew.
        patch.setattr(forms, "_ROW_BITS", 2)
        patch.setattr(forms, "_MOST_WORDS", 9)
        tokeniser, alone = Tokeniser(options), Tokeniser(options)
        for texts in blocks:
            check_equal(tokeniser, alone, texts)


SIGNS = [*"abxnETUS12'-.&+#(_;: \n\x1e\x1f", "''", "asp.net", ".net", "401(k)", "(k)", "++"]
SIGNS += [
    "US ",
    "WHO is",
    "737-MA",
    "-a-bb",
    " a&bx",
    " a&b1",
    "x.com",
    "www.x",
    "ftp://x",
    " a-\nb",
]
SIGNED = st.lists(st.sampled_from(SIGNS), max_size=40).map("".join)


@settings(max_examples=1000)
@given(st.lists(SIGNED, min_size=1, max_size=8))
def test_kernels_join_signs_as_regular_expressions_do(texts):
    options = TokeniserSettings(stop_words="none", min_length=1)
    check_equal(Tokeniser(options), Tokeniser(options), texts)


@settings(max_examples=300)
@given(st.lists(TEXTS | SIGNED, min_size=1, max_size=8))
def test_a_text_that_is_not_unclean_stays_as_it_is(texts):
    tokeniser = Tokeniser(TokeniserSettings())
    for text, changes in zip(texts, forms.unclean(texts), strict=True):
        assert changes or (text.isascii() and tokeniser._clean(text) == text)


def test_a_function_cuts_the_texts_of_a_block(monkeypatch):
    monkeypatch.setattr(module, "load_function", lambda _: str.split)
    options = TokeniserSettings(function="my_words:cut", stop_words="none")
    check_equal(Tokeniser(options), Tokeniser(options), ["A b-c, b-c", "x", "d''e b-c,"])


def test_a_row_holds_the_whole_form():
    met = []
    numbers = FormNumbers(lambda forms: met.extend(forms) or forms)
    texts = ["a" * size for size in range(1, 20)]
    for _ in range(2):
        words, tokens, offsets = numbers.of_texts(texts)
        assert [words[token] for token in tokens] == texts
        assert offsets.tolist() == list(range(20))
    # A form of more than 16 bytes has no row.
    assert sorted(met) == sorted([*texts, *texts[16:]])


@pytest.mark.skipif(not DATA, reason="BEAM_TOPICS_DATA names no folder of corpora")
@pytest.mark.parametrize("name", CORPORA)
def test_texts_of_the_corpora(name):
    tokeniser, alone = Tokeniser(TokeniserSettings()), Tokeniser(TokeniserSettings())
    with gzip.open(Path(DATA) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = (json.loads(line)["text"] for line in islice(lines, 20_000))
        while block := list(islice(texts, 200)):
            check_equal(tokeniser, alone, block)


def test_a_form_that_cannot_be_decided_leaves_no_trace():
    def words_of(forms):
        if "bad" in forms:
            raise ValueError("bad")
        return forms

    numbers = FormNumbers(words_of)
    with pytest.raises(ValueError, match="bad"):
        numbers.of_texts(["good bad", "other"])
    words, tokens, _ = numbers.of_texts(["other good good"])
    assert (words, tokens.tolist()) == (("other", "good"), [0, 1, 1])
