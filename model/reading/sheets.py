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
from itertools import chain, islice
from typing import Any, BinaryIO

from openpyxl import load_workbook
from openpyxl.cell.cell import ERROR_CODES
from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.utils.escape import unescape
from openpyxl.worksheet._reader import WorkSheetParser

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.avro import Item
from beam_topics.model.reading.delimited import named

# The values of cells by the numbers of their columns, or why they cannot be read.
Row = dict[int, Any] | Exception
# The rows of a block.
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
        DamagedDataError: It is not a workbook, or its first row cannot be read.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        # openpyxl warns of charts and other parts that it does not read.
        warnings.simplefilter("ignore")
        try:
            book = load_workbook(stream, read_only=True, data_only=True)
            info = book._archive.getinfo
            sheet = max(book.worksheets, key=lambda one: info(one._worksheet_path).file_size)
            formats = book._date_formats, book._timedelta_formats
            source, strings = sheet._get_source(), sheet._shared_strings
            self._rows = _filled(_Parser(source, strings, True, book.epoch, *formats).parse())
            _, header = next(self._rows, (0, {}))
            if isinstance(header, Exception):
                raise header
        except Exception as error:  # openpyxl raises whatever the damage leads to
            raise DamagedDataError(
                f"this is not an Excel workbook (.xlsx): {type(error).__name__}: {error}"
            ) from error
        self._place = f"{name} sheet {sheet.title!r}"
        cells = [header.get(at) for at in range(1, max(header, default=0) + 1)]
        self.names = named(["" if cell is None else str(cell) for cell in cells])
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
                place = f"{self._place} row {number}"
                if isinstance(cells, Exception):
                    yield place, "the row cannot be read", cells
                else:
                    yield place, {name: cells.get(at) for at, name in enumerate(self.names, 1)}
        except Exception as error:  # as above
            yield self._place, f"the rows after {number} cannot be read", error


class _Parser(WorkSheetParser):
    """The parser of a sheet, for which a bad cell costs its row and not the rows after it."""

    row_counter: int

    def parse_row(self, row: Any) -> tuple[int, Row]:
        """Return the number of a row, and the values of its cells or what is wrong with it."""
        least = self.row_counter + 1
        try:
            number, cells = super().parse_row(row)
            return number, {cell["column"]: _value(cell["value"]) for cell in cells}
        except Exception as error:  # as above
            self.row_counter = max(self.row_counter, least)
            return self.row_counter, error


def _filled(rows: Iterator[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
    """Yield the rows that are not empty."""
    for number, cells in rows:
        if isinstance(cells, Exception) or any(value is not None for value in cells.values()):
            yield number, cells


def _value(value: Any) -> Any:
    """Return the value of a cell as JSON has it."""
    if isinstance(value, date):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return None if value in ERROR_CODES else unescape(value)
    return value
