r"""Read the rows of a CSV file, plain or gzipped, damaged or not, in bounded memory.

The first row names the columns, unless ``columns`` does. :mod:`model.reading.layout` finds the
delimiter: comma, semicolon, tab or ``|``. A field that contains the delimiter, a quote or a line
end is in double quotes, and a quote within it is doubled (RFC 4180). An empty field is missing.
Where the texts of one column contain delimiters without quotes, ``unquoted`` names it, and the
fields that a row has too many are part of it.

A wrong row costs itself alone. A quote that is not closed takes the rows up to the next quote with
it, or as much as one document may have. Together they are one dead letter.

>>> table = CsvFile([b'id;text\n1;"two\nlines"\n'], "a.csv", 100)
>>> list(table.records())
[('a.csv row 2', {'id': '1', 'text': 'two\nlines'})]
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError
from model.reading import layout
from model.reading.lines import BYTE_ORDER_MARK, HEAD, peeked
from model.reading.parsing import BAD_ROW, DAMAGED, TOO_LARGE, dead_letter, too_large
from model.reading.settings import ParseSettings

_NEWLINE = 10
_BLANK = re.compile(rb"[\r\n]+")

# Python limits a field to 128 kB, for the whole process. This module bounds rows instead, by the
# size of a document.
csv.field_size_limit(2**31 - 1)


class CsvFile:
    """An open CSV file.

    Attributes:
        names: The names of the columns; empty for an empty file.

    Args:
        chunks: The bytes in UTF-8. They may raise DamagedDataError.
        name: The name of the file. The place ``name row 17`` is the 17th row of a spreadsheet.
        max_bytes: The length of the longest row; a longer one becomes a dead letter.
        delimiter: The word for the delimiter; ``auto`` finds it.
        columns: The names of the columns, for a file whose first row has values.
        unquoted: The column whose texts may contain delimiters without quotes.

    Raises:
        DamagedDataError: The first row cannot be read.
    """

    def __init__(
        self,
        chunks: Iterable[bytes],
        name: str,
        max_bytes: int,
        *,
        delimiter: str = "auto",
        columns: Sequence[str] = (),
        unquoted: str | None = None,
    ) -> None:
        self._name = name
        self._max = max_bytes
        head, chunks = peeked(chunks, layout.HEAD)
        found = layout.layout_of(
            _text(head.removeprefix(BYTE_ORDER_MARK)), delimiter, whole=len(head) < layout.HEAD
        )
        self._source = _Source(chunks, max_bytes)
        self._dialect: dict[str, Any] = {
            "delimiter": found.delimiter,
            "strict": True,
            "quoting": csv.QUOTE_MINIMAL if found.quoted else csv.QUOTE_NONE,
        }
        self._row = 0
        self.names: tuple[str, ...] = tuple(columns) if head else ()
        if not columns:
            header = next(self._rows(), [])
            if isinstance(header, DeadLetter):
                raise DamagedDataError(
                    f"its first row, which names the columns, cannot be read: {header.detail}"
                )
            self.names = layout.named(header)
        self._unquoted = self.names.index(unquoted) if unquoted in self.names else None

    def time_unit(self, field: str) -> None:
        """Return None: a CSV file does not say the unit of its times."""

    def records(self) -> Iterator[tuple[str, dict[str, Any]] | DeadLetter]:
        """Yield (place, record) in the order of the file, and dead letters for wrong rows."""
        count = len(self.names)
        for row in self._rows():
            if isinstance(row, DeadLetter):
                yield row
                continue
            if len(row) > count and self._unquoted is not None:
                first, after = self._unquoted, self._unquoted + len(row) - count + 1
                row[first:after] = [self._dialect["delimiter"].join(row[first:after])]
            if len(row) == count:
                yield (
                    self._place(),
                    {name: value or None for name, value in zip(self.names, row, strict=True)},
                )
            else:
                detail = (
                    f"the row has {len(row)} fields, the first row has {count}; a field with a"
                    " delimiter in it needs quotes"
                )
                remedy = ", or name its column with --unquoted_field" if len(row) > count else ""
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
                limit = too_large(self._source.size, ParseSettings(max_document_bytes=self._max))
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
        return dead_letter(self._place(), reason, detail, bytes(self._source.head))


class _TooLargeError(Exception):
    """The row is longer than a document may be."""


class _Source:
    """The lines of a file, for ``csv.reader``.

    Attributes:
        head: The beginning of the row that is being read.
        size: The bytes of the row that were read so far.
        blank: The number of blank lines that were skipped between rows.
    """

    def __init__(self, chunks: Iterable[bytes], max_bytes: int) -> None:
        self.head = bytearray()
        self.size = self.blank = 0
        self._max = max_bytes
        self._lines = self._cut(chunks)

    def begin(self) -> None:
        """Begin a row."""
        self.head.clear()
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line, length = next(self._lines)
        self.size += length
        self.head += line[: HEAD - len(self.head)]
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
                if not self.size and not length and (blank := _BLANK.match(chunk, at)):
                    self.blank += chunk.count(b"\n", at, blank.end())
                    at = blank.end()
                    continue
                end = chunk.find(b"\n", at) + 1 or len(chunk)
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
