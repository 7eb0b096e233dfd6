"""Which fields of records are taken for the text, the time and the id."""

import io
import json

import pytest

from model.reading.fields import guess, sample_records
from model.reading.settings import FieldNames, ReadSettings


def of(**fields):
    """What ten records with these fields seem to need; a function makes a value of a number."""
    records = [
        {name: value(n) if callable(value) else value for name, value in fields.items()}
        for n in range(10)
    ]
    found = guess(records, FieldNames())
    return found.options, found.unclear


TEXT = "a ship came into the harbour of the town"


def test_fields_of_the_default_names_need_no_option():
    assert of(id=str, timestamp="2001-01-31", text=TEXT) == ({}, {})
    assert of(id=str, timestamp="2001-01-31", text=TEXT, date="2001-01-31", body=TEXT * 9) == (
        {},
        {},
    )


def test_other_names_are_found_where_they_are_clear():
    assert of(headline=TEXT, date="2001-01-31", author="Jo Do") == (
        {"text_field": "headline", "timestamp_field": "date", "id_from": "place"},
        {},
    )


def test_two_texts_of_about_one_length_are_unclear():
    options, unclear = of(title=TEXT, body=TEXT + TEXT, timestamp="1970-01-01", id=str)
    assert options == {} and unclear == {"text": ["body", "title"]}
    options, unclear = of(title="a ship", body=TEXT, timestamp="1970-01-01", id=str)
    assert options == {"text_field": "body"} and unclear == {}
    assert of(id=str, timestamp="1970-01-01", n=3)[1] == {"text": []}


def test_two_times_are_unclear():
    options, unclear = of(id=str, text=TEXT, created="2001-01-31", updated="2002-01-31")
    assert options == {} and unclear == {"timestamp": ["created", "updated"]}
    assert of(id=str, text=TEXT, timestamp="1970-01-01", updated="2002-01-31") == ({}, {})


def test_without_a_time_the_order_is_taken():
    assert of(id=str, text=TEXT) == ({"time_from": "order"}, {})


def test_the_form_of_the_times_is_found_or_unclear():
    def found(**fields):
        options, unclear = of(id=str, text=TEXT, **fields)
        return options, unclear

    assert found(date="12/31/2020") == (
        {"timestamp_field": "date", "timestamp_format": "%m/%d/%Y"},
        {},
    )
    assert found(timestamp="31.12.2020") == ({"timestamp_format": "%d.%m.%Y"}, {})
    assert found(Datum="1/2/2020") == (
        {"timestamp_field": "Datum"},
        {"form": ["%d/%m/%Y", "%m/%d/%Y"]},
    )
    # Of several fields that hold times, one with the name of a time.
    assert found(x="12/31/2020", made_on="2020-12-31") == ({"timestamp_field": "made_on"}, {})
    assert found(time_to_read=TEXT + " 1") == ({"time_from": "order"}, {})
    made_at = "Mon Jan 5 10:00:00 +0000 2020"
    assert of(post="a ship came in", created_at=made_at)[0]["text_field"] == "post"


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (980899200, "s"),
        (980899200000, "ms"),
        (980899200000000, "us"),
        ("980899200000", "ms"),
        (lambda n: 2001 + n, "year"),
    ],
)
def test_the_unit_of_a_number_is_found(value, form):
    name = "year" if form == "year" else "created_at"
    options, unclear = of(id=str, text=TEXT, **{name: value})
    expected = {"timestamp_field": name, "timestamp_format": form}
    assert (options, unclear) == (expected, {})


def test_a_timestamp_that_is_no_time_is_left_to_the_run():
    assert of(id=str, text=TEXT, timestamp="soon", date="2001-01-31") == ({}, {})


def test_a_field_that_many_records_lack_is_no_field():
    options, _ = of(id=str, text=TEXT, date=lambda n: "2001-01-31" if n < 5 else None)
    assert options == {"time_from": "order"}
    assert of(id=lambda n: str(n) if n else "", text=TEXT, timestamp="1970-01-01") == ({}, {})
    assert of(id=lambda n: "", text=TEXT, timestamp="1970-01-01")[0] == {"id_from": "place"}


def test_records_are_sampled_from_every_format(tmp_path):
    rows = [{"id": str(n), "text": TEXT} for n in range(5)]
    lines = "\n".join([*map(json.dumps, rows[:2]), "no JSON", "[1]", *map(json.dumps, rows[2:])])
    table = "id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows)
    for name, data in (("a.jsonl", lines.encode()), ("a.csv", table.encode())):
        found = sample_records(io.BytesIO(data), name, ReadSettings(), 4)
        assert [dict(record) for record in found] == rows[:4]
    assert sample_records(io.BytesIO(b""), "a.csv", ReadSettings(), 4) == []


def test_all_columns_of_parquet_and_avro_are_sampled():
    import fastavro
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, out = [{"headline": TEXT, "n": 1}], io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    out.seek(0)
    assert [dict(one) for one in sample_records(out, "a.parquet", ReadSettings(), 4)] == rows
    fields = [{"name": "headline", "type": "string"}, {"name": "n", "type": "int"}]
    out = io.BytesIO()
    fastavro.writer(out, {"type": "record", "name": "R", "fields": fields}, rows)
    out.seek(0)
    assert [dict(one) for one in sample_records(out, "a.avro", ReadSettings(), 4)] == rows
