"""Philox against its published answers and a second implementation; the naming of uniforms."""

import numpy as np
import pytest
import twins
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beam_topics.model.kernels import random

WORD = st.integers(0, 2**32 - 1)
ONES = 0xFFFFFFFF
EXACT = settings(max_examples=60)


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        (0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (ONES, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ],
)
def test_known_answers(word, answer):
    assert tuple(int(x) for x in random.philox(*[np.uint64(word)] * 6)) == answer
    assert tuple(twins.philox([word] * 4, [word] * 2)) == answer


@EXACT
@given(st.lists(WORD, min_size=6, max_size=6))
def test_philox_equals_its_twin(words):
    assert [int(x) for x in random.philox(*map(np.uint64, words))] == twins.philox(
        words[:4], words[4:]
    )


@EXACT
@given(
    st.integers(0, 2**41 - 2),
    st.tuples(WORD, WORD),
    WORD,
    st.integers(0, 2**48 - 1),
    st.integers(1, 255),
)
@example(2**41 - 2, (ONES, 1), ONES, 2**48 - 1, 255)
@example(2**40 + 1, (1, ONES), 1, 2**47, 1)
def test_uniforms_equal_their_twin(index, key, particle, sequence, purpose):
    assert random.uniform(index, *key, particle, sequence, purpose) == twins.uniform(
        index, key, particle, sequence, purpose
    )


@pytest.mark.parametrize("first", [0, 1, 6, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 8, 9])
def test_filling_is_the_same_as_asking_one_by_one(first, count):
    out = np.full(10, -1.0)
    random.fill_uniforms(out, count, first, 3, 4, 5, 6, random.MOVE)
    assert out.tolist() == [
        random.uniform(first + i, 3, 4, 5, 6, random.MOVE) for i in range(count)
    ] + [-1.0] * (10 - count)


def test_purposes_differ():
    named = {
        name: value
        for name, value in vars(random).items()
        if name.isupper() and not name.startswith("_")
    }
    assert len(set(named.values())) == len(named) > 5
    assert all(0 < value < 256 for value in named.values())


def test_a_key_is_of_both_seed_and_name():
    keys = {
        random.stream_key(seed, name)
        for seed, name in ((1, "a"), (1, "b"), (2, "a"), (12, ""), (1, "2"))
    }
    assert len(keys) == 5
    assert all(0 <= word < 2**32 for key in keys for word in key)
