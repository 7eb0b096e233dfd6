r"""Read a whole file as documents and dead letters, in the order of the file.

:mod:`beam_topics.transforms.read` does this for each file.

>>> import io
>>> line = b'{"id": "a", "timestamp": 0, "text": "hello"}\n'
>>> [document.id for document in read_file(io.BytesIO(line), "a.jsonl", ReadSettings())]
['a']

Each item that is read, dead letters included, has a number in the order of its file. With
``time_from="order"`` this number, added to the numbers of the files before, is its time in seconds
since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, BinaryIO, get_args

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError
from beam_topics.model.reading.chats import JsonFile
from beam_topics.model.reading.encodings import is_utf_8
from beam_topics.model.reading.inner import inner_records
from beam_topics.model.reading.opening import checked, opened
from beam_topics.model.reading.parsing import (
    MISSING_TIMESTAMP,
    Table,
    dead_letter,
    parse_record,
    writable,
)
from beam_topics.model.reading.parts import Part
from beam_topics.model.reading.settings import (
    BINARY_ENDINGS,
    ENCODED,
    TEXT_ENDINGS,
    Format,
    ReadSettings,
)
from beam_topics.model.reading.sources import Source
from beam_topics.model.reading.texts import time_of_path
from beam_topics.model.times import MICROSECONDS_PER_SECOND

_NO_DATE = (
    "the path of the file has no date. Read such files alone, with --time_from=order or"
    " --timestamp_field."
)
# The dead letters of a file, or of a part; those beyond them become one for each reason.
MOST_REFUSED = 10_000
# A place and a record.
Item = tuple[str, Mapping[str, Any]] | DeadLetter


def format_of(name: str, settings: ReadSettings, option: str = "--input") -> str:
    """Return the format of a file, one of those of ``--format`` but ``auto``.

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
        f" {', '.join(BINARY_ENDINGS)}",
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
    if not is_utf_8(settings.encoding) and kinds.isdisjoint(ENCODED):
        allowed = (
            f"nothing with files of {' and '.join(sorted(kinds))}, which say how they are encoded"
        )
        raise OptionError("--encoding", settings.encoding, allowed, "Leave it out.")


def read_file(
    stream: BinaryIO,
    name: str,
    settings: ReadSettings,
    first: int = 0,
    folder: str = "",
    part: Part | None = None,
) -> Iterator[Document | DeadLetter]:
    """Yield everything in one file, or in a part of it.

    The dead letters beyond the first 10,000 become one for each reason, which counts them.

    Args:
        stream: As of :class:`Source`.
        name: As of :class:`Source`.
        settings: As of :class:`Source`.
        first: The number of its first item.
        folder: As of :class:`Source`.
        part: As of :class:`Source`.
    """
    left = MOST_REFUSED
    rest: dict[str, tuple[DeadLetter, DeadLetter, int]] = {}
    source = Source(stream, name, settings, format_of(name, settings), folder, part=part)
    for item in _read(source, first):
        if isinstance(item, Document):
            yield item
        elif left:
            left -= 1
            yield item
        else:
            begin, _, count = rest.get(item.reason, (item, item, 0))
            rest[item.reason] = begin, item, count + 1
    for begin, end, count in rest.values():
        yield begin if count == 1 else _together(begin, end, count)


def _together(begin: DeadLetter, end: DeadLetter, count: int) -> DeadLetter:
    """Return one dead letter for several of one reason."""
    detail = (
        f"{count:,} records in one dead letter, because the file has more than {MOST_REFUSED:,}."
        f" The first: {begin.detail}"
    )
    return replace(begin, source=f"{begin.source} to {end.source}", detail=detail, count=count)


def _read(source: Source, first: int) -> Iterator[Document | DeadLetter]:
    """Yield everything in one file, each dead letter with its own place."""
    name, settings = source.name, source.settings
    table, shown, within = checked(source), writable(name), len(writable(source.path))
    unit = table.time_unit(settings.parse.fields.timestamp) if isinstance(table, Table) else None
    items: Iterable[Item | Document] = [table] if isinstance(table, DeadLetter) else []
    if isinstance(table, Table):
        is_flat = settings.records is None
        items = table.found(settings) if is_flat else _records(table, settings)
    time = time_of_path(name, source.folder, settings) if settings.time_from == "path" else None
    for number, item in enumerate(items, first):
        if settings.time_from == "order":
            time = number * MICROSECONDS_PER_SECOND
        if settings.time_from == "path" and time is None and isinstance(item, tuple):
            item = dead_letter(item[0], MISSING_TIMESTAMP, _NO_DATE, item[1])
        found = item if isinstance(item, Document) else parse_item(item, settings, unit, time)
        if isinstance(found, DeadLetter):
            found = replace(found, source=shown + found.source[within:])
        else:
            found = found.arriving(number)
        yield found


def records(
    stream: BinaryIO, name: str, settings: ReadSettings, folder: str = ""
) -> Iterator[Item]:
    """Yield (place, record) with all fields, and dead letters, in the order of one file.

    Places are within the folder.

    Args:
        stream: As of :class:`Source`.
        name: As of :class:`Source`.
        settings: As of :class:`Source`.
        folder: As of :class:`Source`.
    """
    kind = format_of(name, settings)
    table = opened(Source(stream, name, settings, kind, folder, every_field=True))
    if isinstance(table, DeadLetter):
        yield table
    elif table is not None:
        yield from _records(table, settings)


def _records(table: Table, settings: ReadSettings) -> Iterator[Item]:
    """Yield the records of a table, or of the arrays in them; those of JSON are found already."""
    items = table.records()
    return items if isinstance(table, JsonFile) else inner_records(items, settings.records)


def parse_item(
    item: Item, settings: ReadSettings, unit: Fraction | None, time: int | None = None
) -> Document | DeadLetter:
    """Parse a record of a table.

    Args:
        item: A (place, record), or a dead letter, which is returned as it is.
        settings: How the file is read.
        unit: As for :func:`beam_topics.model.reading.parsing.parse_record`.
        time: As for :func:`beam_topics.model.reading.parsing.parse_record`.
    """
    if isinstance(item, DeadLetter):
        return item
    place, record = item
    return parse_record(record, place, settings.parse, time, unit)
