r"""Read whole files as documents and dead letters, in their order, and an archive as one log.

:mod:`beam_topics.transforms.read` does this for each file.

>>> import io
>>> line = b'{"id": "a", "timestamp": 0, "text": "hello"}\n'
>>> [document.id for document in read_file(io.BytesIO(line), "a.jsonl", ReadSettings())]
['a']

Each item that is read, dead letters included, has a number in the order of its file. With
``time_from="order"`` this number, added to the numbers of the files before, is its time in seconds
since 1970.

A time-sorted archive can be read from any position, which is (file, block, byte, item): the index
of the file in the archive, the number and the first byte of an Avro block, and the place of the
item in the block. :func:`in_order` sorts files by their time, with which their names begin:

>>> in_order(["b/archive-20010101T000000Z-aa.avro", "a/archive-20020101T000000Z-bb.avro"])
['b/archive-20010101T000000Z-aa.avro', 'a/archive-20020101T000000Z-bb.avro']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import DamagedDataError, LimitError, OptionError
from beam_topics.model.reading.delimited import CsvFile
from beam_topics.model.reading.found_forms import listed
from beam_topics.model.reading.inner import JsonFile, inner_records
from beam_topics.model.reading.parsing import (
    DAMAGED,
    MISSING_TIMESTAMP,
    SCHEMA,
    TOO_LARGE,
    Placed,
    Table,
    dead_letter,
    parse_record,
    writable,
    wrong_names,
)
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.reading.sources import Part, Source, format_of
from beam_topics.model.reading.texts import DocFile, LineFile, TextFile, time_of_path
from beam_topics.model.times import MICROSECONDS_PER_SECOND

_NO_DATE = (
    "the path of the file has no date. Read such files alone, with --time_from=order or"
    " --timestamp_field."
)
# The dead letters of a file, or of a part; those beyond them become one for each reason.
MOST_REFUSED = 10_000
Item = Placed | DeadLetter
Position = tuple[int, int, int, int]
BEGINNING: Position = (0, 0, 0, 0)
# Places in a block are below 2**22, and blocks of a file below that.
_BLOCK_BITS, _FILE_BITS = 22, 44
_NAME = re.compile(r"archive-(\d{8}T\d{6}Z)-[0-9a-f]+\.avro")


def _open_table(source: Source) -> Table:
    # Imported here, and below: most runs read none of these.
    from beam_topics.model.reading.tables import open_table

    return open_table(source)


def _open_mail(source: Source) -> Table:
    from beam_topics.model.reading.mails import MailFile

    return MailFile(source.unzipped, source.path, source.settings.parse.max_document_bytes)


_OPENERS: dict[str, Callable[[Source], Table]] = {
    "jsonl": lambda s: JsonFile(s.text, s.path, s.settings, s.part.line if s.part else None),
    "csv": lambda s: CsvFile(s.text, s.path, s.settings),
    "avro": _open_table,
    "parquet": _open_table,
    "txt": lambda s: TextFile(s.text, s.name, s.path, s.settings),
    "lines": lambda s: LineFile(s.text, s.path, s.settings),
    "chat": lambda s: LineFile(s.text, s.path, s.settings),
    "doc": lambda s: DocFile(s.text, s.path, s.settings.parse.max_document_bytes),
    "mail": _open_mail,
    "xlsx": _open_table,
    "feed": _open_table,
}


def opened(source: Source) -> Table | DeadLetter | None:
    """Open a file.

    Returns:
        The table; a dead letter if the file cannot be read; None if it is empty.
    """
    try:
        table = _OPENERS[source.kind](source)
        return None if isinstance(table, CsvFile) and not table.names else table
    except DamagedDataError as error:
        if not source.stream.seek(0, 2):
            return None
        reason = TOO_LARGE if isinstance(error, LimitError) else DAMAGED
        return dead_letter(source.path, reason, f"the file cannot be read: {error}", b"")


def checked(source: Source) -> Table | DeadLetter | None:
    """Open a file, and return a dead letter also where it lacks fields."""
    table = opened(source)
    if table is None or isinstance(table, DeadLetter) or table.names is None:
        return table
    wrong = wrong_names(table.names, source.settings)
    return dead_letter(source.path, SCHEMA, wrong, listed(table.names).encode()) if wrong else table


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
            found.arrived = number
        yield found


def records(stream: BinaryIO, name: str, settings: ReadSettings) -> Iterator[Item]:
    """Yield (place, record) with all fields, and dead letters, in the order of one file.

    Args:
        stream: As of :class:`Source`.
        name: As of :class:`Source`.
        settings: As of :class:`Source`.
    """
    table = opened(Source(stream, name, settings, format_of(name, settings), every_field=True))
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


def in_order(paths: Iterable[str]) -> list[str]:
    """Return the files of an archive by the start of their periods.

    Raises:
        OptionError: A file does not belong to an archive, or two files are of one period: one has
            replaced the other, or they overlap.
    """
    by_start: dict[str, str] = {}
    for path in paths:
        found = _NAME.fullmatch(re.split(r"[/\\]", path)[-1])
        if found is None:
            allowed = "files of an archive, archive-<start>-<content>.avro, when --source=replay"
            remedy = "beam-topics archive makes one of any files."
            raise OptionError("--input", path, allowed, remedy)
        other = by_start.setdefault(found[1], path)
        if other != path:
            allowed = f"one file for each period, and {other} is of the same one"
            remedy = "Remove the older of the two, or write the archive again into an empty folder."
            raise OptionError("--input", path, allowed, remedy)
    return [by_start[start] for start in sorted(by_start)]


def end_of(paths: list[str]) -> Position:
    """Return the position after everything."""
    return (len(paths), 0, 0, 0)


def read_archive(
    paths: list[str], settings: ReadSettings, start: Position, open_file: Callable[[str], BinaryIO]
) -> Generator[tuple[Position, Document | DeadLetter], None, None]:
    """Yield every item from ``start`` on, with its position.

    A file that cannot be read costs one dead letter, and so does a damaged block.
    """
    for file in range(start[0], len(paths)):
        with open_file(paths[file]) as stream:
            yield from _read_file(
                file, stream, paths[file], settings, start if file == start[0] else (file, 0, 0, 0)
            )


def _read_file(
    file: int, stream: BinaryIO, path: str, settings: ReadSettings, start: Position
) -> Iterator[tuple[Position, Document | DeadLetter]]:
    _, block, byte, item = start
    source: Any = checked(Source(stream, path, settings, "avro", start=(max(block, 1), byte)))
    if isinstance(source, DeadLetter) and not item:
        yield (file, 0, 0, 0), source
    if source is None or isinstance(source, DeadLetter):
        return
    unit = source.time_unit(settings.parse.fields.timestamp)
    for (number, at), items in groupby(source.placed(), itemgetter(0)):
        for place, (_, found) in enumerate(items):
            if (number, place) >= (block, item):
                read = parse_item(found, settings, unit)
                if isinstance(read, Document):
                    read.arrived = (file << _FILE_BITS) + (number << _BLOCK_BITS) + place
                yield (file, number, at, place), read
