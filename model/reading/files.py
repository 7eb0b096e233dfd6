r"""A whole file to documents and dead letters, in the order of the file: what
:mod:`transforms.read` does for each file.

>>> import io
>>> line = b'{"id": "a", "timestamp": 0, "text": "hello"}\n'
>>> [document.id for document in read_file(io.BytesIO(line), "a.jsonl", ReadSettings())]
['a']

Each item that is read, dead letters included, has a number in the order of its file; where times
come from the order, that number (added to the numbers of the files before) is its time in seconds
since 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any, BinaryIO, Literal, Protocol, get_args

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError, OptionError, above_zero, one_of
from model.reading.arrays import read_json
from model.reading.avro import MAX_BLOCK, AvroFile, Item
from model.reading.codecs import LimitError
from model.reading.delimited import CsvFile
from model.reading.encodings import check_encoding, is_utf_8, recoded
from model.reading.hints import listed, missing
from model.reading.lines import inflated
from model.reading.parquet import ParquetTable
from model.reading.parsing import (
    DAMAGED,
    MEGABYTE,
    SCHEMA,
    TOO_LARGE,
    ParseSettings,
    dead_letter,
    needed_fields,
    parse_line,
    parse_record,
)
from model.records import Document
from model.times import MICROSECONDS_PER_SECOND

Format = Literal["auto", "jsonl", "csv", "avro", "parquet"]
TimeFrom = Literal["field", "order"]

# Files of text, which may be gzipped and in any encoding.
TEXT_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
}
BINARY_ENDINGS = {".avro": "avro", ".parquet": "parquet"}
# So many items are looked at for a record that shows which fields may be meant.
_TRIED = 10


@dataclass(frozen=True)
class ReadSettings:
    """How sources are read.

    Attributes:
        parse: names of the fields, largest document, units of time, where ids come from. format:
        ``jsonl`` (one array of records, too), ``csv``, ``avro``, ``parquet``, or ``auto``: as the
        file's name ends.
            Files of JSON and CSV may be gzipped.
        time_from: ``field``, or ``order``: the source has no times, and its order (files by name,
        then place) stands in for them. encoding: of files of JSON and CSV.

    Raises:
        OptionError: format, time_from or encoding is none of those, or no document would be small
            enough.
    """

    parse: ParseSettings = field(default_factory=ParseSettings)
    format: Format = "auto"
    time_from: TimeFrom = "field"
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        one_of("--format", self.format, get_args(Format))
        one_of("--time_from", self.time_from, get_args(TimeFrom))
        above_zero("--max_document_mb", self.parse.max_document_bytes / MEGABYTE, "1 and 100")
        check_encoding(self.encoding)


class Table(Protocol):
    """An open file whose records all have the same fields."""

    names: tuple[str, ...]

    def time_unit(self, field: str) -> Fraction | None:
        """Microseconds in one unit of a field, where the file's schema says it."""
        ...

    def records(self) -> Iterator[Item]:
        """(place, record) in the order of the file, and dead letters."""
        ...


def format_of(name: str, settings: ReadSettings) -> str:
    """``jsonl``, ``csv``, ``avro`` or ``parquet``.

    Raises:
        OptionError: it is to be told from the file's name, which says nothing.
    """
    if settings.format != "auto":
        return settings.format
    lower = name.lower()
    for endings, bare in ((TEXT_ENDINGS, lower.removesuffix(".gz")), (BINARY_ENDINGS, lower)):
        for ending, kind in endings.items():
            if bare.endswith(ending):
                return kind
    raise OptionError(
        "--input",
        name,
        f"a file that ends in {', '.join(TEXT_ENDINGS)} (or in one of them and .gz),"
        f" {' or '.join(BINARY_ENDINGS)}",
        f"Or say which it is: {', '.join(f'--format={kind}' for kind in get_args(Format)[1:])}.",
    )


def check_formats(names: Iterable[str], settings: ReadSettings) -> None:
    """Check that each file's format is known, and that an encoding is given only where one is used.

    Raises:
        OptionError: it is not so.
    """
    kinds = {format_of(name, settings) for name in names}
    if not is_utf_8(settings.encoding) and kinds.isdisjoint(TEXT_ENDINGS.values()):
        allowed = (
            f"nothing with files of {' and '.join(sorted(kinds))}, which say how they are encoded"
        )
        raise OptionError("--encoding", settings.encoding, allowed, "Leave it out.")


def read_file(
    stream: BinaryIO, name: str, settings: ReadSettings, first: int = 0
) -> Iterator[Document | DeadLetter]:
    """Everything in one file.

    Args:
        stream: its bytes as they are stored, able to seek where they are not lines. name: for the
        places in dead letters. first: the number of its first item, where times come from the
        order.
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
    """The bytes of a file of text, unzipped, in UTF-8."""
    return recoded(inflated(stream), settings.encoding)


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
    # A document must fit into a block, with what is around it.
    return AvroFile(stream, name, max(MAX_BLOCK, 2 * settings.parse.max_document_bytes))


def _open_parquet(stream: BinaryIO, name: str, settings: ReadSettings) -> ParquetTable:
    return ParquetTable(
        stream,
        name,
        (
            *needed_fields(settings.parse, settings.time_from == "field"),
            settings.parse.fields.label,
        ),
    )


_TABLES: dict[str, Callable[[BinaryIO, str, ReadSettings], Any]] = {
    "csv": _open_csv,
    "avro": _open_avro,
    "parquet": _open_parquet,
}


def open_avro(stream: BinaryIO, name: str, settings: ReadSettings) -> AvroFile | DeadLetter | None:
    """The file, or a dead letter for one that cannot be read or lacks fields; None for an empty
    one.
    """
    found: AvroFile | DeadLetter | None = _open(_TABLES["avro"], stream, name, settings)
    return found


def _open(
    opened: Callable[[BinaryIO, str, ReadSettings], Any],
    stream: BinaryIO,
    name: str,
    settings: ReadSettings,
) -> Any:
    """A Table, or a dead letter for a file that cannot be read or lacks fields; None for an
    empty one.
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
    """What is wrong with the names of a file's fields, and what to do about it; None if nothing
    is.
    """
    needed = needed_fields(settings.parse, settings.time_from == "field")
    if lacking := {
        field: remedy for field, (_, remedy) in needed.items() if field not in table.names
    }:
        record = next(
            (
                item[1]
                for item in islice(table.records(), _TRIED)
                if not isinstance(item, DeadLetter)
            ),
            {},
        )
        return missing("the file", lacking, table.names, record)
    if repeated := [
        field for field in (*needed, settings.parse.fields.label) if table.names.count(field) > 1
    ]:
        return f"the file has more than one field {listed(repeated)}"
    return None


def parse_item(
    item: Item, settings: ReadSettings, unit: Fraction | None, time: int | None = None
) -> Document | DeadLetter:
    """A record of a table; ``unit`` and ``time`` are those of
    :func:`model.reading.parsing.parse_record`.
    """
    if isinstance(item, DeadLetter):
        return item
    place, record = item
    return parse_record(record, place, settings.parse, time, unit)
