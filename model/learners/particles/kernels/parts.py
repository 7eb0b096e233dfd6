"""Counts of a word in many topics, as parts of eight topics.

A word is one row of the table of words, or many rows where there are many topics. Such a row is a
part: part c of a word has n_wt of topics 8 c to 8 c + 7, and behind them t_wt where there are
tables. A part without tokens is row 0 of the table and takes no memory
(:mod:`beam_topics.model.learners.particles.kernels.copy_on_write`). So the memory follows the
topics in which a word has tokens, and not T. m_w is not stored, because it is the sum of t_wt.

A draw reads the parts that have tokens
(:mod:`beam_topics.model.learners.particles.kernels.sparse_draw`). :func:`gather` writes them to a
buffer, in which they have the form of a row that is not in parts. The buffer lists the parts that
it holds in ascending order, so a draw reads, and the next word replaces, only these. The parts of a
word begin at a block of the table, so one test skips 256 topics without tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from beam_topics.model.gibbs.kernels.packed_rows import prefetch
from beam_topics.model.kernels.jit import inlined, kernel, page_inlined, page_kernel
from beam_topics.model.learners.particles.kernels.copy_on_write import (
    BLOCK,
    free_row,
    own_row,
    row_of,
)
from beam_topics.model.learners.particles.kernels.particles import tables_of
from beam_topics.model.learners.particles.kernels.table_counts import update_counts

# Topics of a part.
PART = 8
# Topics of the parts of a block.
_STRETCH = BLOCK * PART


@inlined
def in_parts(words, tp):
    """Return whether the words of a table are in parts; ``tp`` is the padded number of topics."""
    return words.rows.shape[1] < tp


@inlined
def parts_of(tp):
    """Return how many logical rows of the table belong to a word in parts."""
    return (tp + _STRETCH - 1) // _STRETCH * BLOCK


@inlined
def part_of(w, t, tp):
    """Return the logical row that has topic t of word w."""
    return w * parts_of(tp) + t // PART


@inlined
def list_length(tp):
    """Return the entries behind a whole row in a buffer: a number of parts, and the parts.

    There is room for every part, and for one that is noted twice.
    """
    return tp // PART + 2


@kernel
def row_buffer(words, tp):
    """Return a buffer for :func:`gather`; it has no entries where words are not in parts."""
    size: Any = 0
    if in_parts(words, tp):
        size = (tp if words.rows.shape[1] == PART else 2 * tp + PART) + list_length(tp)
    return np.zeros(size, words.rows.dtype)


@page_kernel
def note_part(row, t, tp):
    """Note that topic t of a buffer was written, once for each :func:`gather`."""
    end = len(row) - list_length(tp)
    row[end] += 1
    row[end + row[end]] = t // PART


@inlined
def found_length(tp):
    """Return the length of a list of :func:`find_parts`."""
    return 2 * (tp // PART) + 3


@page_inlined
def find_parts(words, p, w, tp, found):
    """List the parts of a word that have tokens, in ascending order.

    ``found`` takes their number, then the part and the physical row of each. A word without tokens
    has one part, 0, at row 0.
    """
    count: Any = np.uint64(0)
    line, first = words.line[p], w * (parts_of(tp) // BLOCK)
    for stretch in range((tp + _STRETCH - 1) // _STRETCH):
        block = np.uint64(first + stretch)
        upper = words.lines[np.uint64(line), block // np.uint64(BLOCK)]
        lower = words.blocks[upper, block % np.uint64(BLOCK)]
        bits = filled_bits(words.blocks, np.int64(lower))
        while bits:
            c = lowest_bit(bits)
            bits &= bits - np.uint64(1)
            found[np.uint64(2) * count + np.uint64(1)] = stretch * BLOCK + np.int64(c)
            found[np.uint64(2) * count + np.uint64(2)] = words.blocks[lower, c]
            count += np.uint64(1)
    if count == 0:
        found[1], found[2] = 0, 0
        count = np.uint64(1)
    found[0] = count


@page_inlined
def prefetch_blocks(words, p, w, tp):
    """Prefetch where the parts of a word are."""
    first = w * (parts_of(tp) // BLOCK)
    for stretch in range((tp + _STRETCH - 1) // _STRETCH):
        block = np.uint64(first + stretch)
        upper = words.lines[np.uint64(words.line[p]), block // np.uint64(BLOCK)]
        lower = np.int64(words.blocks[upper, block % np.uint64(BLOCK)])
        prefetch(words.blocks, lower * BLOCK)
        prefetch(words.blocks, lower * BLOCK + BLOCK // 2)


@page_inlined
def prefetch_parts(words, p, w, tp):
    """Prefetch the parts of a word that have tokens."""
    first = w * (parts_of(tp) // BLOCK)
    length = words.rows.shape[1]
    for stretch in range((tp + _STRETCH - 1) // _STRETCH):
        block = np.uint64(first + stretch)
        upper = words.lines[np.uint64(words.line[p]), block // np.uint64(BLOCK)]
        lower = words.blocks[upper, block % np.uint64(BLOCK)]
        bits = filled_bits(words.blocks, np.int64(lower))
        while bits:
            place = np.int64(words.blocks[lower, lowest_bit(bits)])
            bits &= bits - np.uint64(1)
            prefetch(words.rows, place * length)


@page_inlined
def prefetch_found(words, found):
    """Prefetch the parts of a list."""
    length = words.rows.shape[1]
    for c in range(found[0]):
        prefetch(words.rows, found[np.uint64(2 * c + 2)] * length)


@intrinsic
def filled_bits(typing, blocks, block):
    """Return a bit for each entry of a block that is not 0."""

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        data = make_array(sig.args[0])(context, b, args[0]).data
        kind = ir.VectorType(data.type.pointee, BLOCK)
        begin = b.gep(data, [b.mul(args[1], ir.IntType(64)(BLOCK))], inbounds=True)
        entries = b.load(b.bitcast(begin, kind.as_pointer()), align=4)
        filled = b.icmp_unsigned("!=", entries, ir.Constant(kind, None))
        return b.zext(b.bitcast(filled, ir.IntType(BLOCK)), ir.IntType(64))

    return types.uint64(blocks, types.int64), codegen


@intrinsic
def lowest_bit(typing, bits):
    """Return the place of the lowest bit of a number that is not 0."""

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        return b.cttz(args[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), codegen


@page_inlined
def _copy_part(rows, place, column, row, t):
    """Copy eight counts; numba tests whether signed indices are negative."""
    for k in range(PART):
        row[np.uint64(t + k)] = rows[place, column + k]


@page_kernel
def gather(words, p, w, tp, row):
    """Write p's counts of a word in parts to a buffer, as a whole row."""
    has_tables, rows, end = words.rows.shape[1] > PART, words.rows, len(row) - list_length(tp)
    _clear(row, tp, has_tables)
    tables: Any = 0
    count: Any = 0
    line, first = words.line[p], w * (parts_of(tp) // BLOCK)
    for stretch in range((tp + _STRETCH - 1) // _STRETCH):
        block = first + stretch
        lower = np.int64(words.blocks[words.lines[line, block // BLOCK], block % BLOCK])
        if lower == 0:
            continue
        begin = count
        for c in range(min(BLOCK, tp // PART - stretch * BLOCK)):
            # Without a branch, which the processor could not predict.
            row[np.uint64(end + 1 + count)] = stretch * BLOCK + c
            count += words.blocks[lower, c] != 0
        for n in range(begin, count):
            part = np.int64(row[np.uint64(end + 1 + n)])
            place = np.int64(words.blocks[lower, np.uint64(part % BLOCK)])
            _copy_part(rows, place, 0, row, part * PART)
            if has_tables:
                _copy_part(rows, place, PART, row, tp + part * PART)
                for k in range(PART, 2 * PART):
                    tables += np.int64(rows[place, k])
    row[end] = count
    if has_tables:
        row[2 * tp] = tables


@inlined
def whole_row(words, p, w, tp, buffer):
    """Return p's counts of a word; they are written to the buffer where the word is in parts."""
    if in_parts(words, tp):
        gather(words, p, w, tp, buffer)
        row = buffer
    else:
        row = words.rows[row_of(words, p, w)]
    return row


@page_kernel
def _clear(row, tp, has_tables):
    """Write zeros to the parts that a buffer holds."""
    end = len(row) - list_length(tp)
    for n in range(row[end]):
        t = np.int64(row[np.uint64(end + 1 + n)]) * PART
        for k in range(PART):
            row[np.uint64(t + k)] = 0
        if has_tables:
            for k in range(PART):
                row[np.uint64(tp + t + k)] = 0


@page_kernel
def scatter(words, p, w, tp, row, generation, thread):
    """Write a whole row to the parts of a word; parts that stay equal are not copied."""
    length = words.rows.shape[1]
    for t in range(0, tp, PART):
        part = part_of(w, t, tp)
        place, equal = np.int64(row_of(words, p, part)), True
        for k in range(length):
            value = row[t + k] if k < PART else row[tp + t + k - PART]
            equal = equal and words.rows[place, k] == value
        if not equal:
            place = own_row(words, p, part, generation, thread, False)
            for k in range(length):
                words.rows[place, k] = row[t + k] if k < PART else row[tp + t + k - PART]
            _drop_empty(words, p, part, place, thread)


@page_inlined
def _drop_empty(words, p, part, place, thread):
    """Replace a part that p owns by row 0 if it has no tokens; its row is free again."""
    for k in range(PART):
        if words.rows[place, k] != 0:
            return
    block = part // BLOCK
    lower = words.blocks[words.lines[words.line[p], block // BLOCK], block % BLOCK]
    words.blocks[lower, part % BLOCK] = 0
    free_row(words, place, thread)


@page_inlined
def count_in_part(words, p, w, tp, t, step, tables, generation, thread):
    """Count a token that joins (step 1) or leaves (-1) topic t of a word in parts.

    ``tables`` says whether a table comes or goes with it.
    """
    part = part_of(w, t, tp)
    place = own_row(words, p, part, generation, thread, True)
    words.rows[place, t % PART] += step
    if tables:
        words.rows[place, PART + t % PART] += step
    if step < 0 and words.rows[place, t % PART] == 0:
        _drop_empty(words, p, part, place, thread)


@page_inlined
def count_in_word(words, p, w, tp, t, step, tables, generation, thread):
    """Count a token that joins or leaves topic t of a word, in parts or not."""
    if in_parts(words, tp):
        count_in_part(words, p, w, tp, t, step, tables, generation, thread)
    else:
        row = words.rows[own_row(words, p, w, generation, thread, True)]
        update_counts(row, tp, t, step, tables)


@page_inlined
def counts_in_part(words, p, w, tp, t):
    """Return (n_wt, t_wt) of a word in parts; t_wt is 0 where there are no tables."""
    place = row_of(words, p, part_of(w, np.int64(t), tp))
    column = np.uint64(t % PART)
    tables: Any = 0
    if words.rows.shape[1] > PART:
        tables = np.int64(words.rows[place, column + np.uint64(PART)])
    return np.int64(words.rows[place, column]), tables


@page_inlined
def counts_in_word(words, prior, p, w, t):
    """Return (n_wt, t_wt) of a word, in parts or not."""
    if in_parts(words, len(prior.alpha)):
        n, tables = counts_in_part(words, p, w, len(prior.alpha), t)
    else:
        row = words.rows[row_of(words, p, w)]
        n, tables = np.int64(row[t]), tables_of(prior, row, t)
    return n, tables


@inlined
def tokens_in(words, p, w, tp, t):
    """Return n_wt of a word, in parts or not."""
    if in_parts(words, tp):
        return np.int64(words.rows[row_of(words, p, part_of(w, t, tp)), t % PART])
    return np.int64(words.rows[row_of(words, p, w), t])


@kernel
def gather_words(words, p, numbers, tp, found):
    """Write the whole rows of some words in parts to buffers, ``found[n]``, which are zero."""
    for n in range(len(numbers)):
        gather(words, p, numbers[n], tp, found[n])


@kernel
def filled_parts(words, low, high):
    """Return the logical rows low..high-1 with a count in any particle, as int64, ascending."""
    found, count = np.empty(1024, np.int64), 0
    for begin in range(low // BLOCK * BLOCK, high, BLOCK):
        block, used = begin // BLOCK, False
        for p in range(len(words.line)):
            line = words.line[p]
            used = used or words.blocks[words.lines[line, block // BLOCK], block % BLOCK] != 0
        if not used:
            continue
        for part in range(max(begin, low), min(begin + BLOCK, high)):
            filled = False
            for p in range(len(words.line)):
                row = np.int64(row_of(words, p, part))
                for k in range(min(PART, words.rows.shape[1]) if row else 0):
                    filled = filled or words.rows[row, k] != 0
            if filled:
                if count == len(found):
                    found = np.concatenate((found, np.empty(count, np.int64)))
                found[count] = part
                count += 1
    return found[:count]


@kernel
def cells_in_parts(words, p, count, tp):
    """Return the counts of words 0..count-1 in p, which are not 0, by word and topic.

    Returns:
        int64[cells, 4]: word, topic, n_wt, t_wt.
    """
    found, used, line = np.empty((1024, 4), np.int64), 0, words.line[p]
    for block in range(count * (parts_of(tp) // BLOCK)):
        lower = np.int64(words.blocks[words.lines[line, block // BLOCK], block % BLOCK])
        if lower == 0:
            continue
        for c in range(BLOCK):
            place, part = np.int64(words.blocks[lower, c]), block * BLOCK + c
            for k in range(PART if place else 0):
                if words.rows[place, k] == 0:
                    continue
                if used == len(found):
                    found = np.concatenate((found, np.empty((used, 4), np.int64)))
                found[used, 0] = part // parts_of(tp)
                found[used, 1] = part % parts_of(tp) * PART + k
                found[used, 2] = words.rows[place, k]
                found[used, 3] = words.rows[place, PART + k] if words.rows.shape[1] > PART else 0
                used += 1
    return found[:used]
