"""The rows of words in a list, without a Python object for each word.

A dictionary of Python reads memory several times for a word: the string, the entry, the stored
string and its number. Here the list is one text of words joined by newlines, with an open hash
table of (31 bits of a word's hash, its number), at least half empty. Words are looked up from
another joined text. Bytes are compared, so two words are never confused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import inlined, kernel

_NEWLINE = 10
_EMPTY = np.int64(-1)
_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_HALF = np.uint64(32)
# A number is below 2^31; above it are 31 bits of the hash.
_BITS, _NUMBER, _LOW = 31, np.int64(0x7FFFFFFF), np.uint64(0x7FFFFFFF)


@inlined
def _hash_word(text: Any, begin: Any) -> Any:
    """Return the end of the word that begins at ``begin``, and its hash.

    The hash is FNV-1a, folded to 0 to 2^31 - 1.
    """
    h, end = _OFFSET, begin
    while end < text.shape[0] and text[end] != _NEWLINE:
        h = (h ^ np.uint64(text[end])) * _PRIME
        end += 1
    return end, np.int64((h ^ (h >> _HALF)) & _LOW)


@inlined
def _same(text: Any, begin: Any, end: Any, other: Any, start: Any) -> Any:
    """Return whether text[begin:end] is the word that begins at other[start]."""
    at = begin
    while at < end and start < other.shape[0] and text[at] == other[start]:
        at += 1
        start += 1
    return at == end and (start == other.shape[0] or other[start] == _NEWLINE)


@kernel
def build_index(text: Any, count: Any) -> Any:
    """Build the hash table of a list of words.

    Args:
        text: uint8, the words joined by newlines.
        count: number of words.

    Returns:
        int64[count], where each word begins; int64[power of 2], the slots of the table.
    """
    size = 8
    while size < 2 * count:
        size *= 2
    starts, slots, begin = np.empty(count, np.int64), np.full(size, _EMPTY), 0
    for number in range(count):
        end, h = _hash_word(text, begin)
        place = h & (size - 1)
        while slots[place] != _EMPTY:
            place = (place + 1) & (size - 1)
        starts[number], slots[place] = begin, h << _BITS | number
        begin = end + 1
    return starts, slots


@kernel
def find_words(text: Any, starts: Any, slots: Any, words: Any, count: Any) -> Any:
    """Return the number of each word, int64[count]; -1 for a word that the table does not have.

    Args:
        text: the words of the list, see :func:`build_index`.
        starts: where each word begins in ``text``.
        slots: the table of :func:`build_index`.
        words: uint8, the words to look up, joined by newlines.
        count: number of these words.
    """
    rows, begin, size = np.full(count, -1), 0, slots.shape[0]
    for i in range(count):
        end, h = _hash_word(words, begin)
        place = h & (size - 1)
        while slots[place] != _EMPTY:
            slot = slots[place]
            if slot >> _BITS == h and _same(words, begin, end, text, starts[slot & _NUMBER]):
                rows[i] = slot & _NUMBER
                break
            place = (place + 1) & (size - 1)
        begin = end + 1
    return rows
