"""Take the tokens of documents, and number them by first use over all documents or within each."""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import kernel


@kernel
def tokens_at(tokens, offsets, rows):
    """Return the tokens of some documents.

    Args:
        tokens: int32[N].
        offsets: int64[D + 1], the bounds of the documents.
        rows: int64[R], from 0 to D - 1.

    Returns:
        int32[n], the tokens in the order of ``rows``; int64[R + 1], their bounds.
    """
    bounds = np.zeros(len(rows) + 1, np.int64)
    for r in range(len(rows)):
        bounds[r + 1] = bounds[r] + offsets[rows[r] + 1] - offsets[rows[r]]
    found = np.empty(bounds[-1], np.int32)
    for r in range(len(rows)):
        found[bounds[r] : bounds[r + 1]] = tokens[offsets[rows[r]] : offsets[rows[r] + 1]]
    return found, bounds


@kernel
def number_words(tokens, count):
    """Give tokens numbers by their first use.

    Args:
        tokens: int32[N] or int64[N], from 0 to ``count`` - 1.
        count: the number of words.

    Returns:
        int32[V], the distinct tokens in order of first use; int32[N], the tokens as indices into
        them.
    """
    places, used = np.full(count, -1, np.int32), np.empty(min(count, len(tokens)), np.int32)
    numbers, v = np.empty(len(tokens), np.int32), 0
    for i in range(len(tokens)):
        word = tokens[i]
        if places[word] < 0:
            places[word], used[v] = v, word
            v += 1
        numbers[i] = places[word]
    return used[:v], numbers


@kernel
def number_in_documents(tokens, offsets, count):
    """Give the tokens of each document numbers by their first use in it.

    Args:
        tokens: int32[N], from 0 to ``count`` - 1.
        offsets: int64[D + 1], the bounds of the documents.
        count: the number of words.

    Returns:
        int32[V], the distinct tokens of each document, one document after the other; int64[V], how
        often each occurs in its document; int64[D + 1], the bounds of the documents in these;
        int32[N], the tokens as indices into those of their document.
    """
    places, used = np.full(count, -1, np.int64), np.empty(len(tokens), np.int32)
    occurrences, bounds = np.zeros(len(tokens), np.int64), np.zeros(len(offsets), np.int64)
    numbers, v = np.empty(len(tokens), np.int32), 0
    for d in range(len(offsets) - 1):
        first = v
        for i in range(offsets[d], offsets[d + 1]):
            word = tokens[i]
            if places[word] < first:
                places[word], used[v] = v, word
                v += 1
            occurrences[places[word]] += 1
            numbers[i] = places[word] - first
        bounds[d + 1] = v
    return used[:v], occurrences[:v], bounds, numbers
