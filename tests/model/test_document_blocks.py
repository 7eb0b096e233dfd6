import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.document_blocks import DocumentBlock, documents_in
from model.errors import DamagedDataError
from model.records import Document, TokenisedDocument

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


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("ids", (), "documents of a block: found 0"),
        ("keys", ("k",), "keys of a block of documents: found 1 values"),
        ("labels", (None,), "labels of a block of documents: found 1 values"),
        ("sources", ("s",), "sources of a block of documents: found 1 values"),
        ("groups", ("s",), "groups of a block of documents: found 1 values"),
        ("timestamps", np.zeros(3, np.int64), "timestamps of a block of documents: found 3"),
        ("starts", np.array([0, 2, 4]), "starts of a block of documents: found 0 to 4"),
        ("offsets", np.array([0, 4, 3]), "offsets of a block of documents"),
        ("tokens", np.array([0, 1, -1], np.int32), "tokens of a document: found -1"),
        # The second document has one word, so a token 1 would be beyond its words.
        ("tokens", np.array([0, 1, 1], np.int32), "tokens of a document: found 1, allowed is 0 to"),
        ("starts", np.array([0, 3, 3]), "tokens of a document: found 0, allowed is no number"),
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
