"""Read the rows of an Excel workbook (.xlsx, .xlsm), damaged or not, in a process with limits.

The sheet whose part is the largest is read, row by row. Its first row that is not empty names the
columns. Dates become text in ISO 8601, whole numbers ints, and empty cells and errors of formulas
are missing.

openpyxl holds all texts that cells share, and expands what a workbook declares. Only
:mod:`beam_topics.model.reading.child`, which has limits, imports this module.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import date
from itertools import chain, islice, repeat
from typing import Any, BinaryIO

from openpyxl import load_workbook
from openpyxl.cell.cell import ERROR_CODES
from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.utils.escape import unescape

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.avro import Item

# The rows of a block, for which the process has its time.
_ROWS = 1000

# The numbers of East Asian formats of dates, which openpyxl does not know.
BUILTIN_FORMATS.update(dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd"))


class SheetTable:
    """An open workbook.

    Attributes:
        names: The names of the columns of its largest sheet.
        units: Empty, because dates are text.

    Args:
        stream: The bytes. It must be able to seek.
        name: The name of the file, for places such as ``name sheet 'May' row 17``.

    Raises:
        DamagedDataError: It is no workbook, or its first row cannot be read.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        # openpyxl warns of charts and other parts that it does not read.
        warnings.simplefilter("ignore")
        try:
            book = load_workbook(stream, read_only=True, data_only=True)
            sheet = max(book.worksheets, key=lambda one: _size(book, one))
            # The size that a sheet declares may be wrong.
            sheet.reset_dimensions()
            self._rows = _filled(enumerate(sheet.iter_rows(values_only=True), 1))
            _, header = next(self._rows, (0, []))
        except Exception as error:  # openpyxl raises whatever the damage leads to
            raise DamagedDataError(
                f"this is not an Excel workbook (.xlsx): {type(error).__name__}: {error}"
            ) from error
        self._place = f"{name} sheet {sheet.title!r}"
        self.names = tuple(
            str("" if cell is None else cell).strip() or f"column{at}"
            for at, cell in enumerate(header, 1)
        )
        self.units: dict[str, str] = {}

    def blocks(self) -> Iterator[tuple[int, int, Iterator[Item]]]:
        """Yield (number, 0, items) of each thousand rows; read one to its end before the next."""
        items = self._items()
        for number, first in enumerate(items, 1):
            yield number, 0, chain([first], islice(items, _ROWS - 1))

    def _items(self) -> Iterator[Item]:
        number = 1
        try:
            for number, cells in self._rows:
                values = chain(cells, repeat(None))
                yield f"{self._place} row {number}", dict(zip(self.names, values, strict=False))
        except Exception as error:  # as above
            yield self._place, f"the rows after {number} cannot be read", error


def _size(book: Any, sheet: Any) -> int:
    """Return the unpacked bytes of a sheet."""
    size: int = book._archive.getinfo(sheet._worksheet_path).file_size
    return size


def _filled(rows: Iterator[tuple[int, tuple[Any, ...]]]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the numbers and the values of rows that are not empty."""
    for number, cells in rows:
        values = list(map(_value, cells))
        if any(value is not None for value in values):
            yield number, values


def _value(value: Any) -> Any:
    """Return the value of a cell as JSON has it."""
    if isinstance(value, date):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return None if value in ERROR_CODES else unescape(value)
    return value
