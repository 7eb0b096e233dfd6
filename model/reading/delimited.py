r"""Read the rows of a CSV file, plain or gzipped, damaged or not, in bounded memory.

A field that contains the delimiter, a quote or a line end is in double quotes, and a quote within
it is doubled (RFC 4180). An empty field is missing. Where the texts of one column contain
delimiters without quotes, ``unquoted`` names it, and the surplus fields of a row are part of it.

A faulty row costs only itself. An unclosed quote takes with it the rows up to the next quote, or
as much as one document may have; together they are one dead letter.

>>> table = CsvFile([b'id;text\n1;"two\nlines"\n'], "a.csv", ReadSettings())
>>> list(table.records())
[('a.csv row 2', {'id': '1', 'text': 'two\nlines'})]

:func:`layout_of` finds how the rows are written, from the beginning of a file. The delimiter is the
one of comma, semicolon, tab and ``|`` that cuts most rows into the same number of fields. The first
row names the columns unless ``columns`` does, or it looks like the rows below it: a number above
numbers, a time above times, a word that occurs below, a sentence above sentences.

>>> layout = layout_of("ham\tOk, see you, then\nspam\tWin a prize, call now\nham\tOn my way home\n")
>>> layout.delimiter, layout.header, layout.names
('\t', False, ('column1', 'column2'))
>>> layout_of("id;text\n1;a, b\n2;c, d\n").names
('id', 'text')
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.lines import BYTE_ORDER_MARK, HEAD, peeked
from beam_topics.model.reading.parsing import (
    BAD_ROW,
    DAMAGED,
    TOO_LARGE,
    Placed,
    Table,
    dead_letter,
    too_large,
)
from beam_topics.model.reading.plain_records import found_by, row_reader
from beam_topics.model.reading.settings import Delimiter, ReadSettings

DELIMITERS: dict[Delimiter, str] = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
# The part of a file that shows its layout, in bytes.
LAYOUT_BYTES = 2**16
_MOST_ROWS = 500
# The share of rows with one number of fields that makes a delimiter likely.
_MOST = 0.6
_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
# The words from which on a cell is a sentence, and a cell that may name such a column.
_SENTENCE, _NAME = 4, 3


@dataclass(frozen=True)
class Layout:
    """How rows are written.

    Attributes:
        delimiter: the character between two fields.
        quoted: whether a field may be in double quotes.
        header: whether the first row names the columns.
        names: the names of the columns; ``column2`` for the second one if it has none.
        width: the number of fields of most rows below the names.
        others: the share of these rows whose number of fields is not that of the names.
    """

    delimiter: str
    quoted: bool
    header: bool
    names: tuple[str, ...]
    width: int
    others: float

    @property
    def word(self) -> Delimiter:
        """Return the word for the delimiter in ``--delimiter``."""
        return next(word for word, sign in DELIMITERS.items() if sign == self.delimiter)


def layout_of(text: str, delimiter: Delimiter = "auto", *, whole: bool = True) -> Layout:
    """Return the layout of a file that begins with this text.

    Args:
        text: the beginning of the file.
        delimiter: the word for the delimiter; ``auto`` finds it.
        whole: whether the text ends with a row.
    """
    # Other line separators of Unicode are part of a field.
    lines = [line for line in io.StringIO(text, newline="") if line.strip()][:_MOST_ROWS]
    if len(lines) > 1 and not whole:
        lines.pop()
    sign = DELIMITERS[delimiter] if delimiter in DELIMITERS else _delimiter(lines)
    quoted = not _is_raw(lines, sign)
    rows = _rows(lines, sign, quoted)
    if len(rows) > 2 and not whole:
        rows.pop()
    if not rows:
        return Layout(sign, quoted, True, (), 0, 0.0)
    header = has_header(rows)
    below = rows[1:] if header else rows
    width = Counter(map(len, below)).most_common(1)[0][0] if below else len(rows[0])
    names = named(rows[0] if header else [""] * width)
    others = sum(len(row) != len(names) for row in below) / max(len(below), 1)
    return Layout(sign, quoted, header, names, width, others)


def named(header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns.

    A column without a name is named after its place, and those of one name are numbered.

    >>> named(["Key", "Comment", "", "Comment"])
    ('Key', 'Comment', 'column3', 'Comment2')
    """
    given = [name.strip() or f"column{at}" for at, name in enumerate(header, 1)]
    names: list[str] = []
    for name in given:
        free = (f"{name}{number}" for number in count(2))
        other = (one for one in free if one not in given and one not in names)
        names.append(next(other) if name in names else name)
    return tuple(names)


def _rows(lines: Sequence[str], delimiter: str, quoted: bool = True) -> list[list[str]]:
    reader = csv.reader(
        lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    )
    return [row for row in reader if row]


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that cuts most rows alike.

    Of several, one that no blank follows, as in prose, comes first; then one with more fields.
    """
    best, found = (0.0, False, 0), ""
    for sign in DELIMITERS.values():
        rows = _rows(lines, sign)
        counts = Counter(map(len, rows))
        width, number = counts.most_common(1)[0] if rows else (1, 0)
        # A header that has the delimiter is a sign in itself, however ragged the rows are.
        share = (number + len(rows) * (len(rows[0]) == width)) / (2 * len(rows)) if rows else 0
        tight = 2 * sum(f"{sign} " in line for line in lines) < len(lines)
        if width > 1 and share >= _MOST and (share, tight, width) > best:
            best, found = (share, tight, width), sign
    if found:
        return found
    bare = re.sub(r'"[^"]*"', "", lines[0] if lines else "")
    return max(DELIMITERS.values(), key=bare.count)


def _is_raw(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether quotes are characters like others: a table with tabs and no quoted field."""
    cells = [line.rstrip("\r\n").split(delimiter) for line in lines]
    if delimiter != "\t" or len(set(map(len, cells))) != 1:
        return False
    return not any(
        len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', "")
        for row in cells
        for cell in row
    )


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns of the others."""
    first, below = [cell.strip() for cell in rows[0]], rows[1:]
    if not below:
        return True
    full = [cell for cell in first if cell]
    if not full:
        return False
    # Equal cells are more often values than names.
    votes = -1 if len(set(full)) < len(full) else 0
    for at, cell in enumerate(first):
        column = [row[at].strip() for row in below if len(row) == len(first) and row[at].strip()]
        votes += _vote(cell, column) if cell and column else 0
    return votes >= 0


def _vote(cell: str, column: Sequence[str]) -> int:
    """Return 1 if a cell seems to name its column, -1 if it seems to be a value like the others."""
    shape, number = Counter(map(_shape, column)).most_common(1)[0]
    if number >= _MOST * len(column) and "9" in shape:
        return 1 if not _DIGITS.search(cell) else -1 if _shape(cell) == shape else 0
    words = sorted(len(value.split()) for value in column)[len(column) // 2]
    if words >= _SENTENCE:
        length = len(cell.split())
        return 1 if length < _NAME else -1 if length >= _SENTENCE else 0
    return -1 if cell in column[:_MOST_ROWS] else 0


def _shape(value: str) -> str:
    """Return a value with 9 for its digits and a for its letters, for example 9-9-9."""
    return _LETTERS.sub("a", _DIGITS.sub("9", value[:40]))


_NEWLINE = 10
_BLANK = re.compile(rb"[\r\n]+")

# Python limits a field to 128 kB, for the whole process. This module bounds rows instead, by the
# size of a document.
csv.field_size_limit(2**31 - 1)


class CsvFile(Table):
    """An open CSV file.

    Attributes:
        names: The names of the columns; empty for an empty file.

    Args:
        chunks: The bytes in UTF-8. They may raise DamagedDataError.
        name: The name of the file. The place ``name row 17`` is the 17th row of a spreadsheet.
        settings: How it is read. A row that is longer than a document becomes a dead letter.

    Raises:
        DamagedDataError: The first row cannot be read.
    """

    def __init__(self, chunks: Iterable[bytes], name: str, settings: ReadSettings) -> None:
        self._name, self._max = name, settings.parse.max_document_bytes
        head, chunks = peeked(chunks, HEAD)
        text = _text(head.removeprefix(BYTE_ORDER_MARK))
        found = layout_of(text, settings.delimiter, whole=len(head) < HEAD)
        self._source = _Source(chunks, self._max)
        self._dialect: dict[str, Any] = {
            "delimiter": found.delimiter,
            "strict": True,
            "quoting": csv.QUOTE_MINIMAL if found.quoted else csv.QUOTE_NONE,
        }
        self._row = 0
        self.names: tuple[str, ...] = settings.columns if head else ()
        if not settings.columns:
            header = next(self._rows(), [])
            if isinstance(header, DeadLetter):
                raise DamagedDataError(
                    f"its first row, which names the columns, cannot be read: {header.detail}"
                )
            self.names = named(header)
        unquoted = settings.unquoted_field
        self._unquoted = self.names.index(unquoted) if unquoted in self.names else None

    def found(self, settings: ReadSettings) -> Iterator[Placed | Document | DeadLetter]:
        return found_by(row_reader(settings, self.names), self.items(), self.records_of)

    def records_of(self, place: str, row: Sequence[str]) -> Iterator[Placed]:
        yield place, {name: value or None for name, value in zip(self.names, row, strict=True)}

    def items(self) -> Iterator[tuple[str, list[str]] | DeadLetter]:
        """Yield (place, row), and dead letters for wrong rows."""
        width = len(self.names)
        for row in self._rows():
            if isinstance(row, DeadLetter):
                yield row
                continue
            if len(row) > width and self._unquoted is not None:
                first, after = self._unquoted, self._unquoted + len(row) - width + 1
                row[first:after] = [self._dialect["delimiter"].join(row[first:after])]
            if len(row) == width:
                yield self._place(), row
            else:
                detail = (
                    f"the row has {len(row)} fields, the first row has {width}; a field with a"
                    " delimiter in it needs quotes"
                )
                remedy = ", or name its column with --unquoted_field" if len(row) > width else ""
                yield self._letter(BAD_ROW, detail + remedy)

    def _rows(self) -> Iterator[list[str] | DeadLetter]:
        """Yield the fields of each row that is not blank."""
        reader = csv.reader(self._source, **self._dialect)
        while True:
            self._source.begin()
            self._row += 1
            try:
                fields = next(reader, None)
            except csv.Error as error:
                yield self._letter(
                    BAD_ROW, f"the row is not CSV: {error}; a quote within quotes is written twice"
                )
                reader = csv.reader(self._source, **self._dialect)
            except _TooLargeError:
                limit = too_large(self._source.size, self._max)
                yield self._letter(TOO_LARGE, f"{limit}; or a quote in this row is not closed")
                reader = csv.reader(self._source, **self._dialect)
            except DamagedDataError as error:
                yield self._letter(
                    DAMAGED, f"{error}; this row and the rest of the file cannot be read"
                )
                return
            else:
                if fields is None:
                    return
                if fields:
                    yield fields

    def _place(self) -> str:
        return f"{self._name} row {self._row + self._source.blank}"

    def _letter(self, reason: str, detail: str) -> DeadLetter:
        return dead_letter(self._place(), reason, detail, b"".join(self._source.lines))


class _TooLargeError(Exception):
    """The row is longer than a document may be."""


class _Source:
    """The lines of a file, for ``csv.reader``.

    Attributes:
        lines: The lines of the row that is being read, of a long one the beginning.
        size: The bytes of the row that were read so far.
        blank: The number of blank lines that were skipped between rows.
    """

    def __init__(self, chunks: Iterable[bytes], max_bytes: int) -> None:
        self.lines: list[bytes] = []
        self.size = self.blank = 0
        self._max = max_bytes
        self._rest = self._cut(chunks)

    def begin(self) -> None:
        """Begin a row."""
        self.lines.clear()
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, length = next(self._rest)
        self.size += length
        self.lines.append(line)
        if self.size > self._max:
            raise _TooLargeError
        return _text(line)

    def _cut(self, chunks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
        """Yield (line with its end, its length), and only the head of a line that is too long.

        Blank lines between rows are skipped.
        """
        held, length, is_first = bytearray(), 0, True
        for chunk in chunks:
            # The first chunk is at least as long as the mark, unless it is the whole file.
            at = len(BYTE_ORDER_MARK) if is_first and chunk.startswith(BYTE_ORDER_MARK) else 0
            is_first = False
            while at < len(chunk):
                begins_blank = not self.size and not length and chunk[at] in b"\r\n"
                if begins_blank and (blank := _BLANK.match(chunk, at)):
                    self.blank += chunk.count(b"\n", at, blank.end())
                    at = blank.end()
                    continue
                end = chunk.find(b"\n", at) + 1 or len(chunk)
                if not length and chunk[end - 1] == _NEWLINE and end - at <= self._max:
                    yield chunk[at:end], end - at
                    at = end
                    continue
                held += chunk[at : min(end, at + max(self._max - length, HEAD - len(held), 0))]
                length, at = length + end - at, end
                if chunk[end - 1] == _NEWLINE:
                    yield bytes(held), length
                    held.clear()
                    length = 0
        if length:
            yield bytes(held), length


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
