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
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from posixpath import join, normpath
from typing import Any, BinaryIO
from xml.parsers.expat import ExpatError, ParserCreate
from zipfile import BadZipFile, ZipFile

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError
from model.reading.codecs import LimitError
from model.reading.parsing import DAMAGED, TOO_LARGE, dead_letter, too_large
from model.reading.settings import ParseSettings
from model.units import MEGABYTE

_MOST_TEXT = 256 * MEGABYTE
# What a text in memory takes beside its characters.
_TEXT_BYTES = 50
_CHUNK = 2**16
# Excel's cells have 32,767 characters at most.
_LONGEST = 2**20
_DEEPEST, _COLUMNS = 100, 16_384
# The numbers of the formats of dates and times that have no text of their own.
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_COLUMN = re.compile(r"[A-Z]{1,3}")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
# What the readers of zips and of XML raise for damaged files.
_FAULTS = (
    *(BadZipFile, ExpatError, zlib.error, EOFError, OSError, ValueError, KeyError, IndexError),
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
        book = next(part for part in _related(self._archive, "") if part[0] == "officeDocument")[2]
        related = _related(self._archive, book)
        parts = {identity: path for kind, identity, path in related if kind == "worksheet"}
        sheets: list[tuple[str, str]] = []
        self._epoch = datetime(1899, 12, 30)

        def properties(about: Mapping[str, str]) -> None:
            if about.get("date1904") in ("1", "true"):
                self._epoch = datetime(1904, 1, 1)

        def sheet(about: Mapping[str, str]) -> None:
            sheets.extend(
                (about["name"], parts[value])
                for name, value in about.items()
                if name.endswith(" id") and value in parts
            )

        _parse(self._archive, book, {"workbookPr": properties, "sheet": sheet})
        if not sheets:
            raise ValueError("it has no sheet")
        name, part = max(sheets, key=lambda one: self._archive.getinfo(one[1]).file_size)
        return name, part, {kind: path for kind, _, path in related}

    def _read(self, part: str) -> Iterator[Row]:
        """Yield the number, the cells by column, and the size of each row that is not empty."""
        rows: list[Row] = []
        cell: dict[str, str] = {}
        cells: dict[int, Any] = {}
        number = at = size = 0

        def row(about: Mapping[str, str]) -> None:
            nonlocal cells, number, at, size
            cells, number, at, size = {}, int(about.get("r", number + 1)), -1, 0

        def begin(about: Mapping[str, str]) -> None:
            nonlocal cell, at
            cell = {"type": about.get("t", "n"), "style": about.get("s", ""), "text": ""}
            at = _column(about["r"]) if "r" in about else at + 1

        def text(value: str) -> None:
            nonlocal size
            size += len(value)
            if size <= self._max:
                cell["text"] += value

        def end(_: str) -> None:
            if cell["text"]:
                cells[at] = self._value(**cell)

        def end_row(_: str) -> None:
            if size:
                rows.append((number, cells, size))

        starts, ends = {"row": row, "c": begin}, {"v": text, "t": text, "c": end, "row": end_row}
        try:
            for _ in _parsing(self._archive, part, starts, ends):
                yield from rows
                rows.clear()
        except _FAULTS:
            yield from rows
            raise

    def _value(self, type: str, style: str, text: str) -> Any:
        if type == "s":
            return self._strings[int(text)]
        if type in ("str", "inlineStr"):
            return _unescaped(text)
        if type == "b":
            return text == "1"
        if type != "n":
            return text if type == "d" else None
        number = float(text)
        if style in self._dates:
            moment = self._epoch + timedelta(seconds=round(number * 86_400, 3))
            return moment.isoformat() if number % 1 else moment.date().isoformat()
        return int(number) if number.is_integer() else number


def _column(cell: str) -> int:
    """Return the index of the column of a cell such as ``AB12``."""
    found, index = _COLUMN.match(cell), 0
    for letter in found[0] if found else "":
        index = 26 * index + ord(letter) - ord("A") + 1
    if not 0 < index <= _COLUMNS:
        raise ValueError(f"there is no cell {cell[:20]!r}")
    return index - 1


def _related(archive: ZipFile, part: str) -> list[tuple[str, str, str]]:
    """Return the kind, the id and the path of each part that a part refers to."""
    folder, _, name = part.rpartition("/")
    found: list[tuple[str, str, str]] = []

    def relation(about: Mapping[str, str]) -> None:
        kind, path = about["Type"].rpartition("/")[2], about["Target"]
        path = path[1:] if path.startswith("/") else normpath(join(folder, path))
        found.append((kind, about["Id"], path))

    _parse(archive, join(folder, "_rels", f"{name}.rels"), {"Relationship": relation})
    return found


def _strings(archive: ZipFile, part: str | None) -> list[str]:
    """Return the texts that cells refer to by number, without the guides to their pronunciation."""
    found: list[str] = []
    pieces: list[str] = []
    size, kept = 0, True

    def guide(_: Mapping[str, str]) -> None:
        nonlocal kept
        kept = False

    def end_guide(_: str) -> None:
        nonlocal kept
        kept = True

    def piece(value: str) -> None:
        if kept:
            pieces.append(value)

    def end(_: str) -> None:
        nonlocal size
        found.append(_unescaped("".join(pieces)))
        pieces.clear()
        size += len(found[-1]) + _TEXT_BYTES
        if size > _MOST_TEXT:
            raise LimitError(f"its texts take more than {_MOST_TEXT // MEGABYTE} MB")

    if part is not None:
        _parse(archive, part, {"rPh": guide}, {"rPh": end_guide, "t": piece, "si": end})
    return found


def _date_styles(archive: ZipFile, part: str | None) -> set[str]:
    """Return the numbers of the styles of cells that show dates."""
    formats, styles = {str(number) for number in _DATES}, list[str]()
    is_cell = False

    def own(about: Mapping[str, str]) -> None:
        code = _LITERAL.sub("", about["formatCode"]).lower().replace("general", "")
        if any(sign in code for sign in "ymdhs"):
            formats.add(about["numFmtId"])

    def of_cells(_: Mapping[str, str]) -> None:
        nonlocal is_cell
        is_cell = True

    def end_of_cells(_: str) -> None:
        nonlocal is_cell
        is_cell = False

    def style(about: Mapping[str, str]) -> None:
        if is_cell:
            styles.append(about.get("numFmtId", "0"))

    if part is not None:
        starts = {"numFmt": own, "cellXfs": of_cells, "xf": style}
        _parse(archive, part, starts, {"cellXfs": end_of_cells})
    return {str(number) for number, form in enumerate(styles) if form in formats}


def _unescaped(text: str) -> str:
    """Return a text with the control characters that XML cannot hold."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


Starts = Mapping[str, Callable[[Mapping[str, str]], None]]
Ends = Mapping[str, Callable[[str], None]]


def _parse(archive: ZipFile, part: str, starts: Starts, ends: Ends | None = None) -> None:
    for _ in _parsing(archive, part, starts, ends or {}):
        pass


def _parsing(archive: ZipFile, part: str, starts: Starts, ends: Ends) -> Iterator[None]:
    """Parse a part, and yield after each of its chunks.

    Args:
        archive: The workbook.
        part: The path of the part.
        starts: What is called with the attributes of an element, by its name without namespace.
        ends: What is called with the text of an element ``t`` or ``v``, or with nothing.
    """
    parser = ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    text: list[str] = []
    depth = size = 0

    def start(name: str, about: Mapping[str, str]) -> None:
        nonlocal depth, size
        depth += 1
        if depth > _DEEPEST:
            raise LimitError(f"its elements are nested deeper than {_DEEPEST} levels")
        text.clear()
        size = 0
        if called := starts.get(name.rpartition(" ")[2]):
            called(about)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        if called := ends.get(name.rpartition(" ")[2]):
            called("".join(text))
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
    fed = 0
    with archive.open(part) as stream:
        while chunk := stream.read(_CHUNK):
            parser.Parse(chunk, False)
            fed += len(chunk)
            if fed - parser.CurrentByteIndex > _LONGEST:
                raise LimitError(f"a tag is longer than {_LONGEST} bytes")
            yield
        parser.Parse(b"", True)
        yield
