"""Exports of chats, and files that hold their records in an object."""

import io
import json

import pytest

from beam_topics.model.documents.document import Document
from beam_topics.model.reading.files import read_file, records
from beam_topics.model.reading.inner import JsonFile
from beam_topics.model.reading.settings import ParseSettings, ReadSettings

TURNS = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Tea?"},
    {"role": "assistant", "content": [{"type": "text", "text": "Yes,"}, {"text": "please."}]},
]
BY_TURN = ReadSettings(chats="turn")
ORDER = ReadSettings(time_from="order")


def found(value, settings=None, name="a.jsonl", indent=None):
    data = value if isinstance(value, bytes) else json.dumps(value, indent=indent).encode()
    return list(records(io.BytesIO(data), name, settings or ReadSettings()))


@pytest.mark.parametrize(
    "conversation",
    [
        {"messages": TURNS},
        {"turns": [{"speaker": "a", "text": "Tea?"}, {"speaker": "b", "text": "Yes, please."}]},
        {"conversations": [{"from": "human", "value": "Tea?"}, {"value": "Yes, please."}]},
        {"chat_messages": [{"sender": "human", "text": "Tea?"}, {"text": "Yes, please."}]},
        {"dialogue": ["Tea?", "Yes, please."]},
    ],
)
def test_a_conversation_is_a_document(conversation):
    ((place, record),) = found([{"id": "c", "create_time": 5, **conversation}])
    assert place == "a.jsonl item 1"
    assert record == {
        "id": "c",
        "create_time": 5,
        "timestamp": 5,
        "text": "Tea?\n\nYes, please.",
    }


def test_each_turn_is_a_document_where_it_is_asked_for():
    made = found([{"id": "c", "messages": TURNS}], BY_TURN)
    assert [place for place, _ in made] == ["a.jsonl item 1 turn 2", "a.jsonl item 1 turn 3"]
    assert made[0][1] == {
        "role": "user",
        "id": "c/2",
        "text": "Tea?",
        "author": "user",
        "conversation": "c",
    }


MAPPING = {
    "title": "Drinks",
    "create_time": 1.5,
    "conversation_id": "c",
    "current_node": "3",
    "mapping": {
        "3": {"parent": "2", "message": {"content": {"parts": ["Yes."]}}},
        "1": {"parent": None, "message": None},
        "2": {
            "parent": "1",
            "message": {"id": "m", "author": {"role": "user"}, "content": {"parts": ["Tea?"]}},
        },
        "4": {"parent": "2", "message": {"content": {"parts": ["another answer"]}}},
    },
}


def test_the_branch_of_a_tree_that_was_taken_is_the_conversation():
    ((_, record),) = found([MAPPING])
    assert (record["id"], record["timestamp"]) == ("c", 1.5)
    assert record["text"] == "Drinks\n\nTea?\n\nYes."
    made = found([MAPPING], BY_TURN)
    assert [(record["id"], record["text"]) for _, record in made] == [
        ("m", "Tea?"),
        ("c/2", "Yes."),
    ]
    looped = {**MAPPING, "mapping": {"3": {"parent": "3", "message": {"content": "Yes."}}}}
    ((_, record),) = found([looped])
    assert record["text"] == "Drinks\n\nYes."


CHAT = {
    "name": "Bo",
    "id": 9,
    "messages": [
        {"id": 1, "date": "2024-03-01T08:00:00", "from": "Bo", "text": "Tea?"},
        {
            "id": 2,
            "date": "2024-03-01T09:00:00",
            "text": ["See ", {"type": "link", "text": "x.org"}],
        },
    ],
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("most", [10**6, 200])
def test_the_items_of_the_array_of_a_file_are_its_records(indent, most):
    data = json.dumps({"about": [], **CHAT}, indent=indent).encode()
    settings = ReadSettings(ParseSettings(max_document_bytes=most))
    made = found(data, settings, "result.json")
    assert [record["text"] for _, record in made] == ["Tea?", "See  x.org"]
    assert [record["id"] for _, record in made] == [1, 2]


def test_an_object_that_is_too_large_is_read_in_pieces():
    items = [{"id": n, "text": "x" * 50} for n in range(2000)]
    settings = ReadSettings(ParseSettings(max_document_bytes=1000), time_from="order")
    for indent in (None, 2):
        data = json.dumps({"status": "ok", "data": items, "next": None}, indent=indent).encode()
        made = list(read_file(io.BytesIO(data), "a.json", settings))
        assert [one.id for one in made] == [str(n) for n in range(2000)]
    data = json.dumps({"status": "x" * 5000, "n": 1}, indent=2).encode()
    (letter,) = read_file(io.BytesIO(data), "a.json", settings)
    assert letter.reason == "too_large"


@pytest.mark.parametrize(
    "record",
    [
        {"id": 1, "text": "Tea", "messages": TURNS},
        {"id": 1, "text": "Tea", "data": [{"text": "no"}] * 5},
        {"id": 1, "text": "Tea", "tags": [{"name": "x"}]},
    ],
)
def test_a_record_with_a_text_is_one_document(record):
    for indent in (None, 1):
        data = json.dumps(record, indent=indent).encode()
        assert list(read_file(io.BytesIO(data), "a.json", ORDER)) == [Document("1", 0, "Tea")]


def test_a_record_of_another_text_field_keeps_its_lists():
    ((_, record),) = found({"id": 1, "body": "a text of some words", "tags": [{"name": "x"}]})
    assert record["tags"] == [{"name": "x"}]


@pytest.mark.parametrize(
    "value", [{"messages": [1]}, {"messages": []}, {"mapping": {}}, {"turns": 5}]
)
def test_what_holds_no_turns_is_a_dead_letter(value):
    (letter,) = read_file(io.BytesIO(json.dumps(value).encode()), "a.jsonl", ORDER)
    assert letter.reason in ("missing_id", "missing_text", "empty_text")


def test_damaged_objects():
    cut = json.dumps(CHAT, indent=1).encode()[:-20]
    (letter,) = read_file(io.BytesIO(cut), "a.json", ORDER)
    assert (letter.reason, letter.source) == ("damaged", "a.json object 1")
    lines = b'{"id": 1,\n{"id": 2, "timestamp": 0, "text": "x"}\n'
    bad, good = read_file(io.BytesIO(lines), "a.jsonl", ReadSettings())
    assert (bad.reason, good.id) == ("not_json", "2")


def test_the_messages_of_all_chats_are_records_of_an_object_of_any_size():
    messages = [{"id": n, "text": ["Tea ", {"type": "bold", "text": "at four"}]} for n in range(50)]
    data = json.dumps({"chats": {"list": [{"messages": messages}]}}).encode()
    settings = ReadSettings(
        parse=ParseSettings(max_document_bytes=100), records="chats.list[].messages"
    )
    found = list(JsonFile([data], "result.json", settings).records())
    assert len(found) == 50 and found[1][0].endswith("record 2")
    assert found[0][1]["text"] == "Tea  at four"
