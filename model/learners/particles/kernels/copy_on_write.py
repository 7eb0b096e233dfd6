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
There are two lines for each particle, one of which is always free. A particle that is alone shares
with no other: :func:`adopt` gives it what a copy of a table has left without owners.

Row 0 and block 0 are zero and have no owner, so rows that were never written take no memory. Each
thread takes free rows and blocks from its own range (``cursors``), so threads need no locks.
Threads and sweeps decide which physical row holds a count; no result depends on it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel, page_inlined, page_kernel

BLOCK = 32
_SHIFT = 5
_MASK = BLOCK - 1
# Bytes of a cache line.
_LINE = 64
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
        cursors: int64[threads, 4], each thread's ranges of ``free_rows`` and ``free_blocks``: next,
            end, next, end.
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
def _own_block(table, block, generation, thread):
    """Return the block if it bears the generation, else a copy that does."""
    if table.block_owner[block] == generation:
        return block
    fresh = np.int64(table.free_blocks[table.cursors[thread, NEXT_BLOCK]])
    table.cursors[thread, NEXT_BLOCK] += 1
    for k in range(BLOCK):
        table.blocks[fresh, k] = table.blocks[block, k]
    table.block_owner[fresh] = generation
    return fresh


@page_inlined
def own_row(table, p, i, generation, thread, copy):
    """Return a physical row that p owns for its row i, for writing.

    ``copy`` says whether it gets the old contents. Without it the contents are undefined, and the
    caller writes all of them. A row that bears p's generation lies in blocks and a line that bear
    it too.
    """
    row = row_of(table, p, i)
    if table.row_owner[row] == generation:
        return np.int64(row)
    return fresh_row(table, p, i, generation, thread, copy)


@page_kernel
def fresh_row(table, p, i, generation, thread, copy):
    """Replace a row that p does not own, with the blocks and the line above it."""
    lines, blocks, rows, line = table.lines, table.blocks, table.rows, table.line[p]
    place, entry, column = i >> _SHIFT >> _SHIFT, i >> _SHIFT & _MASK, i & _MASK
    if table.line_owner[line] != generation:
        for k in range(lines.shape[1]):
            lines[table.spare[p], k] = lines[line, k]
        line = table.spare[p]
        table.line_owner[line] = generation
        table.line[p] = line
    upper = _own_block(table, np.int64(lines[line, place]), generation, thread)
    lines[line, place] = upper
    lower = _own_block(table, np.int64(blocks[upper, entry]), generation, thread)
    blocks[upper, entry] = lower
    row, fresh = (
        np.int64(blocks[lower, column]),
        np.int64(table.free_rows[table.cursors[thread, NEXT_ROW]]),
    )
    table.cursors[thread, NEXT_ROW] += 1
    if copy:
        for k in range(rows.shape[1]):
            rows[fresh, k] = rows[row, k]
    table.row_owner[fresh] = generation
    blocks[lower, column] = fresh
    return fresh


@inlined
def blocks_needed(table, rows, particles):
    """Return the largest number of blocks that particles need to write so many rows together.

    A particle copies a block at most once, and those of one row again if it becomes a child.
    """
    each = table.lines.shape[1] * (BLOCK + 1) + BLOCKS_EACH
    return min(BLOCKS_EACH * rows, particles * each)


@kernel
def adopt(table, generation):
    """Give the only particle its line, and the blocks and rows that it reaches in one place."""
    seen = np.zeros(len(table.rows), np.bool_)
    table.line_owner[table.line[0]] = generation
    for upper in table.lines[table.line[0]]:
        if upper > 0:
            table.block_owner[upper] = generation
            for lower in table.blocks[upper]:
                if lower > 0:
                    table.block_owner[lower] = generation
                    for row in table.blocks[lower]:
                        if row > 0:
                            table.row_owner[row] = -1 if seen[row] else generation
                            seen[row] = True


@page_inlined
def free_row(table, row, thread):
    """Give a row that its particle alone owned, and does not reach any more, to the next write.

    The thread must have taken a row from its stretch; otherwise the row is free after a sweep.
    """
    begin = table.cursors[thread - 1, END_ROW] if thread > 0 else 0
    if table.cursors[thread, NEXT_ROW] > begin:
        table.cursors[thread, NEXT_ROW] -= 1
        table.free_rows[table.cursors[thread, NEXT_ROW]] = row


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
    """Find the blocks and rows that no particle reaches, and divide them equally among the threads.

    Returns:
        The numbers of free rows and of free blocks.
    """
    threads = len(table.cursors)
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
    for thread in range(threads):
        table.cursors[thread, NEXT_ROW] = rows * thread // threads
        table.cursors[thread, END_ROW] = rows * (thread + 1) // threads
        table.cursors[thread, NEXT_BLOCK] = blocks * thread // threads
        table.cursors[thread, END_BLOCK] = blocks * (thread + 1) // threads
    return rows, blocks


def new_table(
    particles: int, logical: int, length: int, threads: int, dtype: Any = np.int32
) -> Table:
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
        cursors=np.zeros((threads, 4), np.int64),
    )


def with_rows(table: Table, logical: int) -> Table:
    """Return the table with at least ``logical`` rows a particle; it grows by half or more."""
    have = table.lines.shape[1]
    need = -(-logical // BLOCK**2)
    if need <= have:
        return table
    return table._replace(lines=_longer(table.lines, max(need, have + have // 2), axis=1))


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


def with_capacity(
    table: Table, logical: int, count: int, particles: int, alone: int | None = None
) -> Table:
    """Return the table with at least ``logical`` rows a particle, and free rows and blocks.

    Args:
        table: the table.
        logical: rows of each particle.
        count: the rows that each thread may write.
        particles: how many particles of a thread write.
        alone: the generation of the only particle, which keeps each row that it has written. None
            where there are others, or rows are dropped.
    """
    table = with_rows(table, logical)
    if alone is not None and (free := free_rows(table)) < count:
        count = min(count, unowned(table, alone, logical, free))
    blocks = int(blocks_needed.py_func(table, count, particles))
    return reserve(table, count, blocks, shared=alone is None)


def unowned(table: Table, generation: int, logical: int, enough: int) -> int:
    """Return how many of its first rows the only particle does not own.

    Args:
        table: the table of one particle.
        generation: the particle's generation.
        logical: the number of rows.
        enough: what may stay unowned. If there are more, the particle adopts what it reaches.
    """
    owned = int(np.count_nonzero(table.row_owner == generation))
    if logical - owned > enough:
        adopt(table, generation)
        owned = int(np.count_nonzero(table.row_owner == generation))
    return max(logical - owned, 0)


def free_rows(table: Table) -> int:
    """Return the smallest number of free rows in a thread's range."""
    return int((table.cursors[:, END_ROW] - table.cursors[:, NEXT_ROW]).min())


def reserve(table: Table, rows: int, blocks: int, shared: bool = True) -> Table:
    """Return the table with at least so many free rows and blocks in each thread's range.

    It sweeps first. If less than half of the pool is then free, the pool grows by half or more, so
    both stay rare. Without ``shared`` no particle copies a row. Only new rows are then needed, and
    the pool of rows grows by an eighth.
    """
    threads, stretches = len(table.cursors), table.cursors.tolist()
    if all(last - row >= rows and end - block >= blocks for row, last, block, end in stretches):
        return table
    left_rows, left_blocks = sweep(table)
    used_rows, used_blocks = len(table.rows) - left_rows, len(table.blocks) - left_blocks
    want_rows = max(threads * (rows + 1), used_rows if shared else 0)
    want_blocks = max(threads * (blocks + 1), used_blocks)
    if left_rows >= want_rows and left_blocks >= want_blocks:
        return table
    grow_rows, grow_blocks = (
        _growth(len(table.rows), left_rows, want_rows, 2 if shared else 8),
        _growth(len(table.blocks), left_blocks, want_blocks, 2),
    )
    table = table._replace(
        blocks=_longer(table.blocks, len(table.blocks) + grow_blocks),
        rows=_longer(table.rows, len(table.rows) + grow_rows),
        block_owner=_longer(table.block_owner, len(table.blocks) + grow_blocks),
        row_owner=_longer(table.row_owner, len(table.rows) + grow_rows),
        free_blocks=_longer(table.free_blocks, len(table.blocks) + grow_blocks),
        free_rows=_longer(table.free_rows, len(table.rows) + grow_rows),
    )
    sweep(table)
    return table


def _growth(have: int, free: int, want: int, part: int) -> int:
    return max(want - free, have // part) if free < want else 0


def nbytes(table: Table) -> int:
    """Return the memory of the table in bytes."""
    return sum(part.nbytes for part in table)


def _longer(array: npt.NDArray[Any], length: int, axis: int = 0) -> npt.NDArray[Any]:
    shape = list(array.shape)
    shape[axis] = length
    longer = on_lines(shape, array.dtype)
    longer[tuple(slice(size) for size in array.shape)] = array
    return longer


def on_lines(shape: list[int], dtype: Any) -> npt.NDArray[Any]:
    """Return zeros that begin on a cache line, so that a part of eight topics lies in one."""
    size = math.prod(shape) * dtype.itemsize
    raw = np.zeros(size + _LINE, np.uint8)
    first = -raw.__array_interface__["data"][0] % _LINE  # The attribute ctypes is slower.
    return raw[first : first + size].view(dtype).reshape(shape)
