import gzip
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.lines import read_json, unzipped

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(['"', "\\", '\\"', "],[", "}{", "\\\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=3)


def read(data, size=7, most=1000):
    """Everything in a file of JSON that comes in chunks of this size."""
    return list(read_json([data[at : at + size] for at in range(0, len(data), size)], "a", most))


@given(
    st.lists(OBJECTS, min_size=1, max_size=5),
    st.integers(1, 40),
    st.sampled_from([None, 0, 2]),
    st.booleans(),
)
@settings(max_examples=200)
def test_the_items_of_any_array_are_found_whatever_the_chunks(records, size, indent, ascii_only):
    data = json.dumps(records, indent=indent, ensure_ascii=ascii_only).encode(
        "utf-8", "surrogatepass"
    )
    made = read(data, size, 10**6)
    assert [place for place, _ in made] == [
        f"a item {number}" for number in range(1, len(records) + 1)
    ]
    assert [json.loads(item) for _, item in made] == records


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b" \n\t", b"\xef\xbb\xbf\r\n"])
def test_what_comes_before_an_array(before, size):
    assert read(before + b'[\n{"a": 1}]', size) == [("a item 1", b'{"a": 1}')]
    assert read(before + b"[ ]\n", size) == []
    assert read(before, size) == []


def test_a_file_of_lines_stays_one():
    assert read(b'{"a": [{}]}\n{}\n') == [("a:1", b'{"a": [{}]}'), ("a:2", b"{}")]
    assert read(b'[1, {"a": 2}]\n{}\n') == [("a:1", b'[1, {"a": 2}]'), ("a:2", b"{}")]
    assert read(b"[]\n{}\n") == [("a:1", b"[]"), ("a:2", b"{}")]
    assert read(b"[") == [("a:1", b"[")]


def test_lines_after_an_array_are_lines():
    made = read(b'[{"a": 1},\n{"a": 2}] \n\n{"a": 3}\nno json')
    assert made == [
        ("a item 1", b'{"a": 1}'),
        ("a item 2", b'{"a": 2}'),
        ("a:4", b'{"a": 3}'),
        ("a:5", b"no json"),
    ]


def test_commas_without_items_are_one_dead_letter():
    first, letter, last = read(b'[{"a": 1}, ,\n,,{"b": [,,]},]', 1000)
    assert first == ("a item 1", b'{"a": 1}') and last == ("a item 3", b'{"b": [,,]}')
    assert (letter.source, letter.reason) == ("a item 2", "not_json")
    assert letter.detail == "3 empty items before a comma"
    assert len(read(b'[{"a": 1}' + b"," * 3_000_000 + b"{}]", 3_000_020)) == 3


def test_what_is_no_object_is_an_item_too():
    made = read(b'[{}, 1, "a, ]", [2, [3]], }, null,]')
    assert [item for _, item in made] == [b"{}", b"1", b'"a, ]"', b"[2, [3]]", b"}", b"null"]
    assert [place for place, _ in made] == [f"a item {number}" for number in range(1, 7)]


@pytest.mark.parametrize("size", [1, 10, 10**6])
def test_an_item_that_is_too_long_costs_itself(size):
    data = b'[{"a": 1}, {"a": "' + b"x" * 100_000 + b'"}, {"a": 3}]'
    first, letter, last = read(data, size, 50)
    assert (first, last) == (("a item 1", b'{"a": 1}'), ("a item 3", b'{"a": 3}'))
    assert (letter.source, letter.reason) == ("a item 2", "too_large")
    assert letter.detail.startswith("100010 bytes; at most 50 are allowed")
    assert len(letter.record) == DeadLetter.RECORD_CHARACTERS


def test_an_array_that_is_cut_off_gives_what_is_whole():
    made = read(b'[{"a": 1}, {"a": 2}')
    assert [item for _, item in made[:2]] == [b'{"a": 1}', b'{"a": 2}']
    (letter,) = made[2:]
    assert (letter.source, letter.reason, letter.record) == ("a item 3", "damaged", "")
    assert (
        letter.detail
        == "the file ends before the array does; this item and the rest of the file cannot be read"
    )
    (letter,) = read(b'[{"a": 1, "b')
    assert (letter.source, letter.record) == ("a item 1", '{"a": 1, "b')


@pytest.mark.parametrize("before", [b"", b"[", b"\xef\xbb", b'[{"a": 1}, {"b', b'{"a": 1}\n{"b'])
def test_a_source_that_breaks_off_keeps_what_came_before(before):
    def chunks():
        yield before
        raise DamagedDataError("the gzip is damaged")

    made = list(read_json(chunks(), "a", 100))
    assert [item for item in made if not isinstance(item, DeadLetter)] == [
        item
        for item in [("a item 1", b'{"a": 1}'), ("a:1", b'{"a": 1}')]
        if item[1] in before and (b"[" in before) == ("item" in item[0])
    ]
    assert (made[-1].reason, made[-1].detail.split(";")[0]) == ("damaged", "the gzip is damaged")


def test_a_large_array_in_a_gzip():
    records = [{"id": number, "text": "words " * 50} for number in range(5000)]
    made = list(
        read_json(
            unzipped(io.BytesIO(gzip.compress(json.dumps(records, indent=1).encode()))),
            "a.json.gz",
            1000,
        )
    )
    assert [json.loads(item) for _, item in made] == records
    assert made[-1][0] == "a.json.gz item 5000"
