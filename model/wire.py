"""The binary form of all records, states and checkpoints of this project.

A message is ``magic (4 bytes) | header length (u32) | header | blob count (u32) | (blob length
(u64) | blob)*``, all little-endian. The header is canonical JSON (sorted keys, no spaces, UTF-8),
so equal values have equal bytes on every machine. Each kind of record has its own magic, whose last
byte is the version of its form. A reader refuses a kind or a version that it does not know. Nothing
is pickled, because bytes from a store may come from anywhere.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from model import checks
from model.errors import DamagedDataError

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)

DIGEST_BYTES = 32


def canonical_json(value: object) -> str:
    """Return JSON with one spelling for each value: sorted keys, no spaces, no NaN."""
    return _ENCODER.encode(value)


def brief(values: tuple[Any, ...]) -> Any:
    """Return a tuple for JSON: the size and the digest of words, and a list of anything else."""
    if not values or not isinstance(values[0], str):
        return list(values)
    return {
        "words": len(values),
        "sha256": hashlib.sha256(canonical_json(values).encode()).hexdigest(),
    }


def digest(*parts: bytes) -> bytes:
    """Return the SHA-256 of the parts, each preceded by its length.

    The lengths keep two lists of parts with equal concatenation apart.
    """
    state = hashlib.sha256()
    for part in parts:
        state.update(_U64.pack(len(part)))
        state.update(part)
    return state.digest()


def digest_of_pieces(parts: Iterable[Sequence[bytes]]) -> bytes:
    """Return :func:`digest` of parts, each given as pieces that are not joined."""
    state = hashlib.sha256()
    for pieces in parts:
        state.update(_U64.pack(sum(map(len, pieces))))
        for piece in pieces:
            state.update(piece)
    return state.digest()


def pack(magic: bytes, header: Mapping[str, Any], *blobs: bytes) -> bytes:
    """Return a message, see the module's docstring."""
    return pack_encoded(magic, canonical_json(header).encode(), *blobs)


def pack_encoded(magic: bytes, text: bytes, *blobs: bytes) -> bytes:
    """Return a message whose header is given as its canonical JSON."""
    pieces = [magic, _U32.pack(len(text)), text, _U32.pack(len(blobs))]
    for blob in blobs:
        pieces += [_U64.pack(len(blob)), blob]
    return b"".join(pieces)


def unpack(
    magic: bytes, data: bytes, blobs: int | None = None
) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header and the blobs of a message.

    Args:
        magic: The kind and the version of the record.
        data: The message.
        blobs: The number of blobs that it must have; None if that varies.

    Raises:
        DamagedDataError: The bytes are not a whole message of this magic and version.
    """
    header, at = _header(magic, data)
    try:
        count = _U32.unpack_from(data, at)[0]
        at += _U32.size
        found = []
        for _ in range(count):
            size = _U64.unpack_from(data, at)[0]
            at += _U64.size
            if at + size > len(data):
                raise DamagedDataError(
                    f"a {magic!r} record ends in the middle of a field: {len(data)} bytes,"
                    f" {at + size} wanted"
                )
            found.append(data[at : at + size])
            at += size
    except struct.error as error:
        raise DamagedDataError(
            f"a {magic!r} record of {len(data)} bytes cannot be read: {error}"
        ) from error
    if at != len(data):
        raise DamagedDataError(f"a {magic!r} record has {len(data) - at} bytes too many")
    if blobs is not None and len(found) != blobs:
        raise DamagedDataError(
            f"a {magic!r} record has {len(found)} parts in place of {blobs}; another release wrote"
            " it, or it is damaged"
        )
    return header, found


def header_of(magic: bytes, data: bytes) -> dict[str, Any]:
    """Return the header of a message alone, without reading the blobs.

    Raises:
        DamagedDataError: The bytes do not begin with a header of this magic and version.
    """
    return _header(magic, data)[0]


def _header(magic: bytes, data: bytes) -> tuple[dict[str, Any], int]:
    """Return the header and the position of its end."""
    if data[:4] != magic:
        kind, form = data[:3], data[3:4]
        if kind == magic[:3] and form.isdigit():
            checks.known_form(f"a record {kind.decode()!r}", int(form), int(magic[3:]))
        raise DamagedDataError(
            f"expected a record that begins with {magic!r}, found {data[:4]!r}; it was written by"
            " another release or is damaged"
        )
    start = 4 + _U32.size
    if len(data) < start:
        raise DamagedDataError(
            f"a {magic!r} record of {len(data)} bytes cannot be read: it ends before its header"
        )
    end = start + _U32.unpack_from(data, 4)[0]
    header = checks.parse_json(data[start:end], f"the header of a {magic!r} record")
    if end > len(data) or not isinstance(header, dict):
        raise DamagedDataError(
            f"a {magic!r} record of {len(data)} bytes cannot be read: its header is not whole"
        )
    return header, end


def words_to_bytes(words: Sequence[str]) -> bytes:
    """Join words with newlines, which no word of the tokeniser contains.

    Raises:
        ValueError: A word is empty or contains a newline.
    """
    text = "\n".join(words)
    if words and (text.count("\n") != len(words) - 1 or "" in words):
        raise ValueError("a word is empty or contains a newline")
    return text.encode()


def words_from_bytes(data: bytes) -> tuple[str, ...]:
    """Read the bytes that :func:`words_to_bytes` wrote.

    Raises:
        DamagedDataError: The bytes are not UTF-8, or a word is empty.
    """
    try:
        words = tuple(data.decode().split("\n")) if data else ()
    except UnicodeDecodeError as error:
        raise DamagedDataError(f"{len(data)} bytes of words are not UTF-8: {error}") from error
    if "" in words:
        raise DamagedDataError(f"one of {len(words)} stored words is empty")
    return words


def array_to_bytes(values: npt.ArrayLike, dtype: str) -> bytes:
    """Return the values little-endian in C order.

    Args:
        values: The values.
        dtype: Their type, spelled with its byte order, for example ``<i4``.
    """
    return np.ascontiguousarray(values, dtype=np.dtype(dtype)).tobytes()


def array_from_bytes(data: bytes, dtype: str) -> npt.NDArray[Any]:
    """Return a read-only array over the bytes.

    Raises:
        DamagedDataError: The length is not a multiple of the size of an item.
    """
    if len(data) % np.dtype(dtype).itemsize:
        raise DamagedDataError(f"{len(data)} bytes are not a whole number of {dtype} values")
    return np.frombuffer(data, dtype=np.dtype(dtype))
