import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError
from beam_topics.model.reading import parsing
from beam_topics.model.reading.parsing import parse_line, parse_record
from beam_topics.model.reading.settings import FieldNames, ParseSettings
from beam_topics.model.settings.options import MEGABYTE

GOOD = {"id": "a", "timestamp": "1970-01-02", "text": "hello"}
KEYED = ParseSettings(FieldNames(key="key"))


def line(**changes):
    return json.dumps(
        {name: value for name, value in (GOOD | changes).items() if value is not ...}
    ).encode()


def deep(levels):
    """An empty list in lists."""
    return [] if levels == 1 else [deep(levels - 1)]


def test_the_depth_of_a_record_does_not_depend_on_the_stack():
    assert parse(line(other=deep(99))).id == "a"
    letter = parse(line(other=deep(100)))
    assert letter.detail == "the record is nested deeper than 100 levels"


def parse(data, how=None):
    return parse_line(data, "a.jsonl:3", how or ParseSettings())


def test_a_good_record():
    expected = Document("a", 86_400_000_000, "hello", "x", "k")
    assert parse(line(label="x", key="k"), KEYED) == expected
    assert Document.from_bytes(expected.to_bytes()) == expected


def test_whole_numbers_are_good_ids_labels_and_keys():
    assert parse(line(id=7, label=-1, key=0), KEYED) == Document(
        "7", 86_400_000_000, "hello", "-1", "0"
    )


def test_other_field_names():
    how = ParseSettings(
        FieldNames(id="n", timestamp="t", text="body", label="class", key="customer")
    )
    made = parse(
        b'{"n": "a", "t": 1, "body": "hello", "class": null, "customer": "", "id": [1], "label":'
        b" [2]}",
        how,
    )
    assert made == Document("a", 1_000_000, "hello", None, "")


def test_a_given_time_replaces_the_records_own():
    record = {**GOOD, "timestamp": "nonsense"}
    assert parse_record(record, "a:1", ParseSettings(), 5) == Document("a", 5, "hello")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"hello", "not_json"),
        (b'{"id": "a"', "not_json"),
        (b"[" * 100_000, "not_json"),
        (line(other=deep(100)), "not_json"),
        (b'{"id": ' + b"9" * 5000 + b"}", "not_json"),
        (b"[1, 2]", "wrong_type"),
        (b"null", "wrong_type"),
        (line(id=...), "missing_id"),
        (line(id=None), "missing_id"),
        (line(id=""), "missing_id"),
        (line(id=1.5), "wrong_type"),
        (line(id=True), "wrong_type"),
        (line(id=["a"]), "wrong_type"),
        (line(timestamp=...), "missing_timestamp"),
        (line(timestamp=None), "missing_timestamp"),
        (line(timestamp="soon"), "bad_timestamp"),
        (line(timestamp=True), "bad_timestamp"),
        (line(timestamp=[1]), "bad_timestamp"),
        (line(timestamp=float("nan")), "bad_timestamp"),
        (line(timestamp=1.6e12), "timestamp_format"),
        (line(timestamp=-1e300), "timestamp_range"),
        (line(timestamp=10**4000), "timestamp_range"),
        (line(timestamp="0001-01-01T00:00+01:00"), "timestamp_range"),
        (line(text=...), "missing_text"),
        (line(text=None), "missing_text"),
        (line(text=7), "wrong_type"),
        (line(text=""), "empty_text"),
        (line(text=" \n\u2003"), "empty_text"),
        (line(label=1.5), "wrong_type"),
        (line(label={}), "wrong_type"),
        (line(), "missing_key"),
        (line(key=False), "wrong_type"),
        (line(key="é" * 200), "bad_key"),
        (line(text="a\0b"), "nul"),
        (line(id="a\0"), "nul"),
        (line(label="\0"), "nul"),
        (line(key="\0"), "nul"),
        (line(text="\ud800"), "invalid_utf8"),
        (line(id="\udfff"), "invalid_utf8"),
        (line().replace(b"hello", b"hell\xff"), "invalid_utf8"),
        ("\ufeff".encode("utf-16") + line(), "invalid_utf8"),
    ],
)
def test_bad_records_say_why(data, reason):
    how = KEYED if b"key" in data or reason == "missing_key" else ParseSettings()
    letter = parse(data, how)
    assert isinstance(letter, DeadLetter)
    assert (letter.source, letter.reason) == ("a.jsonl:3", reason)
    assert reason in parsing.REASONS
    assert letter.detail
    assert json.loads(letter.as_json().encode())["record"] == letter.record


def test_every_reason_is_in_the_list_once():
    names = [
        value
        for name, value in vars(parsing).items()
        if name.isupper() and name[0] != "_" and isinstance(value, str)
    ]
    assert sorted(names) == sorted(parsing.REASONS)


def test_details_name_the_field_and_the_remedy():
    assert (
        parse(line(timestamp=..., date="2001-01-31")).detail
        == "the record has no field 'timestamp'; it has 'id', 'text', 'date'. Name the"
        " time with --timestamp_field. Files without times: --time_from=order."
    )
    assert (
        parse(line(timestamp=..., text=..., headline="A ship came in")).detail
        == "the record has no field 'timestamp', 'text'; it has 'id', 'headline'. Name the time"
        " with --timestamp_field. Files without times: --time_from=order. Name the text with"
        " --text_field."
    )
    assert (
        parse(line(text=..., headline="A ship came in")).detail
        == "the record has no field 'text'; it has 'id', 'timestamp', 'headline'. Name the"
        " text with --text_field."
    )
    assert (
        parse(line(id=..., url="http://a/1")).detail
        == "the record has no field 'id'; it has 'timestamp', 'text', 'url'. Name the id with"
        " --id_field. Records without ids: --id_from=place."
    )
    assert (
        parse(line(id="")).detail
        == "the field 'id' is empty. Records without ids: --id_from=place."
    )
    assert (
        parse(line(), KEYED).detail
        == "the record has no field 'key'; it has 'id', 'timestamp', 'text'. Name the key with"
        " --key_field."
    )
    assert (
        parse(line(timestamp=1600000000000)).detail
        == "the field 'timestamp' is 1600000000000: too large for a number of seconds;"
        " --timestamp_format=ms reads it as 2020-09-13T12:26:40"
    )
    assert (
        parse(line(timestamp="12/31/2001")).detail
        == "the field 'timestamp' is '12/31/2001': it is not ISO 8601;"
        " --timestamp_format=%m/%d/%Y reads it as 2001-12-31"
    )
    assert (
        parse(line(timestamp="soon")).detail
        == "the field 'timestamp' is 'soon': it is not ISO 8601; allowed is ISO 8601 text, as"
        " 2001-01-31 or 2001-01-31T23:59:00Z, or the seconds since 1970 as a number"
        " (--timestamp_format)"
    )
    assert (
        parse(b'{"id": "caf\xe9"}').detail
        == "byte 12 of the record is not UTF-8: invalid continuation byte;"
        " if the file has another encoding, give it, for example --encoding=latin-1"
    )
    assert parse("\ufeff{}".encode("utf-16")).detail.endswith("--encoding=utf-16")
    assert parse(b"{").detail.startswith(
        "a JSON object begins here and does not end in this line. Write each object on one line,"
        " for example with: jq"
    )
    assert parse(b'{"id": 1} {}').detail == "it is not JSON: Extra data: line 1 column 11 (char 10)"
    assert parse(b"[1]").detail.endswith(
        "an object is wanted: one in each line, or one array of them as the whole file"
    )
    assert parse(line(text=7)).detail == "the field 'text' is a int; text is wanted"


def test_the_largest_document_is_counted_in_bytes():
    small = ParseSettings(max_document_bytes=100)
    assert isinstance(parse(line(text="é" * 30), small), DeadLetter)
    record = {"id": "a", "timestamp": 0}
    assert isinstance(parse_record(record | {"text": "é" * 50}, "p", small), Document)
    letter = parse_record(record | {"text": "é" * 51}, "p", small)
    assert (letter.reason, letter.detail) == (
        "too_large",
        "102 bytes; at most 100 are allowed (--max_document_mb)",
    )
    assert len(letter.record) < 200


def test_a_text_of_fifty_megabytes():
    text = "word " * (10 * MEGABYTE)
    data = line(text=text)
    assert parse(data).reason == "too_large"
    assert parse(data, ParseSettings(max_document_bytes=60 * MEGABYTE)).text == text


@pytest.mark.parametrize(
    ("unit", "time"), [("s", 7), ("ms", 7000), ("us", 7_000_000), ("ns", 7_000_000_000)]
)
def test_numbers_are_read_in_the_unit_that_is_set(unit, time):
    how = ParseSettings(timestamp_format=unit)
    assert (
        parse(line(timestamp=time), how).timestamp
        == parse(line(timestamp=str(time)), how).timestamp
        == 7_000_000
    )
    letter = parse(line(timestamp="1970-01-02"), how)
    assert letter.reason == "timestamp_format" and "--timestamp_format=iso reads" in letter.detail


def test_the_advice_of_a_time_of_another_form_works():
    for value in ("31/12/2001 10:00", "Dec 31, 2001", 1800, 1600000000000, "2001-12-31 10:00 UTC"):
        letter = parse(line(timestamp=value))
        assert letter.reason == "timestamp_format"
        form = letter.detail.partition("--timestamp_format=")[2].partition(" reads")[0].strip("'")
        assert isinstance(
            parse(line(timestamp=value), ParseSettings(timestamp_format=form)), Document
        )


def test_a_zone_of_times_without_one():
    how = ParseSettings(time_zone="Asia/Tokyo")
    assert parse(line(timestamp="1970-01-02"), how).timestamp == 15 * 3_600_000_000


def test_an_id_from_the_place():
    how = ParseSettings(id_from="place")
    (first, again), other = (
        (parse(line(id=x), how) for x in (..., [1])),
        parse_line(line(), "a.jsonl:4", how),
    )
    assert first == again and first.id != other.id
    assert first.id == parsing.place_id("a.jsonl:3") == "a.jsonl 000000003"


@pytest.mark.parametrize(
    "places",
    [
        [f"speech-1790.jsonl{end}:{n}" for end in ("", ".gz") for n in (9, 10)],
        [f"a.avro block {block} record {n}" for block in (2, 10) for n in (9, 10)],
        ["a.json object 9 item 2", "a.json object 9 item 10", "a.json object 10 item 1"],
        ["posts/2/9", "posts/2/10"],
    ],
)
def test_ids_of_places_sort_as_the_input(places):
    ids = list(map(parsing.place_id, places))
    assert ids == sorted(ids) and len(set(ids)) == len(ids)


def test_settings_of_reading_are_checked():
    with pytest.raises(
        OptionError,
        match="--id_from: 'name' was given; allowed is one of field, place. Correct the spelling.",
    ):
        ParseSettings(id_from="name")


def test_times_of_avro_come_in_units():
    record = {"id": "a", "timestamp": 3, "text": "x"}
    assert parse_record(record, "p", ParseSettings(), time_unit=Fraction(1000)).timestamp == 3000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3),
)
RECORDS = st.dictionaries(st.sampled_from(["id", "timestamp", "text", "label", "key"]), JSON)


@given(RECORDS)
@settings(max_examples=200)
def test_any_record_is_a_document_or_a_dead_letter(record):
    made = parse_record(record, "p", KEYED)
    if isinstance(made, Document):
        assert Document.from_bytes(made.to_bytes()) == made
    else:
        assert made.reason in parsing.REASONS
        made.as_json().encode()


@given(st.binary())
@settings(max_examples=200)
def test_any_line_is_a_document_or_a_dead_letter(data):
    made = parse(data)
    assert isinstance(made, DeadLetter)
    made.as_json().encode()


@given(
    st.text(min_size=1),
    st.integers(-(2**35), 1399) | st.integers(2200, 2**36),
    st.text(min_size=1),
    st.none() | st.text(),
)
@settings(max_examples=100)
def test_json_round_trip(name, time, text, label):
    made = parse(line(id=name, timestamp=time, text=text, label=label))
    if "\0" in name + text + (label or "") or text.isspace():
        assert made.reason in ("nul", "empty_text")
    else:
        assert made == Document(name, time * 1_000_000, text, label)


def test_a_source_is_read_where_its_field_is_named():
    settings = ParseSettings(FieldNames(source="author"))
    assert parse(line(author="ann"), settings).source == "ann"
    assert parse(line(author=7), settings).source == "7"
    assert parse(line(), settings).source is None
    assert parse(line(author="ann")).source is None
