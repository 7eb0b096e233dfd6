"""The rows of words where there is one particle: free ones for its writes, and shared equal ones.

A particle that is alone writes a row in place. It needs a free row only for a word at hand whose
row it does not own: a new word, or one that shares its row
(:mod:`model.learners.particles.kernels.equal_rows`). When free rows run short, words with equal
rows come to share one, and the pool is made anew with an eighth of its rows free. So memory follows
the words at hand and the number of different rows, and not the size of the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model.learners.particles.history import History
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
    words_at_hand,
)

Words = npt.NDArray[np.bool_]
# The part of a pool that is free when it is made anew.
_FREE = 8


@dataclass
class AtHand:
    """The words of the documents at hand, and how many of them may need a free row.

    Attributes:
        history: the documents.
        unowned: how many of the words had no row of their own when they were counted last.
        counted: the tokens that had arrived then.
    """

    history: History
    unowned: int = 0
    counted: int = 0

    def most_unowned(self) -> int:
        """Return the number of words without a row of their own, or more.

        Each token that has arrived since they were counted may have brought such a word.
        """
        return self.unowned + self.history.received - self.counted

    def count(self, table: Table, words: int, generation: int) -> Words:
        """Count the words at hand without a row of their own.

        Args:
            table: the table of the only particle.
            words: the number of words.
            generation: the particle's generation.

        Returns:
            bool[words], the words at hand.
        """
        history = self.history
        found: Words = words_at_hand(history.pages, history.arrival, words)
        self.unowned = int(count_unowned(table, found, generation))
        self.counted = history.received
        return found


def with_free_rows(table: Table, words: int, count: int, generation: int, at_hand: AtHand) -> Table:
    """Return the table of the only particle with free rows for the words that it may write.

    Args:
        table: the table.
        words: the number of words.
        count: how many rows may be written.
        generation: the particle's generation.
        at_hand: the words that may be written.
    """
    table = with_rows(table, words)
    if table.line_owner[table.line[0]] != generation:
        adopt(table, generation)
        at_hand.count(table, words, generation)
    # Where there is row 0 alone, no rows can become one.
    if len(table.rows) > 1 and free_rows(table) < min(count, at_hand.most_unowned()):
        own = at_hand.count(table, words, generation)
        if free_rows(table) < min(count, at_hand.unowned):
            table = _made_anew(table, own, min(count, at_hand.unowned))
    count = min(count, at_hand.most_unowned())
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
    # Another mode than "raise" writes to the pool without a copy between.
    np.take(table.rows, np.flatnonzero(kept), axis=0, out=rows[:used], mode="clip")
    owner = np.full(size, -1, np.int64)
    owner[:used] = table.row_owner[kept]
    table = table._replace(rows=rows, row_owner=owner, free_rows=np.zeros(size, np.uint32))
    sweep(table)
    return table
