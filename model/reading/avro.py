"""Read the records of an Avro file, damaged or not.

An Avro file is a header (schema, codec, a sync marker of 16 random bytes) and blocks. A block is a
count of records, a size, that many bytes, and the marker. A block that cannot be read costs that
block alone, and reading continues behind the next marker. This module frames and unpacks the
blocks, so that every fault has a place. fastavro decodes the records.

A file may come from an untrusted source. A block is read up to ``max_block`` bytes, before and
after it is unpacked. It has at most as many records as bytes. :mod:`model.reading.avro_limits`
bounds what a record may hold. What exceeds a limit becomes a dead letter of the reason
``too_large`` that names the limit.

Logical types are dropped for decoding, because a time outside Python's range would fail its whole
block. Times are whole numbers of the unit :meth:`AvroFile.time_unit`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, BinaryIO, NamedTuple

import fastavro

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError
from model.reading.avro_limits import check_nesting, measure, read_long, shape_of
from model.reading.codecs import CODECS, LimitError
from model.reading.parsing import DAMAGED, TOO_LARGE, dead_letter
from model.times import MICROSECONDS_PER_SECOND
from model.units import MEGABYTE

# (place, record), or a dead letter for a stretch that cannot be read.
Item = tuple[str, dict[str, Any]] | DeadLetter

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
# The largest block that is read. Writers make blocks of 16 kB to some MB.
MAX_BLOCK = 64 * MEGABYTE

_HEADER_LIMIT = MEGABYTE
_CHUNK = 2**16
# Two numbers of ten bytes.
_HEAD_BYTES = 20
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


class _Frame(NamedTuple):
    """A block as it lies in the file.

    Attributes:
        records: The number of records that its head declares.
        payload: Its packed bytes, up to the first marker.
        fault: What is wrong with its size or its marker; empty if both are right.
    """

    records: int
    payload: bytes
    fault: str


class AvroFile:
    """An open Avro file.

    Attributes:
        names: The names of the fields of its records.

    Args:
        stream: The bytes. It must be able to seek.
        name: The name of the file, for the places in dead letters.
        max_block: The largest size of a block in bytes, before and after it is unpacked.

    Raises:
        DamagedDataError: The header cannot be read, or the codec is unknown.
    """

    def __init__(self, stream: BinaryIO, name: str, max_block: int = MAX_BLOCK) -> None:
        self._stream = stream
        self._name = name
        self._max_block = max_block
        head = io.BytesIO(stream.read(_HEADER_LIMIT))
        try:
            header = fastavro.schemaless_reader(head, _HEADER, None)
            metadata = {key: value.decode() for key, value in header["meta"].items()}
            self._read_schema(metadata["avro.schema"])
        except LimitError:
            raise
        except Exception as error:  # fastavro raises whatever the damage leads to
            if isinstance(error, EOFError) and head.getbuffer().nbytes == _HEADER_LIMIT:
                raise LimitError(f"its header is longer than {_HEADER_LIMIT} bytes") from error
            raise DamagedDataError(
                f"this is not an Avro file: its header cannot be read ({_message(error)})"
            ) from error
        if header["magic"] != MAGIC:
            raise DamagedDataError(f"this is not an Avro file: it begins with {header['magic']!r}")
        codec = metadata.get("avro.codec", "null")
        if codec not in CODECS:
            raise DamagedDataError(f"its codec is {codec[:80]!r}; known are {', '.join(CODECS)}")
        self._unpack = CODECS[codec]
        self._sync: bytes = header["sync"]
        self._position = head.tell()
        self._size = stream.seek(0, io.SEEK_END)

    def _read_schema(self, text: str) -> None:
        try:
            self.schema = json.loads(text)
        except RecursionError:
            raise LimitError("its schema is nested deeper than a JSON parser goes") from None
        check_nesting(self.schema)
        self._types = _field_types(self.schema)
        self.names = tuple(self._types)
        self._schema = fastavro.parse_schema(_without_logical_types(self.schema))
        self._shape = shape_of(self._schema)

    def time_unit(self, field: str) -> Fraction | None:
        """Return the microseconds in one unit of a field with a logical type of time; else None."""
        declared = self._types.get(field)
        for option in declared if isinstance(declared, list) else [declared]:
            named = option.get("logicalType") if isinstance(option, dict) else None
            if isinstance(named, str) and named in _TIME_UNITS:
                return _TIME_UNITS[named]
        return None

    def records(self) -> Iterator[Item]:
        """Yield (place, record) in the order of the file, and dead letters for damaged parts."""
        return (item for _, _, items in self.blocks() for item in items)

    def count(self) -> int:
        """Return the number of records that the heads of the blocks declare."""
        total, at = 0, self._position
        while at < self._size:
            self._stream.seek(at)
            head = self._stream.read(_HEAD_BYTES)
            try:
                count, size = read_long(head, 0)
                length, end = read_long(head, size)
            except DamagedDataError:
                break
            if min(count, length) < 0:
                break
            total, at = total + count, at + end + length + SYNC_BYTES
        return total

    def sample(self, places: int) -> Iterator[Iterator[Item]]:
        """Yield the items of the blocks behind evenly spread places of the file.

        Args:
            places: The number of places; read the items of one before the next.
        """
        first, last = self._position, -1
        for place in range(places):
            start = first + (self._size - first) * place // places
            at = self._after_next_marker(start) if place else first
            if last < at < self._size:
                self._position = last = at
                yield self._block(self._name, at)

    def blocks(
        self, number: int = 1, start: int | None = None
    ) -> Iterator[tuple[int, int, Iterator[Item]]]:
        """Yield (number, first byte, items) of each block; read one to its end before the next.

        Args:
            number: The number of the block to begin with, as it was yielded here.
            start: The first byte of that block. None begins with the first block.
        """
        if start is not None:
            self._position = start
        while self._position < self._size:
            yield (
                number,
                self._position,
                self._block(f"{self._name} block {number}", self._position),
            )
            number += 1

    def _block(self, place: str, start: int) -> Iterator[Item]:
        what = f"the block at byte {start} cannot be read"
        try:
            frame = self._frame()
        except DamagedDataError as error:
            self._position = self._after_next_marker(start)
            yield self._lost(place, start, what, error)
            return
        # If the size or the marker is wrong, all records have to be sound. They are decoded twice
        # and not kept, because a few bytes can be many records.
        if frame.fault and any(
            isinstance(item, DeadLetter) for item in self._decode(frame, place, start)
        ):
            # The search begins at the start of the block: with a wrong size, its end may lie within
            # the next marker.
            self._position = self._after_next_marker(start)
            yield self._lost(place, start, what, DamagedDataError(frame.fault))
            return
        yield from self._decode(frame, place, start)
        if frame.fault:
            where = f"{place} bytes {self._position - SYNC_BYTES}-{self._position}"
            yield dead_letter(
                where,
                DAMAGED,
                f"{frame.fault}; the block's {frame.records} records are not damaged",
                b"",
            )

    def _frame(self) -> _Frame:
        """Return the block at the position, and move the position behind it.

        Raises:
            DamagedDataError: The head of the block is wrong, or the file ends before the block
                does.
            LimitError: The block is too large to be read.
        """
        start = self._position
        self._stream.seek(start)
        head = self._stream.read(_HEAD_BYTES)
        count, at = read_long(head, 0)
        size, at = read_long(head, at)
        if count < 0 or size < 0 or start + at + size + SYNC_BYTES > self._size:
            raise DamagedDataError(
                f"it says that it holds {count} records in {size} bytes, and the file ends before"
                " that"
            )
        payload, is_marked = self._payload(start + at, min(size, self._max_block + 1))
        if len(payload) > self._max_block:
            raise LimitError(f"it is longer than {self._max_block} bytes")
        self._position = start + at + len(payload) + SYNC_BYTES
        if not is_marked:
            return _Frame(count, payload, "the marker after it is not this file's")
        if len(payload) < size:
            fault = f"a marker follows after {len(payload)} of its {size} bytes"
            if self._unpack is not CODECS["null"]:
                # The records of a packed block cannot be read one by one, so it is taken as a whole
                # or not at all.
                self._position = start
                raise DamagedDataError(fault)
            return _Frame(count, payload, fault)
        return _Frame(count, payload, "")

    def _payload(self, start: int, size: int) -> tuple[bytes, bool]:
        """Read up to the first marker, or ``size`` bytes if none comes before that.

        Nothing is read behind the marker. The time for all blocks of a file is therefore
        proportional to its size, whatever their heads declare.

        Returns:
            The bytes before the marker, and whether the marker is there.
        """
        self._stream.seek(start)
        data = bytearray()
        while len(data) < size + SYNC_BYTES and (
            chunk := self._stream.read(min(_CHUNK, size + SYNC_BYTES - len(data)))
        ):
            begin = max(0, len(data) - SYNC_BYTES + 1)
            data += chunk
            if (found := data.find(self._sync, begin)) >= 0:
                return bytes(data[:found]), True
        return bytes(data[:size]), False

    def _decode(self, frame: _Frame, place: str, start: int) -> Iterator[Item]:
        """Yield the records of a block up to a damaged one, and a dead letter for the rest."""
        done, count = 0, frame.records
        try:
            data = self._unpack(frame.payload, self._max_block)
            buffer, is_measured = io.BytesIO(data), self._shape.needs_measuring
            # A record takes at least one byte, so a wrong count ends with the bytes.
            for done in range(min(count, len(data))):
                if is_measured:
                    measure(data, buffer.tell(), self._shape)
                record = fastavro.schemaless_reader(
                    buffer, self._schema, None, handle_unicode_errors="surrogateescape"
                )
                yield f"{place} record {done + 1}", record
            done = min(count, len(data))
            if done < count:
                raise LimitError(
                    f"the block says that it holds {count} records, in {len(data)} bytes; a record"
                    " takes a byte at least"
                )
            if buffer.tell() != len(data):
                raise DamagedDataError(
                    f"{len(data) - buffer.tell()} bytes follow its {count} records"
                )
        except Exception as error:  # a codec or fastavro raises whatever the damage leads to
            what = (
                f"records {done + 1} to {count} of the block"
                if done < count
                else "the end of the block"
            )
            yield self._lost(place, start, f"{what} at byte {start} cannot be read", error)

    def _lost(self, place: str, start: int, what: str, error: Exception) -> DeadLetter:
        """Return a dead letter for what lies between the start of a block and the position."""
        reason = TOO_LARGE if isinstance(error, LimitError) else DAMAGED
        return dead_letter(
            f"{place} bytes {start}-{self._position}", reason, f"{what}: {_message(error)}", b""
        )

    def _after_next_marker(self, start: int) -> int:
        self._stream.seek(start)
        kept = b""
        at = start
        while chunk := self._stream.read(_CHUNK):
            window = kept + chunk
            found = window.find(self._sync)
            if found >= 0:
                return at - len(kept) + found + SYNC_BYTES
            at += len(chunk)
            kept = window[-(SYNC_BYTES - 1) :]
        return self._size


def _message(error: Exception) -> str:
    """Return the text of an error, cut: fastavro may quote a whole schema."""
    text = str(error)[:300]
    return text if isinstance(error, DamagedDataError) else f"{type(error).__name__}: {text}"


def _field_types(schema: Any) -> dict[str, Any]:
    """Return the types of the fields of a record by name; a schema of another kind has none."""
    if not isinstance(schema, dict) or schema.get("type") != "record":
        return {}
    return {field["name"]: field["type"] for field in schema["fields"]}


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            name: _without_logical_types(value)
            for name, value in schema.items()
            if name != "logicalType"
        }
    if isinstance(schema, list):
        return [_without_logical_types(value) for value in schema]
    return schema
