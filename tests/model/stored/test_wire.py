import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from blocks import joined
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch, NumberedMinibatch
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.stored import wire

ROOT = Path(__file__).parents[3]
FEW = settings(max_examples=80)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
WORDS = st.lists(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1, max_size=4
    ),
    max_size=12,
)
TIMES = st.integers(-(2**50), 2**50)
DOCUMENTS = st.builds(
    lambda id, time, label, key, words: Block.of_words(
        [Document(id, time, "", label, key)], [words]
    ),
    TEXT,
    TIMES,
    st.none() | TEXT,
    TEXT,
    WORDS,
)


@FEW
@given(
    st.dictionaries(TEXT, st.none() | st.integers() | TEXT, max_size=4),
    st.lists(st.binary(max_size=9), max_size=4),
)
def test_messages_come_back_and_have_one_spelling(header, blobs):
    data = wire.pack(b"BTt1", header, *blobs)
    assert wire.unpack(b"BTt1", data) == (header, blobs)
    assert wire.header_of(b"BTt1", data) == header
    assert wire.pack(b"BTt1", dict(reversed(header.items())), *blobs) == data


@FEW
@given(st.data())
def test_cut_or_lengthened_messages_are_refused(data):
    message = wire.pack(b"BTt1", {"a": 1}, b"xyz", b"")
    cut = data.draw(st.integers(0, len(message) - 1))
    for wrong in (message[:cut], message + b"\0"):
        with pytest.raises(DamagedDataError):
            wire.unpack(b"BTt1", wrong)


@pytest.mark.parametrize(
    "data",
    [b"", b"BTt1", b"BTt0\2\0\0\0{}", b"BTt1\2\0\0\0[]", b"BTt1\2\0\0\0{x", b"BTt1\1\0\0\0\xff"],
)
def test_a_header_that_cannot_be_read(data):
    with pytest.raises(DamagedDataError):
        wire.header_of(b"BTt1", data)


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (b"BTt0", "a record 'BTt' has form 0, and this release reads form 1. An older release"),
        (b"BTt2", "a record 'BTt' has form 2, and this release reads form 1. A later release"),
        (b"BTx1", "expected a record that begins with b'BTt1', found b'BTx1'"),
    ],
)
def test_another_form_is_refused_with_what_to_do(found, told):
    with pytest.raises(DamagedDataError) as error:
        wire.unpack(b"BTt1", found + wire.pack(b"BTt1", {})[4:])
    assert str(error.value).startswith(told) and "\n" not in str(error.value)


def test_each_kind_of_record_has_a_magic_of_its_own():
    sources = [
        path
        for package in ("model", "transforms", "pipelines")
        for path in (ROOT / package).rglob("*.py")
    ]
    found = Counter(
        kind for path in sources for kind in re.findall(r'= b"(BT.)\d"', path.read_text())
    )
    assert len(found) > 20
    assert set(found.values()) == {1}


def test_digests_tell_parts_apart():
    assert (
        len(
            {
                wire.digest(b"ab", b""),
                wire.digest(b"a", b"b"),
                wire.digest(b"ab"),
                wire.digest(b"", b"ab"),
            }
        )
        == 4
    )


def test_words_with_a_newline_are_refused():
    for words in (("a\nb",), ("",), ("a", "")):
        with pytest.raises(ValueError, match="newline"):
            wire.words_to_bytes(words)


@FEW
@given(DOCUMENTS)
def test_documents_come_back(document):
    again = Block.from_bytes(document.to_bytes())
    assert again.to_bytes() == document.to_bytes()
    names = ("ids", "labels", "key", "words", "sources", "groups")
    assert [getattr(again, name) for name in names] == [getattr(document, name) for name in names]
    assert again.timestamps.tolist() == document.timestamps.tolist()
    assert again.tokens.tolist() == document.tokens.tolist()


@FEW
@given(st.lists(DOCUMENTS, max_size=5), TIMES, st.booleans())
def test_minibatches_hold_their_documents(documents, end, closes_table):
    documents = [replace(document, key="k") for document in documents]
    block = joined(documents) if documents else Block.empty("k")
    minibatch = Minibatch.of_block(block, 3, end, closes_table)
    again = Minibatch.from_bytes(minibatch.to_bytes())
    assert again.to_bytes() == minibatch.to_bytes()
    assert (again.key, again.sequence, again.window_end, again.closes_window) == (
        "k",
        3,
        end,
        closes_table,
    )
    texts = [[document.words[w] for w in document.tokens] for document in documents]
    assert [[d.words[w] for w in d.tokens] for d in again.documents()] == texts
    assert (
        len(set(again.words)) == len(again.words) == len({word for text in texts for word in text})
    )
    assert [d.content(0) for d in again.documents()] == [d.content(0) for d in documents]


def test_numbered_minibatches_come_back():
    link = NumberedMinibatch.link(2, bytes(32), b"payload")
    end = NumberedMinibatch.end(2, link.fingerprint)
    assert (
        NumberedMinibatch.from_bytes(link.to_bytes()) == link
        and NumberedMinibatch.from_bytes(end.to_bytes()) == end
    )
    assert end.is_end and not link.is_end and end.previous == link.fingerprint


def test_mixtures_come_back():
    mixture = TopicMixture("k", "id", -3, "v", "gibbs3", np.array([0.25, 0.5, 0.25]), 4, 5)
    again = TopicMixture.from_bytes(mixture.to_bytes())
    assert again.to_bytes() == mixture.to_bytes() and again.proportions.tolist() == [
        0.25,
        0.5,
        0.25,
    ]


@pytest.mark.parametrize("mark", ["source", "group"])
def test_sources_and_groups_are_in_the_bytes_only_where_there_are_some(mark):
    plain, many = Document("d", 1, "a b", "x", "k"), f"{mark}s"
    marked = replace(plain, **{mark: "ann"})
    assert mark not in wire.header_of(Document.MAGIC, plain.to_bytes())
    assert Document.from_bytes(marked.to_bytes()) == marked
    first, second = (Block.of_words([one], [["a", "b"]]) for one in (plain, marked))
    assert getattr(Block.from_bytes(second.to_bytes()), many) == ("ann",)
    both = Minibatch.of_block(Block.joined([first, second]), 1, 9, True)
    assert getattr(Minibatch.from_bytes(both.to_bytes()), many) == (None, "ann")
    assert [getattr(one, many) for one in both.documents()] == [(), ("ann",)]
    alone = Minibatch.of_block(Block.joined([first]), 1, 9, True)
    assert getattr(alone, many) == () and many not in wire.header_of(b"BTm1", alone.to_bytes())
    with pytest.raises(DamagedDataError, match=f"{many} of a minibatch"):
        Minibatch.from_bytes(replace(both, **{many: ("ann",)}).to_bytes())
