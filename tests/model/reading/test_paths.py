"""Values of fields and of paths."""

import io
import json

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.paths import paths_of, root_of, value_of
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings

RECORD = {
    "payload": {"comment": {"body": "Tea", "n": 7, "none": None}},
    "parts": [{"text": "a", "more": ["b", "c"]}, {"text": "d"}, {"other": 1}],
    "tags": ["x", "y"],
    "deep": [[{"text": "e"}], [{"text": "f"}]],
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("payload.comment.body", "Tea"),
        ("payload.comment.n", 7),
        ("payload.comment.none", None),
        ("payload.comment", {"body": "Tea", "n": 7, "none": None}),
        ("payload.review.body", None),
        ("payload.comment.body.more", None),
        ("parts[].text", "a\nd"),
        ("parts[].more[]", "b\nc"),
        ("parts[].other", 1),
        ("parts.text", None),
        ("payload[].comment", None),
        ("tags[]", "x\ny"),
        ("deep[][].text", "e\nf"),
        ("", None),
        (".", None),
        ("[]", None),
        ("payload.", None),
    ],
)
def test_a_path_leads_to_its_value(path, value):
    assert value_of(RECORD, path) == value


def test_a_name_with_points_comes_before_a_path_at_each_level():
    record = {"a.b": "own", "a": {"b": "path", "b.c": "inner", "d": {"e": 1}}, "x[]": "own"}
    assert value_of(record, "a.b") == "own" and value_of(record, "x[]") == "own"
    assert value_of(record, "a.b.c") == "inner" and value_of(record, "a.d.e") == 1
    assert value_of({"a.b": {"c": "inner"}}, "a.b.c") == "inner"


def test_values_that_are_no_texts_are_a_list():
    assert value_of({"a": [{"n": 1}, {"n": 2}]}, "a[].n") == [1, 2]


def test_the_paths_of_records_are_bounded():
    assert paths_of([RECORD]) == [
        "payload.comment.body",
        "payload.comment.n",
        "parts[].text",
        "parts[].more[]",
        "parts[].other",
        "tags[]",
        "deep[][].text",
    ]
    deep = value = {}
    for _ in range(50):
        value["a"] = value = {"text": "x"}
    assert max(path.count(".") for path in paths_of([deep])) == 5
    many = [{"a": {f"field {n} {k}": "x" for k in range(100)}} for n in range(100)]
    assert len(paths_of(many)) <= 500


def test_the_outermost_field_of_a_path():
    assert [root_of(path) for path in ("a.b", "a[].b", "a")] == ["a", "a", "a"]


FIELDS = FieldNames(
    id="meta.id",
    timestamp="meta.at",
    text="payload.parts[].body",
    label="meta.kind",
    key="meta.lang",
    source="meta.by",
    group="meta.group",
)
SETTINGS = ReadSettings(parse=ParseSettings(fields=FIELDS))
NESTED = {
    "meta": {"id": 7, "at": "2024-01-02", "kind": "k", "lang": "en", "by": "ann", "group": "g"},
    "payload": {"parts": [{"body": "Tea"}, {"body": "at four"}]},
}
WITHOUT = {"meta": {**NESTED["meta"], "id": 8}, "payload": {"parts": []}}


def as_json(records):
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def as_array(records):
    return json.dumps(records, indent=1).encode()


def as_parquet(records):
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), out)
    return out.getvalue()


def as_avro(records):
    texts = [{"name": name, "type": "string"} for name in ("at", "kind", "lang", "by", "group")]
    fields = [{"name": "id", "type": "long"}, *texts]
    part = {"type": "record", "name": "part", "fields": [{"name": "body", "type": "string"}]}
    parts = [{"name": "parts", "type": {"type": "array", "items": part}}]
    schema = {
        "type": "record",
        "name": "event",
        "fields": [
            {"name": "meta", "type": {"type": "record", "name": "meta", "fields": fields}},
            {"name": "payload", "type": {"type": "record", "name": "load", "fields": parts}},
        ],
    }
    out = io.BytesIO()
    fastavro.writer(out, schema, records)
    return out.getvalue()


FORMS = {"a.jsonl": as_json, "a.json": as_array, "a.parquet": as_parquet, "a.avro": as_avro}


@pytest.mark.parametrize("name", FORMS)
def test_paths_work_for_every_field_in_every_format_that_nests(name):
    found, refused = read_file(io.BytesIO(FORMS[name]([NESTED, WITHOUT])), name, SETTINGS)
    assert (found.id, found.text, found.label, found.key) == ("7", "Tea\nat four", "k", "en")
    assert (found.source, found.group, found.timestamp) == ("ann", "g", 1_704_153_600_000_000)
    assert refused.reason == "missing_text"
    said = "the record has no field 'payload.parts[].body'; it has 'meta', 'payload'. Name the"
    assert refused.detail.startswith(said)


@pytest.mark.parametrize("name", FORMS)
def test_a_file_without_the_path_says_so(name):
    fields = FieldNames(id="meta.id", timestamp="meta.at", text="load.body")
    settings = ReadSettings(parse=ParseSettings(fields=fields))
    refused = list(read_file(io.BytesIO(FORMS[name]([NESTED, WITHOUT])), name, settings))
    assert all(
        "has no field 'load.body'; it has 'meta', 'payload'" in one.detail for one in refused
    )


@pytest.mark.parametrize("name", FORMS)
def test_the_elements_of_an_array_are_the_records(name):
    parse = ParseSettings(FieldNames(text="body"), id_from="place")
    settings = ReadSettings(parse, time_from="order", records="payload.parts")
    data = FORMS[name]([NESTED, WITHOUT, NESTED])
    found = list(read_file(io.BytesIO(data), name, settings))
    assert [one.text for one in found] == ["Tea", "at four"] * 2
    assert len({one.id for one in found}) == 4 and found[1].id.endswith("record 000000002")


def test_a_literal_column_with_a_point_comes_first_in_a_table():
    rows = [{"id": 1, "timestamp": "2024-01-02", "a.text": "own", "a": {"text": "path"}}]
    settings = ReadSettings(parse=ParseSettings(fields=FieldNames(text="a.text")))
    (found,) = read_file(io.BytesIO(as_parquet(rows)), "a.parquet", settings)
    assert found.text == "own"


def test_a_place_in_a_list():
    record = {"versions": [{"created": "a"}, {"created": "b"}], "x[0]": "c", "list": [["d"]]}
    assert value_of(record, "versions[0].created") == "a"
    assert value_of(record, "versions[1].created") == "b"
    assert value_of(record, "versions[7].created") is None
    assert value_of(record, "x[0]") == "c"
    assert value_of(record, "list[0][0]") == "d"
    assert root_of("versions[0].created") == "versions"
