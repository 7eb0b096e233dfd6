"""Sample a document's topics given its proportions, estimate the proportions again, and repeat.

Given theta the tokens are independent: z_i is drawn with P(z_i = t) ~ theta_t P(w_i | t), where
P(w | t) = sparse[w, t] + smooth[t] B(w), as in
:mod:`beam_topics.model.inference.kernels.mean_field`. The row of a word is weighed once a repeat,
however often the word occurs.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import INFERENCE, fill_uniforms


@inlined
def _first_above(sums, begin, end, x):
    """Return the first index in [begin, end) whose prefix sum is above x.

    It is the last index where rounding leaves none.
    """
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


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


@kernel
def sample_document(tokens, rows, base, trained, theta, repeats, kept, keys):
    """Draw the topics of a document ``repeats`` times, and estimate its proportions each time.

    Args:
        tokens: int32[n], indices into ``rows``.
        rows: int64[V], the document's distinct words as rows of the model.
        base: float64[V], B(w) of these words.
        trained: :class:`~beam_topics.model.inference.kernels.mean_field.TopicWords`.
        theta: float64[T], the proportions to begin with.
        repeats: number of repeats.
        kept: number of repeats that are summed, the last ones.
        keys: (int, int), the stream key of the document.

    Returns:
        int64[T], the sum of n_td over the last ``kept`` repeats.
    """
    offsets, topics, alpha = trained.offsets, trained.topics, trained.alpha
    n, t_count = tokens.shape[0], alpha.shape[0]
    starts = np.zeros(rows.shape[0] + 1, np.int64)
    for v in range(rows.shape[0]):
        starts[v + 1] = starts[v] + offsets[rows[v] + 1] - offsets[rows[v]]
    sums, smoothing_sums = np.empty(starts[-1]), np.empty(t_count)
    theta, result, uniforms = theta.copy(), np.zeros(t_count, np.int64), np.empty(n)
    for repeat in range(repeats):
        fill_uniforms(uniforms, n, repeat * n, keys[0], keys[1], 0, 0, INFERENCE)
        total = 0.0
        for t in range(t_count):
            total += theta[t] * trained.smooth[t]
            smoothing_sums[t] = total
        for v in range(rows.shape[0]):
            sparse_sum, at = 0.0, offsets[rows[v]]
            for k in range(starts[v], starts[v + 1]):
                sparse_sum += theta[topics[at]] * trained.sparse[at]
                sums[k] = sparse_sum
                at += 1
        counts = np.zeros(t_count, np.int64)
        for i in range(n):
            v = tokens[i]
            sparse_sum = sums[starts[v + 1] - 1] if starts[v + 1] > starts[v] else 0.0
            x = uniforms[i] * (sparse_sum + total * base[v])
            if x < sparse_sum:
                k = _first_above(sums, starts[v], starts[v + 1], x)
                counts[topics[offsets[rows[v]] + k - starts[v]]] += 1
            else:
                counts[_first_above(smoothing_sums, 0, t_count, (x - sparse_sum) / base[v])] += 1
        mass = 0.0
        for t in range(t_count):
            theta[t] = alpha[t] + counts[t]
            mass += theta[t]
        for t in range(t_count):
            theta[t] /= mass
        if repeat >= repeats - kept:
            result += counts
    return result
