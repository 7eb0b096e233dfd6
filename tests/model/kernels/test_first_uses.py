"""Numbers by first use, beside a slow twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.kernels.first_uses import (
    number_in_documents,
    number_words,
    tokens_at,
)

TEXTS = st.lists(st.lists(st.integers(0, 5), max_size=9), max_size=6)


def twin(tokens):
    used = list(dict.fromkeys(tokens))
    return used, [used.index(token) for token in tokens]


@given(TEXTS)
def test_tokens_are_numbered_by_their_first_use(texts):
    tokens = [token for text in texts for token in text]
    used, numbers = number_words(np.array(tokens, np.int32), 6)
    assert (used.tolist(), numbers.tolist()) == twin(tokens)


@given(TEXTS)
def test_tokens_are_numbered_within_each_document(texts):
    tokens = np.array([token for text in texts for token in text], np.int32)
    offsets = np.cumsum([0, *map(len, texts)])
    used, occurrences, bounds, numbers = number_in_documents(tokens, offsets, 6)
    for d, text in enumerate(texts):
        here = slice(bounds[d], bounds[d + 1])
        distinct, own = twin(text)
        assert used[here].tolist() == distinct
        assert occurrences[here].tolist() == [text.count(token) for token in distinct]
        assert numbers[offsets[d] : offsets[d + 1]].tolist() == own


def test_tokens_of_some_documents():
    tokens, offsets = np.arange(5, dtype=np.int32), np.array([0, 2, 2, 5])
    for rows in ([2, 0, 1, 2], [1], []):
        found, bounds = tokens_at(tokens, offsets, np.array(rows, np.int64))
        parts = [tokens[offsets[row] : offsets[row + 1]].tolist() for row in rows]
        assert found.tolist() == [token for part in parts for token in part]
        assert bounds.tolist() == [sum(map(len, parts[:end])) for end in range(len(rows) + 1)]
