import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.delimited import CsvFile
from beam_topics.model.reading.settings import ParseSettings, ReadSettings

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)


def open_chunks(chunks, most=10_000):
    return CsvFile(chunks, "a.csv", ReadSettings(ParseSettings(max_document_bytes=most)))


def open_csv(data, size=1000, most=10_000):
    return open_chunks([data[at : at + size] for at in range(0, len(data), size)], most)


def read(data, size=1000, most=10_000):
    return list(open_csv(data, size, most).records())


@given(
    st.lists(st.tuples(TEXTS, TEXTS), max_size=6),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(3, 50),
)
@settings(max_examples=300)
def test_what_a_writer_wrote_is_read(rows, delimiter, end, size):
    out = io.StringIO(newline="")
    # Python's writer leaves a carriage return without quotes where lines do not end in one.
    quoting = csv.QUOTE_ALL if "\r" in "".join(map("".join, rows)) else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(
        [("one", "two"), *rows]
    )
    made = read(out.getvalue().encode(), size)
    assert [record for _, record in made] == [
        {"one": one or None, "two": two or None} for one, two in rows
    ]
    assert [place for place, _ in made] == [
        f"a.csv row {number}" for number in range(2, len(rows) + 2)
    ]


@pytest.mark.parametrize("size", [3, 7, 1000])
def test_a_byte_order_mark_blank_rows_and_spaces_of_names(size):
    table = open_csv(b"\xef\xbb\xbf id , text\r\n\r\n1,\xc3\xa9\r\n\n2,b", size)
    assert table.names == ("id", "text")
    assert list(table.records()) == [
        ("a.csv row 3", {"id": "1", "text": "é"}),
        ("a.csv row 5", {"id": "2", "text": "b"}),
    ]


def test_a_file_without_anything():
    assert open_csv(b"").names == ()
    assert read(b"") == read(b"id,text\n") == []


def test_blank_rows_in_their_millions_cost_no_time_and_those_in_quotes_are_text():
    chunks = [b'id,text\n1,"a\n', b"\n" * 1000 + b'b"\n', *[b"\n" * 2**20] * 32, b"2,c\n"]
    first, second = open_chunks(chunks).records()
    assert first[1]["text"] == "a\n" + "\n" * 1000 + "b"
    assert second[0] == f"a.csv row {3 + 32 * 2**20}"


def test_bytes_that_are_not_utf_8_are_kept_for_the_parser():
    ((_, record),) = read(b"id,text\n1,caf\xe9\n")
    assert record["text"].encode("utf-8", "surrogateescape") == b"caf\xe9"


def test_a_row_of_another_length_costs_itself():
    few, many, good = read(b"id,text\n1\n2,a,b\n3,c\n")
    assert (few.source, few.reason, few.record) == ("a.csv row 2", "bad_row", "1\n")
    assert (
        few.detail
        == "the row has 1 fields, the first row has 2; a field with a delimiter in it needs quotes"
    )
    assert (many.source, many.record) == ("a.csv row 3", "2,a,b\n")
    assert good == ("a.csv row 4", {"id": "3", "text": "c"})


def test_a_stray_quote_costs_the_rows_up_to_the_next_one():
    letter, good = read(b'id,text\n1,"a\n2,b\n3,"c"\n4,d\n')
    assert (letter.source, letter.reason, letter.record) == (
        "a.csv row 2",
        "bad_row",
        '1,"a\n2,b\n3,"c"\n',
    )
    assert letter.detail.startswith(
        "the row is not CSV: ',' expected after '\"'; a quote within quotes is written twice"
    )
    assert good[1] == {"id": "4", "text": "d"}
    (letter,) = read(b'id,text\n1,"a\n2,b\n')
    assert letter.detail.startswith("the row is not CSV: unexpected end of data")


@pytest.mark.parametrize("size", [5, 10_000])
def test_a_row_that_is_too_large_costs_itself(size):
    good, letter, after = read(b"id,text\n1,a\n2," + b"x" * 5000 + b"\n3,c\n", size, 1000)
    assert (good[1]["id"], after[1]["id"]) == ("1", "3")
    assert (letter.source, letter.reason) == ("a.csv row 3", "too_large")
    assert letter.detail.startswith(
        "5003 bytes; at most 1000 are allowed"
    ) and letter.detail.endswith("a quote in this row is not closed")
    assert len(letter.record) == DeadLetter.RECORD_CHARACTERS


def test_an_open_quote_takes_no_more_than_a_document():
    rows = b"".join(b"%d,plain\n" % number for number in range(1000))
    letter, *others = read(b'id,text\n0,"open\n' + rows, most=1000)
    assert letter.reason == "too_large"
    assert [record["id"] for _, record in others] == [
        str(number) for number in range(1000 - len(others), 1000)
    ]
    assert len(others) > 800


def test_a_field_may_be_larger_than_pythons_own_limit():
    ((_, record),) = read(b"id,text\n1," + b"x" * 200_000, most=10**6)
    assert len(record["text"]) == 200_000


def test_a_source_that_breaks_off_keeps_what_came_before():
    def chunks():
        yield b"id,text\n1,a\n2,"
        raise DamagedDataError("the gzip is damaged")

    good, letter = list(open_chunks(chunks()).records())
    assert good[1] == {"id": "1", "text": "a"}
    assert (letter.source, letter.reason) == ("a.csv row 3", "damaged")
    assert letter.detail == "the gzip is damaged; this row and the rest of the file cannot be read"


@pytest.mark.parametrize("data", [b'"id\n', b"x" * 5000, b"id\rtext\r1\r2"])
def test_a_first_row_that_cannot_be_read(data):
    with pytest.raises(
        DamagedDataError, match="its first row, which names the columns, cannot be read"
    ):
        open_csv(data, most=1000)


@given(st.binary(max_size=200), st.integers(1, 50))
@settings(max_examples=300)
def test_any_bytes_are_rows_or_dead_letters(data, size):
    for item in read(b"id,text\n" + data, size, 60):
        assert isinstance(item, DeadLetter) or set(item[1]) == {"id", "text"}
