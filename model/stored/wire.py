"""The bytes of everything that is stored or sent: messages, columns of numbers, and sealed lines.

A message is the form of all records, states and checkpoints: ``magic (4 bytes) | header length
(u32) | header | blob count (u32) | (blob length (u64) | blob)*``, all little-endian. The header is
canonical JSON (sorted keys, no spaces, UTF-8), so equal values have equal bytes on every machine.
Each kind of record has its own magic, whose last byte is the version of its form. A reader refuses
a kind or a version that it does not know. Nothing is pickled, because bytes from a store may come
from anywhere.

A column holds numbers in few bytes: narrow types, and Zstandard with a bound on what it unpacks to.
It begins with two numbers: its type, one of :data:`TYPES`, and how the rest is packed. Compressed
bytes differ between versions of a library, so nothing is named by them: a digest of a column covers
its *content*, the type and the values in it.

A few bytes can unpack to a thousand times as many. So the columns of one file may together have at
most :data:`MOST` times their packed bytes, and :data:`SLACK`. A reader checks this before it
unpacks anything, and a writer that would exceed it leaves the columns as they are.

A sealed line is canonical JSON that contains a ``sha256`` of the rest. The digest is checked before
anything else is used:

>>> line = seal({"a": 1})
>>> unseal(line, "x.json")
{'a': 1}
>>> unseal(line.replace(b"1", b"2", 1), "x.json")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
beam_topics.model.errors.DamagedDataError: x.json does not have the content ...
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import cramjam
import numpy as np
import numpy.typing as npt

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")
# Where the header of a message begins.
_START = 4 + _U32.size
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
    bounds = _bounds_of(magic, data, blobs)
    return header_of(magic, data), [data[begin:end] for begin, end in bounds]


def blob_of(magic: bytes, data: bytes, place: int, blobs: int) -> bytes:
    """Return one of the blobs of :func:`unpack`, without the header and the others."""
    begin, end = _bounds_of(magic, data, blobs)[place]
    return data[begin:end]


def _bounds_of(magic: bytes, data: bytes, blobs: int | None) -> list[tuple[int, int]]:
    """Return where the blobs of :func:`unpack` begin and end."""
    at = _end_of_header(magic, data)
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
            found.append((at, at + size))
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
    return found


def header_of(magic: bytes, data: bytes) -> dict[str, Any]:
    """Return the header of a message alone, without reading the blobs.

    Raises:
        DamagedDataError: The bytes do not begin with a header of this magic and version.
    """
    end = _end_of_header(magic, data)
    header = checks.parse_json(data[_START:end], f"the header of a {magic!r} record")
    if end > len(data) or not isinstance(header, dict):
        raise DamagedDataError(
            f"a {magic!r} record of {len(data)} bytes cannot be read: its header is not whole"
        )
    found: dict[str, Any] = header
    return found


def _end_of_header(magic: bytes, data: bytes) -> int:
    """Return the position of the end of the header, which may lie past the data."""
    if data[:4] != magic:
        kind, form = data[:3], data[3:4]
        if kind == magic[:3] and form.isdigit():
            checks.known_form(f"a record {kind.decode()!r}", int(form), int(magic[3:]))
        raise DamagedDataError(
            f"expected a record that begins with {magic!r}, found {data[:4]!r}; it was written by"
            " another release or is damaged"
        )
    if len(data) < _START:
        raise DamagedDataError(
            f"a {magic!r} record of {len(data)} bytes cannot be read: it ends before its header"
        )
    end: int = _START + _U32.unpack_from(data, 4)[0]
    return end


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
        return cls(Content(kind, array_to_bytes(values, TYPES[kind])), repeats)

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


_FIELD = "sha256"


def seal(values: dict[str, Any]) -> bytes:
    """Return one line of JSON that contains its own digest in a field ``sha256``."""
    text = canonical_json(values)
    # Settings are long and stand before the digest: only fields after it are written again.
    after = canonical_json({name: values[name] for name in values if name > _FIELD})[1:]
    before = text[: -len(after)]
    begin = before if before.endswith(("{", ",")) else f"{before},"
    comma = "" if after == "}" else ","
    return f'{begin}"{_FIELD}":"{_digest_of(text)}"{comma}{after}\n'.encode()


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """Return the values of a sealed line.

    Args:
        data: The line.
        name: The name of the file, for messages.

    Raises:
        DamagedDataError: The digest is missing or wrong.
    """
    damaged = f"{name} does not have the content that it was written with; restore it from a copy"
    try:
        values = checks.parse_json(data, name)
    except DamagedDataError as error:
        raise DamagedDataError(f"{damaged}: {error}") from error
    if isinstance(values, dict):
        digest = values.pop(_FIELD, None)
        if isinstance(digest, str) and (
            _digest_of_rest(data, digest) == digest or _digest_of(canonical_json(values)) == digest
        ):
            return values
    raise DamagedDataError(damaged)


def _digest_of_rest(data: bytes, digest: str) -> str | None:
    """Return the digest of a line as :func:`seal` writes it; None for other spellings of JSON.

    A line is read faster if its values need not be written again.
    """
    before, found, after = data.removesuffix(b"\n").rpartition(f',"{_FIELD}":"{digest}"'.encode())
    return hashlib.sha256(before + after).hexdigest() if found else None


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
