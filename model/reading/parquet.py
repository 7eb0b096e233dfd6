"""Read the records of a Parquet file, damaged or not, in a process with limits.

Only the wanted columns are read, in batches of a few rows. A row group that cannot be read, or that
takes more memory than the process may have, costs the rest of that group, and reading continues
with the next. Arrow allocates all the memory that a file asks for, and a few kilobytes can ask for
gigabytes. Only :mod:`beam_topics.model.reading.child`, which has limits, imports this module.

A column of timestamps or dates gives whole numbers of the unit in :attr:`ParquetTable.units`,
because a time outside Python's range would fail its whole batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.avro import Item

# The most rows of a batch. Each may hold the largest document.
_MOST_ROWS = 64
_READ_BYTES = 2**20


class ParquetTable:
    """An open Parquet file.

    Attributes:
        names: The names of its columns, the outermost ones if they are nested.
        units: The unit of each wanted column of times.

    Args:
        stream: The bytes. It must be able to seek.
        name: The name of the file, for places such as ``name row group 2 row 17``.
        wanted: The columns to read, which the file may lack; None for all.
        rows: The number of rows that are in memory together.

    Raises:
        DamagedDataError: The footer cannot be read.
    """

    def __init__(
        self, stream: BinaryIO, name: str, wanted: Collection[str] | None, rows: int
    ) -> None:
        self._name, self._rows = name, max(1, min(rows, _MOST_ROWS))
        try:
            self._file = pq.ParquetFile(stream, buffer_size=_READ_BYTES, pre_buffer=False)
            schema = self._file.schema_arrow
        except Exception as error:  # Arrow raises whatever the damage leads to
            raise DamagedDataError(
                f"this is not a Parquet file: {type(error).__name__}: {error}"
            ) from error
        self.names: tuple[str, ...] = tuple(schema.names)
        self._wanted = [
            column
            for column in dict.fromkeys(wanted or self.names)
            if self.names.count(column) == 1
        ]
        units = ((column, _unit(schema.field(column).type)) for column in self._wanted)
        self.units = {column: unit for column, unit in units if unit is not None}

    def blocks(self, step: int = 1) -> Iterator[tuple[int, int, Iterator[Item]]]:
        """Yield (number, 0, items) of each row group.

        Args:
            step: One row in every ``step`` is read, the first.
        """
        for group in range(self._file.metadata.num_row_groups):
            yield group + 1, 0, self._group(group, step)

    def sample(self, wanted: int) -> tuple[int, Iterator[tuple[int, int, Iterator[Item]]]]:
        """Return the number of all rows, and row groups with about this many spread rows."""
        rows = self._file.metadata.num_rows
        return rows, self.blocks(max(-(-rows // wanted), 1))

    def _group(self, group: int, step: int) -> Iterator[Item]:
        place, row = f"{self._name} row group {group + 1}", 0
        try:
            for batch in self._file.iter_batches(
                self._rows, row_groups=[group], columns=self._wanted, use_threads=False
            ):
                columns = [(column, _reader(batch.column(column))) for column in self._wanted]
                start = row
                for at in range(-start % step, batch.num_rows, step):
                    row = start + at + 1
                    yield _row(f"{place} row {row}", columns, at)
                row = start + batch.num_rows
        except Exception as error:  # as above
            yield place, f"the rows from {row + 1} on cannot be read", error


def _row(place: str, columns: Sequence[tuple[str, Callable[[int], Any]]], at: int) -> Item:
    try:
        return place, {column: read(at) for column, read in columns}
    except Exception as error:  # as above; the rows after it have their own values
        return place, "the row cannot be read", error


def _unit(kind: Any) -> str | None:
    if pa.types.is_timestamp(kind):
        unit: str = kind.unit
        return unit
    if pa.types.is_date32(kind):
        return "d"
    return "ms" if pa.types.is_date64(kind) else None


def _reader(column: Any) -> Callable[[int], Any]:
    """Return a function from a row to its Python value.

    A time is a whole number. A text that is not UTF-8 has surrogates.
    """
    if _unit(column.type) is not None:
        column = column.view(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return lambda row: column[row].as_py()

    def text(row: int) -> str | None:
        value = column[row]
        return (
            bytes(value.as_buffer()).decode("utf-8", "surrogateescape") if value.is_valid else None
        )

    return text
