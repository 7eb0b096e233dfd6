"""Variational inference of one document's topics, at the cost of the counts that are not zero.

With P(w | z) = sparse[w, t] + smooth[t] B(w) (sparse where n_wt > 0, the rest is the prior's part)
and e_t = exp(psi(gamma_t)):

    norm_w  = sum_t e_t P(w | t) = sum over the row of w of e_t sparse[w, t]  +  B(w) sum_t e_t
    smooth[t] gamma_t = alpha_t + e_t (sum_w (n_w / norm_w) sparse[w, t]  +  smooth[t] sum_w B(w)
    n_w / norm_w)

which is phi_wt = e_t P(w | t) / norm_w, gamma_t = alpha_t + sum_w n_w phi_wt, without the many phi
that no count distinguishes. A factor that all e_t have cancels, so where a short document leaves
each of many topics a gamma so small that they would be 0, they are scaled.

Both sums are over rows, eight entries at a time (:mod:`model.gibbs.kernels.row_sums`): the first
over a word's topics, the second over a topic's words, for which the document's part of the table is
copied and turned round once. Adding to gamma word by word took three times as long, because each
addition waits for the one before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.gibbs.kernels.row_sums import padded_length, pair_sum
from model.kernels.expectations import exp_digamma_below, scaled_up
from model.kernels.jit import kernel, page_kernel

# Topics that weigh less than this together leave too little room above the smallest number for what
# they are multiplied by.
_UNDERFLOW = 2.0**-800


@kernel
def _by_word(rows: Any, offsets: Any, topics: Any, sparse: Any) -> Any:
    """(starts int64[V + 1], topics int32, values float64): some of the model's rows, in whole
    blocks.
    """
    starts = np.zeros(rows.shape[0] + 1, np.int64)
    for v in range(rows.shape[0]):
        starts[v + 1] = starts[v] + padded_length(offsets[rows[v] + 1] - offsets[rows[v]])
    numbers, values = np.zeros(starts[-1], np.int32), np.zeros(starts[-1])
    for v in range(rows.shape[0]):
        shift = starts[v] - offsets[rows[v]]
        for at in range(offsets[rows[v]], offsets[rows[v] + 1]):
            numbers[at + shift], values[at + shift] = topics[at], sparse[at]
    return starts, numbers, values


@kernel
def _by_topic(starts: Any, topics: Any, values: Any, t_count: Any) -> Any:
    """The same of the topics: (starts int64[T + 1], words int32, values float64)."""
    sizes = np.zeros(t_count, np.int64)
    for at in range(topics.shape[0]):
        sizes[topics[at]] += values[at] > 0.0
    begins, ends = np.zeros(t_count + 1, np.int64), np.zeros(t_count, np.int64)
    for t in range(t_count):
        begins[t + 1], ends[t] = begins[t] + padded_length(sizes[t]), begins[t]
    words, transposed_values = np.zeros(begins[-1], np.int32), np.zeros(begins[-1])
    for v in range(starts.shape[0] - 1):
        for at in range(starts[v], starts[v + 1]):
            if values[at] > 0.0:
                place = ends[topics[at]]
                words[place], transposed_values[place] = v, values[at]
                ends[topics[at]] = place + 1
    return begins, words, transposed_values


@page_kernel
def _smoothing_sum(e: Any, smooth: Any) -> Any:
    """Sum of e_t s_t / (n_t + s_t), which every word has, whatever its row."""
    total = 0.0
    for t in range(e.shape[0]):
        total += e[t] * smooth[t]
    return total


@page_kernel
def _update(
    occurrences: Any,
    base: Any,
    smooth: Any,
    alpha: Any,
    gamma: Any,
    e: Any,
    shares: Any,
    starts: Any,
    topics: Any,
    values: Any,
    begins: Any,
    words: Any,
    transposed_values: Any,
) -> Any:
    """gamma after one more update, in place; the largest change. e: float64[T] and shares:
    float64[V], scratch.
    """
    shared, change = 0.0, 0.0
    for t in range(alpha.shape[0]):
        e[t] = exp_digamma_below(gamma[t])
    smoothing = _smoothing_sum(e, smooth)
    if smoothing < _UNDERFLOW:
        scaled_up(gamma, e)
        smoothing = _smoothing_sum(e, smooth)
    for v in range(occurrences.shape[0]):
        sparse_sum = (
            pair_sum(e, topics, values, starts[v], starts[v + 1])
            if starts[v] < starts[v + 1]
            else 0.0
        )
        shares[v] = occurrences[v] / (smoothing * base[v] + sparse_sum)
    for v in range(occurrences.shape[0]):
        shared += shares[v] * base[v]
    for t in range(alpha.shape[0]):
        sparse_sum = (
            pair_sum(shares, words, transposed_values, begins[t], begins[t + 1])
            if begins[t] < begins[t + 1]
            else 0.0
        )
        new = alpha[t] + e[t] * (sparse_sum + shared * smooth[t])
        change = max(change, abs(new - gamma[t]))
        gamma[t] = new
    return change


@kernel
def infer_document(
    rows: Any,
    occurrences: Any,
    offsets: Any,
    topics: Any,
    sparse: Any,
    smooth: Any,
    base: Any,
    alpha: Any,
    iterations: Any,
    tolerance: Any,
) -> Any:
    """float64[T]: gamma after convergence.

    Args:
        rows: int64[V], the document's distinct words. times: int64[V], how often each occurs.
        offsets, topics: the model's rows. sparse: float64[nnz], n_wt / (n_t + s_t). smooth:
        float64[T], s_t / (n_t + s_t). base: float64[V], B(w) of the document's words. iterations:
        at most so many. tolerance: of the largest change of gamma_t / sum(gamma).
    """
    t_count, total = alpha.shape[0], occurrences.sum()
    gamma = alpha + total / t_count
    if total == 0:
        return gamma
    bound = tolerance * (total + alpha.sum())
    starts, numbers, values = _by_word(rows, offsets, topics, sparse)
    begins, words, transposed_values = _by_topic(starts, numbers, values, t_count)
    e, shares = np.empty(t_count), np.empty(rows.shape[0])
    for _ in range(iterations):
        if (
            _update(
                occurrences,
                base,
                smooth,
                alpha,
                gamma,
                e,
                shares,
                starts,
                numbers,
                values,
                begins,
                words,
                transposed_values,
            )
            < bound
        ):
            break
    return gamma


@kernel
def infer_documents(
    document_offsets: Any,
    rows: Any,
    occurrences: Any,
    offsets: Any,
    topics: Any,
    sparse: Any,
    smooth: Any,
    base: Any,
    alpha: Any,
    iterations: Any,
    tolerance: Any,
) -> Any:
    """float64[D, T]: :func:`infer_document` of the documents whose words are each[d]..each[d +
    1]-1.
    """
    found = np.empty((document_offsets.shape[0] - 1, alpha.shape[0]))
    for d in range(document_offsets.shape[0] - 1):
        here = slice(document_offsets[d], document_offsets[d + 1])
        found[d] = infer_document(
            rows[here],
            occurrences[here],
            offsets,
            topics,
            sparse,
            smooth,
            base[here],
            alpha,
            iterations,
            tolerance,
        )
    return found
