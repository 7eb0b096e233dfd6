"""Operations on shared rows of either kind.

The kinds are :class:`~beam_topics.model.learners.particles.kernels.copy_on_write.Table` and, for
``--history=full``, :class:`~beam_topics.model.learners.particles.kernels.full_history.Tree`.
:func:`_by_kind` joins an operation of both. Numba chooses one from the argument's type when it
compiles a kernel, so the choice costs nothing at run time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from beam_topics.model.gibbs.kernels.packed_rows import prefetch
from beam_topics.model.kernels.jit import inlined, kernel, page_inlined
from beam_topics.model.learners.particles.kernels import copy_on_write, full_history
from beam_topics.model.learners.particles.kernels.copy_on_write import (
    END_BLOCK,
    END_ROW,
    NEXT_BLOCK,
    NEXT_ROW,
    Table,
    blocks_needed,
)
from beam_topics.model.learners.particles.kernels.full_history import FREE_ROWS, Tree

Rows = Table | Tree

# A write may copy the old row to each child, and there are fewer than two nodes for each particle.
_ROWS_EACH = 3

# Counts in a cache line.
_LINE = 16


def _is_tree(kind: Any) -> bool:
    return getattr(kind, "instance_class", None) is Tree


def _by_kind(of_table: Any, of_tree: Any, **flags: Any) -> Any:
    """Return a function that is one of two kernels, by the kind of its first argument.

    Args:
        of_table: the kernel for a :class:`Table`.
        of_tree: the kernel for a :class:`Tree`, with as many arguments.
        flags: numba's flags of both.
    """

    def choose(rows: Any, *others: Any) -> Any:
        return (of_tree if isinstance(rows, Tree) else of_table).py_func(rows, *others)

    @overload(choose, jit_options=flags, strict=False)
    def _choose_by_type(rows: Any, *others: Any) -> Any:
        return (of_tree if _is_tree(rows) else of_table).py_func

    return choose


_row_of = _by_kind(copy_on_write.row_of, full_history.tree_row)


@inlined
def row_of(rows: Any, p: Any, i: Any) -> Any:
    """Return the physical row that holds p's row i, for reading."""
    return _row_of(rows, p, i)


@kernel
def _prefetch_table_row(rows: Any, p: Any, i: Any) -> Any:
    place = np.int64(copy_on_write.row_of(rows, p, i))
    for k in range(0, rows.rows.shape[1], _LINE):
        prefetch(rows.rows, place * rows.rows.shape[1] + k)
    return place


@kernel
def _skip_prefetch(rows: Any, p: Any, i: Any) -> Any:
    return np.int64(0)


_prefetch_row = _by_kind(_prefetch_table_row, _skip_prefetch)


@inlined
def prefetch_row(rows: Any, p: Any, i: Any) -> Any:
    """Return the physical row of p's row i, and prefetch it.

    The rows of several particles are then fetched at the same time. In a tree there is no prefetch,
    and no row is returned: a write of any particle may move it.
    """
    return _prefetch_row(rows, p, i)


@page_inlined
def _own_tree_row(rows: Any, p: Any, i: Any, generation: Any, thread: Any, copy: Any) -> Any:
    return full_history.own_tree_row(rows, p, i, copy)


_own_row = _by_kind(copy_on_write.own_row, _own_tree_row, _nrt=False, forceinline=True)


@page_inlined
def own_row(rows: Any, p: Any, i: Any, generation: Any, thread: Any, copy: Any) -> Any:
    """Return a physical row that p alone uses for its row i, for writing.

    ``copy`` says whether it gets the old contents. Without it the contents are undefined, and the
    caller writes all of them.
    """
    return _own_row(rows, p, i, generation, thread, copy)


_inherit = _by_kind(copy_on_write.inherit, full_history.tree_inherit)


@kernel
def inherit(rows: Any, ancestors: Any) -> None:
    """Make particle p a child of ``ancestors[p]``; int64[P], a survivor is its own ancestor."""
    _inherit(rows, ancestors)


@kernel
def _table_has_capacity(rows: Any, count: Any) -> Any:
    rows_left = rows.cursors[0, END_ROW] - rows.cursors[0, NEXT_ROW]
    blocks_left = rows.cursors[0, END_BLOCK] - rows.cursors[0, NEXT_BLOCK]
    return rows_left >= count and blocks_left >= blocks_needed(rows, count, len(rows.line))


@kernel
def _tree_has_capacity(rows: Any, count: Any) -> Any:
    return rows.marks[FREE_ROWS] >= _ROWS_EACH * count


_has_capacity = _by_kind(_table_has_capacity, _tree_has_capacity)


@inlined
def has_capacity(rows: Any, count: Any) -> Any:
    """Return whether the first thread has free rows for ``count`` writes."""
    return _has_capacity(rows, count)


def new_rows(
    particles: int, length: int, threads: int, whole_past: bool, dtype: Any = np.int32
) -> Rows:
    """Return zero rows of ``length`` entries for each particle."""
    return (
        full_history.new_tree(particles, length, dtype)
        if whole_past
        else copy_on_write.new_table(particles, 1, length, threads, dtype)
    )


def with_capacity(
    rows: Rows, logical: int, count: int, particles: int, alone: int | None = None
) -> Rows:
    """Return the rows with at least ``logical`` rows for each particle and free rows to write.

    Args:
        rows: the shared rows.
        logical: rows of each particle.
        count: free rows for each thread.
        particles: how many particles of a thread write.
        alone: the generation of the only particle, which keeps each row that it has written. None
            where there are others, or rows are dropped.
    """
    if isinstance(rows, Tree):
        # Particles that do not write may get old rows of those that do.
        everyone = count * -(-len(rows.line) // max(particles, 1))
        return full_history.with_free_rows(rows, _ROWS_EACH * everyone)
    return copy_on_write.with_capacity(rows, logical, count, particles, alone)


def replicate(rows: Rows, chosen: int, particles: int) -> Rows:
    """Return rows of ``particles`` particles that all share what particle ``chosen`` has."""
    return (
        full_history.replicate_tree(rows, chosen, particles)
        if isinstance(rows, Tree)
        else copy_on_write.replicate(rows, chosen, particles)
    )


def nbytes(rows: Rows) -> int:
    """Return the memory of the rows in bytes."""
    return sum(part.nbytes for part in rows)
