"""Variational inference of a document's topics, at the cost of the counts that are not zero.

The model is P(w | t) = sparse[w, t] + smooth[t] B(w), where sparse[w, t] > 0 only where n_wt > 0,
and smooth is the part of the prior. With e_t = exp(psi(gamma_t)),

    norm_w  = sum_t e_t P(w | t)
            = sum over the row of w of e_t sparse[w, t]  +  B(w) sum_t e_t smooth[t]
    gamma_t = alpha_t + e_t (sum_w (n_w / norm_w) sparse[w, t]
                             +  smooth[t] sum_w B(w) n_w / norm_w)

This equals phi_wt = e_t P(w | t) / norm_w and gamma_t = alpha_t + sum_w n_w phi_wt, without the phi
of topics that have no count of a word. A common factor of all e_t cancels. So where every gamma of
a short document is so small that all e_t would underflow, they are scaled.

Both sums run over rows, eight entries at a time
(:mod:`beam_topics.model.inference.kernels.row_sums`): the first over the topics of a word, the
second over the words of a topic. For the second, the document's part of the table is copied and
transposed once. Adding to gamma word by word takes three times as long, because each addition waits
for the one before it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.inference.kernels.row_sums import padded_length, pair_sum
from beam_topics.model.kernels.jit import inlined, kernel, page_kernel
from beam_topics.model.kernels.special import exp_digamma_below, scaled_up

# Where the sum of all e_t is smaller, 1 / norm_w may overflow.
_UNDERFLOW = 2.0**-800


class TopicWords(NamedTuple):
    """P(w | t) of a model in two parts, and alpha.

    Attributes:
        offsets: int64[W + 1]; word w has the entries offsets[w] to offsets[w + 1].
        topics: int32[nnz], the topic of each entry.
        sparse: float64[nnz], n_wt / (n_t + s_t).
        smooth: float64[T], s_t / (n_t + s_t).
        alpha: float64[T].
    """

    offsets: Any
    topics: Any
    sparse: Any
    smooth: Any
    alpha: Any


class _Blocks(NamedTuple):
    """Sparse rows in whole blocks: the topics of words, or the words of topics.

    Attributes:
        starts: int64[rows + 1], multiples of the block size.
        columns: int32[M], the topic or the word of each entry.
        values: float64[M]; 0 past the end of a row.
    """

    starts: Any
    columns: Any
    values: Any


class _Workspace(NamedTuple):
    """Scratch: e, float64[T], e_t; shares, float64[V], n_w / norm_w."""

    e: Any
    shares: Any


@kernel
def _by_word(rows, trained):
    """Return the rows of some words of the model as blocks."""
    starts, offsets = np.zeros(rows.shape[0] + 1, np.int64), trained.offsets
    for v in range(rows.shape[0]):
        starts[v + 1] = starts[v] + padded_length(offsets[rows[v] + 1] - offsets[rows[v]])
    topics, values = np.zeros(starts[-1], np.int32), np.zeros(starts[-1])
    for v in range(rows.shape[0]):
        shift = starts[v] - offsets[rows[v]]
        for at in range(offsets[rows[v]], offsets[rows[v] + 1]):
            topics[at + shift], values[at + shift] = trained.topics[at], trained.sparse[at]
    return _Blocks(starts, topics, values)


@kernel
def _by_topic(by_word, t_count):
    """Return the transpose: for each topic its words, as blocks."""
    starts, topics, values = by_word.starts, by_word.columns, by_word.values
    sizes = np.zeros(t_count, np.int64)
    for at in range(topics.shape[0]):
        sizes[topics[at]] += values[at] > 0.0
    begins, ends = np.zeros(t_count + 1, np.int64), np.zeros(t_count, np.int64)
    for t in range(t_count):
        begins[t + 1], ends[t] = begins[t] + padded_length(sizes[t]), begins[t]
    words, transposed = np.zeros(begins[-1], np.int32), np.zeros(begins[-1])
    for v in range(starts.shape[0] - 1):
        for at in range(starts[v], starts[v + 1]):
            if values[at] > 0.0:
                into = ends[topics[at]]
                words[into], transposed[into] = v, values[at]
                ends[topics[at]] = into + 1
    return _Blocks(begins, words, transposed)


@page_kernel
def _smoothing_sum(e, smooth):
    """Return the sum of e_t smooth[t], which every word has."""
    total = 0.0
    for t in range(e.shape[0]):
        total += e[t] * smooth[t]
    return total


@inlined
def _row_sum(weights, blocks, row):
    """Return the sum of weights[column] * value over a row."""
    start, end = blocks.starts[row], blocks.starts[row + 1]
    return pair_sum(weights, blocks.columns, blocks.values, start, end) if start < end else 0.0


@page_kernel
def _update(occurrences, base, trained, by_word, by_topic, workspace, gamma):
    """Update gamma once, in place.

    Args:
        occurrences: int64[V], n_w.
        base: float64[V], B(w).
        trained: :class:`TopicWords`.
        by_word: :class:`_Blocks` of the rows.
        by_topic: :class:`_Blocks` of the columns.
        workspace: :class:`_Workspace`.
        gamma: float64[T].

    Returns:
        The largest change of an entry of gamma.
    """
    e, shares, smooth, alpha = workspace.e, workspace.shares, trained.smooth, trained.alpha
    shared, change = 0.0, 0.0
    for t in range(alpha.shape[0]):
        e[t] = exp_digamma_below(gamma[t])
    smoothing = _smoothing_sum(e, smooth)
    if smoothing < _UNDERFLOW:
        scaled_up(gamma, e)
        smoothing = _smoothing_sum(e, smooth)
    for v in range(occurrences.shape[0]):
        shares[v] = occurrences[v] / (smoothing * base[v] + _row_sum(e, by_word, v))
    for v in range(occurrences.shape[0]):
        shared += shares[v] * base[v]
    for t in range(alpha.shape[0]):
        new = alpha[t] + e[t] * (_row_sum(shares, by_topic, t) + shared * smooth[t])
        change = max(change, abs(new - gamma[t]))
        gamma[t] = new
    return change


@kernel
def infer_document(rows, occurrences, base, trained, iterations, tolerance):
    """Return gamma of a document after convergence.

    Args:
        rows: int64[V], the document's distinct words as rows of the model.
        occurrences: int64[V], n_w.
        base: float64[V], B(w) of these words.
        trained: :class:`TopicWords`.
        iterations: the maximum number of updates.
        tolerance: updates end when no gamma_t / sum(gamma) changes by more.

    Returns:
        float64[T].
    """
    t_count, total = trained.alpha.shape[0], occurrences.sum()
    gamma = trained.alpha + total / t_count
    if total == 0:
        return gamma
    bound = tolerance * (total + trained.alpha.sum())
    by_word = _by_word(rows, trained)
    by_topic = _by_topic(by_word, t_count)
    workspace = _Workspace(np.empty(t_count), np.empty(rows.shape[0]))
    for _ in range(iterations):
        change = _update(occurrences, base, trained, by_word, by_topic, workspace, gamma)
        if change < bound:
            break
    return gamma


@kernel
def infer_documents(document_offsets, rows, occurrences, base, trained, iterations, tolerance):
    """Return gamma of many documents, float64[D, T]; see :func:`infer_document`.

    Args:
        document_offsets: int64[D + 1]; the words of document d are document_offsets[d] to
            document_offsets[d + 1] of ``rows``, ``occurrences`` and ``base``.
        rows: rows of the model for the words of all documents, one document after another.
        occurrences: n_w of these words.
        base: B(w) of these words.
        trained: :class:`TopicWords`.
        iterations: the maximum number of updates of a document.
        tolerance: updates end when no gamma_t / sum(gamma) changes by more.
    """
    gamma = np.empty((document_offsets.shape[0] - 1, trained.alpha.shape[0]))
    for d in range(document_offsets.shape[0] - 1):
        here = slice(document_offsets[d], document_offsets[d + 1])
        gamma[d] = infer_document(
            rows[here], occurrences[here], base[here], trained, iterations, tolerance
        )
    return gamma
