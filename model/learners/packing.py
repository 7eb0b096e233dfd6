"""A shared table as bytes and back, and whole numbers in as few bytes as they need."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from model import wire
from model.errors import DamagedDataError
from model.kernels.saving import distinct_rows
from model.kernels.sharing import BLOCK, Table, new_table
from model.kernels.tables import Rows
from model.kernels.tree import Tree
from model.kernels.tree_room import planted

_SIZES = ("<u1", "<u2", "<u4", "<i8")


def pack_table(table: Rows, logical: npt.NDArray[np.int64], live: npt.NDArray[np.int64]) -> list[bytes]:
    """How many distinct rows each of some logical rows has, who has which where they differ, and their contents.

    live: int64, how many entries of each row count; the others are written as zeros.
    """
    if not len(logical):
        return [pack_numbers(np.zeros(0))] * 3
    which, rows, counts = distinct_rows(table, logical, live)
    contents = table.rows[rows][:, : live.max()]
    contents[np.arange(contents.shape[1]) >= np.repeat(live, counts)[:, None]] = 0
    return [pack_numbers(counts), pack_numbers(which[counts > 1].reshape(-1)), pack_numbers(contents)]


@overload
def unpack_table(empty: Table, logical: npt.NDArray[np.int64], count: int, packed: list[bytes]) -> Table: ...
@overload
def unpack_table(empty: Rows, logical: npt.NDArray[np.int64], count: int, packed: list[bytes]) -> Rows: ...
def unpack_table(empty: Rows, logical: npt.NDArray[np.int64], count: int, packed: list[bytes]) -> Rows:
    """What :func:`pack_table` wrote; ``empty`` gives its kind, particles, row length, type and threads. It has ``count`` logical rows."""
    distinct, (particles, length) = unpack_numbers(packed[0]), (len(empty.line), empty.rows.shape[1])
    if not len(distinct):
        return empty
    owner = np.zeros((len(distinct), particles), np.int64)
    owner[distinct > 1] = unpack_numbers(packed[1]).reshape(-1, particles)
    total = int(distinct.sum())
    contents = unpack_numbers(packed[2]).reshape(total, -1)
    if isinstance(empty, Tree):
        return planted(empty, logical, owner, distinct, contents)
    table = new_table(particles, max(count, 1), length, len(empty.cursors), empty.rows.dtype)
    rows = np.zeros((1 + total, length), empty.rows.dtype)
    rows[1:, : contents.shape[1]] = contents
    pointers = np.zeros((particles, table.lines.shape[1] * BLOCK**2), np.uint32)
    pointers[:, logical] = (1 + (np.cumsum(distinct) - distinct)[:, None] + owner).T
    lower, which = np.unique(pointers.reshape(-1, BLOCK), axis=0, return_inverse=True)
    upper, line = np.unique(which.reshape(-1, BLOCK) + 1, axis=0, return_inverse=True)
    table.lines[:particles] = line.reshape(particles, -1) + 1 + len(lower)
    blocks = np.concatenate([np.zeros((1, BLOCK), np.uint32), lower, upper.astype(np.uint32)])
    return table._replace(
        blocks=blocks,
        rows=rows,
        block_owner=np.full(len(blocks), -1, np.int64),
        row_owner=np.full(len(rows), -1, np.int64),
        free_blocks=np.zeros(len(blocks), np.uint32),
        free_rows=np.zeros(len(rows), np.uint32),
    )


def pack_numbers(values: Any) -> bytes:
    """Whole numbers, none negative, in the smallest of four types that holds them all, which the first byte names."""
    array = np.asarray(values)
    top = int(array.max(initial=0))
    kind = next((k for k, size in enumerate(_SIZES[:3]) if top <= np.iinfo(np.dtype(size)).max), 3)
    return bytes([kind]) + wire.array_to_bytes(array, _SIZES[kind])


def unpack_numbers(data: bytes) -> npt.NDArray[np.int64]:
    """The inverse of :func:`pack_numbers`, flat."""
    if not data or data[0] >= len(_SIZES):
        raise DamagedDataError("an array in a learner's state does not name its type")
    values: npt.NDArray[np.int64] = wire.array_from_bytes(data[1:], _SIZES[data[0]]).astype(np.int64)
    return values
