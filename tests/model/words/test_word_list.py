import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import wire
from beam_topics.model.words.word_list import WordList

WORDS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1))


@given(WORDS)
def test_a_list_is_the_words_that_were_written(words):
    data = wire.words_to_bytes(tuple(words))
    found = WordList.from_bytes(data)
    assert len(found) == len(words) and list(found) == words
    assert found == tuple(words) == wire.words_from_bytes(data)
    assert hash(found) == hash(tuple(words)) and repr(found) == repr(tuple(words))
    assert found == WordList.from_bytes(data) and found[:2] == tuple(words[:2])
    assert wire.words_to_bytes(found) == data


@given(WORDS, WORDS)
def test_single_words_and_beginnings_need_no_other_words(words, others):
    found = WordList.from_bytes(wire.words_to_bytes(tuple(words)))
    assert [found[place] for place in range(len(words))] == words
    for first in (words, words[:1], others, words[:2] + others):
        same = tuple(words[: len(first)]) == tuple(first)
        assert found.begins_with(tuple(first)) is same
        assert found.begins_with(WordList.from_bytes(wire.words_to_bytes(first))) is same


def test_a_beginning_ends_with_a_word():
    found = WordList.from_bytes(b"sea\nships")
    assert not found.begins_with(WordList.from_bytes(b"sea\nship"))
    assert "_words" not in vars(found)


def test_membership_and_places():
    found = WordList.from_bytes("été\nsea".encode())
    assert "sea" in found and "se" not in found
    assert (found[0], found[-1]) == ("été", "sea")
    assert found != ("été",)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\nsea", "one of 2 stored words is empty"),
        (b"sea\n", "one of 2 stored words is empty"),
        (b"sea\n\nship", "one of 3 stored words is empty"),
        (b"\n", "one of 2 stored words is empty"),
        (b"sea\xff", "4 bytes of words are not UTF-8"),
    ],
)
def test_damaged_words_are_refused_before_one_is_asked_for(data, told):
    with pytest.raises(DamagedDataError, match=told):
        WordList.from_bytes(data)
