"""Kernels over all topics of a word, and over all tokens of a document.

Gibbs sampling weighs the topics that a word has
(:mod:`beam_topics.model.gibbs.kernels.sparse_lda`). Scores of documents and the hybrid method weigh
every topic.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel


@inlined
def draw_topic(cumulated, u):
    """Return the first t whose prefix sum is above u times the whole sum.

    Its own weight is positive.
    """
    last = cumulated.shape[0] - 1
    x = u * cumulated[last]
    if x >= cumulated[last]:
        # u is below 1, but the product may be rounded up to the sum.
        x = np.nextafter(cumulated[last], 0.0)
    t = 0
    for k in range(last):
        t += cumulated[k] <= x
    return t


@kernel
def dense_rows(rows, offsets, topics, counts, strength, base):
    """Return n_wt + s_t B(w) of some words as a dense table.

    Args:
        rows: int64[V], rows of the model; -1 is a word without counts.
        offsets: int64, where each row of the model begins in ``topics`` and ``counts``.
        topics: the topics of the model's sparse rows.
        counts: their counts.
        strength: float64[T], s_t.
        base: float64[V], B(w) of these words.

    Returns:
        float64[V, T].
    """
    table = np.empty((rows.shape[0], strength.shape[0]))
    for v in range(rows.shape[0]):
        for t in range(strength.shape[0]):
            table[v, t] = strength[t] * base[v]
        if rows[v] >= 0:
            for at in range(offsets[rows[v]], offsets[rows[v] + 1]):
                table[v, topics[at]] += counts[at]
    return table


@kernel
def repeat_words(occurrences):
    """Return the tokens of a document word by word.

    Args:
        occurrences: int64[V], the number of tokens of each word.

    Returns:
        int32[n], word v as often as occurrences[v].
    """
    tokens, end = np.empty(occurrences.sum(), np.int32), 0
    for v in range(occurrences.shape[0]):
        begin, end = end, end + occurrences[v]
        tokens[begin:end] = v
    return tokens
