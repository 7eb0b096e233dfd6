import io
import json
from dataclasses import replace

import fastavro
import numpy as np
import pytest
from blocks import mixture_block
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.mixtures import Groups, MixtureBlock, TopicMixture
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.reporting.encoding import (
    MARKER_BYTES,
    content_name,
    continued,
    documents_to_avro,
    joined_name,
    json_lines,
    mixtures_to_avro,
    mixtures_to_json_lines,
)
from beam_topics.model.times import MAX_TIME, MIN_TIME


def mixture(name, time=0, key="", version="v1"):
    return TopicMixture(
        key, name, time, version, "gibbs3", np.array([0.125, 0.5, 0.0, 0.375]), 7, 9
    ).to_bytes()


def test_mixtures_as_json_lines():
    (line,) = mixtures_to_json_lines([mixture("a", -1)]).splitlines()
    assert json.loads(line) == {
        "key": "",
        "id": "a",
        "timestamp": "1969-12-31T23:59:59.999999Z",
        "model_version": "v1",
        "method": "gibbs3",
        "topic": 1,
        "topics": [
            {"topic": 1, "share": 0.5},
            {"topic": 3, "share": 0.375},
            {"topic": 0, "share": 0.125},
        ],
        "none": None,
        "words_known": 7,
        "tokens": 9,
    }


def topics_of(row):
    return [(one["topic"], one["share"]) for one in row["topics"]]


def test_equal_topics_are_in_the_order_of_their_places():
    even = TopicMixture("", "a", 0, "v", "m", np.full(20, 0.05), 1, 1).to_bytes()
    row = json.loads(mixtures_to_json_lines([even]))
    assert topics_of(row) == [(topic, 0.05) for topic in range(20)]


def test_topics_are_named_by_their_ids():
    born = TopicMixture(
        "", "a", 0, "v", "m", np.array([0.25, 0.75, 0.0]), 1, 1, topic_ids=(0, 7, 5)
    ).to_bytes()
    for record in (born, mixture_block(mixtures_in(born), [0], topic_ids=(0, 7, 5)).to_bytes()):
        row = json.loads(mixtures_to_json_lines([record]))
        assert (row["topic"], topics_of(row)) == (7, [(7, 0.75), (0, 0.25)])
        (read,) = fastavro.reader(io.BytesIO(mixtures_to_avro([record])))
        assert (read["topic"], topics_of(read)) == (7, [(7, 0.75), (0, 0.25)])


def test_a_document_without_a_known_word_has_no_topic():
    document = Block.of_words([Document("a", 0, "")], [["new"]])
    made = MixtureBlock.of(
        document, np.full((1, 3), 1 / 3), np.array([0]), model_version="v", method="m"
    )
    (none,) = made.mixtures()
    for record in (none.to_bytes(), mixture_block([none], [0]).to_bytes()):
        (read,) = fastavro.reader(io.BytesIO(mixtures_to_avro([record])))
        for row in (read, json.loads(mixtures_to_json_lines([record]))):
            assert (row["topic"], row["topics"], row["none"]) == (None, [], 1.0)


def test_small_shares_are_left_out_and_the_largest_is_always_listed():
    def listed(*shares):
        row = TopicMixture("", "a", 0, "v", "m", np.array(shares), 1, 1)
        return topics_of(json.loads(mixtures_to_json_lines([row.to_bytes()])))

    assert listed(0.0009, 0.001, 0.99812345678) == [(2, 0.998123), (1, 0.001)]
    assert listed(*[0.0005] * 2000) == [(0, 0.0005)]


def mixtures_in(record):
    return [TopicMixture.from_bytes(record)]


@pytest.mark.parametrize("ids", [(0,), (0, 1, 1), (0, 1, -1)])
def test_ids_that_are_none_of_the_topics_are_refused(ids):
    row = TopicMixture("", "a", 0, "v", "m", np.array([0.5, 0.5, 0.0]), 1, 1, topic_ids=ids)
    with pytest.raises(DamagedDataError, match="topic_ids of a mixture"):
        TopicMixture.from_bytes(row.to_bytes())


def test_mixtures_as_avro():
    rows = list(fastavro.reader(io.BytesIO(mixtures_to_avro([mixture("b"), mixture("a")]))))
    assert [row["id"] for row in rows] == ["a", "b"]
    assert topics_of(rows[0]) == [(1, 0.5), (3, 0.375), (0, 0.125)]
    assert rows[0]["timestamp"].isoformat() == "1970-01-01T00:00:00+00:00"


def test_files_do_not_depend_on_the_order_of_records():
    records = [mixture("a", 5), mixture("b", 4), mixture("a", 5, "k"), mixture("a", 5, "k", "v2")]
    for encode in (mixtures_to_json_lines, mixtures_to_avro, json_lines):
        assert encode(records) == encode(records[::-1])
        assert encode(records) != encode(records[1:])
    assert content_name(records) == content_name(records[::-1]) != content_name(records[1:])
    keys = [
        (row["key"], row["id"], row["model_version"])
        for row in map(json.loads, mixtures_to_json_lines(records).splitlines())
    ]
    assert keys == [("", "b", "v1"), ("", "a", "v1"), ("k", "a", "v1"), ("k", "a", "v2")]


def test_files_that_go_on():
    parts = [[mixture(f"{name}{n}" * 9, n) for n in range(300)] for name in "bac"]
    for encode in (mixtures_to_json_lines, mixtures_to_avro):
        first, *others = map(encode, parts)
        whole = b"".join([first, *(continued(data, first[-MARKER_BYTES:]) for data in others)])
        if encode is mixtures_to_avro:
            rows = list(fastavro.reader(io.BytesIO(whole)))
            assert len(list(fastavro.block_reader(io.BytesIO(whole)))) > len(parts)
        else:
            rows = [json.loads(line) for line in whole.splitlines()]
        assert [row["id"] for row in rows] == [
            f"{name}{n}" * 9 for name in "bac" for n in range(300)
        ]
    names = [content_name(part) for part in parts]
    assert joined_name(names[:1]) == names[0]
    assert len({*names, joined_name(names), joined_name(names[::-1]), joined_name(names[:2])}) == 6


def test_json_lines():
    assert json_lines([b"{}", b"[]"]) == b"[]\n{}\n"


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
DOCUMENTS = st.builds(
    Document,
    WORDS,
    st.integers(MIN_TIME, MAX_TIME),
    WORDS.filter(lambda text: not text.isspace()),
    st.none() | WORDS,
    st.sampled_from(["", "k"]),
)


@given(st.lists(DOCUMENTS, max_size=10))
# Each example starts a process that reads the file.
@settings(max_examples=30)
def test_an_archive_replays_to_the_same_documents_in_order(documents):
    data = documents_to_avro([document.to_bytes() for document in documents])
    how = ReadSettings(ParseSettings(FieldNames(key="key")))
    replayed = list(read_file(io.BytesIO(data), "a.avro", how))
    expected = sorted(
        documents,
        key=lambda document: (document.timestamp, document.id, document.to_bytes()),
    )
    assert replayed == expected


def test_none_and_names_are_written_where_they_are_wanted():
    named = replace(
        TopicMixture.from_bytes(mixture("a")), none=0.25, names=("sea", "land", "sky", "sun")
    )
    assert TopicMixture.from_bytes(named.to_bytes()).to_bytes() == named.to_bytes()
    block = mixture_block([named], [0]).to_bytes()
    for record in (named.to_bytes(), block):
        row = json.loads(mixtures_to_json_lines([record]))
        assert row["none"] == 0.25
        assert [one["name"] for one in row["topics"]] == ["land", "sun", "sea"]
        # A mixture of the prior is in the same file and has neither.
        (first, second) = fastavro.reader(io.BytesIO(mixtures_to_avro([record, mixture("b")])))
        assert (first["none"], first["topics"]) == (0.25, row["topics"])
        assert second["none"] is None and {one["name"] for one in second["topics"]} == {None}


def test_groups_are_listed_without_hidden_ones():
    groups = Groups(ids=(0, 2, 3), of=(0, 0, 1, 2), hidden=(1,))
    found = replace(
        TopicMixture.from_bytes(mixture("a")), names=("sea", "dull", "ship"), groups=groups
    )
    row = json.loads(mixtures_to_json_lines([found.to_bytes()]))
    assert row["topics"] == [
        {"topic": 0, "share": 0.625, "name": "sea"},
        {"topic": 3, "share": 0.375, "name": "ship"},
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"none": 1.5}, "none of a mixture"), ({"names": ("one",)}, "names of a mixture")],
)
def test_damaged_none_and_names_are_refused(fields, message):
    damaged = replace(TopicMixture.from_bytes(mixture("a")), **fields)
    for record in (damaged.to_bytes(), mixture_block([damaged], [0]).to_bytes()):
        with pytest.raises(DamagedDataError, match=message.partition(" a ")[0]):
            mixtures_to_json_lines([record])
