"""Look up the forms of words in texts, and number the words that are kept by their first use.

A form is a run of bytes that belong to words, and of apostrophes between two of them. The table has
one row for each hash of a form, with the first 16 bytes of the form as two numbers, which are the
whole form, and what was found for it: the number of a word, :data:`DROPPED`, or -2 - m for the m-th
*miss* of the call, a form that the caller has to decide. A miss takes the row that it looked in. A
longer form has no row, and is a miss each time.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import kernel, page_kernel
from beam_topics.model.words.kernels.signs import CLASSES, INSIDE, ROOM

DROPPED = -1
LONGEST = 16
_U = np.uint64
_LOW, _HIGH = _U(0x9E3779B97F4A7C15), _U(0xC2B2AE3D27D4EB4F)
_SIXTY_FOUR, _APOSTROPHE = _U(64), ord("'")
# The bytes of a number that belong to a form of so many bytes, for its first and second eight.
_OF_SIZE = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
_FIRST, _SECOND = _OF_SIZE[[*range(9), *[8] * 8]], _OF_SIZE[[*[0] * 8, *range(9)]]


@page_kernel
def look_up(text, windows, ends, bits, rows, numbers, bounds, misses):
    """Cut texts into forms and look them up.

    Args:
        text: uint8[B], D texts one after the other, each with a newline at its end, with room.
        windows: uint64[B - 7], the eight bytes at each place.
        ends: int64[D], the end of each text.
        bits: uint64, the bits of a row of the table.
        rows: int64[2**bits, 4], the table: the first 8 bytes of a form, 0 where the row is empty,
            its other bytes, and what was found for it.
        numbers: int32[B // 2], what was found for each form; written.
        bounds: int64[D + 1], the bounds of the texts in it; written.
        misses: int64[B // 2, 3], the begin, the end and the row of each miss, -1 for a form without
            a row; written.

    Returns:
        The number of forms, and of misses.
    """
    n, m, i = 0, 0, ROOM
    for d in range(len(ends)):
        while i < ends[d]:
            if not CLASSES[text[i]] & INSIDE:
                i += 1
                continue
            begin = i
            while CLASSES[text[i]] & INSIDE or (
                text[i] == _APOSTROPHE and CLASSES[text[i + 1]] & INSIDE
            ):
                i += 1
            size, row = i - begin, np.int64(-1)
            if size <= LONGEST:
                low, high = windows[begin] & _FIRST[size], windows[begin + 8] & _SECOND[size]
                row = np.int64((low * _LOW ^ high * _HIGH) >> (_SIXTY_FOUR - bits))
                if rows[row, 0] == np.int64(low) and rows[row, 1] == np.int64(high):
                    numbers[n] = rows[row, 2]
                    n += 1
                    continue
                rows[row, 0], rows[row, 1], rows[row, 2] = low, high, -2 - m
            numbers[n] = -2 - m
            misses[m, 0], misses[m, 1], misses[m, 2] = begin, i, row
            m += 1
            n += 1
        bounds[d + 1] = n
    return n, m


@kernel
def settle(numbers, bounds, misses, decided, rows, count):
    """Put what was decided in the place of misses, and number the words by their first use.

    Args:
        numbers: int32[n], of :func:`look_up`.
        bounds: int64[D + 1], of it.
        misses: int64[m, 3], of it.
        decided: int32[m], the number of a word, or DROPPED, for each miss.
        rows: int64, the table; the rows of the misses are written.
        count: the number of words.

    Returns:
        int32[V], the words that are used; int32[N], the tokens that are kept, as indices into
        these; int64[D + 1], the bounds of the texts in them.
    """
    for m in range(len(misses)):
        row = misses[m, 2]
        if row >= 0 and rows[row, 2] == -2 - m:
            rows[row, 2] = decided[m]
    # The last place is that of DROPPED, which is -1 and needs no branch.
    places, used = np.full(count + 1, -1, np.int32), np.empty(min(count, len(numbers)), np.int32)
    tokens, offsets = np.empty(len(numbers), np.int32), np.zeros(len(bounds), np.int64)
    places[count] = 0
    n, v = 0, 0
    for d in range(len(bounds) - 1):
        for i in range(bounds[d], bounds[d + 1]):
            word = numbers[i]
            if word <= -2:
                word = decided[-2 - word]
            if places[word] < 0:
                places[word], used[v] = v, word
                v += 1
            tokens[n] = places[word]
            n += word != DROPPED
        offsets[d + 1] = n
    return used[:v], tokens[:n], offsets
