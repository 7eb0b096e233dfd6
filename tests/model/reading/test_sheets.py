"""Workbooks that openpyxl writes, with parts that are changed afterwards."""

import io
import random
import re
import zipfile
from datetime import date, datetime

import pytest
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from beam_topics.model.documents.document import Document
from beam_topics.model.reading.files import read_file, records
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings

HOW = ReadSettings(ParseSettings(FieldNames(timestamp="date")))
NOON = datetime(2024, 3, 1, 12)
ROWS = (
    ("id", "date", "text", None, "n"),
    (),
    (7, NOON, "Tea & milk", None, 1.5),
    (),
    (8, date(2024, 3, 1), "a_x000D_b", "#N/A", True),
)
SHEET = "xl/worksheets/sheet2.xml"


def book(rows=ROWS, epoch=None, **changed):
    """Return a workbook with two sheets; ``changed`` are functions from the text of a part."""
    made, out = Workbook(), io.BytesIO()
    made.epoch = epoch or made.epoch
    made.active.title = "Note"
    sheet = made.create_sheet("May")
    for at, row in enumerate(rows, 1):
        for column, value in enumerate(row, 1):
            sheet.cell(at, column, value)
    made.save(out)
    if not changed:
        return out.getvalue()
    copy = io.BytesIO()
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            change = changed.get(name, lambda text: text)
            new.writestr(name, change(old.read(name).decode()))
    return copy.getvalue()


def with_rows(rows):
    """Return a workbook with a header and rows as XML."""
    return book(
        [("id", "date", "text")],
        **{SHEET: lambda text: text.replace("</sheetData>", f"{rows}</sheetData>")},
    )


def read(data, settings=HOW):
    return list(read_file(io.BytesIO(data), "a.xlsx", settings))


def test_the_rows_of_the_largest_sheet_are_records():
    first, second = records(io.BytesIO(book()), "a.xlsx", ReadSettings())
    assert first == (
        "a.xlsx sheet 'May' row 3",
        {"id": 7, "date": "2024-03-01T12:00:00", "text": "Tea & milk", "column4": None, "n": 1.5},
    )
    assert second == (
        "a.xlsx sheet 'May' row 5",
        {"id": 8, "date": "2024-03-01", "text": "a\rb", "column4": None, "n": True},
    )
    noon = 1_709_294_400_000_000
    assert read(book()) == [
        Document("7", noon, "Tea & milk"),
        Document("8", noon - 43_200_000_000, "a\rb"),
    ]


def test_workbooks_of_another_epoch():
    (_, record), _ = records(io.BytesIO(book(epoch=CALENDAR_MAC_1904)), "a.xlsx", HOW)
    assert record["date"] == "2024-03-01T12:00:00"


def test_dates_in_formats_of_east_asia():
    def change(styles):
        return re.sub(r'numFmtId="(14|16\d)"', 'numFmtId="31"', styles)

    (_, record), _ = records(io.BytesIO(book(**{"xl/styles.xml": change})), "a.xlsx", HOW)
    assert record["date"] == "2024-03-01T12:00:00"


def test_rows_go_on_after_the_first_block():
    rows = [("id", "date", "text"), *((n, NOON, "Tea") for n in range(2500))]
    found = list(records(io.BytesIO(book(rows)), "a.xlsx", HOW))
    assert [record["id"] for _, record in found] == list(range(2500))
    assert found[-1][0] == "a.xlsx sheet 'May' row 2501"


def test_a_sheet_without_the_fields_is_one_dead_letter():
    (letter,) = read(book(), ReadSettings())
    assert (letter.reason, letter.source) == ("schema", "a.xlsx")
    assert "--timestamp_field" in letter.detail


def test_what_is_no_workbook():
    for data in (b"nonsense", book()[:-100], book(**{"xl/workbook.xml": lambda _: "<a/>"})):
        (letter,) = read(data)
        assert letter.reason == "damaged"
        assert "this is not an Excel workbook (.xlsx)" in letter.detail
    assert read(b"") == []


GOOD = "<row r='{0}'><c><v>{0}</v></c><c t='str'><v>2024-03-01</v></c><c t='str'><v>a</v></c></row>"


@pytest.mark.parametrize(
    ("row", "detail"),
    [
        ("<row><c t='s'><v>9</v></c></row>", "IndexError: list index out of range"),
        ("<row><c><v>one</v></c></row>", "ValueError: could not convert string to float"),
        ("<row><c><v>7</v></c><c t='d'><v>2024-13-41</v></c></row>", "ValueError: "),
        ("<row><c r='AAAAAAA3'><v>7</v></c></row>", ""),
        ("<row r='x'><c><v>7</v></c></row>", "ValueError: could not convert string to float: 'x'"),
    ],
)
def test_a_bad_cell_costs_its_row(row, detail):
    first, letter, last = read(with_rows(GOOD.format(2) + row + GOOD.format(4)))
    assert (first.id, last.id) == ("2", "4")
    assert (letter.reason, letter.source) == ("damaged", "a.xlsx sheet 'May' row 3")
    assert "the row cannot be read" in letter.detail and detail in letter.detail


def test_a_row_of_many_cells_is_read():
    wide = "<row r='3'><c><v>3</v></c><c t='str'><v>2024-03-01</v></c><c t='str'><v>b</v></c>"
    rows = GOOD.format(2) + wide + "<c><v>1</v></c>" * 20_000 + "</row>" + GOOD.format(4)
    assert [document.id for document in read(with_rows(rows))] == ["2", "3", "4"]


def test_damaged_rows_cost_the_rest_of_the_sheet():
    document, letter = read(with_rows(GOOD.format(2) + "<row>"))
    assert document.id == "2"
    assert (letter.reason, letter.source) == ("damaged", "a.xlsx sheet 'May'")
    assert "the rows after 2 cannot be read" in letter.detail and "mismatched tag" in letter.detail


def test_a_text_that_is_too_long_costs_its_row():
    small = ReadSettings(ParseSettings(FieldNames(timestamp="date"), max_document_bytes=20))
    rows = [("id", "date", "text"), (1, NOON, "x" * 30), (2, NOON, "short")]
    letter, document = read(book(rows), small)
    assert (letter.reason, letter.source) == ("too_large", "a.xlsx sheet 'May' row 2")
    assert document.text == "short"


def test_no_damage_is_an_exception():
    generator, whole = random.Random(3), book()
    for _ in range(8):
        data = bytearray(whole)
        for _ in range(generator.randint(1, 4)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        read(bytes(data))
