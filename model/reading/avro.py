"""The records of an Avro file, damaged or not.

An Avro file is a header (schema, codec, a sync marker of 16 random bytes) and blocks: a count of records, a size, so many
bytes, the marker. A block that cannot be read costs that block alone: reading goes on behind the next marker. We frame and
unpack the blocks ourselves, so that every fault has a place; fastavro decodes the records.

Logical types are left off while decoding, for a time out of Python's range would otherwise fail its whole block: times come as whole
numbers of :meth:`AvroFile.time_unit`.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, BinaryIO

import cramjam
import fastavro

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError
from model.reading.parsing import DAMAGED, dead_letter
from model.times import MICROSECONDS_PER_SECOND

# (place, record), or a dead letter for a stretch that cannot be read.
Item = tuple[str, dict[str, Any]] | DeadLetter

MAGIC = b"Obj\x01"
SYNC_BYTES = 16

_HEADER_LIMIT = 2**20
_SEARCH_BYTES = 2**20
_VARINT_BYTES = 10
_HEADER = fastavro.parse_schema(
    {
        "type": "record",
        "name": "Header",
        "fields": [
            {"name": "magic", "type": {"type": "fixed", "name": "Magic", "size": len(MAGIC)}},
            {"name": "meta", "type": {"type": "map", "values": "bytes"}},
            {"name": "sync", "type": {"type": "fixed", "name": "Sync", "size": SYNC_BYTES}},
        ],
    }
)
_TIME_UNITS = {
    "date": Fraction(86_400 * MICROSECONDS_PER_SECOND),
    "timestamp-millis": Fraction(1000),
    "timestamp-micros": Fraction(1),
    "timestamp-nanos": Fraction(1, 1000),
    "local-timestamp-millis": Fraction(1000),
    "local-timestamp-micros": Fraction(1),
    "local-timestamp-nanos": Fraction(1, 1000),
}


class AvroFile:
    """An open Avro file; ``stream`` can seek.

    Attributes:
        names: of the fields of its records.

    Raises:
        DamagedDataError: it has no readable header, or a codec that we do not know.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        head = io.BytesIO(stream.read(_HEADER_LIMIT))
        try:
            header = fastavro.schemaless_reader(head, _HEADER, None)
            metadata = {key: value.decode() for key, value in header["meta"].items()}
            self.schema = json.loads(metadata["avro.schema"])
            self._types = _field_types(self.schema)
            self.names = tuple(self._types)
            self._schema = fastavro.parse_schema(_without_logical_types(self.schema))
        except Exception as error:  # fastavro raises whatever the damage leads to
            raise DamagedDataError(f"this is not an Avro file: its header cannot be read ({type(error).__name__}: {error})") from error
        if header["magic"] != MAGIC:
            raise DamagedDataError(f"this is not an Avro file: it begins with {header['magic']!r}")
        codec = metadata.get("avro.codec", "null")
        if codec not in _CODECS:
            raise DamagedDataError(f"its codec is {codec!r}; known are {', '.join(_CODECS)}")
        self._unpack = _CODECS[codec]
        self._sync: bytes = header["sync"]
        self._position = head.tell()
        self._size = stream.seek(0, io.SEEK_END)

    def time_unit(self, field: str) -> Fraction | None:
        """Microseconds in one unit of a field of a logical type; None where it has none."""
        declared = self._types.get(field)
        for option in declared if isinstance(declared, list) else [declared]:
            if isinstance(option, dict) and option.get("logicalType") in _TIME_UNITS:
                return _TIME_UNITS[option["logicalType"]]
        return None

    def records(self) -> Iterator[Item]:
        """(place, record) in the order of the file, and a dead letter for each stretch that cannot be read."""
        return (item for _, _, items in self.blocks() for item in items)

    def blocks(self, number: int = 1, start: int | None = None) -> Iterator[tuple[int, int, Iterator[Item]]]:
        """(number, first byte, items) of each block; read each to its end before the next.

        Args:
            number, start: of the block to begin with, as they came from here; the first one where they are left out.
        """
        if start is not None:
            self._position = start
        while self._position < self._size:
            yield number, self._position, self._block(f"{self._name} block {number}", self._position)
            number += 1

    def _block(self, place: str, start: int) -> Iterator[Item]:
        try:
            count, payload, marker = self._frame()
        except DamagedDataError as error:
            yield self._resume(place, start, str(error))
            return
        if marker == self._sync:
            yield from self._decode(count, payload, place, start)
        else:
            yield from self._without_marker(count, payload, place, start)

    def _frame(self) -> tuple[int, bytes, bytes]:
        """Count, payload and marker of the block at the position, which then stands behind it."""
        self._stream.seek(self._position)
        count, size = self._long(), self._long()
        payload_at = self._stream.tell()
        if count < 0 or size < 0 or payload_at + size + SYNC_BYTES > self._size:
            raise DamagedDataError(f"it says that it holds {count} records in {size} bytes, and the file ends before that")
        payload = self._stream.read(size)
        marker = self._stream.read(SYNC_BYTES)
        self._position = payload_at + size + SYNC_BYTES
        return count, payload, marker

    def _long(self) -> int:
        """Avro's long: seven bits a byte, lowest first, zigzag."""
        value = 0
        for shift in range(0, 7 * _VARINT_BYTES, 7):
            byte = self._stream.read(1)
            if not byte:
                raise DamagedDataError("the file ends within its head")
            value |= (byte[0] & 0x7F) << shift
            if byte[0] < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise DamagedDataError("its head is not a number")

    def _decode(self, count: int, payload: bytes, place: str, start: int) -> Iterator[Item]:
        """The records of a framed block up to the first that cannot be read."""
        done = 0
        try:
            data = self._unpack(payload)
            buffer = io.BytesIO(data)
            for done in range(count):
                record = fastavro.schemaless_reader(buffer, self._schema, None, handle_unicode_errors="surrogateescape")
                yield f"{place} record {done + 1}", record
            done = count
            if buffer.tell() != len(data):
                raise DamagedDataError(f"{len(data) - buffer.tell()} bytes follow its {count} records")
        except Exception as error:  # a codec or fastavro raises whatever the damage leads to
            if self._sync in payload:
                # A wrong size that happens to end where a later block does: those between are still to be read.
                self._position = self._behind_next_marker(start)
            what = f"records {done + 1} to {count} of the block" if done < count else "the end of the block"
            detail = f"{what} at byte {start} cannot be read: {type(error).__name__}: {error}"
            yield dead_letter(f"{place} bytes {start}-{self._position}", DAMAGED, detail, b"")

    def _without_marker(self, count: int, payload: bytes, place: str, start: int) -> Iterator[Item]:
        """A block that no marker follows: if its records are sound, only the marker is damaged."""
        found = list(self._decode(count, payload, place, start))
        if found and not isinstance(found[-1], DeadLetter):
            yield from found
            where = f"{place} bytes {self._position - SYNC_BYTES}-{self._position}"
            yield dead_letter(where, DAMAGED, f"the marker after the block's {count} records is damaged; the records are not", b"")
        else:
            yield self._resume(place, start, "the marker after it is not this file's")

    def _resume(self, place: str, start: int, detail: str) -> DeadLetter:
        """Put the position behind the next marker, or to the end of the file; a dead letter for what lies between."""
        self._position = self._behind_next_marker(start)
        where = f"{place} bytes {start}-{self._position}"
        return dead_letter(where, DAMAGED, f"the block at byte {start} cannot be read: {detail}", b"")

    def _behind_next_marker(self, start: int) -> int:
        self._stream.seek(start)
        kept = b""
        at = start
        while chunk := self._stream.read(_SEARCH_BYTES):
            window = kept + chunk
            found = window.find(self._sync)
            if found >= 0:
                return at - len(kept) + found + SYNC_BYTES
            at += len(chunk)
            kept = window[-(SYNC_BYTES - 1) :]
        return self._size


def _field_types(schema: Any) -> dict[str, Any]:
    """The types of a record's fields, by name; what is not a record has none."""
    if not isinstance(schema, dict) or schema.get("type") != "record":
        return {}
    return {field["name"]: field["type"] for field in schema["fields"]}


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {name: _without_logical_types(value) for name, value in schema.items() if name != "logicalType"}
    if isinstance(schema, list):
        return [_without_logical_types(value) for value in schema]
    return schema


def _inflate(payload: bytes) -> bytes:
    engine = zlib.decompressobj(wbits=-15)
    data = engine.decompress(payload)
    if not engine.eof:
        raise DamagedDataError("the compressed data end too early")
    return data


def _unsnap(payload: bytes) -> bytes:
    """Snappy, then four bytes of CRC-32 of what it unpacks to."""
    data = bytes(cramjam.snappy.decompress_raw(payload[:-4]))
    if zlib.crc32(data) != int.from_bytes(payload[-4:], "big"):
        raise DamagedDataError("its checksum is wrong")
    return data


def _unpack_zstandard(payload: bytes) -> bytes:
    return bytes(cramjam.zstd.decompress(payload))


_CODECS: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _inflate,
    "snappy": _unsnap,
    "bzip2": bz2.decompress,
    "xz": lzma.decompress,
    "zstandard": _unpack_zstandard,
}
