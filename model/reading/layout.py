r"""Find how the rows of a CSV file are written, from its beginning.

The delimiter is the one that cuts most rows into the same number of fields, and the first row names
the columns unless it looks like the rows below it: a number above numbers, a time above times, a
word that occurs below, a sentence above sentences.

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
from collections.abc import Sequence
from dataclasses import dataclass

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
# The part of a file that shows its layout, in bytes.
HEAD = 2**16
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
    def word(self) -> str:
        """Return the word for the delimiter in ``--delimiter``."""
        return next(word for word, sign in DELIMITERS.items() if sign == self.delimiter)


def layout_of(text: str, delimiter: str = "auto", *, whole: bool = True) -> Layout:
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
    """Return the names of columns; one without a name is named after its place."""
    return tuple(name.strip() or f"column{at}" for at, name in enumerate(header, 1))


def _rows(lines: Sequence[str], delimiter: str, quoted: bool = True) -> list[list[str]]:
    reader = csv.reader(
        lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    )
    return [row for row in reader if row]


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that cuts most rows alike.

    Of several, one without a blank behind it, as prose has, comes first; then one with more fields.
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
    if len(set(full)) < len(full) or not full:
        return False
    votes = 0
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
