import json
from dataclasses import replace

import numpy as np
import pytest
from blocks import joined
from corpora import document_of
from hypothesis import given
from hypothesis import strategies as st
from made import snapshot_of
from tallies import count

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.features import CoverageReport, Tally, numbered, tally_documents
from beam_topics.model.stored import wire

SNAPSHOT = snapshot_of([[1.0], [1.0], [1.0]], words=("a", "b", "c"))
TEXTS = st.lists(st.lists(st.sampled_from("abcxyz"), max_size=6), max_size=6)


def tally_of(texts, snapshot=SNAPSHOT):
    tally = Tally()
    for text in texts:
        count(tally, snapshot, document_of(text))
    return tally


@given(TEXTS, TEXTS)
def test_counts_and_adds_up(one, other):
    together = tally_of(one)
    together.merge(Tally.from_bytes(tally_of(other).to_bytes()))
    texts = one + other
    tokens, words = (
        [word for text in texts for word in text],
        {word for text in texts for word in text},
    )
    assert together.to_bytes() == tally_of(texts[::-1]).to_bytes()
    assert (together.documents, together.tokens) == (len(texts), len(tokens))
    assert together.tokens_known == sum(word in "abc" for word in tokens)
    assert (len(together.known), len(together.unknown)) == (
        len(words & set("abc")),
        len(words - set("abc")),
    )


@given(*[st.sets(st.integers(0, 1) | st.integers(0, 300) | st.integers(0, 2**64 - 1))] * 2)
def test_words_keep_all_their_bits(known, unknown):
    tally = Tally(1, 2, 3, known, unknown)
    assert Tally.from_bytes(tally.to_bytes()) == tally


def test_close_words_take_a_byte_and_digests_eight():
    empty = len(Tally().to_bytes())
    assert len(Tally(known=set(range(5_000, 6_000))).to_bytes()) < empty + 2 * 1_000 + 10
    assert len(Tally(unknown={2**64 - 1, 0}).to_bytes()) == empty + 2 * 8


@pytest.mark.parametrize("types", [None, 1, ["<u1"], ["<u1", "<f8"], [["<u1"], "<u1"]])
def test_other_types_are_refused(types):
    header, blobs = wire.unpack(Tally.MAGIC, Tally().to_bytes())
    damaged = wire.pack(Tally.MAGIC, {**header, "types": types}, *blobs)
    with pytest.raises(DamagedDataError, match="types of a tally"):
        Tally.from_bytes(damaged)


def test_words_of_one_bucket_are_words_of_their_own():
    hashed, words = replace(SNAPSHOT, buckets=3), [f"x{n}" for n in range(100)]
    together = tally_of([words[:60], ["a", "x1"]], hashed)
    together.merge(Tally.from_bytes(tally_of([words[40:], ["x1", "x1", "b"]], hashed).to_bytes()))
    assert (len(together.known), len(together.unknown)) == (102, 0)
    assert (together.tokens, together.tokens_known) == (125, 125)
    report = CoverageReport("", "v1", 0, 86_400_000_000, together, 1.0)
    assert (report.word_share, report.token_share, report.retrain) == (1.0, 1.0, False)


def report_of(texts, below=0.7):
    return CoverageReport("", "v1", 0, 86_400_000_000, tally_of(texts), below)


def test_a_report():
    report = report_of([["a", "a", "b"], ["x", "a"]])
    row = json.loads(report.as_json())
    assert (row["word_share"], row["token_share"], row["retrain"]) == (2 / 3, 0.8, True)
    assert (
        row["words"],
        row["words_known"],
        row["tokens"],
        row["tokens_known"],
        row["documents"],
    ) == (3, 2, 5, 4, 2)
    assert row["window_end"].startswith("1970-01-02")
    assert (
        "knows 66.7% of the distinct words and 80.0% of the tokens of 2 documents, below 70%:"
        " retrain" in report.sentence()
    )


@pytest.mark.parametrize(("below", "retrain"), [(0.5, False), (0.500001, True)])
def test_the_signal_is_given_below_the_share(below, retrain):
    report = report_of([["a", "x"]], below)
    assert report.retrain == retrain
    assert ("retrain" in report.sentence()) == retrain


def test_without_a_word():
    report = report_of([[], []])
    assert (report.word_share, report.token_share, report.retrain) == (None, None, False)
    assert "2 documents without a word" in report.sentence()


@given(
    st.lists(st.tuples(st.lists(st.sampled_from("abcdexyz")), st.integers(0, 2)), max_size=8),
    st.sampled_from([0, 4]),
)
def test_many_documents_at_once_as_one_after_the_other(rows, buckets):
    snapshot = replace(SNAPSHOT, buckets=buckets) if buckets else SNAPSHOT
    documents = [document_of(" ".join(words)) for words, _ in rows]
    windows = [window for _, window in rows]
    wanted = {}
    for document, window in zip(documents, windows, strict=True):
        count(wanted.setdefault(window, Tally()), snapshot, document)
    found = numbered(snapshot, joined(documents))
    assert tally_documents(found, np.array(windows, np.int64)) == wanted
