r"""Read the rows of an Excel workbook (.xlsx, ECMA-376), damaged or not, in bounded memory.

A workbook is a zip of XML. The sheet whose part is the largest is read, row by row, and places name
it. Its first row that is not empty names the columns. Cells with the format of a date give a date
in ISO 8601, numbers numbers, and all others text. An empty cell is missing.

Only the texts that cells share are in memory, up to :data:`_MOST_TEXT`. Python's reader of zips
stops at the size that an entry declares. Entities and document types, which Excel does not write,
are refused, and so is what the parser would have to hold: long tags and deep nesting.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import chain
from posixpath import join, normpath
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers.expat import ExpatError, ParserCreate
from zipfile import BadZipFile, ZipFile

from model.errors import DamagedDataError, LimitError
from model.options import MEGABYTE
from model.reading.parsing import DAMAGED, TOO_LARGE, dead_letter, too_large
from model.reading.settings import ParseSettings
from model.records import DeadLetter

_MOST_TEXT = 256 * MEGABYTE
# What a text in memory takes beside its characters.
_TEXT_BYTES = 50
_CHUNK = 2**16
# Excel's cells have 32,767 characters at most.
_LONGEST = 2**20
# The size of each part but those of the sheets and of the texts.
_MOST_PART = 4 * MEGABYTE
_DEEPEST, _COLUMNS = 100, 16_384
# The numbers of the formats of dates and times that have no text of their own.
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_COLUMN = re.compile(r"[A-Z]{1,3}")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
# What the readers of zips and of XML raise for damaged files.
_FAULTS = (
    *(
        BadZipFile,
        ExpatError,
        ParseError,
        StopIteration,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        KeyError,
        IndexError,
    ),
    *(NotImplementedError, RuntimeError, OverflowError, DamagedDataError),
)

Row = tuple[int, dict[int, Any], int]


class SheetFile:
    """An open workbook.

    Attributes:
        names: The names of the columns of its largest sheet.

    Args:
        stream: The bytes. It must be able to seek.
        name: The name of the file, for places such as ``name sheet 'May' row 17``.
        max_bytes: The length of the longest row; a longer one becomes a dead letter.

    Raises:
        DamagedDataError: It is no workbook, or its first row cannot be read.
    """

    def __init__(self, stream: BinaryIO, name: str, max_bytes: int) -> None:
        self._max = max_bytes
        try:
            self._archive = ZipFile(stream)
            sheet, part, others = self._parts()
            self._place = f"{name} sheet {sheet!r}"
            self._strings = _strings(self._archive, others.get("sharedStrings"))
            self._dates = _date_styles(self._archive, others.get("styles"))
            self._rows = self._read(part)
            first = next(self._rows, None)
        except LimitError:
            raise
        except _FAULTS as error:
            raise DamagedDataError(f"this is not an Excel workbook (.xlsx): {error}") from error
        cells = first[1] if first else {}
        self.names: tuple[str, ...] = tuple(
            str(cells.get(at, "")).strip() or f"column{at + 1}"
            for at in range(max(cells, default=-1) + 1)
        )

    def time_unit(self, _: str) -> None:
        """Return None: dates are text."""

    def records(self) -> Iterator[tuple[str, dict[str, Any]] | DeadLetter]:
        """Yield (place, record) in the order of the sheet, and dead letters."""
        number = 1
        try:
            for number, cells, size in self._rows:
                place = f"{self._place} row {number}"
                if size > self._max:
                    limit = too_large(size, ParseSettings(max_document_bytes=self._max))
                    yield dead_letter(place, TOO_LARGE, limit, b"")
                else:
                    yield place, {name: cells.get(at) for at, name in enumerate(self.names)}
        except _FAULTS as error:
            detail = f"the rows after {number} cannot be read: {error}"
            yield dead_letter(self._place, DAMAGED, detail, b"")

    def _parts(self) -> tuple[str, str, dict[str, str]]:
        """Return the name of the largest sheet, its part, and other parts by their kind."""
        book = dict(_related(self._archive, "").values())["officeDocument"]
        related, root = _related(self._archive, book), _root(self._archive, book)
        properties = root.find("{*}workbookPr")
        is_old = properties is not None and properties.get("date1904") in ("1", "true")
        self._epoch = datetime(1904, 1, 1) if is_old else datetime(1899, 12, 30)
        sheets = [
            (one.get("name", ""), related[value][1])
            for one in root.iterfind("{*}sheets/{*}sheet")
            for name, value in one.attrib.items()
            if name.endswith("}id") and value in related and related[value][0] == "worksheet"
        ]
        if not sheets:
            raise ValueError("it has no sheet")
        name, part = max(sheets, key=lambda one: self._archive.getinfo(one[1]).file_size)
        return name, part, dict(related.values())

    def _read(self, part: str) -> Iterator[Row]:
        """Yield the number, the cells by column, and the size of each row that is not empty."""
        cell: Mapping[str, str] = {}
        cells, text = dict[int, Any](), ""
        number = at = size = 0
        for mark, value in _marks(self._archive, part):
            if mark == "<c":
                cell, text = value, ""
                at = _column(value["r"]) if "r" in value else at + 1
            elif mark in ("v>", "t>"):
                size += len(value)
                text += value if size <= self._max else ""
            elif mark == "c>" and text:
                cells[at] = self._value(cell.get("t", "n"), cell.get("s", ""), text)
            elif mark == "<row":
                cells, number, at, size = {}, int(value.get("r", number + 1)), -1, 0
            elif mark == "row>" and size:
                yield number, cells, size

    def _value(self, type: str, style: str, text: str) -> Any:
        if type == "s":
            return self._strings[int(text)]
        if type in ("str", "inlineStr"):
            return _unescaped(text)
        if type == "b":
            return text == "1"
        if type != "n":
            return text if type == "d" else None
        try:
            number = float(text)
            if style in self._dates:
                moment = self._epoch + timedelta(seconds=round(number * 86_400, 3))
                return moment.isoformat() if number % 1 else moment.date().isoformat()
            return int(number) if number.is_integer() else number
        except (ValueError, OverflowError):
            return text


def _column(cell: str) -> int:
    """Return the index of the column of a cell such as ``AB12``."""
    found, index = _COLUMN.match(cell), 0
    for letter in found[0] if found else "":
        index = 26 * index + ord(letter) - ord("A") + 1
    if not 0 < index <= _COLUMNS:
        raise ValueError(f"there is no cell {cell[:20]!r}")
    return index - 1


def _root(archive: ZipFile, part: str) -> Element:
    """Return the root of a small part."""
    with archive.open(part) as stream:
        data = stream.read(_MOST_PART + 1)
    if len(data) > _MOST_PART or b"<!DOCTYPE" in data:
        raise LimitError(f"{part} has more than {_MOST_PART} bytes, or declares a document type")
    return fromstring(data)


def _related(archive: ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Return the kind and the path of each part that a part refers to, by the id of the part."""
    folder, _, name = part.rpartition("/")
    return {
        one.get("Id", ""): (
            one.get("Type", "").rpartition("/")[2],
            normpath(join("/", folder, one.get("Target", "")))[1:],
        )
        for one in _root(archive, join(folder, "_rels", f"{name}.rels"))
    }


def _strings(archive: ZipFile, part: str | None) -> list[str]:
    """Return the texts that cells refer to by number, without the guides to their pronunciation."""
    found, text, size, is_guide = list[str](), "", 0, False
    for mark, value in _marks(archive, part) if part is not None else ():
        if mark == "t>" and not is_guide:
            text += value
        elif mark in ("<rPh", "rPh>"):
            is_guide = mark == "<rPh"
        elif mark == "si>":
            found.append(_unescaped(text))
            size += len(text) + _TEXT_BYTES
            text = ""
            if size > _MOST_TEXT:
                raise LimitError(f"its texts take more than {_MOST_TEXT // MEGABYTE} MB")
    return found


def _date_styles(archive: ZipFile, part: str | None) -> set[str]:
    """Return the numbers of the styles of cells that show dates."""
    if part is None:
        return set()
    root, dates = _root(archive, part), {str(number) for number in _DATES}
    for one in root.iterfind("{*}numFmts/{*}numFmt"):
        code = _LITERAL.sub("", one.get("formatCode", "")).lower().replace("general", "")
        if any(sign in code for sign in "ymdhs"):
            dates.add(one.get("numFmtId", ""))
    styles = root.iterfind("{*}cellXfs/{*}xf")
    return {str(number) for number, one in enumerate(styles) if one.get("numFmtId") in dates}


def _unescaped(text: str) -> str:
    """Return a text with the control characters that XML cannot hold."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _marks(archive: ZipFile, part: str) -> Iterator[tuple[str, Any]]:
    """Yield the tags of a part: ``<name`` with attributes, ``name>`` with the text before it."""
    parser, found = ParserCreate(namespace_separator=" "), list[tuple[str, Any]]()
    text: list[str] = []
    depth = size = fed = 0

    def start(name: str, about: Mapping[str, str]) -> None:
        nonlocal depth, size
        depth += 1
        if depth > _DEEPEST:
            raise LimitError(f"its elements are nested deeper than {_DEEPEST} levels")
        text.clear()
        size = 0
        found.append((f"<{name.rpartition(' ')[2]}", about))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        found.append((f"{name.rpartition(' ')[2]}>", "".join(text)))
        text.clear()

    def data(piece: str) -> None:
        nonlocal size
        size += len(piece)
        if size > _LONGEST:
            raise LimitError(f"a text is longer than {_LONGEST} characters")
        text.append(piece)

    def refuse(*_: object) -> None:
        raise ValueError("it declares a document type")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = data, refuse
    with archive.open(part) as stream:
        for chunk in chain(iter(lambda: stream.read(_CHUNK), b""), [b""]):
            fed += len(chunk)
            try:
                parser.Parse(chunk, not chunk)
            except (ExpatError, DamagedDataError, ValueError):
                # What came before the fault is good.
                yield from found
                raise
            yield from found
            found.clear()
            if fed - parser.CurrentByteIndex > _LONGEST:
                raise LimitError(f"a tag is longer than {_LONGEST} bytes")
