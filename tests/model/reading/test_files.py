import gzip
import io
import json

import fastavro
import pytest

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError
from beam_topics.model.reading import files
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.reading.sources import check_formats, format_of
from beam_topics.model.reading.time_forms import read_time


def jsonl(*records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def avro(records, *fields):
    out = io.BytesIO()
    schema = {
        "type": "record",
        "name": "R",
        "fields": [{"name": name, "type": kind} for name, kind in fields],
    }
    fastavro.writer(out, schema, records)
    return out.getvalue()


def read(data, name, settings=None, first=0):
    return list(read_file(io.BytesIO(data), name, settings or ReadSettings(), first))


MILLIS = {"type": "long", "logicalType": "timestamp-millis"}


def test_json_lines_and_avro_say_the_same():
    records = [{"id": "a", "timestamp": 1, "text": "x"}, {"id": "b", "timestamp": 2, "text": "y"}]
    expected = [Document("a", 1_000_000, "x"), Document("b", 2_000_000, "y")]
    assert read(jsonl(*records), "a.jsonl") == expected
    assert (
        read(avro(records, ("id", "string"), ("timestamp", "int"), ("text", "string")), "a.avro")
        == expected
    )


def test_avro_times_by_logical_type():
    made = read(
        avro(
            [{"id": 1, "timestamp": 1500, "text": "x"}],
            ("id", "long"),
            ("timestamp", MILLIS),
            ("text", "string"),
        ),
        "a.avro",
    )
    assert made == [Document("1", 1_500_000, "x")]


def test_dead_letters_beyond_those_of_a_file_are_one_for_each_reason(monkeypatch):
    monkeypatch.setattr(files, "MOST_REFUSED", 2)
    found = read(b"{}\n[]\n{}\n{\n{}\n" + jsonl({"id": 1, "timestamp": 0, "text": "x"}), "a.jsonl")
    assert [
        (one.source, one.reason, one.count) for one in found if isinstance(one, DeadLetter)
    ] == [
        ("a.jsonl:1", "missing_id", 1),
        ("a.jsonl:2", "wrong_type", 1),
        ("a.jsonl:3 to a.jsonl:5", "missing_id", 2),
        ("a.jsonl:4", "not_json", 1),
    ]
    beginning = "2 records in one dead letter, because the file has more than 2. The first: the rec"
    assert found[-2].detail.startswith(beginning) and found[-2].record == "{}"
    assert found[2].id == "1"


def test_the_order_as_time_counts_every_item():
    data = jsonl({"id": "a", "text": "x"}, {"id": "b"}, {"id": "c", "text": "z"})
    made = read(data, "a.jsonl", ReadSettings(time_from="order"), first=10)
    assert [item.timestamp for item in made if isinstance(item, Document)] == [
        10_000_000,
        12_000_000,
    ]
    made = read(
        avro([{"id": "a", "text": "x"}] * 2, ("id", "string"), ("text", "string")),
        "a.avro",
        ReadSettings(time_from="order"),
    )
    assert [item.timestamp for item in made] == [0, 1_000_000]


def test_a_schema_without_the_fields_is_one_dead_letter():
    data = avro([{"id": "a", "body": "x"}] * 5, ("id", "string"), ("body", "string"))
    (letter,) = read(data, "a.avro", ReadSettings(ParseSettings(FieldNames(key="customer"))))
    assert (letter.source, letter.reason) == ("a.avro", "schema")
    assert (
        letter.detail
        == "the file has no field 'timestamp', 'text', 'customer'; it has 'id', 'body'. Name the"
        " time with --timestamp_field. Files without times: --time_from=order. Name the text with"
        " --text_field. Name the key with --key_field."
    )


@pytest.mark.parametrize("name", ["a.csv", "a.avro"])
def test_one_of_several_text_fields_is_enough_for_a_file(name):
    texts = ReadSettings(ParseSettings(FieldNames(text="text,body")), time_from="order")
    fields = ("id", "string"), ("body", "string")
    data = b"id,body\n1,x\n" if name == "a.csv" else avro([{"id": "1", "body": "x"}], *fields)
    (document,) = read(data, name, texts)
    assert (document.id, document.text) == ("1", "x")
    neither = ReadSettings(ParseSettings(FieldNames(text="title,text")), time_from="order")
    (letter,) = read(data, name, neither)
    assert letter.detail.startswith("the file has no field 'title', 'text'; it has 'id', 'body'.")


def test_files_that_are_nothing():
    assert read(b"", "a.avro") == []
    assert read(b"", "a.jsonl.gz") == []
    (letter,) = read(b"nonsense", "a.avro")
    assert (letter.source, letter.reason) == ("a.avro", "damaged")


def test_bad_utf8_in_avro_costs_one_record():
    data = avro(
        [{"id": n, "timestamp": 1, "text": "plain"} for n in "abc"],
        ("id", "string"),
        ("timestamp", "int"),
        ("text", "string"),
    )
    at = data.find(b"plain", data.find(b"plain") + 1)
    made = read(data[:at] + b"pl\xffin" + data[at + 5 :], "a.avro")
    assert [type(item) for item in made] == [Document, DeadLetter, Document]
    assert (made[1].reason, made[1].source) == ("invalid_utf8", "a.avro block 1 record 2")


CSV = b"id,timestamp,text,label\n1,2001-01-31,one,x\n2,980942400,two,\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", CSV),
        ("a.csv.gz", gzip.compress(CSV, mtime=0)),
        ("a.tsv", CSV.replace(b",", b"\t")),
    ],
)
def test_csv_says_the_same(name, data):
    day = 980899200_000_000
    assert read(data, name) == [
        Document("1", day, "one", "x"),
        Document("2", day + 43_200_000_000, "two", None),
    ]


def test_the_order_as_time_in_csv_and_arrays():
    order = ReadSettings(ParseSettings(id_from="place"), time_from="order")
    for name, data in (
        ("a.csv", b"text\nx\n \nz\n"),
        ("a.json", b'[{"text": "x"}, {"text": " "}, {"text": "z"}]'),
    ):
        made = read(data, name, order, first=10)
        assert [item.timestamp for item in made if isinstance(item, Document)] == [
            10_000_000,
            12_000_000,
        ]
        assert len({item.id for item in made if isinstance(item, Document)}) == 2


def test_a_first_row_without_the_fields_is_one_dead_letter():
    (letter,) = read(
        b"id,date,body\n1,2001-01-31,A ship came in\n2,2001-02-01,Another one\n", "a.csv"
    )
    assert (letter.source, letter.reason, letter.record) == (
        "a.csv",
        "schema",
        "'id', 'date', 'body'",
    )
    assert (
        letter.detail
        == "the file has no field 'timestamp', 'text'; it has 'id', 'date', 'body'. Name"
        " the time with --timestamp_field. Files without times: --time_from=order. Name the text"
        " with --text_field."
    )
    (found,) = read(b"id,timestamp,text,text\n1,2,a,b\n", "a.csv")
    assert found.text == "a"
    (letter,) = read(b'"id\n', "a.csv")
    assert letter.reason == "damaged" and letter.detail.startswith(
        "the file cannot be read: its first row, which names the columns,"
    )
    assert read(b"", "a.csv") == read(gzip.compress(b""), "a.csv.gz") == []


def test_other_encodings_of_text():
    csv, lines = "id,timestamp,text\n1,0,café\n", '[{"id": 1, "timestamp": 0, "text": "café"}]'
    for encoding in ("latin-1", "utf-16", "cp1252"):
        how = ReadSettings(encoding=encoding)
        assert (
            read(csv.encode(encoding), "a.csv", how)
            == read(lines.encode(encoding), "a.json", how)
            == [Document("1", 0, "café")]
        )
    for data, name in ((csv, "a.csv"), (lines, "a.json")):
        (letter,) = read(data.encode("latin-1"), name)
        assert letter.reason == "invalid_utf8"
        assert letter.detail.endswith(
            "if the file has another encoding, give it, for example --encoding=latin-1"
        )


def test_one_bad_byte_in_another_encoding_costs_its_record():
    data = b'{"id": 1, "timestamp": 0, "text": "a\x81"}\n{"id": 2, "timestamp": 0, "text": "b"}\n'
    letter, good = read(data, "a.jsonl", ReadSettings(encoding="cp1252"))
    assert (letter.source, letter.reason, good.id) == ("a.jsonl:1", "invalid_utf8", "2")


def test_objects_of_several_lines_are_records():
    objects = [{"id": n, "timestamp": n, "text": "x", "tags": [{"a": n}]} for n in range(3)]
    data = "\n".join(json.dumps(one, indent=2) for one in objects).encode()
    assert [one.id for one in read(data, "a.json")] == ["0", "1", "2"]
    letters = read(b'{\n"id": 1,\n}\n{\n"text": [', "a.json")
    assert [(letter.source, letter.reason) for letter in letters] == [
        ("a.json object 1", "not_json"),
        ("a.json object 2", "damaged"),
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(
            ("a.jsonl", "jsonl"),
            ("gs://b/A.JSONL.GZ", "jsonl"),
            ("a.json", "jsonl"),
            ("a.ndjson.gz", "jsonl"),
            ("a.avro", "avro"),
        ),
        *(("a.CSV", "csv"), ("a.csv.gz", "csv"), ("a.tsv", "csv"), ("a.parquet", "parquet")),
        *(("a.txt", "txt"), ("a.MD.gz", "txt"), ("a.eml", "mail"), ("a.mbox.gz", "mail")),
        ("a.xlsx", "xlsx"),
    ],
)
def test_formats_by_ending(name, kind):
    assert format_of(name, ReadSettings()) == kind
    assert format_of("anything", ReadSettings(format=kind)) == kind


def test_the_date_in_a_path_is_the_time_and_without_one_records_are_dead_letters():
    data, settings = b'{"id": 1, "text": "a"}\n', ReadSettings(time_from="path")
    made = [
        read(data, name, settings)[0]
        for name in ("in/dt=2024-01-08/x.jsonl", "in/x_20240108.jsonl", "in/x.jsonl")
    ]
    day = read_time("2024-01-08")
    assert [item.timestamp for item in made[:2]] == [day, day]
    assert (made[2].reason, made[2].source) == ("missing_timestamp", "in/x.jsonl:1")
    assert made[2].detail.startswith("the path of the file has no date. Read such files alone")


def test_wrong_options():
    with pytest.raises(OptionError) as raised:
        format_of("a.doc", ReadSettings())
    assert (
        str(raised.value)
        == "--input: 'a.doc' was given; allowed is a file that ends in .jsonl, .ndjson, .json,"
        " .csv, .tsv, .txt, .md, .mbox, .eml (or in one of them and .gz), .avro, .parquet,"
        " .xlsx, .xlsm, .rss, .atom, .xml. Or say which it is: --format=jsonl, --format=csv,"
        " --format=avro, --format=parquet, --format=txt, --format=lines, --format=chat,"
        " --format=doc, --format=mail, --format=xlsx, --format=feed."
    )
    with pytest.raises(
        OptionError,
        match="^--format: 'xml' was given; allowed is one of auto, jsonl, csv, avro, parquet, txt",
    ):
        ReadSettings(format="xml")
    with pytest.raises(
        OptionError,
        match="^--encoding: 'hex' was given; allowed is an encoding of text such as utf-8, latin-1",
    ):
        ReadSettings(encoding="hex")
    with pytest.raises(
        OptionError,
        match=(
            "^--encoding: 'latin-1' was given; allowed is nothing with files of avro and parquet,"
            " which say"
        ),
    ):
        check_formats(["a.avro", "b.parquet"], ReadSettings(encoding="latin-1"))
    check_formats(["a.avro", "b.csv"], ReadSettings(encoding="latin-1"))
    check_formats(["a.avro"], ReadSettings(encoding="UTF8"))
    with pytest.raises(
        OptionError,
        match="--time_from: 'now' was given; allowed is one of field, order, path. Correct",
    ):
        ReadSettings(time_from="now")
    with pytest.raises(
        OptionError,
        match=r"^--max_document_mb: 0 was given; allowed is 1 or more\. Correct the value\.$",
    ):
        ReadSettings(ParseSettings(max_document_bytes=0))
