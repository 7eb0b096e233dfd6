"""Look up the forms of words in texts, and number the words that are kept by their first use.

A form is a run of bytes that belong to words. The table has one row for each hash of a form, with
the first 16 bytes of the form as two numbers, which are the whole form, and what was found for it:
the number of a word, :data:`DROPPED`, or -2 - m for the m-th *miss* of the call, a form that the
caller has to decide. A miss takes the row that it looked in. A longer form has no row, and is a
miss each time.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel

DROPPED = -1
LONGEST = 16
_U = np.uint64
_LOW, _HIGH = _U(0x9E3779B97F4A7C15), _U(0xC2B2AE3D27D4EB4F)
_EIGHT, _SIXTY_FOUR = _U(8), _U(64)


@inlined
def _read(text, inside, at, end):
    """Return the end of the form that begins at ``at``, and its first 16 bytes as two numbers."""
    low, high, shift = _U(0), _U(0), _U(0)
    begin = at
    while at < end and inside[text[at]]:
        if at - begin < 8:
            low |= _U(text[at]) << shift
        elif at - begin < LONGEST:
            high |= _U(text[at]) << (shift - _SIXTY_FOUR)
        shift += _EIGHT
        at += 1
    return at, low, high


@kernel
def look_up(text, ends, inside, bits, low, high, found):
    """Cut texts into forms and look them up.

    Args:
        text: uint8, D texts one after the other.
        ends: int64[D], the end of each.
        inside: bool[256], the bytes that belong to words.
        bits: uint64, the bits of a row of the table.
        low: uint64[2**bits], the first 8 bytes of the forms of the rows; 0 where a row is empty.
        high: uint64[2**bits], their other bytes.
        found: int32[2**bits], what was found for them.

    Returns:
        int32[n], what was found for each form; int64[D + 1], the bounds of the texts in it;
        int64[m, 3], the begin, the end and the row of each miss, -1 for a form without a row.
    """
    most = len(text) // 2 + len(ends) + 1
    numbers, misses = np.empty(most, np.int32), np.empty((most, 3), np.int64)
    bounds = np.zeros(len(ends) + 1, np.int64)
    n, m, i = 0, 0, 0
    for d in range(len(ends)):
        while i < ends[d]:
            if not inside[text[i]]:
                i += 1
                continue
            begin = i
            i, first, second = _read(text, inside, i, ends[d])
            row = np.int64((first * _LOW ^ second * _HIGH) >> (_SIXTY_FOUR - bits))
            if i - begin > LONGEST:
                row = np.int64(-1)
            if row >= 0 and low[row] == first and high[row] == second:
                numbers[n] = found[row]
            else:
                numbers[n] = -2 - m
                misses[m, 0], misses[m, 1], misses[m, 2] = begin, i, row
                if row >= 0:
                    low[row], high[row], found[row] = first, second, -2 - m
                m += 1
            n += 1
        bounds[d + 1] = n
    return numbers[:n], bounds, misses[:m]


@kernel
def settle(numbers, bounds, misses, decided, found, count):
    """Put what was decided in the place of misses, and number the words by their first use.

    Args:
        numbers: int32[n], of :func:`look_up`.
        bounds: int64[D + 1], of it.
        misses: int64[m, 3], of it.
        decided: int32[m], the number of a word, or DROPPED, for each miss.
        found: int32, of the table; the rows of the misses are written.
        count: the number of words.

    Returns:
        int32[V], the words that are used; int32[N], the tokens that are kept, as indices into
        these; int64[D + 1], the bounds of the texts in them.
    """
    for m in range(len(misses)):
        row = misses[m, 2]
        if row >= 0 and found[row] == -2 - m:
            found[row] = decided[m]
    places, used = np.full(count, -1, np.int32), np.empty(min(count, len(numbers)), np.int32)
    tokens, offsets = np.empty(len(numbers), np.int32), np.zeros(len(bounds), np.int64)
    n, v = 0, 0
    for d in range(len(bounds) - 1):
        for i in range(bounds[d], bounds[d + 1]):
            word = numbers[i]
            if word <= -2:
                word = decided[-2 - word]
            if word == DROPPED:
                continue
            if places[word] < 0:
                places[word], used[v] = v, word
                v += 1
            tokens[n] = places[word]
            n += 1
        offsets[d + 1] = n
    return used[:v], tokens[:n], offsets
