import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from beam_topics.model.words.word_list import WordList

# Words of each size around 8 and 16 bytes, of few letters, so that many differ in one byte.
WORDS = st.lists(
    st.text("aé\0", min_size=1, max_size=3)
    | st.text("ab", min_size=14, max_size=18)
    | st.sampled_from(["x" * size + end for size in range(1, 35) for end in ("", "y", "\0")]),
    max_size=60,
)


def first_uses(words):
    """The slow, readable twin of ``distinct_words``."""
    distinct = list(dict.fromkeys(words))
    return distinct, [distinct.index(word) for word in words]


@given(WORDS)
@example([])
@example([f"{'x' * 16}{number:03}" for number in range(300)])
def test_words_are_numbered_by_their_first_use(words):
    distinct, numbers = WordList.of(words).distinct()
    assert (list(distinct), numbers.tolist()) == first_uses(words)
    assert distinct.text.tobytes() == "\n".join(first_uses(words)[0]).encode()
    assert numbers.dtype == np.int32


@given(WORDS.filter(bool), st.lists(st.integers(0, 10**6), max_size=40))
def test_words_are_taken(words, numbers):
    places = [number % len(words) for number in numbers]
    taken = WordList.of(words).taken(np.array(places, np.int32))
    assert taken.text.tobytes() == "\n".join(words[place] for place in places).encode()
    assert len(taken) == len(places)


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_lists_are_joined_and_parted(lists):
    joined = WordList.joined(list(map(WordList.of, lists)))
    assert list(joined) == [word for words in lists for word in words]
    bounds = np.cumsum([0, *map(len, lists)])
    assert [list(part) for part in joined.parts(bounds)] == lists
