"""The words of many texts as numbers, by the forms in which words stand in texts.

A form is a run of word characters, as it stands in a text in lower case. Few forms are distinct, so
what becomes of a form is decided once, and a whole block of texts is looked up by array operations.
The memo has one row for each hash of a form: a form that finds another one in its row takes the
row. So its memory is bounded, and a lookup is exact, because a row holds the whole form: up to 16
bytes of UTF-8 as two numbers. Longer forms are decided one by one.

>>> numbers = FormNumbers(lambda form: "" if form == "the" else form.removesuffix("s"))
>>> found, offsets = numbers.of_texts(["the ships", "", "ship, the seas"])
>>> [numbers.words[number] for number in found], offsets.tolist()
(['ship', 'ship', 'sea'], [0, 1, 1, 3])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from beam_topics.model.records import IntArray, LongArray
from beam_topics.model.wire import Array

# Every other character is 0. Bytes from 128 on are parts of characters, which are cut already.
_SIGNS = bytes(
    code if code >= 128 or chr(code).isalnum() or chr(code) == "'" else 0 for code in range(256)
)
_WIDTH = 8
_LONGEST = 2 * _WIDTH
# The bytes of a number that belong to a form with so many bytes in it.
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_WIDTH + 1)], np.uint64)
_FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_ROW_BITS = 18
_MOST_WORDS = 200_000


class FormNumbers:
    """Numbers of words, as they come; a thread needs one of its own.

    Attributes:
        words: The words by their numbers, until :meth:`of_texts` is called again.

    Args:
        word_of: What becomes of a form: a word, or ``""`` where it is dropped.
    """

    def __init__(self, word_of: Callable[[str], str]) -> None:
        self._word_of = word_of
        self._clear()

    def _clear(self) -> None:
        self.words: list[str] = []
        self._numbers = {"": -1}
        # A form is not empty, so no form has the keys 0.
        self._low, self._high = np.zeros((2, 1 << _ROW_BITS), np.uint64)
        self._found = np.zeros(1 << _ROW_BITS, np.int32)

    def of_texts(self, texts: Sequence[str]) -> tuple[IntArray, LongArray]:
        """Return the numbers of the words that are kept.

        Args:
            texts: D texts of words, with any ASCII character but an apostrophe between them.

        Returns:
            int32[N], the numbers of all texts one after the other, and int64[D + 1], their bounds.
        """
        if len(self.words) >= _MOST_WORDS:
            self._clear()
        parts = [text.encode() for text in texts]
        ends = np.cumsum([0, *(len(part) + 1 for part in parts)])
        # Zeros behind the last form make it as long as two numbers.
        data = b"\0" + b"\0".join(parts).translate(_SIGNS) + bytes(_LONGEST + 1)
        is_inside = np.frombuffer(data, np.uint8) != 0
        bounds = np.flatnonzero(is_inside[1:] != is_inside[:-1]) + 1
        begins = bounds[::2]
        numbers = self._looked_up(data, begins, bounds[1::2])
        is_kept = numbers >= 0
        kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_kept)])
        return numbers[is_kept], kept[np.searchsorted(begins, ends + 1)]

    def _looked_up(self, data: bytes, begins: LongArray, ends: LongArray) -> IntArray:
        """Return the number of the word of each form in the data, -1 where it is dropped."""
        low, high, rows = _keys_of(data, begins, ends - begins)
        found, is_long = self._found[rows], ends - begins > _LONGEST
        others = np.flatnonzero(self._differ(rows, low, high) & ~is_long)
        # One form for each row, so that a row holds the parts of one form.
        used, first = np.unique(rows[others], return_index=True)
        chosen = others[first]
        self._low[used], self._high[used] = low[chosen], high[chosen]
        self._found[used] = self._decided(data, begins[chosen], ends[chosen])
        found[others] = self._found[rows[others]]
        is_left = self._differ(rows[others], low[others], high[others])
        left = np.append(others[is_left], np.flatnonzero(is_long))
        found[left] = self._decided(data, begins[left], ends[left])
        return found

    def _differ(self, rows: LongArray, low: Array, high: Array) -> Array:
        """Return whether the rows hold other forms than these."""
        return np.logical_or(self._low[rows] != low, self._high[rows] != high)

    def _decided(self, data: bytes, begins: LongArray, ends: LongArray) -> IntArray:
        bounds = zip(begins.tolist(), ends.tolist(), strict=True)
        words = [self._word_of(data[begin:end].decode()) for begin, end in bounds]
        for word in words:
            if word not in self._numbers:
                self._numbers[word] = len(self.words)
                self.words.append(word)
        return np.fromiter(map(self._numbers.__getitem__, words), np.int32, len(words))


def _keys_of(data: bytes, begins: LongArray, sizes: LongArray) -> tuple[Array, Array, LongArray]:
    """Return two numbers for each form, which are its first 16 bytes, and its row."""
    eights = np.ndarray((len(data) - _WIDTH + 1,), "<u8", data, strides=(1,))
    low = eights[begins] & _MASKS[np.minimum(sizes, _WIDTH)]
    high, wide = np.zeros_like(low), np.flatnonzero(sizes > _WIDTH)
    masks = _MASKS[np.minimum(sizes[wide] - _WIDTH, _WIDTH)]
    high[wide] = eights[begins[wide] + _WIDTH] & masks
    mixed = (low * _FACTORS[0] ^ high * _FACTORS[1]) >> np.uint64(64 - _ROW_BITS)
    return low, high, mixed.view(np.int64)
