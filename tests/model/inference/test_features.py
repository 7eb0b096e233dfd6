"""Documents as a model sees them."""

from dataclasses import replace

import numpy as np
import pytest
from corpora import document_of
from made import snapshot_of

from beam_topics.model.inference.features import known_tokens, word_counts
from beam_topics.model.words.known_words import bucket


def test_known_tokens():
    snapshot = snapshot_of(np.ones((3, 1)), words=("a", "b", "c"))
    rows, tokens = known_tokens(snapshot, document_of(["x", "c", "y", "a", "c", "x"]))
    assert rows.tolist() == [2, 0] and tokens.tolist() == [0, 1, 0]
    assert rows.dtype == np.int64 and tokens.dtype == np.int32


def test_hashed_words_are_known_and_those_of_one_bucket_are_one_word():
    snapshot = replace(snapshot_of(np.ones((3, 1)), words=("a", "b", "c")), buckets=3)
    rows, tokens = known_tokens(
        snapshot, document_of(["other", "c", "words", "a", "many", "other", "b"])
    )
    expected = [
        bucket("other", 3),
        2,
        bucket("words", 3),
        0,
        bucket("many", 3),
        bucket("other", 3),
        1,
    ]
    assert rows[tokens].tolist() == expected
    assert rows.tolist() == list(dict.fromkeys(expected))
    assert rows.dtype == np.int64 and tokens.dtype == np.int32


@pytest.mark.parametrize("buckets", [0, 3])
def test_the_words_of_many_documents_are_those_of_each(buckets):
    snapshot = replace(snapshot_of(np.ones((3, 1)), words=("a", "b", "c")), buckets=buckets)
    texts = [], ["x"], ["c", "x", "a", "c"], ["other", "b", "many", "b", "words"], [], ["a"]
    documents = [document_of(words, d) for d, words in enumerate(texts)]
    counts = word_counts(snapshot, documents)
    for document, here, known in zip(
        documents, counts.document_slices(), counts.tokens.tolist(), strict=True
    ):
        rows, tokens = known_tokens(snapshot, document)
        assert counts.rows[here].tolist() == rows.tolist()
        assert (
            counts.occurrences[here].tolist() == np.bincount(tokens, minlength=len(rows)).tolist()
        )
        assert known == len(tokens)
    assert counts.matrix(3, np.float32).toarray().sum(axis=1).tolist() == counts.tokens.tolist()
