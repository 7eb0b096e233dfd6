r"""Read a whole file as documents and dead letters, in the order of the file.

:mod:`transforms.read` does this for each file.

>>> import io
>>> line = b'{"id": "a", "timestamp": 0, "text": "hello"}\n'
>>> [document.id for document in read_file(io.BytesIO(line), "a.jsonl", ReadSettings())]
['a']

Each item that is read, dead letters included, has a number in the order of its file. With
``time_from="order"`` this number, added to the numbers of the files before, is its time in seconds
since 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, get_args

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError, OptionError
from model.reading.arrays import read_json
from model.reading.avro import MAX_BLOCK, AvroFile, Item
from model.reading.codecs import LimitError
from model.reading.delimited import CsvFile
from model.reading.encodings import is_utf_8, to_utf_8
from model.reading.hints import listed, missing
from model.reading.lines import unzipped
from model.reading.parsing import (
    DAMAGED,
    SCHEMA,
    TOO_LARGE,
    dead_letter,
    needed_fields,
    parse_line,
    parse_record,
)
from model.reading.settings import (
    BINARY_ENDINGS,
    TEXT_ENDINGS,
    Format,
    ReadSettings,
)
from model.records import Document
from model.times import MICROSECONDS_PER_SECOND

if TYPE_CHECKING:
    from model.reading.parquet import ParquetTable

# The number of items that are searched for a record that shows which fields may be meant.
_SEARCHED = 10


class Table(Protocol):
    """An open file whose records all have the same fields."""

    names: tuple[str, ...]

    def time_unit(self, field: str) -> Fraction | None:
        """Return the microseconds in one unit of a field, if the schema of the file says it."""
        ...

    def records(self) -> Iterator[Item]:
        """Yield (place, record) in the order of the file, and dead letters."""
        ...


def format_of(name: str, settings: ReadSettings, option: str = "--input") -> str:
    """Return the format of a file: ``jsonl``, ``csv``, ``avro`` or ``parquet``.

    Args:
        name: The name of the file.
        settings: How the file is read.
        option: The option that gives the file, for messages.

    Raises:
        OptionError: The format is ``auto``, and the name has no known ending.
    """
    if settings.format != "auto":
        return settings.format
    lower = name.lower()
    for endings, bare in ((TEXT_ENDINGS, lower.removesuffix(".gz")), (BINARY_ENDINGS, lower)):
        for ending, kind in endings.items():
            if bare.endswith(ending):
                return kind
    raise OptionError(
        option,
        name,
        f"a file that ends in {', '.join(TEXT_ENDINGS)} (or in one of them and .gz),"
        f" {' or '.join(BINARY_ENDINGS)}",
        f"Or say which it is: {', '.join(f'--format={kind}' for kind in get_args(Format)[1:])}.",
    )


def check_formats(names: Iterable[str], settings: ReadSettings, option: str = "--input") -> None:
    """Check that the format of each file is known, and that some file uses the encoding.

    Args:
        names: The names of the files.
        settings: How the files are read.
        option: The option that gives the files, for messages.

    Raises:
        OptionError: A format is unknown, or an encoding is given that no file uses.
    """
    kinds = {format_of(name, settings, option) for name in names}
    if not is_utf_8(settings.encoding) and kinds.isdisjoint(TEXT_ENDINGS.values()):
        allowed = (
            f"nothing with files of {' and '.join(sorted(kinds))}, which say how they are encoded"
        )
        raise OptionError("--encoding", settings.encoding, allowed, "Leave it out.")


def read_file(
    stream: BinaryIO, name: str, settings: ReadSettings, first: int = 0
) -> Iterator[Document | DeadLetter]:
    """Yield everything in one file.

    Args:
        stream: The bytes as they are stored. It must be able to seek unless the file has lines.
        name: The name of the file, for the places in dead letters.
        settings: How the file is read.
        first: The number of its first item, where times come from the order.
    """
    kind = format_of(name, settings)
    return (
        _read_json(stream, name, settings, first)
        if kind == "jsonl"
        else _read_table(kind, stream, name, settings, first)
    )


def _order_time(number: int, settings: ReadSettings) -> int | None:
    return number * MICROSECONDS_PER_SECOND if settings.time_from == "order" else None


def _text_of(stream: BinaryIO, settings: ReadSettings) -> Iterator[bytes]:
    """Yield the bytes of a text file, unzipped and in UTF-8."""
    return to_utf_8(unzipped(stream), settings.encoding)


def _read_json(
    stream: BinaryIO, name: str, settings: ReadSettings, first: int
) -> Iterator[Document | DeadLetter]:
    records = read_json(_text_of(stream, settings), name, settings.parse.max_document_bytes)
    for number, item in enumerate(records, first):
        if isinstance(item, DeadLetter):
            yield item
        else:
            place, line = item
            yield parse_line(line, place, settings.parse, _order_time(number, settings))


def _read_table(
    kind: str, stream: BinaryIO, name: str, settings: ReadSettings, first: int
) -> Iterator[Document | DeadLetter]:
    source = _open(_TABLES[kind], stream, name, settings)
    if isinstance(source, DeadLetter):
        yield source
    elif source is not None:
        unit = source.time_unit(settings.parse.fields.timestamp)
        for number, item in enumerate(source.records(), first):
            yield parse_item(item, settings, unit, _order_time(number, settings))


def _open_csv(stream: BinaryIO, name: str, settings: ReadSettings) -> CsvFile | None:
    table = CsvFile(_text_of(stream, settings), name, settings.parse.max_document_bytes)
    return table if table.names else None


def _open_avro(stream: BinaryIO, name: str, settings: ReadSettings) -> AvroFile:
    # A document and the other fields of its record must fit into a block.
    return AvroFile(stream, name, max(MAX_BLOCK, 2 * settings.parse.max_document_bytes))


def _open_parquet(stream: BinaryIO, name: str, settings: ReadSettings) -> ParquetTable:
    # Imported here: most runs read no Parquet.
    from model.reading.parquet import ParquetTable

    return ParquetTable(
        stream,
        name,
        (
            *needed_fields(settings.parse, settings.time_from == "field"),
            *settings.parse.fields.optional(),
        ),
    )


_TABLES: dict[str, Callable[[BinaryIO, str, ReadSettings], Any]] = {
    "csv": _open_csv,
    "avro": _open_avro,
    "parquet": _open_parquet,
}


def open_avro(stream: BinaryIO, name: str, settings: ReadSettings) -> AvroFile | DeadLetter | None:
    """Open an Avro file.

    Returns:
        The file; a dead letter if it cannot be read or lacks fields; None if it is empty.
    """
    found: AvroFile | DeadLetter | None = _open(_TABLES["avro"], stream, name, settings)
    return found


def _open(
    opened: Callable[[BinaryIO, str, ReadSettings], Any],
    stream: BinaryIO,
    name: str,
    settings: ReadSettings,
) -> Any:
    """Open a table.

    Returns:
        The table; a dead letter if the file cannot be read or lacks fields; None if it is empty.
    """
    try:
        table: Table | None = opened(stream, name, settings)
    except DamagedDataError as error:
        reason = TOO_LARGE if isinstance(error, LimitError) else DAMAGED
        return (
            dead_letter(name, reason, f"the file cannot be read: {error}", b"")
            if stream.seek(0, 2)
            else None
        )
    if table is None or not (wrong := _wrong_names(table, settings)):
        return table
    return dead_letter(name, SCHEMA, wrong, listed(table.names).encode())


def _wrong_names(table: Table, settings: ReadSettings) -> str | None:
    """Return what is wrong with the field names of a file and the remedy, or None."""
    needed = needed_fields(settings.parse, settings.time_from == "field")
    if lacking := {
        field: remedy for field, (_, remedy) in needed.items() if field not in table.names
    }:
        record = next(
            (
                item[1]
                for item in islice(table.records(), _SEARCHED)
                if not isinstance(item, DeadLetter)
            ),
            {},
        )
        return missing("the file", lacking, table.names, record)
    if repeated := [
        field
        for field in (*needed, *settings.parse.fields.optional())
        if table.names.count(field) > 1
    ]:
        return f"the file has more than one field {listed(repeated)}"
    return None


def parse_item(
    item: Item, settings: ReadSettings, unit: Fraction | None, time: int | None = None
) -> Document | DeadLetter:
    """Parse a record of a table.

    Args:
        item: A (place, record), or a dead letter, which is returned as it is.
        settings: How the file is read.
        unit: As for :func:`model.reading.parsing.parse_record`.
        time: As for :func:`model.reading.parsing.parse_record`.
    """
    if isinstance(item, DeadLetter):
        return item
    place, record = item
    return parse_record(record, place, settings.parse, time, unit)
