"""Operations on the rows that particles share, of any kind.

They are those of :class:`~beam_topics.model.papers.kernels.copy_on_write.Table`, which
is the default. Another kind adds its operations to those of this module, as
:mod:`beam_topics.model.papers.directed_tree` does. Numba chooses a kernel from the argument's type
when it compiles what calls it, so the choice costs nothing at run time.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from numba.extending import overload

from beam_topics.model.kernels.jit import inlined, kernel, page_inlined
from beam_topics.model.papers.kernels import copy_on_write
from beam_topics.model.papers.kernels.copy_on_write import (
    END_BLOCK,
    END_ROW,
    NEXT_BLOCK,
    NEXT_ROW,
    Table,
    blocks_needed,
)

# A Table, or another kind that has added its operations.
Rows = Any


def _operation(of_table: Any, **flags: Any) -> Any:
    """Return an operation, and as its attribute ``kinds`` the kernel of each kind of rows.

    Args:
        of_table: the kernel for a :class:`Table`.
        flags: numba's flags of all kernels.
    """
    kinds: dict[Any, Any] = {Table: of_table}

    def operation(rows: Any, *others: Any) -> Any:
        return kinds[type(rows)].py_func(rows, *others)

    @overload(operation, jit_options=flags, strict=False)
    def _of_type(rows: Any, *others: Any) -> Any:
        return kinds[rows.instance_class].py_func

    operation.kinds = kinds  # type: ignore[attr-defined]
    return operation


@kernel
def _table_has_capacity(rows, count):
    rows_left = rows.cursors[END_ROW] - rows.cursors[NEXT_ROW]
    blocks_left = rows.cursors[END_BLOCK] - rows.cursors[NEXT_BLOCK]
    return rows_left >= count and blocks_left >= blocks_needed(rows, count, len(rows.line))


ROW_OF = _operation(copy_on_write.row_of)
OWN_ROW = _operation(copy_on_write.own_row, _nrt=False, forceinline=True)
INHERIT = _operation(copy_on_write.inherit)
HAS_CAPACITY = _operation(_table_has_capacity)


@inlined
def row_of(rows, p, i):
    """Return the physical row that holds p's row i, for reading."""
    return ROW_OF(rows, p, i)


@page_inlined
def own_row(rows, p, i, generation, copy):
    """Return a physical row that p alone uses for its row i, for writing.

    ``copy`` says whether it gets the old contents. Without it the contents are undefined, and the
    caller writes all of them.
    """
    return OWN_ROW(rows, p, i, generation, copy)


@kernel
def inherit(rows, ancestors):
    """Make particle p a child of ``ancestors[p]``; int64[P], a survivor is its own ancestor."""
    INHERIT(rows, ancestors)


@inlined
def has_capacity(rows, count):
    """Return whether there are free rows for ``count`` writes."""
    return HAS_CAPACITY(rows, count)


@singledispatch
def with_capacity(rows: Rows, logical: int, count: int) -> Rows:
    """Return the rows with at least ``logical`` rows for each particle and free rows to write.

    Args:
        rows: the shared rows.
        logical: rows of each particle.
        count: the rows that all particles may write.
    """
    return copy_on_write.with_capacity(rows, logical, count)


@singledispatch
def replicate(rows: Rows, chosen: int, particles: int) -> Rows:
    """Return rows of ``particles`` particles that all share what particle ``chosen`` has."""
    return copy_on_write.replicate(rows, chosen, particles)


def nbytes(rows: Rows) -> int:
    """Return the memory of the rows in bytes."""
    return sum(part.nbytes for part in rows)
