"""Rows that particles share, as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import LongArray
from beam_topics.model.learners.packed_numbers import numbers_of, pack_numbers
from beam_topics.model.papers.kernels.canonical_rows import add_rows, distinct_rows
from beam_topics.model.papers.kernels.copy_on_write import BLOCK, Table, new_table
from beam_topics.model.papers.kernels.shared_rows import Rows
from beam_topics.model.stored import checks

# Logical rows below one entry of a line.
_ENTRY = BLOCK**2


def pack_table(
    table: Rows, logical: npt.NDArray[np.int64], live: npt.NDArray[np.int64]
) -> list[bytes]:
    """Return the distinct contents of some logical rows as three packed arrays.

    The arrays are the number of distinct contents of each row, the choice of each particle where
    there are several, and the contents.

    Args:
        table: the shared rows.
        logical: int64[n], the logical rows.
        live: int64[n], how many entries of each row count. The others are written as zeros.
    """
    if not len(logical):
        return [pack_numbers(np.zeros(0))] * 3
    which, rows, counts = distinct_rows(table, logical, live)
    contents = table.rows[rows][:, : live.max()]
    contents[np.arange(contents.shape[1]) >= np.repeat(live, counts)[:, None]] = 0
    return [
        pack_numbers(counts),
        pack_numbers(which[counts > 1].reshape(-1)),
        pack_numbers(contents),
    ]


@dataclass(frozen=True, eq=False)
class Packed:
    """The checked contents of what :func:`pack_table` wrote.

    Attributes:
        starts: int64[N], the index of each logical row's first content.
        differing: int64[N'], the logical rows with more than one content, ascending.
        owner: int[N', P], which of these contents each particle has.
        contents: int[total, width], in the type that was stored, which may be unsigned.
    """

    starts: LongArray
    differing: LongArray
    owner: npt.NDArray[Any]
    contents: npt.NDArray[Any]

    @classmethod
    def of(
        cls, blobs: Sequence[bytes], count: int, particles: int, width: int, high: int
    ) -> Packed:
        """Read ``count`` logical rows with ``width`` entries below ``high``.

        Raises:
            DamagedDataError: the arrays do not describe such rows.
        """
        distinct, owner, contents = numbers_of(blobs[0]), numbers_of(blobs[1]), numbers_of(blobs[2])
        checks.sized("rows of a table", distinct, count)
        checks.within("contents of a row", distinct, 1, particles + 1)
        differing = np.flatnonzero(distinct > 1)
        owner = checks.shaped("particles' choices of a row", owner, len(differing), particles)
        if len(differing):
            checks.within("particles' choices of a row", owner, 0, particles)
            checks.within(
                "a particle's choice of a row",
                owner.max(axis=1) - distinct[differing].astype(np.int64),
                -particles,
                0,
            )
        total = int(distinct.sum(dtype=np.int64))
        contents = checks.shaped("entries of a table", contents, total, width)
        checks.within("entries of a table", contents, 0, high)
        starts = np.cumsum(distinct, dtype=np.int64) - distinct
        return cls(starts, differing, owner, contents)

    def sums(self) -> LongArray:
        """Return int64[P, width], the sum of each particle's rows.

        A sum above LARGEST is returned as LARGEST + 1.
        """
        result = np.zeros((self.owner.shape[1], self.contents.shape[1]), np.int64)
        alike = np.delete(np.arange(len(self.starts)), self.differing)
        add_rows(
            self.contents,
            self.starts[alike],
            np.zeros((len(alike), 1), np.uint8),
            checks.LARGEST + 1,
            result[:1],
        )
        result[1:] = result[0]
        add_rows(self.contents, self.starts[self.differing], self.owner, checks.LARGEST + 1, result)
        return result


@singledispatch
def unpacked(empty: Rows, logical: LongArray, count: int, packed: Packed) -> Rows:
    """Return the table that was packed.

    Args:
        empty: gives the particles, the row length and the type.
        logical: int64[N], the logical rows that were packed.
        count: how many logical rows the table has.
        packed: their contents.
    """
    particles, length = len(empty.line), empty.rows.shape[1]
    if not len(logical):
        return empty
    table = new_table(particles, max(count, 1), length, empty.rows.dtype)
    rows = np.zeros((1 + len(packed.contents), length), empty.rows.dtype)
    rows[1:, : packed.contents.shape[1]] = packed.contents
    blocks = _blocks(table, logical, packed)
    return table._replace(
        blocks=blocks,
        rows=rows,
        block_owner=np.full(len(blocks), -1, np.int64),
        row_owner=np.full(len(rows), -1, np.int64),
        free_blocks=np.zeros(len(blocks), np.uint32),
        free_rows=np.zeros(len(rows), np.uint32),
    )


def _blocks(table: Table, logical: LongArray, packed: Packed) -> npt.NDArray[np.uint32]:
    """Return the blocks that lead to the rows, and fill the particles' lines.

    Each entry of a line is built separately, which bounds the memory.
    """
    particles = len(table.line)
    order = np.argsort(logical, kind="stable")
    # The place of each logical row among those with several contents, else -1.
    place = np.full(len(logical), -1, np.int64)
    place[packed.differing] = np.arange(len(packed.differing))
    lower, upper, counts = [np.zeros((1, BLOCK), np.int64)], [], [1, 0]
    used, begins = np.unique(logical[order] // _ENTRY, return_index=True)
    for entry, part in zip(used.tolist(), np.split(order, begins[1:]), strict=True):
        column, places = logical[part] - entry * _ENTRY, place[part]
        chosen = places >= 0
        # Where no row differs, all particles have the rows of the first.
        pointers = np.zeros((particles if chosen.any() else 1, _ENTRY), np.int64)
        pointers[:, column] = 1 + packed.starts[part]
        if chosen.any():
            pointers[:, column[chosen]] += packed.owner[places[chosen]].T
        below, which = _distinct_rows(pointers.reshape(-1, BLOCK))
        filled = below.any(axis=1)
        # A block without rows is block 0.
        numbers = np.where(filled, counts[0] + np.cumsum(filled) - 1, 0)
        above, line = _distinct_rows(numbers[which].reshape(-1, BLOCK))
        table.lines[:particles, entry] = line.reshape(-1) + counts[1]
        lower.append(below[filled])
        upper.append(above)
        counts = [counts[0] + int(filled.sum()), counts[1] + len(above)]
    table.lines[:particles, used] += np.uint32(counts[0])
    return np.concatenate([*lower, *upper]).astype(np.uint32)


def _distinct_rows(rows: LongArray) -> tuple[LongArray, LongArray]:
    """Return the distinct rows in some order, and the index of each row among them.

    Rows are compared as bytes. ``np.unique`` with an axis compares number by number, and takes
    several times as long.
    """
    as_bytes = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))
    _, first, which = np.unique(as_bytes.reshape(-1), return_index=True, return_inverse=True)
    return rows[first], which
