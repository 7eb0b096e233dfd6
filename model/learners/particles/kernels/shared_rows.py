"""What particles do with shared rows of either kind: a
:class:`~model.learners.particles.kernels.copy_on_write.Table`, or a
:class:`~model.learners.particles.kernels.tree.Tree`.

A kernel knows which of the two when it is compiled, from its argument's type, so choosing costs
nothing while it runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from model.gibbs.kernels.row_sums import prefetch
from model.kernels.jit import inlined, kernel, page_inlined
from model.learners.particles.kernels import copy_on_write as sharing
from model.learners.particles.kernels import tree
from model.learners.particles.kernels import tree_storage as tree_room
from model.learners.particles.kernels.copy_on_write import (
    BLOCKS_EACH,
    END_BLOCK,
    END_ROW,
    NEXT_BLOCK,
    NEXT_ROW,
    Table,
)
from model.learners.particles.kernels.tree import FREE_ROWS, Tree

Rows = Table | Tree

# A row that a particle writes may give one to each node; there are fewer than two nodes for each
# particle.
_ROWS_EACH = 3

# Counts in a cache line.
_LINE = 16


def _is_tree(kind: Any) -> bool:
    return getattr(kind, "instance_class", None) is Tree


def _row_of(rows: Any, p: Any, i: Any) -> Any:
    return (
        tree.tree_row(rows, p, i) if isinstance(rows, Tree) else sharing.row_of.py_func(rows, p, i)
    )


@overload(_row_of)
def _typed_row_of(rows: Any, p: Any, i: Any) -> Any:
    def of_tree(rows: Any, p: Any, i: Any) -> Any:
        return tree.tree_row(rows, p, i)

    def of_table(rows: Any, p: Any, i: Any) -> Any:
        return sharing.row_of(rows, p, i)

    return of_tree if _is_tree(rows) else of_table


@inlined
def row_of(rows: Any, p: Any, i: Any) -> Any:
    """The physical row that holds p's row i, to read."""
    return _row_of(rows, p, i)


def _prefetch_row(rows: Any, p: Any, i: Any) -> Any:
    """Only kernels ask."""


@overload(_prefetch_row)
def _typed_prefetch_row(rows: Any, p: Any, i: Any) -> Any:
    def of_tree(rows: Any, p: Any, i: Any) -> Any:
        return np.int64(0)

    def of_table(rows: Any, p: Any, i: Any) -> Any:
        place = np.int64(sharing.row_of(rows, p, i))
        for k in range(0, rows.rows.shape[1], _LINE):
            prefetch(rows.rows, place * rows.rows.shape[1] + k)
        return place

    return of_tree if _is_tree(rows) else of_table


@inlined
def prefetch_row(rows: Any, p: Any, i: Any) -> Any:
    """Where p's row i is, for :func:`current_row`; the processor is asked for it, so that several
    particles' rows are waited for at once.

    In a tree nobody asks: the place would be another as soon as a particle writes.
    """
    return _prefetch_row(rows, p, i)


def _current_row(rows: Any, place: Any, p: Any, i: Any) -> Any:
    """Only kernels ask."""


@overload(_current_row)
def _typed_current_row(rows: Any, place: Any, p: Any, i: Any) -> Any:
    def of_tree(rows: Any, place: Any, p: Any, i: Any) -> Any:
        return tree.tree_row(rows, p, i)

    def of_table(rows: Any, place: Any, p: Any, i: Any) -> Any:
        return place

    return of_tree if _is_tree(rows) else of_table


@inlined
def current_row(rows: Any, place: Any, p: Any, i: Any) -> Any:
    """The physical row of p's row i that was at ``place``: in a tree, what p shares moves when
    the particle that it is from writes it.
    """
    return _current_row(rows, place, p, i)


def _own_row(rows: Any, p: Any, i: Any, generation: Any, thread: Any, copy: Any) -> Any:
    """Only kernels write."""


@overload(_own_row)
def _typed_own_row(rows: Any, p: Any, i: Any, generation: Any, thread: Any, copy: Any) -> Any:
    def of_tree(rows: Any, p: Any, i: Any, generation: Any, thread: Any, copy: Any) -> Any:
        return tree.own_tree_row(rows, p, i, copy)

    def of_table(rows: Any, p: Any, i: Any, generation: Any, thread: Any, copy: Any) -> Any:
        return sharing.own_row(rows, p, i, generation, thread, copy)

    return of_tree if _is_tree(rows) else of_table


@page_inlined
def own_row(rows: Any, p: Any, i: Any, generation: Any, thread: Any, copy: Any) -> Any:
    """A physical row of p's own for its row i: what it held is copied, or left as it happens to
    be when all will be written.
    """
    return _own_row(rows, p, i, generation, thread, copy)


def _inherit(rows: Any, ancestors: Any) -> Any:
    """Only kernels resample."""


@overload(_inherit)
def _typed_inherit(rows: Any, ancestors: Any) -> Any:
    def of_tree(rows: Any, ancestors: Any) -> Any:
        return tree.tree_inherit(rows, ancestors)

    def of_table(rows: Any, ancestors: Any) -> Any:
        return sharing.inherit(rows, ancestors)

    return of_tree if _is_tree(rows) else of_table


@kernel
def inherit(rows: Any, ancestors: Any) -> None:
    """Particle p becomes a child of ``ancestors[p]``; int64[P], and a particle that survives is
    its own ancestor.
    """
    _inherit(rows, ancestors)


@kernel
def _table_has_room(table: Any, count: Any) -> Any:
    rows_left = table.cursors[0, END_ROW] - table.cursors[0, NEXT_ROW]
    blocks_left = table.cursors[0, END_BLOCK] - table.cursors[0, NEXT_BLOCK]
    return rows_left >= count and blocks_left >= BLOCKS_EACH * count


def _has_room(rows: Any, count: Any) -> Any:
    """Only kernels ask."""


@overload(_has_room)
def _typed_has_room(rows: Any, count: Any) -> Any:
    def of_tree(rows: Any, count: Any) -> Any:
        return rows.marks[FREE_ROWS] >= _ROWS_EACH * count

    def of_table(rows: Any, count: Any) -> Any:
        return _table_has_room(rows, count)

    return of_tree if _is_tree(rows) else of_table


@inlined
def has_room(rows: Any, count: Any) -> Any:
    """Whether the first thread can write so many rows."""
    return _has_room(rows, count)


def new_rows(
    particles: int, length: int, threads: int, whole_past: bool, dtype: Any = np.int32
) -> Rows:
    """Zero rows of ``length`` for each particle."""
    return (
        tree_room.new_tree(particles, length, dtype)
        if whole_past
        else sharing.new_table(particles, 1, length, threads, dtype)
    )


def with_room(rows: Rows, logical: int, count: int, particles: int) -> Rows:
    """With at least ``logical`` rows for each particle, and so many free ones for each thread,
    where ``particles`` of it write.
    """
    if isinstance(rows, Tree):
        # Those that do not write may get what those that do had before.
        everyone = count * -(-len(rows.line) // max(particles, 1))
        return tree_room.with_free_rows(rows, _ROWS_EACH * everyone)
    return sharing.reserve(sharing.with_rows(rows, logical), count, BLOCKS_EACH * count)


def spread(rows: Rows, chosen: int, particles: int) -> Rows:
    """Rows of so many particles that all share what one particle has."""
    return (
        tree_room.spread_tree(rows, chosen, particles)
        if isinstance(rows, Tree)
        else sharing.spread(rows, chosen, particles)
    )


def nbytes(rows: Rows) -> int:
    """Memory that the rows hold."""
    return sum(part.nbytes for part in rows)
