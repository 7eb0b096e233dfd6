"""Blocks give their documents back, however they are joined, taken and stored."""

from dataclasses import fields, replace

import numpy as np
import pytest
from blocks import joined
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.documents.block import Block, key_and_count, times_in
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.words.word_list import WordList

NAMES = st.text(max_size=4)
DOCUMENTS = st.builds(
    lambda name, time, label, source, group, words: Block.of_words(
        [Document(name, time, "", label, "k", source, group)], [words]
    ),
    NAMES,
    st.integers(-(2**62), 2**62),
    st.none() | NAMES,
    st.none() | NAMES,
    st.none() | NAMES,
    st.lists(st.sampled_from(["sea", "ship", "é", "x"]), max_size=5),
)
SEVERAL = st.lists(DOCUMENTS, min_size=1, max_size=6)


def contents(documents):
    return [document.to_bytes() for document in documents]


@given(SEVERAL)
def test_a_block_gives_its_documents_back(documents):
    data = joined(documents).to_bytes()
    again = Block.from_bytes(data)
    assert contents(again.documents()) == contents(documents)
    assert again.to_bytes() == data
    assert [again.words_of(row) for row in range(len(again))] == [
        one.words_of(0) for one in documents
    ]
    assert key_and_count(data) == ("k", len(documents))
    assert times_in(data).tolist() == [int(one.timestamps[0]) for one in documents]


@given(st.lists(SEVERAL, min_size=1, max_size=4), st.data())
def test_joined_blocks_are_their_documents_and_rows_are_taken_from_them(parts, data):
    block = Block.joined([joined(part) for part in parts])
    documents = [one for part in parts for one in part]
    assert contents(block.documents()) == contents(documents)
    rows = data.draw(st.permutations(range(len(documents))))[: data.draw(st.integers(0, 5))]
    chosen = [documents[row] for row in rows]
    assert block.take(rows).to_bytes() == joined(chosen).to_bytes() if rows else True
    assert contents(block.take(rows).documents()) == contents(chosen)
    assert [block.content(row) for row in rows] == [one.content(0) for one in chosen]


@given(SEVERAL, st.data())
def test_a_minibatch_is_taken_from_as_a_block_is(documents, data):
    block = joined(documents)
    minibatch = Minibatch.of_block(block, 3, 9, True)
    rows = data.draw(st.lists(st.integers(0, len(block) - 1), unique=True))
    part = minibatch.take(rows)
    assert isinstance(part, Minibatch) and (part.sequence, part.window_end) == (3, 9)
    assert part.to_bytes() == Minibatch.of_block(block.take(rows), 3, 9, True).to_bytes()


@given(SEVERAL, st.sets(st.sampled_from(["sea", "ship", "é", "x"])))
def test_tokens_that_are_left_out_leave_the_dictionary(documents, out):
    block = joined(documents)
    kept = np.array([word not in out for word in block.words], bool)[block.tokens]
    found = block.tokens_where(kept)
    texts = [[word for word in one.words_of(0) if word not in out] for one in documents]
    assert [found.words_of(row) for row in range(len(found))] == texts
    assert found.words == tuple(dict.fromkeys(word for text in texts for word in text))


@given(SEVERAL)
def test_the_order_is_that_of_time_id_and_content(documents):
    block = joined([*documents, documents[0]])
    wanted = sorted(
        block.documents(), key=lambda one: (int(one.timestamps[0]), one.ids[0], one.content(0))
    )
    ordered = block.take(block.order())
    assert [one.content(0) for one in ordered.documents()] == [one.content(0) for one in wanted]


def test_equal_documents_have_one_content_wherever_they_arrived():
    first, second = Document("a", 1, "", arrived=3), Document("a", 1, "", arrived=9)
    block = Block.of_words([Document("b", 0, ""), first, second], [["x", "y"], ["y"], ["y"]])
    assert block.content(1) == block.content(2) != block.content(0)


def test_blocks_of_several_keys_are_not_joined():
    blocks = [Block.of_words([Document("a", 1, "", key=key)], [[]]) for key in "kl"]
    with pytest.raises(ValueError, match="several model keys"):
        Block.joined(blocks)


def test_no_document_is_no_stored_block():
    with pytest.raises(DamagedDataError, match="documents of a block: found 0"):
        Block.from_bytes(Block.empty().to_bytes())


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("labels", (None,), "labels of a block: found 1 values"),
        ("sources", ("s",), "sources of a block: found 1 values"),
        ("groups", ("s",), "groups of a block: found 1 values"),
        ("timestamps", np.zeros(3, np.int64), "timestamps of a block: found 3"),
        ("arrived", np.zeros(3, np.int64), "arrived of a block: found 3"),
        ("offsets", np.array([0, 4, 3]), "offsets of a block"),
        ("tokens", np.array([0, 1, -1], np.int32), "tokens of a block: found -1"),
        ("tokens", np.array([0, 1, 2], np.int32), "tokens of a block: found 2"),
        ("words", WordList.of(("sea", "sea")), "distinct words of a block: found 1 values"),
    ],
)
def test_a_damaged_block_is_refused(part, value, message):
    documents = [Document("a", 1, ""), Document("b", 2, "")]
    block = replace(Block.of_words(documents, [["sea", "ship"], ["sea"]]), **{part: value})
    with pytest.raises(DamagedDataError) as error:
        Block.from_bytes(block.to_bytes())
    assert message in str(error.value)


def test_a_minibatch_with_a_repeated_word_is_refused_also_if_the_sequence_made_it():
    block = Block.of_words([Document("a", 1, ""), Document("b", 2, "")], [["sea", "ship"], ["sea"]])
    damaged = replace(block, words=WordList.of(("sea", "sea")))
    joined = Block.joined([Block.for_sequence(damaged.to_bytes())])
    minibatch = Minibatch.of_block(joined, sequence=1, window_end=3, closes_window=True)
    with pytest.raises(DamagedDataError, match="distinct words of a minibatch: found 1 values"):
        Minibatch.from_bytes(minibatch.to_bytes())


def test_columns_are_all_fields():
    assert [one.name for one in fields(Minibatch)][: len(fields(Block))] == [
        one.name for one in fields(Block)
    ]
