"""Read the records of a Parquet file, damaged or not, one batch of rows at a time.

Only the wanted columns are read, in batches of about :data:`_BATCH_BYTES`. A small row group may
store a text once and refer to it in any number of rows. Its texts stay in such a dictionary, so
that they are in memory once. A larger one is read in the fewer rows, the larger the dictionary is,
because each row may be its longest text. A row group that cannot be read, or that would take more
memory than :data:`_MOST_UNPACKED` allows, costs the rest of that group, and reading continues with
the next.

A column of timestamps or dates gives whole numbers of the unit :meth:`ParquetTable.time_unit`,
because a time outside Python's range would fail its whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from fractions import Fraction
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError
from model.reading.parsing import DAMAGED, dead_letter
from model.reading.time_forms import UNITS
from model.times import MICROSECONDS_PER_SECOND

# The size of a batch, in the encoding of the file.
_BATCH_BYTES = 2**22
_MOST_ROWS = 256
# Texts of a batch that a dictionary repeats, and the largest dictionary. Writers keep 1 MB.
_MOST_REPEATED = 2**27
_MOST_DICTIONARY = 2**26
# A column of a row group that is larger than this, and a thousand times as large as in the file, is
# no text that anybody wrote.
_MOST_UNPACKED = 2**26
_MOST_RATIO = 1000
# The kind of a page that is a dictionary, and the sign of a number in the head of a page.
_DICTIONARY, _NUMBER = 2, 0x15
_READ_BYTES = 2**20
_DAY = Fraction(86_400 * MICROSECONDS_PER_SECOND)


class ParquetTable:
    """An open Parquet file.

    Attributes:
        names: The names of its columns, the outermost ones if they are nested.
        rows: The number of its rows.

    Args:
        stream: The bytes. It must be able to seek.
        name: The name of the file, for places such as ``name row group 2 row 17``.
        wanted: The columns to read, which the file may lack; None for all.

    Raises:
        DamagedDataError: The footer cannot be read.
    """

    def __init__(self, stream: BinaryIO, name: str, wanted: Collection[str] | None) -> None:
        self._name, self._stream = name, stream
        try:
            found = self._open(None)
            self._metadata, self._schema = found.metadata, found.schema_arrow
        except Exception as error:  # Arrow raises whatever the damage leads to
            raise DamagedDataError(
                f"this is not a Parquet file: {type(error).__name__}: {error}"
            ) from error
        self.names: tuple[str, ...] = tuple(self._schema.names)
        self.rows: int = self._metadata.num_rows
        self._wanted = [
            column
            for column in dict.fromkeys(wanted or self.names)
            if self.names.count(column) == 1
        ]

    def time_unit(self, field: str) -> Fraction | None:
        """Return the microseconds in one unit of a column of times; None for other types."""
        return _unit(self._schema.field(field).type) if field in self._wanted else None

    def records(self, step: int = 1) -> Iterator[tuple[str, dict[str, Any]] | DeadLetter]:
        """Yield (place, record) in the order of the file, and dead letters for damaged groups.

        Args:
            step: The first row of so many is read.
        """
        for group in range(self._metadata.num_row_groups):
            place, row = f"{self._name} row group {group + 1}", 0
            try:
                for batch in self._batches(group):
                    columns = [(column, _reader(batch.column(column))) for column in self._wanted]
                    start = row
                    for at in range(-start % step, batch.num_rows, step):
                        row = start + at + 1
                        yield f"{place} row {row}", {column: read(at) for column, read in columns}
                    row = start + batch.num_rows
            except Exception as error:  # as above
                detail = (
                    f"the rows from {row + 1} on cannot be read: {type(error).__name__}: {error}"
                )
                yield dead_letter(place, DAMAGED, detail, b"")

    def _batches(self, group: int) -> Iterator[Any]:
        about = self._metadata.row_group(group)
        size = max(1, about.total_byte_size)
        texts = (
            [column for column in self._wanted if _is_text(self._schema.field(column).type)]
            if size <= _BATCH_BYTES
            else None
        )
        rows = max(1, min(_MOST_ROWS, _BATCH_BYTES * about.num_rows // size))
        largest = max(map(self._checked_dictionary, self._chunks(about)), default=0)
        if largest and texts is None:
            rows = max(1, min(rows, _MOST_REPEATED // largest))
        found: Iterator[Any] = self._open(texts).iter_batches(
            rows, row_groups=[group], columns=self._wanted, use_threads=False
        )
        return found

    def _chunks(self, about: Any) -> Iterator[Any]:
        """Yield what the footer says of each column that is wanted, or in one that is."""
        for number in range(about.num_columns):
            chunk = about.column(number)
            if chunk.path_in_schema.partition(".")[0] in self._wanted:
                yield chunk

    def _checked_dictionary(self, chunk: Any) -> int:
        """Return the bytes of the dictionary of a column, 0 for none, before it is unpacked.

        Raises:
            DamagedDataError: The column would take too much memory.
        """
        unpacked, packed = chunk.total_uncompressed_size, chunk.total_compressed_size
        name = chunk.path_in_schema
        if unpacked > max(_MOST_UNPACKED, _MOST_RATIO * packed):
            raise DamagedDataError(
                f"column {name!r} would be {unpacked:,} bytes, of {packed:,} in the file"
            )
        first = chunk.dictionary_page_offset if chunk.has_dictionary_page else None
        self._stream.seek(chunk.data_page_offset if first is None else first)
        kind, size = _page(self._stream.read(16))
        if kind == _DICTIONARY and size > _MOST_DICTIONARY:
            raise DamagedDataError(
                f"column {name!r} has a dictionary of {size:,} bytes; allowed are"
                f" {_MOST_DICTIONARY:,}. Write it without a dictionary"
            )
        return size if kind == _DICTIONARY else 0

    def _open(self, texts: list[str] | None) -> Any:
        """Open the file, with the columns ``texts`` read as dictionaries."""
        self._stream.seek(0)
        return pq.ParquetFile(
            self._stream, read_dictionary=texts, buffer_size=_READ_BYTES, pre_buffer=False
        )


def _page(head: bytes) -> tuple[int, int]:
    """Return the kind of a page and its size in bytes, by which Arrow unpacks it."""
    numbers, at = [], 0
    for _ in range(2):
        if head[at] != _NUMBER:
            raise DamagedDataError("a page has no size")
        end = next(n for n in range(at + 1, len(head)) if head[n] < 0x80)
        value = sum((head[n] & 0x7F) << 7 * (n - at - 1) for n in range(at + 1, end + 1))
        numbers.append(value >> 1)
        at = end + 1
    return numbers[0], numbers[1]


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _unit(kind: Any) -> Fraction | None:
    if pa.types.is_timestamp(kind):
        return UNITS[kind.unit]
    if pa.types.is_date32(kind):
        return _DAY
    return UNITS["ms"] if pa.types.is_date64(kind) else None


def _reader(column: Any) -> Callable[[int], Any]:
    """Return a function from a row to its Python value.

    A time is a whole number. A text that is not UTF-8 has surrogates.
    """
    if _unit(column.type) is not None:
        column = column.view(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    if pa.types.is_dictionary(column.type) and not _is_text(column.type.value_type):
        column = column.dictionary_decode()
    is_dictionary = pa.types.is_dictionary(column.type)
    if not is_dictionary and not _is_text(column.type):
        return lambda row: column[row].as_py()

    def text(row: int) -> str | None:
        value = (
            column.dictionary[column.indices[row].as_py()]
            if is_dictionary and column[row].is_valid
            else column[row]
        )
        return (
            bytes(value.as_buffer()).decode("utf-8", "surrogateescape") if value.is_valid else None
        )

    return text
