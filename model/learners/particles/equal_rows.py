"""The rows of words where there is one particle: free ones for its writes, and shared equal ones.

A particle that is alone writes a row in place. It needs a free row only for a word at hand whose
row it does not own: a new word, or one that shares its row
(:mod:`model.learners.particles.kernels.equal_rows`). When free rows run short, words with equal
rows come to share one, and the pool is made anew with an eighth of its rows free. So memory follows
the words at hand and the number of different rows, and not the size of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from model.learners.particles.kernels.copy_on_write import (
    Table,
    adopt,
    blocks_needed,
    free_rows,
    on_lines,
    reserve,
    sweep,
    with_rows,
)
from model.learners.particles.kernels.equal_rows import (
    count_unowned,
    merge_equal_rows,
    renumber_rows,
)

Words = npt.NDArray[np.bool_]
# The part of a pool that is free when it is made anew.
_FREE = 8


def with_free_rows(
    table: Table, words: int, count: int, generation: int, at_hand: Callable[[int], Words]
) -> Table:
    """Return the table of the only particle with free rows for the words that it may write.

    Args:
        table: the table.
        words: the number of words.
        count: how many rows may be written.
        generation: the particle's generation.
        at_hand: returns bool[W], which of W words may be written.
    """
    table = with_rows(table, words)
    if table.line_owner[table.line[0]] != generation:
        adopt(table, generation)
    if free_rows(table) < count:
        own = at_hand(words)
        count = min(count, int(count_unowned(table, own, generation)))
        if free_rows(table) < count:
            table = _made_anew(table, own, count)
    return reserve(table, count, int(blocks_needed.py_func(table, count, 1)), shared=False)


def _made_anew(table: Table, own: Words, count: int) -> Table:
    """Return the table with a row for each word in ``own`` and each different row of the others."""
    merge_equal_rows(table, own)
    left, _ = sweep(table)
    kept = np.ones(len(table.rows), np.bool_)
    kept[table.free_rows[:left]] = False
    renumber_rows(table, (np.cumsum(kept) - 1).astype(np.uint32))
    used = len(table.rows) - left
    size = used + max(len(table.cursors) * (count + 1), used // _FREE)
    rows = on_lines([size, table.rows.shape[1]], table.rows.dtype)
    np.compress(kept, table.rows, axis=0, out=rows[:used])
    owner = np.full(size, -1, np.int64)
    owner[:used] = table.row_owner[kept]
    table = table._replace(rows=rows, row_owner=owner, free_rows=np.zeros(size, np.uint32))
    sweep(table)
    return table
