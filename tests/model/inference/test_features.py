"""Documents as a model sees them."""

from dataclasses import replace

import numpy as np
import pytest
from blocks import one_word_lists
from corpora import document_of
from made import snapshot_of

from beam_topics.model.inference.features import numbered
from beam_topics.model.words.word_list import bucket


def test_known_tokens():
    snapshot = snapshot_of(np.ones((3, 1)), words=("a", "b", "c"))
    texts = [["x", "c", "y", "a", "c", "x"], [], ["y"], ["b"]]
    rows, offsets = numbered(snapshot, one_word_lists(texts)).known_tokens()
    assert rows.tolist() == [2, 0, 2, 1] and offsets.tolist() == [0, 3, 3, 3, 4]
    assert rows.dtype == np.int64 and offsets.dtype == np.int64


def test_hashed_words_are_known_and_those_of_one_bucket_are_one_word():
    snapshot = replace(snapshot_of(np.ones((3, 1)), words=("a", "b", "c")), buckets=3)
    document = document_of(["other", "c", "words", "a", "many", "other", "b"])
    found = numbered(snapshot, document)
    expected = [
        bucket("other", 3),
        2,
        bucket("words", 3),
        0,
        bucket("many", 3),
        bucket("other", 3),
        1,
    ]
    assert found.known_tokens()[0].tolist() == expected
    assert found.counts.rows.tolist() == list(dict.fromkeys(expected))


@pytest.mark.parametrize("buckets", [0, 3])
def test_the_words_of_many_documents_are_those_of_each(buckets):
    snapshot = replace(snapshot_of(np.ones((3, 1)), words=("a", "b", "c")), buckets=buckets)
    texts = [], ["x"], ["c", "x", "a", "c"], ["other", "b", "many", "b", "words"], [], ["a"]
    counts = numbered(snapshot, one_word_lists(texts)).counts
    for words, here, known in zip(
        texts, counts.document_slices(), counts.tokens.tolist(), strict=True
    ):
        rows = [row for row in map(snapshot.row_of, words) if row >= 0]
        assert counts.rows[here].tolist() == list(dict.fromkeys(rows))
        assert counts.occurrences[here].tolist() == [rows.count(row) for row in dict.fromkeys(rows)]
        assert known == len(rows)
    assert counts.matrix(3, np.float32).toarray().sum(axis=1).tolist() == counts.tokens.tolist()
