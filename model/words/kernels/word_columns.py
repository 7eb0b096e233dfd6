"""Number the words of a text by their first use, and take words out of it.

Bytes are read and written eight at a time: ``windows[at]`` is the number whose lowest byte is byte
``at`` of a text. A word of up to 16 bytes is two such numbers and its size, so equal numbers are
equal words. Of a longer word the other bytes are compared as well. The hash only finds the place
in a table, and no result depends on it.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel

_U = np.uint64
_ALL, _EIGHT, _SHIFT = _U(0xFFFFFFFFFFFFFFFF), _U(8), _U(32)
_LOW, _HIGH, _SIZE = _U(0x9E3779B97F4A7C15), _U(0xC2B2AE3D27D4EB4F), _U(0x165667B19E3779F9)
_NEWLINE = 10


@inlined
def _bytes_at(windows, at, end):
    """Return bytes ``at`` to ``end`` as a number, at most eight of them; 0 where there are none."""
    size = end - at
    if size >= 8:
        return windows[at]
    return windows[at] & (_ALL >> (_EIGHT * _U(8 - size))) if size > 0 else _U(0)


@inlined
def _hash_word(windows, low, high, begin, end):
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
        windows: uint64, the windows of a text of words, each with one byte behind it.
        begins: int64[W + 1], where each word begins, and one more would.

    Returns:
        int64[V], the place of the first use of each distinct word; int32[W], the number of each
        word.
    """
    count, size = len(begins) - 1, 8
    while size < 2 * count:
        size *= 2
    slots, keys = np.full(size, -1, np.int32), np.empty((count, 2), np.uint64)
    firsts, numbers, known = np.empty(count, np.int64), np.empty(count, np.int32), 0
    for i in range(count):
        begin, end = begins[i], begins[i + 1] - 1
        low, high = _bytes_at(windows, begin, end), _bytes_at(windows, begin + 8, end)
        place = _hash_word(windows, low, high, begin, end) & (size - 1)
        while slots[place] >= 0:
            number = slots[place]
            if keys[number, 0] == low and keys[number, 1] == high:
                other, after = begins[firsts[number]], begins[firsts[number] + 1]
                if after - other == end + 1 - begin and _same_rest(windows, begin, end, other):
                    break
            place = (place + 1) & (size - 1)
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
    """Write the words at places, each with the byte behind it.

    Args:
        windows: uint64, the windows of a text of words, each with a newline behind it.
        starts: int64, where each word begins.
        places: int[n], numbers of words.
        begins: of :func:`begins_of`.
        made: uint64, the windows of a text, which are written.
    """
    for i in range(len(places)):
        shift = begins[i] - starts[places[i]]
        for at in range(begins[i], begins[i + 1], 8):
            made[at] = windows[at - shift]
