r"""A whole file to documents and dead letters, in the order of the file: what :mod:`transforms.read` does for each file.

>>> import io
>>> line = b'{"id": "a", "timestamp": 0, "text": "hello"}\n'
>>> [document.id for document in read_file(io.BytesIO(line), "a.jsonl", ReadSettings())]
['a']

Each item that is read, dead letters included, has a number in the order of its file; where times come from the order, that number
(added to the numbers of the files before) is its time in seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import BinaryIO, Literal, get_args

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError, OptionError, above_zero, one_of
from model.reading.avro import MAX_BLOCK, AvroFile, Item
from model.reading.codecs import LimitError
from model.reading.lines import read_lines
from model.reading.parsing import DAMAGED, MEGABYTE, SCHEMA, TOO_LARGE, ParseSettings, dead_letter, parse_line, parse_record
from model.records import Document
from model.times import MICROSECONDS_PER_SECOND

Format = Literal["auto", "jsonl", "avro"]
TimeFrom = Literal["field", "order"]

_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".avro": "avro"}


@dataclass(frozen=True)
class ReadSettings:
    """How sources are read.

    Attributes:
        parse: names of the fields, largest document.
        format: ``jsonl``, ``avro``, or ``auto``: as the file's name ends. A JSON-lines file may be gzipped.
        time_from: ``field``, or ``order``: the source has no times, and its order (files by name, then place) stands in for them.

    Raises:
        OptionError: format or time_from is none of those, or no document would be small enough.
    """

    parse: ParseSettings = field(default_factory=ParseSettings)
    format: Format = "auto"
    time_from: TimeFrom = "field"

    def __post_init__(self) -> None:
        one_of("--format", self.format, get_args(Format))
        one_of("--time_from", self.time_from, get_args(TimeFrom))
        above_zero("--max_document_mb", self.parse.max_document_bytes / MEGABYTE, "1 and 100")


def format_of(name: str, settings: ReadSettings) -> str:
    """``jsonl`` or ``avro``.

    Raises:
        OptionError: it is to be told from the file's name, which says nothing.
    """
    if settings.format != "auto":
        return settings.format
    lower = name.lower().removesuffix(".gz")
    for ending, kind in _ENDINGS.items():
        if lower.endswith(ending):
            return kind
    raise OptionError(
        "--input",
        name,
        "a file that ends in " + ", ".join(_ENDINGS) + " (or in one of them and .gz)",
        "Or say --format=jsonl or --format=avro.",
    )


def read_file(stream: BinaryIO, name: str, settings: ReadSettings, first: int = 0) -> Iterator[Document | DeadLetter]:
    """Everything in one file.

    Args:
        stream: its bytes as they are stored, able to seek where it is Avro. name: for the places in dead letters.
        first: the number of its first item, where times come from the order.
    """
    pieces = _read_lines if format_of(name, settings) == "jsonl" else _read_avro
    return pieces(stream, name, settings, first)


def _order_time(number: int, settings: ReadSettings) -> int | None:
    return number * MICROSECONDS_PER_SECOND if settings.time_from == "order" else None


def _read_lines(stream: BinaryIO, name: str, settings: ReadSettings, first: int) -> Iterator[Document | DeadLetter]:
    for number, item in enumerate(read_lines(stream, name, settings.parse.max_document_bytes), first):
        if isinstance(item, DeadLetter):
            yield item
        else:
            place, line = item
            yield parse_line(line, place, settings.parse, _order_time(number, settings))


def _read_avro(stream: BinaryIO, name: str, settings: ReadSettings, first: int) -> Iterator[Document | DeadLetter]:
    source = open_avro(stream, name, settings)
    if isinstance(source, DeadLetter):
        yield source
    elif source is not None:
        unit = source.time_unit(settings.parse.fields.timestamp)
        for number, item in enumerate(source.records(), first):
            yield parse_item(item, settings, unit, _order_time(number, settings))


def open_avro(stream: BinaryIO, name: str, settings: ReadSettings) -> AvroFile | DeadLetter | None:
    """The file, or a dead letter for one that cannot be read or lacks fields; None for an empty one."""
    try:
        # A document must fit into a block, with what is around it.
        source = AvroFile(stream, name, max(MAX_BLOCK, 2 * settings.parse.max_document_bytes))
    except DamagedDataError as error:
        reason = TOO_LARGE if isinstance(error, LimitError) else DAMAGED
        return dead_letter(name, reason, f"the file cannot be read: {error}", b"") if stream.seek(0, 2) else None
    missing = source.missing(_needed(settings))
    if missing:
        detail = f"its schema lacks {', '.join(missing)}; name the fields with --id_field, --timestamp_field, --text_field, --key_field"
        return dead_letter(name, SCHEMA, detail, str(source.schema).encode())
    return source


def parse_item(item: Item, settings: ReadSettings, unit: Fraction, time: int | None = None) -> Document | DeadLetter:
    """A record of an Avro file; ``unit`` and ``time`` are those of :func:`model.reading.parsing.parse_record`."""
    if isinstance(item, DeadLetter):
        return item
    place, record = item
    return parse_record(record, place, settings.parse, time, unit)


def _needed(settings: ReadSettings) -> Iterable[str]:
    fields = settings.parse.fields
    times = (fields.timestamp,) if settings.time_from == "field" else ()
    keys = (fields.key,) if fields.key is not None else ()
    return (fields.id, *times, fields.text, *keys)
