"""Plain records are read as the slow parser reads them, and all others are left to it."""

import csv
import io
import json
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.reading import delimited, files, inner, tables
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.plain_records import json_reader
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings

GOOD = b'{"id": 7, "timestamp": "2001-01-31", "text": "A ship", "label": "l", "o": %s}'
# What JSON has, nearly has or does not have.
VALUES = [
    *("1", "-0", "01", "1.", ".5", "1e5", "1e400", "-", "NaN", "Infinity", "1" * 4300, "1" * 4301),
    *('"a"', '""', '" "', '"\\u0000"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\x"', '"\t"', '"\\"'),
    *(
        "[1,]",
        "[[2]]",
        "[" * 99 + "]" * 99,
        "[" * 100 + "]" * 100,
        "[" * 3000,
        "{}",
        '{"$date": 1}',
    ),
    *("null", "true", "tru", "1.0", str(2**70), "9" * 30 + ".5", '"2001-01-31"', '"é"', '"x" "y"'),
    *('"a", "id": "b"', '"a", "text": "b"', '"a", "text": null', '"a", "label": [1]'),
]
FIELDS = ["id", "timestamp", "text", "label", "k", "other", "a.b"]
LINES = st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(VALUES)), max_size=7).map(
    lambda fields: "{" + ", ".join(f'"{name}": {value}' for name, value in fields) + "}"
)
GOOD_FIELDS = [("id", '"a"'), ("timestamp", "5"), ("text", '"A ship"')]
LINES |= st.tuples(
    st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(VALUES)), max_size=3),
).map(
    lambda given: (
        "{" + ",".join(f'"{name}":{value}' for name, value in [*given[0], *GOOD_FIELDS]) + "}"
    )
)
BYTES = st.tuples(LINES.map(str.encode), st.integers(0, 60), st.binary(max_size=2)).map(
    lambda one: one[0][: one[1]] + one[2] + one[0][one[1] + len(one[2]) :]
)
SETTINGS = [
    ReadSettings(),
    ReadSettings(ParseSettings(FieldNames(key="k", source="other"))),
    ReadSettings(ParseSettings(FieldNames(label="id"), id_from="place")),
    ReadSettings(ParseSettings(FieldNames(text="a.b"))),
    ReadSettings(ParseSettings(FieldNames(text="text,other"), timestamp_format="s")),
    ReadSettings(time_from="order"),
    ReadSettings(ParseSettings(max_document_bytes=50)),
]


def read_both(data, how):
    """What is read with and without the fast decoder."""
    found = list(read_file(io.BytesIO(data), "a.jsonl", how))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inner, "json_reader", lambda _: lambda places, _: [None] * len(places))
        return found, list(read_file(io.BytesIO(data), "a.jsonl", how))


@settings(max_examples=500)
@given(st.lists(LINES.map(str.encode) | BYTES, max_size=4), st.sampled_from(SETTINGS))
def test_documents_and_dead_letters_are_those_of_the_slow_parser(lines, how):
    found, wanted = read_both(b"\n".join(lines), how)
    assert found == wanted


@pytest.mark.parametrize("value", VALUES)
def test_each_value_in_each_place(value):
    for name in ("id", "timestamp", "text", "label", "other"):
        fields = dict(GOOD_FIELDS) | {name: value}
        line = "{" + ", ".join(f'"{one}": {given}' for one, given in fields.items()) + "}"
        for how in SETTINGS:
            found, wanted = read_both(f"{line}\n{line}\r\n\n {line}".encode(), how)
            assert found == wanted


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf" + GOOD % b"1", GOOD % b'"\xff"', GOOD % b"1" + b"x"]
)
def test_bytes_that_are_not_plain(data):
    found, wanted = read_both(data, ReadSettings())
    assert found == wanted


def test_plain_records_meet_the_fast_decoder_alone(monkeypatch):
    monkeypatch.setattr("beam_topics.model.reading.inner.parse_object", pytest.fail)
    data = b"\n".join(GOOD % json.dumps(n).encode() for n in range(3))
    assert len(list(read_file(io.BytesIO(data), "a.jsonl", ReadSettings()))) == 3


def test_names_that_the_decoder_does_not_take_are_left_to_the_slow_parser():
    for name in ('a"b', "a\\b", "a.b", "a[]", "a\n"):
        how = ReadSettings(ParseSettings(FieldNames(text=f'"{name}"'.replace('a"', 'a""'))))
        line = json.dumps({"id": 1, "timestamp": 5, name: "A ship"}).encode()
        assert json_reader(how)(["a:1"], [line]) == [None]


CELLS = ["", " ", "a", "7", "2001-01-31", "x\0", "é", "\udc80", "a,b", "x\ny", "1e5"]
ROWS = st.lists(st.lists(st.sampled_from(CELLS), min_size=7, max_size=7), max_size=4)
GOOD_CELLS = [("id", "a"), ("timestamp", "5"), ("text", "A ship")]
COLUMNS = ["id", "timestamp", "text", "label", "other", "k"]


@settings(max_examples=500)
@given(st.permutations(COLUMNS), st.sampled_from([5, 6, 6, 6, 7]), ROWS, st.sampled_from(SETTINGS))
def test_rows_are_those_of_the_slow_parser(columns, width, rows, how):
    text = io.StringIO()
    chosen = [columns, *(row[:width] for row in rows), ["2001-01-31"] * 6]
    csv.writer(text).writerows([*chosen, [dict(GOOD_CELLS).get(one, "") for one in columns]])
    data = text.getvalue().encode("utf-8", "surrogateescape")
    found = list(read_file(io.BytesIO(data), "a.csv", how))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "row_reader", lambda *_: lambda places, _: [None] * len(places))
        assert found == list(read_file(io.BytesIO(data), "a.csv", how))


COLUMN_VALUES = [
    st.sampled_from([*CELLS[:7], None, "A ship"]),
    st.sampled_from([None, 0, 7, -5, 2**40]),
    st.sampled_from([None, 1.5, float("nan"), 7.0]),
    st.sampled_from([None, *(datetime(2001, 1, day) for day in (1, 31))]),
    st.sampled_from([None, [1], []]),
]


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(SETTINGS))
def test_tables_are_those_of_the_slow_parser(drawn, how):
    columns = {
        name: drawn.draw(
            st.sampled_from(COLUMN_VALUES).flatmap(
                lambda one: st.lists(one, min_size=4, max_size=4)
            )
        )
        for name in COLUMNS
    } | dict(drawn.draw(st.sampled_from([{}, {"text": ["A ship"] * 4, "id": [1, 2, 3, None]}])))
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    data = out.getvalue()
    found = list(read_file(io.BytesIO(data), "a.parquet", how))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "json_reader", lambda *_: lambda places, _: [None] * len(places))
        assert found == list(read_file(io.BytesIO(data), "a.parquet", how))


def test_plain_tables_are_not_parsed_one_by_one(monkeypatch):
    monkeypatch.setattr(files, "parse_record", pytest.fail)
    out = io.BytesIO()
    times = [datetime(2001, 1, 31, 12)] * 3
    pq.write_table(pa.table({"id": [1, 2, 3], "timestamp": times, "text": ["A ship"] * 3}), out)
    found = list(read_file(out, "a.parquet", ReadSettings()))
    assert [(one.id, one.timestamp) for one in found] == [(n, 980942400000000) for n in "123"]
