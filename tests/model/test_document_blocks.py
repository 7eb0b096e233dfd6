import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model import document_blocks
from beam_topics.model.document_blocks import (
    Blocks,
    DocumentBlock,
    Gathering,
    block_of,
    by_key,
    documents_in,
    times_in,
    to_bytes,
)
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.records import Document, Minibatch, TokenisedDocument
from beam_topics.model.settings import SequenceSettings

NAMES = st.text(max_size=4)
DOCUMENTS = st.builds(
    lambda name, time, label, key, source, group, words: TokenisedDocument.from_words(
        Document(name, time, "", label, key, source, group), words
    ),
    NAMES,
    st.integers(-(2**62), 2**62),
    st.none() | NAMES,
    NAMES,
    st.none() | NAMES,
    st.none() | NAMES,
    st.lists(st.sampled_from(["sea", "ship", "é", "x"]), max_size=5),
)


@given(st.lists(DOCUMENTS, min_size=1, max_size=6))
def test_a_block_gives_its_documents_back(documents):
    data = DocumentBlock.of(documents).to_bytes()
    wanted = [document.to_bytes() for document in documents]
    assert [document.to_bytes() for document in documents_in(data)] == wanted
    assert DocumentBlock.from_bytes(data).to_bytes() == data


def test_a_document_alone_is_read_too():
    document = TokenisedDocument.from_words(Document("a", 1, ""), ["sea", "ship", "sea"])
    (again,) = documents_in(document.to_bytes())
    assert again.to_bytes() == document.to_bytes()


@given(st.lists(st.lists(DOCUMENTS, min_size=1, max_size=4), min_size=1, max_size=4), st.data())
def test_parts_are_joined_and_minibatches_cut_from_columns(parts, data):
    block = block_of(map(to_bytes, parts))
    # Documents alone are behind all blocks.
    blocks = [part for part in parts if len(part) > 1]
    documents = [one for part in blocks for one in part]
    documents += [part[0] for part in parts if len(part) == 1]
    wanted = [document.to_bytes() for document in documents]
    assert [document.to_bytes() for document in block.documents()] == wanted
    rows = data.draw(st.permutations(range(len(documents))))[: data.draw(st.integers(1, 5))]
    cut = block.minibatch("k", 3, 9, True, np.array(rows))
    chosen = [documents[row] for row in rows]
    assert cut.to_bytes() == Minibatch.from_documents("k", 3, 9, True, chosen).to_bytes()


@given(st.lists(DOCUMENTS, min_size=1, max_size=6))
def test_a_header_tells_keys_and_times(documents):
    data = to_bytes(documents)
    assert times_in(data) == [document.timestamp for document in documents]
    parts = {key: (earliest, documents_in(part)) for key, earliest, part in by_key(data)}
    assert set(parts) == {document.key for document in documents}
    for key, (earliest, found) in parts.items():
        wanted = [document for document in documents if document.key == key]
        assert [one.to_bytes() for one in found] == [one.to_bytes() for one in wanted]
        assert earliest == min(document.timestamp for document in wanted)


@given(st.lists(DOCUMENTS, max_size=40), st.integers(1, 2**61), st.integers(1, 9))
def test_gathered_documents_share_key_and_window_and_none_is_lost(documents, window, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_blocks, "BLOCK_DOCUMENTS", most)
        patch.setattr(document_blocks, "GATHERED_DOCUMENTS", 3 * most)
        gathering = Gathering(Blocks(SequenceSettings(window=window)))
        parts = [part for document in documents for part in gathering.add(document)]
        held = len(documents) - sum(map(len, parts))
        assert held < 3 * most
        parts += gathering.rest()
    assert all(len({(one.key, one.timestamp // window) for one in part}) == 1 for part in parts)
    assert all(len(part) <= most for part in parts)
    found = sorted(one.to_bytes() for part in parts for one in part)
    assert found == sorted(one.to_bytes() for one in documents)


def test_blocks_end_by_their_tokens_too(monkeypatch):
    monkeypatch.setattr(document_blocks, "BLOCK_TOKENS", 4)
    monkeypatch.setattr(document_blocks, "GATHERED_TOKENS", 6)
    items = [
        TokenisedDocument.from_words(Document(name, 0, "", None, key), ["sea"] * size)
        for name, key, size in [("a", "k", 2), ("b", "k", 2), ("c", "l", 3), ("d", "m", 3)]
    ]
    texts = [Document(one.id, 0, "x" * 8 * len(one.tokens), None, one.key) for one in items]
    for waiting in (items, texts):
        check_ends(waiting)


def check_ends(items):
    gathering = Gathering(Blocks(SequenceSettings(window=10)))
    ended = [[[one.id for one in part] for part in gathering.add(item)] for item in items]
    assert ended == [[], [["a", "b"]], [], [["c"], ["d"]]]
    assert gathering.rest() == []


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("ids", (), "documents of a block: found 0"),
        ("keys", ("k",), "keys of a block of documents: found 1 values"),
        ("labels", (None,), "labels of a block of documents: found 1 values"),
        ("sources", ("s",), "sources of a block of documents: found 1 values"),
        ("groups", ("s",), "groups of a block of documents: found 1 values"),
        ("timestamps", np.zeros(3, np.int64), "timestamps of a block of documents: found 3"),
        ("offsets", np.array([0, 4, 3]), "offsets of a block of documents"),
        ("tokens", np.array([0, 1, -1], np.int32), "tokens of a block of documents: found -1"),
        ("tokens", np.array([0, 1, 2], np.int32), "tokens of a block of documents: found 2"),
        ("words", ("sea", "sea"), "words of a block of documents: found 1 repeated"),
    ],
)
def test_a_damaged_block_is_refused(part, value, message):
    documents = [
        TokenisedDocument.from_words(Document("a", 1, ""), ["sea", "ship"]),
        TokenisedDocument.from_words(Document("b", 2, ""), ["sea"]),
    ]
    block = DocumentBlock.of(documents)
    fields = {name: getattr(block, name) for name in DocumentBlock.__slots__}
    with pytest.raises(DamagedDataError) as error:
        documents_in(DocumentBlock(**{**fields, part: value}).to_bytes())
    assert message in str(error.value)
