"""Words that grow as one text, against a dictionary of Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.words.vocabulary import GrowingWords

WORD = st.text(
    st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=6
)
# Few different words, so that many come again.
FEW = st.sampled_from([f"w{n}" for n in range(40)])
STEPS = st.lists(
    st.tuples(st.lists(WORD | FEW, max_size=30), st.integers(0, 60), st.randoms()), max_size=6
)


def added(numbers, words, most):
    """What :meth:`GrowingWords.add` returns, by a dictionary that it changes."""
    for word in words:
        if word not in numbers and len(numbers) < most:
            numbers[word] = len(numbers)
    return [numbers.get(word, -1) for word in words]


@given(STEPS)
def test_is_a_dictionary_that_grows_and_shrinks(steps):
    words, numbers = GrowingWords(), {}
    for new, most, random in steps:
        assert words.find(new).tolist() == [numbers.get(word, -1) for word in new]
        assert words.add(new, most).tolist() == added(numbers, new, most)
        assert list(words.view()) == list(numbers) and len(words) == len(numbers)
        first = random.randrange(len(numbers) + 2)
        assert words.since(first) == tuple(numbers)[first:]
        if random.random() < 0.5:
            staying = sorted(random.sample(range(len(numbers)), random.randrange(len(numbers) + 1)))
            words.keep(np.array(staying, np.int64))
            every = list(numbers)
            numbers = {every[old]: new for new, old in enumerate(staying)}
        assert words.nbytes() == GrowingWords(numbers).nbytes()
        assert len(words._slots) >= 2 * len(words)
        assert words.view() == GrowingWords(numbers).view()


def test_a_view_stays_as_it_is():
    words = GrowingWords(["sea"])
    view = words.view()
    words.add([f"w{n}" for n in range(1000)], 2000)
    assert view == ("sea",)
    assert words.find(["x", "w7", "sea"]).tolist() == [-1, 8, 0]
    with pytest.raises(ValueError, match="read-only"):
        view.text[0] = 0


def test_words_that_are_no_words_are_refused():
    for wrong in ("", "a\nb"):
        with pytest.raises(ValueError, match="a word is empty or contains a newline"):
            GrowingWords([wrong])


def test_words_take_little_memory():
    words = GrowingWords(f"word{n:06d}" for n in range(50_000))
    held = words._text.nbytes + words._starts.nbytes + words._slots.nbytes
    assert words.nbytes() <= held <= 1.2 * words.nbytes()
    assert words.nbytes() < 45 * 50_000
