"""Workbooks, written here part by part."""

import io
import random
import zipfile

import pytest

from model.reading import sheets
from model.reading.files import read_file, records
from model.reading.settings import FieldNames, ParseSettings, ReadSettings
from model.records import Document

_NS = "http://schemas.openxmlformats.org"
_MAIN = f"xmlns='{_NS}/spreadsheetml/2006/main'"
_REL = f"{_NS}/officeDocument/2006/relationships"


def relations(*targets):
    rows = "".join(
        f"<Relationship Id='r{at}' Type='{_REL}/{kind}' Target='{target}'/>"
        for at, (kind, target) in enumerate(targets)
    )
    return f"<Relationships xmlns='{_NS}/package/2006/relationships'>{rows}</Relationships>"


PARTS = {
    "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
    "xl/_rels/workbook.xml.rels": relations(
        ("worksheet", "worksheets/sheet1.xml"),
        ("worksheet", "/xl/worksheets/sheet2.xml"),
        ("sharedStrings", "sharedStrings.xml"),
        ("styles", "styles.xml"),
    ),
    "xl/workbook.xml": (
        f"<workbook {_MAIN} xmlns:r='{_REL}'><sheets><sheet name='Note' sheetId='1' r:id='r0'/>"
        "<sheet name='May' sheetId='2' r:id='r1'/></sheets></workbook>"
    ),
    "xl/sharedStrings.xml": (
        f"<sst {_MAIN}><si><t>text</t></si><si><r><t>Tea </t></r><r><t>&amp; milk</t></r>"
        "<rPh><t>no</t></rPh></si></sst>"
    ),
    "xl/styles.xml": (
        f"<styleSheet {_MAIN}><numFmts><numFmt numFmtId='164' formatCode='dd/mm/yyyy hh:mm'/>"
        "<numFmt numFmtId='165' formatCode='0.0&quot; days&quot;'/></numFmts>"
        "<cellStyleXfs><xf numFmtId='14'/></cellStyleXfs><cellXfs><xf numFmtId='0'/>"
        "<xf numFmtId='14'/><xf numFmtId='164'/><xf numFmtId='165'/></cellXfs></styleSheet>"
    ),
    "xl/worksheets/sheet1.xml": f"<worksheet {_MAIN}><sheetData/></worksheet>",
}
ROWS = (
    "<row r='1'><c r='A1' t='inlineStr'><is><t>id</t></is></c><c r='B1' t='str'><v>date</v></c>"
    "<c r='C1' t='s'><v>0</v></c><c r='E1' t='str'><v>n</v></c></row>"
    "<row r='3'><c r='A3'><v>7</v></c><c r='B3' s='2'><v>45352.5</v></c>"
    "<c r='C3' t='s'><v>1</v></c>"
    "<c r='E3' s='3'><v>1.5</v></c></row><row r='4'/>"
    "<row r='5'><c><v>8</v></c><c s='1'><v>45352</v></c><c t='str'><v>a_x000D_b</v></c>"
    "<c t='e'><v>#N/A</v></c><c t='b'><v>1</v></c></row>"
)
HOW = ReadSettings(ParseSettings(FieldNames(timestamp="date")))


def book(rows=ROWS, **changed):
    sheet = f"<worksheet {_MAIN}><sheetData>{rows}</sheetData></worksheet>"
    parts = {**PARTS, "xl/worksheets/sheet2.xml": sheet, **changed}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


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
    old = PARTS["xl/workbook.xml"].replace("<sheets>", "<workbookPr date1904='1'/><sheets>")
    (_, record), _ = records(io.BytesIO(book(**{"xl/workbook.xml": old})), "a.xlsx", HOW)
    assert record["date"] == "2028-03-02T12:00:00"


def test_a_sheet_without_the_fields_is_one_dead_letter():
    (letter,) = read(book(), ReadSettings())
    assert (letter.reason, letter.source) == ("schema", "a.xlsx")
    assert "Is it --timestamp_field=date?" in letter.detail


def test_what_is_no_workbook():
    for data in (b"nonsense", book()[:-100], book(**{"xl/workbook.xml": "<a/>"})):
        (letter,) = read(data)
        assert letter.reason == "damaged" and "no" in letter.detail
        assert "this is not an Excel workbook (.xlsx)" in letter.detail
    assert read(b"") == []


GOOD = "<row><c t='str'><v>id</v></c><c t='str'><v>date</v></c><c t='str'><v>text</v></c></row>"


@pytest.mark.parametrize(
    ("rows", "detail"),
    [
        (GOOD + "<row><c a='" + "x" * 2_000_000 + "'/></row>", "a tag is longer than"),
        (GOOD + "<a>" * 200 + "</a>" * 200, "nested deeper than 100 levels"),
        (GOOD + f"<row><c><v>{'1' * 2_000_000}</v></c></row>", "a text is longer than"),
        (GOOD + "<row><c r='ZZZ1'><v>1</v></c></row>", "there is no cell 'ZZZ1'"),
        (GOOD + "<row><c t='s'><v>9</v></c></row>", "cannot be read: list index out of range"),
        (GOOD + "<row>", "mismatched tag"),
    ],
)
def test_hostile_rows_cost_the_rest_of_the_sheet(rows, detail):
    letter = read(book(rows))[-1]
    assert letter.reason in ("damaged", "too_large") and detail in letter.detail


def test_numbers_that_are_none_stay_text():
    row = "<row><c s='1'><v>1e300</v></c><c><v>one</v></c><c s='1'><v>nan</v></c></row>"
    ((_, record),) = records(io.BytesIO(book(GOOD + row)), "a.xlsx", HOW)
    assert record == {"id": "1e300", "date": "one", "text": "nan"}


def test_document_types_and_too_many_texts_are_refused(monkeypatch):
    bomb = "<!DOCTYPE a [<!ENTITY b 'c'>]>" + PARTS["xl/sharedStrings.xml"]
    (letter,) = read(book(**{"xl/sharedStrings.xml": bomb}))
    assert "it declares a document type" in letter.detail
    monkeypatch.setattr(sheets, "_MOST_TEXT", 100)
    (letter,) = read(book())
    assert letter.reason == "too_large" and "its texts take more than" in letter.detail


def test_a_row_that_is_too_long_costs_itself():
    small = ReadSettings(ParseSettings(FieldNames(timestamp="date"), max_document_bytes=20))
    cells = "<c t='str'><v>1</v></c><c t='str'><v>2024-03-01</v></c><c t='str'><v>{}</v></c>"
    rows = GOOD + "".join(f"<row>{cells.format(text)}</row>" for text in ("x" * 30, "short"))
    letter, document = read(book(rows), small)
    assert (letter.reason, letter.source) == ("too_large", "a.xlsx sheet 'May' row 2")
    assert document.text == "short"


def test_no_damage_is_an_exception():
    generator, whole = random.Random(3), book()
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(generator.randint(1, 4)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        read(bytes(data))
