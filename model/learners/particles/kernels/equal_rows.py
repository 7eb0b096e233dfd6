"""Equal rows of words as one row, where there is one particle.

A vocabulary has many words with a handful of tokens, and many of them have equal rows. Words then
share a row as particles do (:mod:`beam_topics.model.learners.particles.kernels.copy_on_write`):
nobody owns it, so a particle that writes the row of a word copies it.

The words of documents at hand keep rows of their own, because visits write them often. Other words
are written when a new document has them.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.fnv import OFFSET, folded, step
from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.learners.particles.kernels.copy_on_write import BLOCK, row_of
from beam_topics.model.learners.particles.kernels.particles import PAGE


@kernel
def words_at_hand(pages, arrival, count):
    """Return bool[count], whether a document at hand has the word.

    Args:
        pages: the tokens of the history.
        arrival: int64[slots], negative for slots without a document.
        count: the number of words.
    """
    found = np.zeros(count, np.bool_)
    for slot in range(len(arrival)):
        if arrival[slot] < 0:
            continue
        page = pages.first[slot]
        for start in range(0, pages.length[slot], PAGE):
            for k in range(min(PAGE, pages.length[slot] - start)):
                if pages.words[page, k] >= 0:
                    found[pages.words[page, k]] = True
            page = pages.following[page]
    return found


@kernel
def count_unowned(table, words, generation):
    """Return how many of some words, bool[W], have a row that the only particle does not own."""
    count = 0
    for w in range(len(words)):
        if words[w] and table.row_owner[row_of(table, 0, w)] != generation:
            count += 1
    return count


@inlined
def _hash_row(rows, row):
    """Return the FNV-1a hash of a row, taken number by number, and folded."""
    h = OFFSET
    for k in range(rows.shape[1]):
        h = step(h, rows[row, k])
    return folded(h)


@inlined
def _is_equal(rows, one, other):
    k = 0
    while k < rows.shape[1] and rows[one, k] == rows[other, k]:
        k += 1
    return k == rows.shape[1]


@kernel
def merge_equal_rows(table, own):
    """Let words with equal rows share the first of these rows, which then has no owner.

    The rows that are not reached any more are free after a sweep.

    Args:
        table: the table of one particle; changed.
        own: bool[W], the words that keep the rows that they have.
    """
    size = BLOCK
    while size < 2 * len(own):
        size *= 2
    line, slots = table.line[0], np.zeros(size, np.int64)
    for w in range(len(own)):
        row = np.int64(row_of(table, 0, w))
        if own[w] or row == 0:
            continue
        place = _hash_row(table.rows, row) & (size - 1)
        while slots[place] and not _is_equal(table.rows, slots[place], row):
            place = (place + 1) & (size - 1)
        if slots[place] == 0:
            slots[place] = row
        elif slots[place] != row:
            lower = table.blocks[table.lines[line, w // BLOCK**2], w // BLOCK % BLOCK]
            table.blocks[lower, w % BLOCK] = slots[place]
            table.row_owner[slots[place]] = -1


@kernel
def renumber_rows(table, numbers):
    """Write the new numbers of rows, uint32[R], to the blocks of the only particle."""
    for upper in table.lines[table.line[0]]:
        if upper > 0:
            for lower in table.blocks[upper]:
                if lower > 0:
                    for k in range(BLOCK):
                        table.blocks[lower, k] = numbers[table.blocks[lower, k]]
