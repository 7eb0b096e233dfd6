"""Columns of numbers in few bytes: narrow types, and Zstandard with a bound on what it unpacks to.

A column is bytes that begin with two numbers: its type, one of :data:`TYPES`, and how the rest is
packed. Compressed bytes differ between versions of a library, so nothing is named by them: a digest
of a column covers its *content*, the type and the values in it.

A few bytes can unpack to a thousand times as many. So the columns of one file may together have at
most :data:`MOST` times their packed bytes, and :data:`SLACK`. A reader checks this before it
unpacks anything, and a writer that would exceed it leaves the columns as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import cramjam
import numpy as np
import numpy.typing as npt

from model import checks, wire
from model.errors import DamagedDataError

TYPES = ("<u1", "<u2", "<u4", "<f8")
MOST, SLACK = 32, 1 << 16
# How a column is packed. Planes are the first byte of every value, then the second, and so on.
_PLAIN, _PACKED, _PACKED_PLANES = 0, 3, 4
_HEAD = 2
# Higher levels take up to twice the time and save a twentieth of the bytes.
_LEVEL = 1

Array = npt.NDArray[Any]


class Content(NamedTuple):
    """What a column has, and what a digest of it covers.

    Attributes:
        kind: the number of its type in :data:`TYPES`.
        body: the values.
    """

    kind: int
    body: bytes

    @property
    def values(self) -> Array:
        """The values in the type that was stored, without a copy."""
        return np.frombuffer(self.body, np.dtype(TYPES[self.kind]))

    @property
    def pieces(self) -> tuple[bytes, bytes]:
        """The bytes of the type and of the values, for a digest."""
        return bytes([self.kind]), self.body


class Column(NamedTuple):
    """A column before it is packed.

    Attributes:
        content: its type and its values.
        repeats: whether values come again, as counts do. Other columns are packed by planes.
    """

    content: Content
    repeats: bool

    @classmethod
    def of(cls, values: Array, repeats: bool = False) -> Column:
        """Return a column of numbers that are not negative, or of any floats.

        Whole numbers get the narrowest type that holds them all.
        """
        kind = _narrowest(values)
        return cls(Content(kind, wire.array_to_bytes(values, TYPES[kind])), repeats)

    @classmethod
    def of_bytes(cls, data: bytes) -> Column:
        """Return a column of bytes."""
        return cls(Content(0, data), False)


def pack_columns(columns: Sequence[Column]) -> list[bytes]:
    """Return the packed bytes of the columns of one file."""
    packed = [_packed(column) for column in columns]
    contents = [column.content for column in columns]
    # One byte of each content is its type.
    if sum(1 + len(one.body) for one in contents) <= MOST * sum(map(len, packed)) + SLACK:
        return packed
    return [bytes([one.kind, _PLAIN]) + one.body for one in contents]


def unpack_columns(name: str, packed: Sequence[bytes], lengths: Sequence[int]) -> list[Content]:
    """Return the contents of the columns of one file.

    Args:
        name: The name of the file, for messages.
        packed: What :func:`pack_columns` returned.
        lengths: The number of values of each column.

    Raises:
        DamagedDataError: A column is not what was packed, or is too large for its bytes.
    """
    sizes = [_size(name, data, length) for data, length in zip(packed, lengths, strict=True)]
    most = MOST * sum(map(len, packed)) + SLACK
    if sum(sizes) > most:
        checks.refuse(f"size of the columns of {name}", sum(sizes), f"at most {most} bytes")
    return [_unpacked(name, data, size) for data, size in zip(packed, sizes, strict=True)]


def _narrowest(values: Array) -> int:
    """Return the number of the first type that holds all values."""
    if values.dtype.kind == "f":
        # A comparison with NaN is false, so NaN stays a float.
        inside = not values.size or (values.min() >= 0 and values.max() <= np.iinfo(np.uint32).max)
        if not inside or not np.array_equal(values.astype(np.uint32), values):
            return len(TYPES) - 1
    top = values.max(initial=0)
    return next(kind for kind, size in enumerate(TYPES) if top <= np.iinfo(np.dtype(size)).max)


def _packed(column: Column) -> bytes:
    kind, values = column.content
    width = np.dtype(TYPES[kind]).itemsize
    if column.repeats or width == 1:
        return bytes([kind, _PACKED]) + bytes(cramjam.zstd.compress(values, _LEVEL))
    planes = np.frombuffer(values, np.uint8).reshape(-1, width).T.tobytes()
    return bytes([kind, _PACKED_PLANES]) + bytes(cramjam.zstd.compress(planes, _LEVEL))


def _size(name: str, data: bytes, length: int) -> int:
    """Return the number of bytes of the values of a packed column."""
    if (
        len(data) < _HEAD
        or data[0] >= len(TYPES)
        or data[1] not in (_PLAIN, _PACKED, _PACKED_PLANES)
    ):
        checks.refuse(f"type of a column of {name}", data[:_HEAD].hex(" "), "one that is known")
    return length * np.dtype(TYPES[data[0]]).itemsize


def _unpacked(name: str, data: bytes, size: int) -> Content:
    kind, how, rest = data[0], data[1], memoryview(data)[_HEAD:]
    if how == _PLAIN:
        body = bytes(rest)
    else:
        try:
            body = _decompressed(rest, size)
        except cramjam.DecompressionError as error:
            raise DamagedDataError(
                f"a column of {name} cannot be unpacked: {error}. Restore it from a copy."
            ) from error
    if len(body) != size:
        checks.refuse(f"bytes of a column of {name}", "another number", f"{size}")
    # Values of one byte have one plane.
    width = np.dtype(TYPES[kind]).itemsize
    if how == _PACKED_PLANES and width > 1:
        body = np.frombuffer(body, np.uint8).reshape(width, -1).T.tobytes()
    return Content(kind, body)


def _decompressed(data: memoryview, size: int) -> bytes:
    """Return what Zstandard unpacks to; it fails where that is more than ``size`` bytes."""
    body = bytearray(size)
    return bytes(memoryview(body)[: cramjam.zstd.decompress_into(data, body)])
