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

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, get_args

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import DamagedDataError, LimitError, OptionError
from beam_topics.model.files import literal_part
from beam_topics.model.reading.chats import JsonFile
from beam_topics.model.reading.delimited import CsvFile
from beam_topics.model.reading.encodings import is_utf_8, to_utf_8
from beam_topics.model.reading.found_forms import listed, missing
from beam_topics.model.reading.inner import inner_records
from beam_topics.model.reading.lines import unix_lines, unzipped
from beam_topics.model.reading.parsing import (
    DAMAGED,
    MISSING_TIMESTAMP,
    SCHEMA,
    TOO_LARGE,
    Table,
    dead_letter,
    needed_fields,
    parse_record,
    writable,
)
from beam_topics.model.reading.parts import Part, bytes_of
from beam_topics.model.reading.paths import root_of
from beam_topics.model.reading.settings import (
    BINARY_ENDINGS,
    ENCODED,
    TEXT_ENDINGS,
    Format,
    ReadSettings,
)
from beam_topics.model.reading.text_lines import DocFile, LineFile
from beam_topics.model.reading.texts import TextFile, date_of_file
from beam_topics.model.reading.time_forms import read_time
from beam_topics.model.times import MICROSECONDS_PER_SECOND

if TYPE_CHECKING:
    from beam_topics.model.reading.mails import MailFile
    from beam_topics.model.reading.tables import TableFile

_NO_DATE = (
    "the path of the file has no date. Read such files alone, with --time_from=order or"
    " --timestamp_field."
)
# The dead letters of a file, or of a part; those beyond them become one for each reason.
MOST_REFUSED = 10_000
# A place and a record.
Item = tuple[str, Mapping[str, Any]] | DeadLetter


class Source(NamedTuple):
    """A file that is to be opened.

    Attributes:
        stream: The bytes as they are stored. It must be able to seek unless the file has lines.
        name: The name of the file, for the places in dead letters.
        settings: How the file is read.
        folder: The folder that is read (:func:`folder_of`); places are paths within it.
        every_field: Whether records have all of their fields, or those that are needed.
        start: The number and the first byte of the block of an Avro file to begin with.
        part: The part of a file of JSON lines that is read; None for a whole file.
    """

    stream: BinaryIO
    name: str
    settings: ReadSettings
    folder: str = ""
    every_field: bool = False
    start: tuple[int, int] = (1, 0)
    part: Part | None = None

    @property
    def text(self) -> Iterator[bytes]:
        """The bytes, unzipped, in UTF-8, with lines that end in LF."""
        if self.part is not None:
            return bytes_of(self.stream, self.part)
        return unix_lines(to_utf_8(unzipped(self.stream), self.settings.encoding))

    @property
    def path(self) -> str:
        """The path of the file within the folder, with which places begin."""
        return os.path.relpath(self.name, self.folder) if self.folder else self.name


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


def folder_of(patterns: Iterable[str]) -> str:
    """Return the innermost folder that holds all that some patterns may match.

    >>> folder_of(["data/a/*.txt", "./data/b//1.txt"]), folder_of(["*.txt"])
    ('data', '.')
    >>> folder_of(["a[[]1]/*"])
    'a[1]'
    """
    fixed = map(literal_part, patterns)
    folders = [os.path.normpath(os.path.dirname(path)) for path in fixed]  # noqa: PTH120
    if len(set(map(os.path.isabs, folders))) > 1:
        folders = list(map(os.path.abspath, folders))
    return os.path.commonpath(folders) or "."


def time_of_path(source: Source) -> int | None:
    """Return the time that the path of a file says, in microseconds; None without one."""
    day = date_of_file(source.name, source.path)
    return None if day is None else read_time(day, zone=source.settings.parse.time_zone)


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
    for item in _read(Source(stream, name, settings, folder, part=part), first):
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
    table, shown, within = _open(source), writable(name), len(writable(source.path))
    unit = table.time_unit(settings.parse.fields.timestamp) if isinstance(table, Table) else None
    items: Iterable[Item | Document] = [table] if isinstance(table, DeadLetter) else []
    if isinstance(table, Table):
        items = table.found() if isinstance(table, JsonFile) else _records(table, settings)
    time = time_of_path(source) if settings.time_from == "path" else None
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
    table = _opened(Source(stream, name, settings, folder, every_field=True))
    if isinstance(table, DeadLetter):
        yield table
    elif table is not None:
        yield from _records(table, settings)


def _records(table: Table, settings: ReadSettings) -> Iterator[Item]:
    """Yield the records of a table, or of the arrays in them; those of JSON are found already."""
    items = table.records()
    return items if isinstance(table, JsonFile) else inner_records(items, settings.records)


def _open_json(source: Source) -> JsonFile:
    line = source.part.line if source.part else None
    return JsonFile(source.text, source.path, source.settings, line)


def _open_csv(source: Source) -> CsvFile | None:
    settings = source.settings
    table = CsvFile(
        source.text,
        source.path,
        settings.parse.max_document_bytes,
        delimiter=settings.delimiter,
        columns=settings.columns,
        unquoted=settings.unquoted_field,
    )
    return table if table.names else None


def _open_table(source: Source) -> TableFile:
    # Imported here, and below: most runs read none of these.
    from beam_topics.model.reading.child import Request
    from beam_topics.model.reading.tables import TableFile

    settings = source.settings
    needed = needed_fields(settings.parse, settings.time_from == "field")
    # Literal names with points are wanted, too; a file without one gives the outermost field.
    named = [settings.records] if settings.records else [*needed, *settings.parse.fields.optional()]
    wanted = None if source.every_field else (*named, *map(root_of, named))
    kind = format_of(source.name, settings)
    largest = settings.parse.max_document_bytes
    request = Request(kind, source.path, largest, wanted, start=source.start)
    return TableFile(source.stream, request)


def _open_text(source: Source) -> TextFile:
    return TextFile(source.text, source.name, source.path, source.settings)


def _open_lines(source: Source) -> LineFile:
    kind = format_of(source.name, source.settings)
    return LineFile(source.text, source.path, source.settings, is_chat=kind == "chat")


def _open_docs(source: Source) -> DocFile:
    return DocFile(source.text, source.path, source.settings.parse.max_document_bytes)


def _open_mail(source: Source) -> MailFile:
    from beam_topics.model.reading.mails import MailFile

    return MailFile(unzipped(source.stream), source.path, source.settings.parse.max_document_bytes)


_OPENERS: dict[str, Callable[[Source], Table | None]] = {
    "jsonl": _open_json,
    "csv": _open_csv,
    "avro": _open_table,
    "parquet": _open_table,
    "txt": _open_text,
    "lines": _open_lines,
    "chat": _open_lines,
    "doc": _open_docs,
    "mail": _open_mail,
    "xlsx": _open_table,
}


def open_avro(
    stream: BinaryIO, name: str, settings: ReadSettings, start: tuple[int, int] = (1, 0)
) -> TableFile | DeadLetter | None:
    """Open an Avro file from a block on.

    Returns:
        The file; a dead letter if it cannot be read or lacks fields; None if it is empty.
    """
    found: Any = _open(Source(stream, name, replace(settings, format="avro"), start=start))
    checked: TableFile | DeadLetter | None = found
    return checked


def _opened(source: Source) -> Table | DeadLetter | None:
    """Open a file.

    Returns:
        The table; a dead letter if the file cannot be read; None if it is empty.
    """
    try:
        return _OPENERS[format_of(source.name, source.settings)](source)
    except DamagedDataError as error:
        reason = TOO_LARGE if isinstance(error, LimitError) else DAMAGED
        return (
            dead_letter(source.path, reason, f"the file cannot be read: {error}", b"")
            if source.stream.seek(0, 2)
            else None
        )


def _open(source: Source) -> Table | DeadLetter | None:
    """Open a file, and return a dead letter also where it lacks fields."""
    table = _opened(source)
    if table is None or isinstance(table, DeadLetter) or table.names is None:
        return table
    wrong = _wrong_names(table.names, source.settings)
    return dead_letter(source.path, SCHEMA, wrong, listed(table.names).encode()) if wrong else table


def _wrong_names(names: tuple[str, ...], settings: ReadSettings) -> str | None:
    """Return what is wrong with the field names of a file and the remedy, or None."""
    needed = needed_fields(settings.parse, settings.time_from == "field")
    if settings.records is not None:
        return None
    if lacking := {
        field: remedy
        for field, (_, remedy) in needed.items()
        if field not in names and root_of(field) not in names
    }:
        return missing("the file", lacking, names)
    if repeated := [
        field for field in (*needed, *settings.parse.fields.optional()) if names.count(field) > 1
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
        unit: As for :func:`beam_topics.model.reading.parsing.parse_record`.
        time: As for :func:`beam_topics.model.reading.parsing.parse_record`.
    """
    if isinstance(item, DeadLetter):
        return item
    place, record = item
    return parse_record(record, place, settings.parse, time, unit)
