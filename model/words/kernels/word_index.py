"""The rows of words in a list, without a Python object for each word.

A dictionary of Python reads memory several times for a word: the string, the entry, the stored
string and its number. Here the list is one text of words joined by newlines, with an open hash
table of (31 bits of a word's hash, its number), at least half empty. Words are looked up from
another joined text. Bytes are compared, so two words are never confused. A list may grow: its words
then each end with a newline, and its arrays have room behind them.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.fnv import OFFSET, folded, step
from beam_topics.model.kernels.jit import inlined, kernel

_NEWLINE = 10
_EMPTY = np.int64(-1)
# A number is below 2^31; above it are 31 bits of the hash.
_BITS, _NUMBER = 31, np.int64(0x7FFFFFFF)


@inlined
def _hash_word(text, begin):
    """Return the end of the word that begins at ``begin``, and its hash.

    The hash is FNV-1a, folded to 0 to 2^31 - 1.
    """
    h, end = OFFSET, begin
    while end < text.shape[0] and text[end] != _NEWLINE:
        h = step(h, text[end])
        end += 1
    return end, folded(h)


@inlined
def _same(text, begin, end, other, start):
    """Return whether text[begin:end] is the word that begins at other[start]."""
    at = begin
    while at < end and start < other.shape[0] and text[at] == other[start]:
        at += 1
        start += 1
    return at == end and (start == other.shape[0] or other[start] == _NEWLINE)


@inlined
def _place_of(text, starts, slots, words, begin, end, h):
    """Return the place of words[begin:end] in the table, or the empty place where it belongs."""
    place = h & (slots.shape[0] - 1)
    while slots[place] != _EMPTY:
        slot = slots[place]
        if slot >> _BITS == h and _same(words, begin, end, text, starts[slot & _NUMBER]):
            break
        place = (place + 1) & (slots.shape[0] - 1)
    return place


@kernel
def build_index(text, count, room):
    """Build the hash table of a list of words.

    Args:
        text: uint8, the words joined by newlines.
        count: number of words.
        room: number of words for which the table has room, at least ``count``.

    Returns:
        int64[count], where each word begins; int64[power of 2], the slots of the table.
    """
    size = 8
    while size < 2 * room:
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
def find_words(text, starts, slots, words, count):
    """Return the number of each word, int64[count]; -1 for a word that the table does not have.

    Args:
        text: the words of the list, see :func:`build_index`.
        starts: where each word begins in ``text``.
        slots: the table of :func:`build_index`.
        words: uint8, the words to look up, joined by newlines.
        count: number of these words.
    """
    rows, begin = np.empty(count, np.int64), 0
    for i in range(count):
        end, h = _hash_word(words, begin)
        slot = slots[_place_of(text, starts, slots, words, begin, end, h)]
        rows[i] = -1 if slot == _EMPTY else slot & _NUMBER
        begin = end + 1
    return rows


@kernel
def add_words(text, starts, slots, known, used, words, count, most):
    """Look words up, and append those that the list does not have.

    Args:
        text: the words of the list, each with a newline after it; has room for the new words.
        starts: where each word begins in ``text``; has room.
        slots: the table of :func:`build_index`, with room.
        known: the number of words of the list.
        used: the bytes of ``text`` that they take.
        words: uint8, the words to look up, joined by newlines.
        count: number of these words.
        most: the list gets no more words than this.

    Returns:
        The number of each word, int64[count], -1 for a word for which there is no room; the number
        of words of the list, and the bytes that they take.
    """
    rows, begin = np.empty(count, np.int64), 0
    for i in range(count):
        end, h = _hash_word(words, begin)
        place = _place_of(text, starts, slots, words, begin, end, h)
        rows[i] = -1 if slots[place] == _EMPTY else slots[place] & _NUMBER
        if rows[i] < 0 and known < most:
            rows[i], starts[known], slots[place] = known, used, h << _BITS | known
            for at in range(begin, end):
                text[used + at - begin] = words[at]
            used += end - begin + 1
            text[used - 1] = _NEWLINE
            known += 1
        begin = end + 1
    return rows, known, used
