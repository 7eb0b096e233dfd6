"""The rows of words in a list, without a Python object for each word.

A dictionary of Python reads memory several times for a word: the string, the entry, the stored
string and its number. Here the list is one text of words joined by newlines, with an open hash
table of (31 bits of a word's hash, its number), at least half empty. Words are looked up from
another joined text. Bytes are compared, so two words are never confused. A list may grow: each
of its words then ends with a newline, and its arrays have spare room.

:func:`distinct_words` and :func:`take_words` read and write eight bytes at a time: ``windows[at]``
is the number whose lowest byte is byte ``at`` of a text. A word of up to 16 bytes is two such
numbers and its size, so equal numbers are equal words. Of a longer word the other bytes are
compared as well. The hash only finds the place in a table, and no result depends on it.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.fnv import OFFSET, folded, step
from beam_topics.model.kernels.jit import inlined, kernel

_NEWLINE = 10
_EMPTY = np.int64(-1)
# A number is below 2^31; above it are 31 bits of the hash.
_BITS, _NUMBER = 31, np.int64(0x7FFFFFFF)
_U = np.uint64
_ALL, _EIGHT, _SHIFT = _U(0xFFFFFFFFFFFFFFFF), _U(8), _U(32)
# The bytes of a number that belong to a form, by its length, for its first and second eight.
LONGEST = 16
_OF_SIZE = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
FIRST, SECOND = _OF_SIZE[[*range(9), *[8] * 8]], _OF_SIZE[[*[0] * 8, *range(9)]]
_LOW, _HIGH, _SIZE = _U(0x9E3779B97F4A7C15), _U(0xC2B2AE3D27D4EB4F), _U(0x165667B19E3779F9)


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


@inlined
def _bytes_at(windows, at, end):
    """Return bytes ``at`` to ``end`` as a number, at most eight of them; 0 where there are none."""
    size = end - at
    if size >= 8:
        return windows[at]
    return windows[at] & (_ALL >> (_EIGHT * _U(8 - size))) if size > 0 else _U(0)


@inlined
def _hash_windows(windows, low, high, begin, end):
    """Return the hash of a word, of which the first 16 bytes are two numbers."""
    h = (low * _LOW) ^ ((high + _U(end - begin)) * _HIGH)
    for at in range(begin + 16, end, 8):
        h = (h ^ (h >> _SHIFT) ^ _bytes_at(windows, at, end)) * _SIZE
    return np.int64(((h ^ (h >> _SHIFT)) * _LOW) >> _SHIFT)


@inlined
def _same_rest(windows, begin, end, other):
    """Return whether a word has the bytes of another one of its size, from the 17th on."""
    same = True
    for at in range(16, end - begin, 8):
        mine = _bytes_at(windows, begin + at, end)
        same = same and mine == _bytes_at(windows, other + at, other + end - begin)
    return same


@kernel
def distinct_words(windows, begins):
    """Give words numbers by their first use.

    Args:
        windows: uint64, the windows of a text of words, each followed by one byte.
        begins: int64[W + 1], where each word begins, and one more would.

    Returns:
        int64[V], the place of the first use of each distinct word; int32[W], the number of each
        word.
    """
    count, places = len(begins) - 1, 8
    while places < 2 * count:
        places *= 2
    slots, keys = np.full(places, -1, np.int32), np.empty((count, 2), np.uint64)
    firsts, numbers, known = np.empty(count, np.int64), np.empty(count, np.int32), 0
    for i in range(count):
        begin, end = begins[i], begins[i + 1] - 1
        size = min(end - begin, LONGEST)
        low, high = windows[begin] & FIRST[size], windows[begin + 8] & SECOND[size]
        place = _hash_windows(windows, low, high, begin, end) & (places - 1)
        while slots[place] >= 0:
            number = slots[place]
            if keys[number, 0] == low and keys[number, 1] == high:
                other, after = begins[firsts[number]], begins[firsts[number] + 1]
                if after - other == end + 1 - begin and _same_rest(windows, begin, end, other):
                    break
            place = (place + 1) & (places - 1)
        if slots[place] < 0:
            slots[place], firsts[known] = known, i
            keys[known, 0], keys[known, 1] = low, high
            known += 1
        numbers[i] = slots[place]
    return firsts[:known], numbers


@kernel
def begins_of(starts, places):
    """Return int64[n + 1], where words begin if they are joined, and one more would.

    Args:
        starts: int64, where each word begins now, and one more would.
        places: int[n], numbers of words.
    """
    begins = np.zeros(len(places) + 1, np.int64)
    for i in range(len(places)):
        begins[i + 1] = begins[i] + starts[places[i] + 1] - starts[places[i]]
    return begins


@kernel
def take_words(windows, starts, places, begins, made):
    """Write the words at places, each with the byte after it.

    Args:
        windows: uint64, the windows of a text of words, each followed by a newline.
        starts: int64, where each word begins.
        places: int[n], numbers of words.
        begins: of :func:`begins_of`.
        made: uint64, the windows of a text, which are written.
    """
    for i in range(len(places)):
        shift = begins[i] - starts[places[i]]
        for at in range(begins[i], begins[i + 1], 8):
            made[at] = windows[at - shift]
