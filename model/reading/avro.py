"""Read the records of an Avro file, damaged or not, in a process with limits.

An Avro file is a header (schema, codec, a sync marker of 16 random bytes) and blocks. A block is a
count of records, a size, that many bytes, and the marker. A block that cannot be read costs that
block alone, and reading continues after the next marker. This module frames and unpacks the
blocks, so that every fault has a place. fastavro decodes the records.

fastavro trusts every count that it reads, so a few bytes can exhaust the memory or the time of a
process. Only :mod:`beam_topics.model.reading.child`, which has limits, imports this
module.

Logical types are dropped for decoding, because a time outside Python's range would fail its whole
block. Times are whole numbers of the unit in :attr:`AvroFile.units`.
"""

from __future__ import annotations

import bz2
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

import cramjam
import fastavro
from fastavro import _read_py

from beam_topics.model.errors import DamagedDataError, LimitError

# (place, record), or (place, what cannot be read, why).
Item = tuple[str, dict[str, Any]] | tuple[str, str, Exception]

MAGIC = b"Obj\x01"
SYNC_BYTES = 16
# The number of blocks of a sample.
_PLACES = 40
_CHUNK = 2**16
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
# The words of :data:`beam_topics.model.reading.tables.UNITS`.
_TIME_UNITS = {"date": "d"} | {
    f"{local}timestamp-{name}": unit
    for local in ("", "local-")
    for name, unit in (("millis", "ms"), ("micros", "us"), ("nanos", "ns"))
}


def _snappy(payload: bytes) -> bytes:
    """Unpack snappy data, which four bytes of CRC-32 of the result follow."""
    data = bytes(cramjam.snappy.decompress_raw(payload[:-4]))
    if zlib.crc32(data) != int.from_bytes(payload[-4:], "big"):
        raise DamagedDataError("its checksum is wrong")
    return data


CODECS: dict[str, Callable[[bytes], Any]] = {
    "null": bytes,
    "deflate": partial(zlib.decompress, wbits=-15),
    "snappy": _snappy,
    "bzip2": bz2.decompress,
    "xz": lzma.decompress,
    "zstandard": cramjam.zstd.decompress,
}


class AvroFile:
    """An open Avro file.

    Attributes:
        names: The names of the fields of its records.
        units: The unit of each field with a logical type of time.

    Args:
        stream: The bytes. It must be able to seek.
        name: The name of the file, for the places of its items.

    Raises:
        DamagedDataError: The header cannot be read, or the codec is unknown.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name
        try:
            header = fastavro.schemaless_reader(stream, _HEADER, None)
            metadata = {key: value.decode() for key, value in header["meta"].items()}
            schema = json.loads(metadata["avro.schema"])
            is_record = isinstance(schema, dict) and schema.get("type") == "record"
            types = {one["name"]: one["type"] for one in schema["fields"]} if is_record else {}
            self._schema = fastavro.parse_schema(_without_logical_types(schema))
            if endless := _recursive(self._schema, always=True):
                raise DamagedDataError(f"each {endless} of its schema holds another one, for ever")
            # Of values that hold one another Python counts the levels, and C does not.
            reader = _read_py if _recursive(self._schema, always=False) else fastavro
            self._record = reader.schemaless_reader
        except Exception as error:  # fastavro raises whatever the damage leads to
            raise DamagedDataError(
                "this is not an Avro file: its header cannot be read"
                f" ({type(error).__name__}: {str(error)[:300]})"
            ) from error
        if header["magic"] != MAGIC:
            raise DamagedDataError(f"this is not an Avro file: it begins with {header['magic']!r}")
        codec = metadata.get("avro.codec", "null")
        if codec not in CODECS:
            raise DamagedDataError(f"its codec is {codec[:80]!r}; known are {', '.join(CODECS)}")
        self.names = tuple(types)
        units = ((name, _time_unit(declared)) for name, declared in types.items())
        self.units = {name: unit for name, unit in units if unit is not None}
        self._unpack, self._sync = CODECS[codec], header["sync"]
        self._next = stream.tell()
        self._size = stream.seek(0, io.SEEK_END)

    def blocks(
        self, number: int = 1, start: int | None = None
    ) -> Iterator[tuple[int, int, Iterator[Item]]]:
        """Yield (number, first byte, items) of each block; read one to its end before the next.

        Args:
            number: The number of the block to begin with, as it was yielded here.
            start: The first byte of that block. None begins with the first block.
        """
        self._next = self._next if start is None else start
        while self._next < self._size:
            yield number, self._next, self._block(f"{self._name} block {number}", self._next)
            number += 1

    def sample(self, wanted: int) -> tuple[int, Iterator[tuple[int, int, Iterator[Item]]]]:
        """Return the number of all records by the heads of the blocks, and some spread blocks.

        Args:
            wanted: The number of records in all of these blocks together.
        """
        heads, at = list[tuple[int, int]](), self._next
        while at < self._size:
            try:
                count, size = self._head(at)
            except (DamagedDataError, EOFError):
                break
            heads.append((at, count))
            at = self._stream.tell() + size + SYNC_BYTES
        chosen = heads[:: -(-len(heads) // _PLACES) or 1]
        blocks = (
            (0, start, islice(self._block(self._name, start), wanted // _PLACES))
            for start, _ in chosen
        )
        return sum(count for _, count in heads), blocks

    def _block(self, place: str, start: int) -> Iterator[Item]:
        try:
            count, size = self._head(start)
            payload = self._stream.read(size)
            if self._stream.read(SYNC_BYTES) != self._sync:
                raise DamagedDataError("the marker after it is not this file's")
            self._next = self._stream.tell()
        except (DamagedDataError, EOFError, MemoryError) as error:
            # The search begins at the start of the block, because its size may be wrong.
            self._next = self._after_next_marker(start)
            where = f"{place} bytes {start}-{self._next}"
            yield where, f"the block at byte {start} cannot be read", error
            return
        yield from self._decoded(count, payload, place, start)

    def _head(self, start: int) -> tuple[int, int]:
        """Return the number of records in a block and its size; go to its first record.

        Raises:
            DamagedDataError: The file ends before the block does.
            EOFError: The file ends before that.
        """
        self._stream.seek(start)
        count, size = (fastavro.schemaless_reader(self._stream, "long", None) for _ in range(2))
        if min(count, size) < 0 or self._stream.tell() + size + SYNC_BYTES > self._size:
            raise DamagedDataError(
                f"it says that it holds {count} records in {size} bytes, and the file ends before"
                " that"
            )
        return count, size

    def _decoded(self, count: int, payload: bytes, place: str, start: int) -> Iterator[Item]:
        """Yield the records of a block up to a damaged one, and what is wrong with the rest."""
        done = 0
        try:
            data = self._unpack(payload)
            buffer, length = io.BytesIO(data), len(data)
            # A record takes at least one byte, so a wrong count ends with the bytes.
            for done in range(min(count, length)):
                record: Any = self._record(
                    buffer, self._schema, None, handle_unicode_errors="surrogateescape"
                )
                yield f"{place} record {done + 1}", record
            done = min(count, length)
            if done < count:
                raise LimitError(
                    f"the block says that it holds {count} records, in {length} bytes; a record"
                    " takes a byte at least"
                )
            if buffer.tell() != length:
                raise DamagedDataError(f"{length - buffer.tell()} bytes follow its {count} records")
        except Exception as error:  # a codec or fastavro raises whatever the damage leads to
            what = (
                f"records {done + 1} to {count} of the block"
                if done < count
                else "the end of the block"
            )
            where = f"{place} bytes {start}-{self._next}"
            yield where, f"{what} at byte {start} cannot be read", error

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


def _recursive(schema: Any, always: bool) -> str | None:
    """Return the name of a record that may hold another one of itself, or always does."""
    records: dict[str, list[Any]] = {}
    found, ended = [schema], set[str]()
    for one in found:
        if isinstance(one, dict):
            if isinstance(one.get("fields"), list):
                records[one["name"]] = [field["type"] for field in one["fields"]]
            inner = (one.get("type"), one.get("items"), one.get("values"))
            found += [*inner, *records.get(one.get("name", ""), ())]
        elif isinstance(one, list):
            found += one

    def ends(kind: Any) -> bool:
        if isinstance(kind, list):
            return (any if always else all)(map(ends, kind))
        if isinstance(kind, dict):
            inner = None if always else kind.get("items", kind.get("values"))
            return kind["name"] in ended if "fields" in kind else ends(inner or kind["type"])
        return kind not in records or kind in ended

    while more := [one for one in records if one not in ended and all(map(ends, records[one]))]:
        ended.update(more)
    return next((one for one in reversed(records) if one not in ended), None)


def _time_unit(declared: Any) -> str | None:
    each = declared if isinstance(declared, list) else [declared]
    named = (str(one.get("logicalType")) for one in each if isinstance(one, dict))
    return next((_TIME_UNITS[name] for name in named if name in _TIME_UNITS), None)


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
