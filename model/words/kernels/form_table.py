"""Look up the forms of words in texts, and number the words that are kept by their first use.

A form is a run of bytes that belong to words, and of apostrophes between two of them. The table has
one row for each hash of a form, with the first 16 bytes of the form as two numbers, which are the
whole form, and what was found for it: the number of a word, :data:`DROPPED`, or -2 - m for the m-th
*miss* of the call, a form that the caller has to decide. A miss takes the row that it looked in. A
longer form has no row, and is a miss each time.

Before that the signs of the default word forms are joined in ASCII, by the rules of
:mod:`beam_topics.model.words.word_forms` for ``capitals``, ``codes`` and ``signs``. Regular
expressions take five times as long. A text has room before and after it, so that what is around a
sign can be read (:data:`ROOM`).
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import kernel, page_inlined, page_kernel, trailing_zeros
from beam_topics.model.words.kernels.word_index import FIRST, LONGEST, SECOND

# Bytes that are not part of a word, before and after the texts.
ROOM = 16
# Classes of bytes. Those from 128 on are parts of characters of words, in texts that are cut.
_LETTER, _DIGIT, _LINE = (1 << bit for bit in range(3))
_BOTH, _WORDY = _LETTER | _DIGIT, _LETTER | _DIGIT | _LINE
# Joining signs in their order, and the capital letters that take their place.
_SIGNS, _MARKS = (np.frombuffer(text, np.uint8) for text in (b"\x1e-.(\x1f&+#", b"CHDLHAPS"))
_CAPITALS, _HYPHEN, _DOT, _OPEN, _BEFORE_CAPITALS, _AND, _PLUS, _HASH = _SIGNS.tolist()
_CLOSE, _CLOSED, _SEMICOLON = b")R;"


def _classes():
    """Return uint8[256], the classes of each byte."""
    found = np.zeros(256, np.uint8)
    for code, character in enumerate(map(chr, range(128))):
        found[code] = _LETTER * character.isalpha() + _DIGIT * character.isdigit()
    found[ord("_")] = _LINE
    return found


CLASSES = _classes()
# The first capital letter and the first small one, the number of letters, and the bit of small
# ones; the first digit, and the number of digits; an apostrophe, and the last byte of ASCII.
_A, _SMALL, _LETTERS, _BIT, _CASE, _ZERO, _DIGITS, _APOSTROPHE, _ASCII = np.frombuffer(
    b"Aa\x1a \x050\x0a'\x7f", np.uint8
)
_U = np.uint64
_ONE, _TWO, _EIGHT, _SIXTY_THREE, _SIXTY_FOUR = _U(1), _U(2), _U(8), _U(63), _U(64)
# The product of this and eight bytes of 0 or 1 has these as its highest bits.
_GATHER, _HIGHEST = _U(0x0102040810204080), _U(56)
_LONGEST = _U(LONGEST)


def scratch_for(size):
    """Return arrays for what is found in a text of ``size`` bytes.

    Returns:
        uint8[64n], a flag of each byte; uint64[8n], eight flags each; twice int32[64n + 1], places.
    """
    words = np.zeros(8 * -(-size // 64), np.uint64)
    return words.view(np.uint8), words, *np.empty((2, 8 * len(words) + 1), np.int32)


@page_inlined
def _places_of(flags, places, of_edges):
    """Write the places of the bytes that are 1.

    Loops that set bytes take many at once, and here few branches depend on a byte.

    Args:
        flags: uint64[8n], bytes of 0 or 1.
        places: int32[64n + 1], written; the last one is past all bytes.
        of_edges: whether it is the places of bytes that are not as the one before.

    Returns:
        The number of places.
    """
    n, before = _U(0), _U(0)
    for at in range(0, len(flags), 8):
        bits = _U(0)
        for k in range(8):
            bits |= (flags[_U(at + k)] * _GATHER >> _HIGHEST) << _U(8 * k)
        if of_edges:
            bits, before = bits ^ (bits << _ONE | before), bits >> _SIXTY_THREE
        while bits:
            places[n] = 8 * at + np.int64(trailing_zeros(bits))
            n += _ONE
            bits &= bits - _ONE
    places[n] = 8 * len(flags)
    return n


@page_inlined
def _joins(text, i, sign):
    """Return whether a sign joins what is around it."""
    a, b, c = CLASSES[text[i - 1]], CLASSES[text[i + 1]], CLASSES[text[i + 2]]
    # One letter before the sign.
    alone = a & _LETTER and not CLASSES[text[i - 2]] & _WORDY
    # Three digits before it.
    three = a & CLASSES[text[i - 2]] & CLASSES[text[i - 3]] & _DIGIT
    if sign == _HYPHEN:
        j = i + 1
        while CLASSES[text[j]] & _LETTER:
            j += 1
        code = a & _BOTH and CLASSES[text[j]] & _DIGIT
        code = code or (a & _DIGIT and b & _LETTER and not c & _WORDY)
        return code or (alone and text[i - 2] != _HYPHEN and b & c & _LETTER)
    if sign == _DOT:
        if a & b & _DIGIT or (alone and b & _LETTER and not c & _WORDY):
            return True
        return _is_net(text, i)
    if sign == _OPEN:
        return three and b & _LETTER and text[i + 2] == _CLOSE and not CLASSES[text[i + 3]] & _WORDY
    if sign == _BEFORE_CAPITALS:
        return three and b & _LETTER
    if sign == _AND:
        two = a & CLASSES[text[i - 2]] & _LETTER and not CLASSES[text[i - 3]] & _WORDY
        j = i + 2
        if c & _LETTER and text[i + 3] != _SEMICOLON:
            j += 1
        while CLASSES[text[j]] & _DIGIT:
            j += 1
        return (alone or two) and b & _LETTER and not CLASSES[text[j]] & _WORDY
    if sign == _PLUS:
        return a & _BOTH and text[i + 1] == _PLUS and not c & _LETTER and text[i + 2] != _PLUS
    return sign == _CAPITALS or (alone and not b & _WORDY and text[i + 1] != _HASH)


@page_inlined
def _is_net(text, i):
    """Return whether the dot is that of .net or asp.net."""
    if text[i + 1] != ord("n") or text[i + 2] != ord("e") or text[i + 3] != ord("t"):
        return False
    if CLASSES[text[i + 4]] & _WORDY:
        return False
    if text[i - 3] == ord("a") and text[i - 2] == ord("s") and text[i - 1] == ord("p"):
        return not CLASSES[text[i - 4]] & _WORDY
    return not CLASSES[text[i - 1]] & _WORDY and text[i - 1] != _DOT


@page_inlined
def _is_sign(byte):
    """Return whether a byte is one of the joining signs."""
    found = byte == _CAPITALS
    for sign in (_HYPHEN, _DOT, _OPEN, _BEFORE_CAPITALS, _AND, _PLUS, _HASH):
        found |= byte == sign
    return found


@page_kernel
def join_signs(text, ends, is_lower, scratch):
    """Put texts in lower case, and replace the signs that join by capital letters.

    First all of one sign are replaced, then all of the next.

    Args:
        text: uint8[n], D texts with room; it is written.
        ends: int64[D], the end of each.
        is_lower: bool[D], whether a text is in lower case already, and its capitals are signs.
        scratch: the arrays of :func:`scratch_for`.
    """
    flags, words, places, found = scratch
    begin = ROOM
    for d in range(len(ends)):
        if not is_lower[d]:
            # Of a view no index is below 0, so that LLVM takes many bytes at once.
            part = text[begin : ends[d]]
            for i in range(len(part)):
                is_capital = np.uint8(part[i] - _A) < _LETTERS
                part[i] += np.uint8(is_capital) << _CASE
        begin = ends[d]
    for i in range(len(text)):
        flags[i] = _is_sign(text[i])
    count = _places_of(words, places, False)
    for kind in range(len(_SIGNS)):
        sign, hits = _SIGNS[kind], 0
        # All are decided before one is written.
        for k in range(count):
            if text[places[k]] == sign and _joins(text, places[k], sign):
                found[hits] = places[k]
                hits += 1
        for k in range(hits):
            text[found[k]] = _MARKS[kind]
            if sign == _PLUS:
                text[found[k] + 1] = _MARKS[kind]
            if sign == _OPEN:
                text[found[k] + 2] = _CLOSED


@page_inlined
def _may_change(text, i):
    """Return whether cleaning may change a text around a sign, or a capital of US, IT and WHO."""
    sign, before, after = text[i], CLASSES[text[i - 1]], text[i + 1]
    second, third = CLASSES[text[i + 2]] & _LETTER, CLASSES[text[i + 3]] & _LETTER
    if sign == _HYPHEN:
        is_capital = ord("A") <= after <= ord("Z")
        return after < ord(" ") or (before & CLASSES[text[i - 2]] & _DIGIT and is_capital)
    if sign == _DOT:
        if text[i - 1] | 32 == ord("w") and text[i - 2] | 32 == ord("w"):
            return True
        return CLASSES[after] & second and not (third and CLASSES[text[i + 4]] & _LETTER)
    if sign == ord(":"):
        return after == ord("/")
    if CLASSES[sign] & _LETTER:
        if sign == ord("W"):
            return after == ord("H") and text[i + 2] == ord("O") and not (before & _LETTER or third)
        is_word = after == (ord("S") if sign == ord("U") else ord("T"))
        return is_word and not (before & _LETTER or second)
    return True


@page_inlined
def _is_cleaned(byte):
    """Return whether cleaning looks at a byte."""
    found = byte > _ASCII
    for sign in (_HYPHEN, _DOT, ord(":"), _AND, ord("@"), ord("U"), ord("I"), ord("W")):
        found |= byte == sign
    return found


@page_kernel
def find_unclean(text, ends, found, scratch):
    """Find the texts that a tokeniser's cleaning may change, and those that are not ASCII.

    Args:
        text: uint8, D texts with room.
        ends: int64[D], the end of each.
        found: bool[D], False; written.
        scratch: the arrays of :func:`scratch_for`.
    """
    flags, words, places, _ = scratch
    for i in range(len(text)):
        flags[i] = _is_cleaned(text[i])
    _places_of(words, places, False)
    k = 0
    for d in range(len(ends)):
        while places[k] < ends[d]:
            found[d] = found[d] or _may_change(text, places[k])
            k += 1


DROPPED = -1
_LOW, _HIGH = _U(0x9E3779B97F4A7C15), _U(0xC2B2AE3D27D4EB4F)


@page_inlined
def _is_inside(byte):
    """Return whether a byte is part of a letter, a mark or a digit."""
    is_letter = np.uint8((byte | _BIT) - _SMALL) < _LETTERS
    return is_letter | (np.uint8(byte - _ZERO) < _DIGITS) | (byte > _ASCII)


@page_kernel
def look_up(text, windows, ends, bits, rows, numbers, bounds, misses, scratch):
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
        scratch: the arrays of :func:`scratch_for`.

    Returns:
        The number of forms, and of misses.
    """
    flags, words, places, _ = scratch
    before, here, after, inside = text[:-2], text[1:-1], text[2:], flags[1:]
    for i in range(len(here)):
        joins = _is_inside(before[i]) & (here[i] == _APOSTROPHE) & _is_inside(after[i])
        inside[i] = _is_inside(here[i]) | joins
    _places_of(words, places, True)
    # To numba an index that is unsigned is never below 0.
    n, m, k = _U(0), _U(0), _U(0)
    for d in range(len(ends)):
        while places[k] < ends[d]:
            begin, end, row = _U(places[k]), _U(places[k + _ONE]), np.int64(-1)
            size, k = end - begin, k + _TWO
            if size <= _LONGEST:
                low, high = windows[begin] & FIRST[size], windows[begin + _EIGHT] & SECOND[size]
                place = (low * _LOW ^ high * _HIGH) >> (_SIXTY_FOUR - bits)
                if rows[place, 0] == np.int64(low) and rows[place, 1] == np.int64(high):
                    numbers[n] = rows[place, 2]
                    n += _ONE
                    continue
                row = np.int64(place)
                rows[row, 0], rows[row, 1], rows[row, 2] = low, high, -2 - np.int64(m)
            numbers[n] = -2 - np.int64(m)
            misses[m, 0], misses[m, 1], misses[m, 2] = begin, end, row
            m += _ONE
            n += _ONE
        bounds[d + 1] = n
    return n, m


@kernel
def plain_forms(text, misses, least, most):
    """Find the misses that are letters of ASCII in lower case, of some lengths.

    Args:
        text: uint8, the texts.
        misses: int64[m, 3], of :func:`look_up`.
        least: the fewest letters.
        most: the most letters.

    Returns:
        bool[m], which they are; uint8, each of them followed by a newline.
    """
    found, made = np.zeros(len(misses), np.bool_), np.empty(len(text), np.uint8)
    n = 0
    for m in range(len(misses)):
        begin, end = misses[m, 0], misses[m, 1]
        i = begin
        while i < end and ord("a") <= text[i] <= ord("z"):
            made[n + i - begin] = text[i]
            i += 1
        if i == end and least <= end - begin <= most:
            found[m] = True
            n += end - begin + 1
            made[n - 1] = ord("\n")
    return found, made[:n]


@kernel
def settle(numbers, bounds, misses, decided, rows, places):
    """Put what was decided in the place of misses, and number the words by their first use.

    Args:
        numbers: int32[n], of :func:`look_up`.
        bounds: int64[D + 1], of it.
        misses: int64[m, 3], of it.
        decided: int32[m], the number of a word, or DROPPED, for each miss.
        rows: int64, the table; the rows of the misses are written.
        places: int32, -1 for each word, and 0 after them; written, and put back.

    Returns:
        int32[V], the words that are used; int32[N], the tokens that are kept, as indices into
        these; int64[D + 1], the bounds of the texts in them.
    """
    for m in range(len(misses)):
        row = misses[m, 2]
        if row >= 0 and rows[row, 2] == -2 - m:
            rows[row, 2] = decided[m]
    used = np.empty(len(numbers) + 1, np.int32)
    tokens, offsets = np.empty(len(numbers), np.int32), np.zeros(len(bounds), np.int64)
    n, v = 0, 0
    for d in range(len(bounds) - 1):
        for i in range(bounds[d], bounds[d + 1]):
            word = numbers[i]
            if word <= -2:
                word = decided[-2 - word]
            # The last place is that of DROPPED, which is -1. Whether a word is new is hard to
            # predict, so nothing branches on it.
            place = places[word]
            is_new, used[v] = place < 0, word
            places[word] = tokens[n] = v if is_new else place
            v += is_new
            n += word != DROPPED
        offsets[d + 1] = n
    for word in used[:v]:
        places[word] = -1
    return used[:v], tokens[:n], offsets
