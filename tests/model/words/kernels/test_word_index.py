import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import snapshot_of

from beam_topics.model.words.kernels.word_index import build_index, find_words

WORDS = st.text(
    st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=12
)


def joined(words):
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def found(vocabulary, words):
    text, count = joined(vocabulary), len(vocabulary)
    return find_words(text, *build_index(text, count, count), joined(words), len(words)).tolist()


@given(st.lists(WORDS, unique=True, max_size=40), st.lists(WORDS, max_size=10), st.randoms())
def test_is_a_dictionary(vocabulary, others, random):
    numbers = {word: number for number, word in enumerate(vocabulary)}
    words = (
        vocabulary * 2
        + others
        + [word[:-1] or "x" for word in vocabulary]
        + [word + "e" for word in vocabulary]
    )
    random.shuffle(words)
    assert found(vocabulary, words) == [numbers.get(word, -1) for word in words]


def test_nothing():
    assert found([], []) == []
    assert found([], ["a"]) == [-1]
    assert found(["a"], []) == []


def test_words_of_one_hash_are_told_apart():
    vocabulary = [f"w{n}" for n in range(3)]
    text = joined(vocabulary)
    starts, slots = build_index(text, 3, 3)
    # All in one place, under the hash of the first: only their bytes are left.
    first = next(slot >> 31 for slot in slots.tolist() if slot >= 0 and slot & 0x7FFFFFFF == 0)
    slots[:] = -1
    for number in range(3):
        slots[(first + number) % len(slots)] = first << 31 | (2 - number)
    assert find_words(text, starts, slots, joined(["w0", "w9"]), 2).tolist() == [0, -1]


def test_a_thousand_words():
    vocabulary = [f"{n}" for n in range(0, 3000, 3)]
    assert found(vocabulary, [str(n) for n in range(3000)]) == [
        n // 3 if n % 3 == 0 else -1 for n in range(3000)
    ]


def test_a_snapshot_says_rows_one_by_one_and_together():
    snapshot = snapshot_of(np.ones((4, 1)), words=("a", "ab", "ä", "b"))
    words = ["b", "ab", "abc", "ä", "a", "ba"]
    assert (
        snapshot.rows_of(words).tolist()
        == [snapshot.row_of(word) for word in words]
        == [3, 1, -1, 2, 0, -1]
    )
    assert snapshot.rows_of([]).tolist() == []
    with pytest.raises(ValueError, match="a word is empty or contains a newline"):
        snapshot.rows_of(["a", "b\na"])


@pytest.mark.parametrize("word", ["", "a", "naïve", "\u4e2d\u6587", "x" * 100])
def test_a_hash_fits_beside_a_number(word):
    text = joined([word])
    _, slots = build_index(text, 1, 1)
    assert 0 <= max(slots.tolist()) < 2**62
    assert find_words(text, *build_index(text, 1, 1), text, 1).tolist() == [0]
