"""Rows that particles share until they write: a radix tree with copy-on-write.

A :class:`Table` holds a logical array of rows for each of P particles, for example the counts per
topic of each word. Row i of particle p is

    rows[blocks[blocks[lines[line[p], i // 1024], i // 32 % 32], i % 32]]

There are no reference counts. A child inherits everything at the cost of one number, its parent's
line. A particle that writes needs a line, two blocks and a row of its own, and copies what it
shares. Lines are short, and the cost of the others does not depend on the number of rows.

Ownership marks say which parts a particle may write in place. Each particle has a ``generation``;
a line, a block or a row belongs to it if it bears the same number. When a resampling makes
particles share, the ancestor and its children get new generations, so none of them owns what they
share. :func:`sweep` finds the blocks and rows that no particle reaches when free ones run short.
There are two lines for each particle, one of which is always free.

Row 0 and block 0 are zero and have no owner, so rows that were never written take no memory. Sweeps
decide which physical row holds a count; no result depends on it. One thread writes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel, page_inlined, page_kernel

BLOCK = 32
_SHIFT = 5
_MASK = BLOCK - 1
# Blocks that the write of one row needs at most.
BLOCKS_EACH = 2

NEXT_ROW, END_ROW, NEXT_BLOCK, END_BLOCK = 0, 1, 2, 3


class Table(NamedTuple):
    """The arrays of the radix tree.

    Attributes:
        line: int64[P], the line of each particle.
        spare: int64[P], a free line for each particle's first write.
        lines: uint32[2 P, rows of a particle / 1024], the upper block of each 1024 rows.
        blocks: uint32[B, 32], upper blocks point to lower blocks, these to rows.
        rows: int32 or int64[R, L].
        line_owner: int64[2 P], generations.
        block_owner: int64[B], generations.
        row_owner: int64[R], generations.
        free_blocks: uint32[B].
        free_rows: uint32[R].
        cursors: int64[4], what is left of ``free_rows`` and ``free_blocks``: next, end, next, end.
    """

    line: npt.NDArray[np.int64]
    spare: npt.NDArray[np.int64]
    lines: npt.NDArray[np.uint32]
    blocks: npt.NDArray[np.uint32]
    rows: npt.NDArray[Any]
    line_owner: npt.NDArray[np.int64]
    block_owner: npt.NDArray[np.int64]
    row_owner: npt.NDArray[np.int64]
    free_blocks: npt.NDArray[np.uint32]
    free_rows: npt.NDArray[np.uint32]
    cursors: npt.NDArray[np.int64]


@inlined
def row_of(table, p, i):
    """Return the physical row that holds p's row i, for reading."""
    # Unsigned, since numba tests whether signed indices are negative.
    n, shift, mask = np.uint64(i), np.uint64(_SHIFT), np.uint64(_MASK)
    upper = table.lines[np.uint64(table.line[np.uint64(p)]), n >> shift >> shift]
    return table.blocks[table.blocks[upper, n >> shift & mask], n & mask]


@inlined
def _own_block(table, block, generation):
    """Return the block if it bears the generation, else a copy that does."""
    if table.block_owner[block] == generation:
        return block
    fresh = np.int64(table.free_blocks[table.cursors[NEXT_BLOCK]])
    table.cursors[NEXT_BLOCK] += 1
    for k in range(BLOCK):
        table.blocks[fresh, k] = table.blocks[block, k]
    table.block_owner[fresh] = generation
    return fresh


@page_inlined
def own_row(table, p, i, generation, copy):
    """Return a physical row that p owns for its row i, for writing.

    ``copy`` says whether it gets the old contents. Without it the contents are undefined, and the
    caller writes all of them. A row that bears p's generation lies in blocks and a line that bear
    it too.
    """
    row = row_of(table, p, i)
    if table.row_owner[row] == generation:
        return np.int64(row)
    return fresh_row(table, p, i, generation, copy)


@page_kernel
def fresh_row(table, p, i, generation, copy):
    """Replace a row that p does not own, with the blocks and the line above it."""
    lines, blocks, rows, line = table.lines, table.blocks, table.rows, table.line[p]
    place, entry, column = i >> _SHIFT >> _SHIFT, i >> _SHIFT & _MASK, i & _MASK
    if table.line_owner[line] != generation:
        for k in range(lines.shape[1]):
            lines[table.spare[p], k] = lines[line, k]
        line = table.spare[p]
        table.line_owner[line] = generation
        table.line[p] = line
    upper = _own_block(table, np.int64(lines[line, place]), generation)
    lines[line, place] = upper
    lower = _own_block(table, np.int64(blocks[upper, entry]), generation)
    blocks[upper, entry] = lower
    row, fresh = (
        np.int64(blocks[lower, column]),
        np.int64(table.free_rows[table.cursors[NEXT_ROW]]),
    )
    table.cursors[NEXT_ROW] += 1
    if copy:
        for k in range(rows.shape[1]):
            rows[fresh, k] = rows[row, k]
    table.row_owner[fresh] = generation
    blocks[lower, column] = fresh
    return fresh


@inlined
def blocks_needed(table, rows, particles):
    """Return the largest number of blocks that particles need to write a number of rows together.

    A particle copies a block at most once, and again if a resampling comes in between.
    """
    each = table.lines.shape[1] * (BLOCK + 1)
    return min(BLOCKS_EACH * rows, 2 * particles * each)


@kernel
def has_capacity(table, count):
    """Return whether there are free rows and blocks for ``count`` writes."""
    rows_left = table.cursors[END_ROW] - table.cursors[NEXT_ROW]
    blocks_left = table.cursors[END_BLOCK] - table.cursors[NEXT_BLOCK]
    return rows_left >= count and blocks_left >= blocks_needed(table, count, len(table.line))


@kernel
def inherit(table, ancestors):
    """Make particle p a child of ``ancestors[p]``; int64[P], a survivor is its own ancestor."""
    taken = np.zeros(len(table.lines), np.bool_)
    for p in range(len(ancestors)):
        table.line[p] = table.line[ancestors[p]]
        taken[table.line[p]] = True
    free = 0
    for p in range(len(ancestors)):
        while taken[free]:
            free += 1
        table.spare[p] = free
        free += 1


@kernel
def sweep(table):
    """Find the blocks and rows that no particle reaches.

    Returns:
        The numbers of free rows and of free blocks.
    """
    line_used = np.zeros(len(table.lines), np.bool_)
    upper_used, block_used = (
        np.zeros(len(table.blocks), np.bool_),
        np.zeros(len(table.blocks), np.bool_),
    )
    row_used = np.zeros(len(table.rows), np.bool_)
    block_used[0] = True
    row_used[0] = True
    for line in table.line:
        if not line_used[line]:
            line_used[line] = True
            for upper in table.lines[line]:
                if not upper_used[upper]:
                    upper_used[upper] = True
                    for lower in table.blocks[upper]:
                        block_used[lower] = True
    blocks = 0
    for b in range(len(block_used)):
        if block_used[b]:
            for k in range(BLOCK):
                row_used[table.blocks[b, k]] = True
        elif not upper_used[b]:
            table.free_blocks[blocks] = b
            blocks += 1
    rows = 0
    for r in range(len(row_used)):
        if not row_used[r]:
            table.free_rows[rows] = r
            rows += 1
    table.cursors[NEXT_ROW], table.cursors[END_ROW] = 0, rows
    table.cursors[NEXT_BLOCK], table.cursors[END_BLOCK] = 0, blocks
    return rows, blocks


def new_table(particles: int, logical: int, length: int, dtype: Any = np.int32) -> Table:
    """Return a table with ``logical`` zero rows of ``length`` entries for each particle."""
    length_of_a_line = -(-max(logical, 1) // BLOCK**2)
    return Table(
        line=np.arange(particles),
        spare=np.arange(particles, 2 * particles),
        lines=np.zeros((2 * particles, length_of_a_line), np.uint32),
        blocks=np.zeros((1, BLOCK), np.uint32),
        rows=np.zeros((1, length), dtype),
        line_owner=np.full(2 * particles, -1, np.int64),
        block_owner=np.full(1, -1, np.int64),
        row_owner=np.full(1, -1, np.int64),
        free_blocks=np.zeros(1, np.uint32),
        free_rows=np.zeros(1, np.uint32),
        cursors=np.zeros(4, np.int64),
    )


def with_rows(table: Table, logical: int) -> Table:
    """Return the table with at least ``logical`` rows a particle; it grows by half or more."""
    have = table.lines.shape[1]
    need = -(-logical // BLOCK**2)
    if need <= have:
        return table
    more = max(need - have, have // 2)
    return table._replace(lines=np.pad(table.lines, ((0, 0), (0, more))))


def replicate(table: Table, chosen: int, particles: int) -> Table:
    """Return a table of ``particles`` particles that all share what particle ``chosen`` has.

    The table shares no memory with the old one, and has no free rows or blocks.
    """
    none = np.zeros((1, BLOCK), np.uint32)
    line, uppers = _renumbered(table.lines[table.line[chosen]], 1)
    of_uppers, lowers = _renumbered(table.blocks[uppers], 1 + len(uppers))
    of_lowers, places = _renumbered(table.blocks[lowers], 1)
    blocks = np.concatenate([none, of_uppers, of_lowers])
    rows = table.rows[np.append(np.uint32(0), places)]
    lines = np.zeros((2 * particles, len(line)), np.uint32)
    lines[0] = line
    return Table(
        line=np.zeros(particles, np.int64),
        spare=np.arange(1, particles + 1),
        lines=lines,
        blocks=blocks,
        rows=rows,
        line_owner=np.full(2 * particles, -1, np.int64),
        block_owner=np.full(len(blocks), -1, np.int64),
        row_owner=np.full(len(rows), -1, np.int64),
        free_blocks=np.zeros(len(blocks), np.uint32),
        free_rows=np.zeros(len(rows), np.uint32),
        cursors=np.zeros(table.cursors.shape, np.int64),
    )


def _renumbered(
    places: npt.NDArray[np.uint32], first: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the places with new numbers from ``first`` on, but for 0, and the old numbers."""
    numbers, used = np.zeros_like(places), places > 0
    numbers[used] = np.arange(first, first + np.count_nonzero(used))
    return numbers, places[used]


def with_capacity(table: Table, logical: int, count: int) -> Table:
    """Return the table with at least ``logical`` rows a particle, and free rows and blocks.

    It sweeps first. If less than half of the pool is then free, the pool grows by half or more, so
    both stay rare.

    Args:
        table: the table.
        logical: rows of each particle.
        count: the rows that all particles may write.
    """
    table = with_rows(table, logical)
    if has_capacity(table, count):
        return table
    blocks = int(blocks_needed.py_func(table, count, len(table.line)))
    left_rows, left_blocks = sweep(table)
    used_rows, used_blocks = len(table.rows) - left_rows, len(table.blocks) - left_blocks
    more_rows = _growth(len(table.rows), left_rows, max(count, used_rows))
    more_blocks = _growth(len(table.blocks), left_blocks, max(blocks, used_blocks))
    if not (more_rows or more_blocks):
        return table
    table = table._replace(
        blocks=longer(table.blocks, more_blocks),
        rows=longer(table.rows, more_rows),
        block_owner=longer(table.block_owner, more_blocks),
        row_owner=longer(table.row_owner, more_rows),
        free_blocks=longer(table.free_blocks, more_blocks),
        free_rows=longer(table.free_rows, more_rows),
    )
    sweep(table)
    return table


def _growth(have: int, free: int, want: int) -> int:
    return max(want - free, have // 2) if free < want else 0


def longer(array: npt.NDArray[Any], more: int) -> npt.NDArray[Any]:
    """Return the array with ``more`` zero rows added."""
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])
