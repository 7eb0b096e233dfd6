"""FNV-1a against its definition and values that its authors publish."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.kernels.fnv import OFFSET, folded, step


def hashed(numbers):
    h = OFFSET
    for number in numbers:
        h = np.uint64(step(h, number))
    return int(h)


def test_known_values():
    assert hashed(b"") == 0xCBF29CE484222325
    assert hashed(b"a") == 0xAF63DC4C8601EC8C
    assert hashed(b"foobar") == 0x85944171F73967E8


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_is_its_definition(numbers):
    h = 0xCBF29CE484222325
    for number in numbers:
        h = (h ^ number) * 0x100000001B3 % 2**64
    assert hashed(numbers) == h


@given(st.integers(0, 2**32 - 1))
def test_a_folded_hash_has_bits_of_both_halves(number):
    h = int(step(OFFSET, number))
    assert folded(np.uint64(h)) == (h & 0xFFFFFFFF ^ h >> 32) & 0x7FFFFFFF
