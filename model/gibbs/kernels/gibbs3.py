"""Gibbs sampling of one document beside the fixed counts of a model.

Token i of word w is drawn with

    P(z = t) ~ gain[t] (n_wt + sampled_wt + s_t B(w))
    gain[t] = (n_td + alpha_t) / (n_t + s_t + n_td)

The document is alone, so n_td is also what its tokens add to n_t. Sampled counts are integers
beside the model's counts, which may be fractional. So removing a token restores the bits from
before it was added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.gibbs.kernels.records import DenseFixed, DenseSampled, DenseWorkspace, Document
from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import INFERENCE, fill_uniforms


@inlined
def draw_topic(cumulated: Any, u: Any) -> Any:
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
def dense_rows(rows: Any, offsets: Any, topics: Any, counts: Any, strength: Any, base: Any) -> Any:
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


@page_kernel
def sweep_document(document: Any, fixed: Any, sampled: Any, workspace: Any, first: Any) -> None:
    """Draw the topic of each token of one document once, in place.

    Args:
        document: :class:`~model.gibbs.kernels.records.Document`.
        fixed: :class:`~model.gibbs.kernels.records.DenseFixed`.
        sampled: :class:`~model.gibbs.kernels.records.DenseSampled`.
        workspace: :class:`~model.gibbs.kernels.records.DenseWorkspace`.
        first: whether the tokens have no topics yet.
    """
    tokens, states, counts = document.tokens, document.states, document.counts
    table, totals, alpha = fixed.table, fixed.totals, fixed.alpha
    gain, cumulated, uniforms = workspace.gain, workspace.cumulated, workspace.uniforms
    for t in range(alpha.shape[0]):
        gain[t] = (alpha[t] + counts[t]) / (totals[t] + sampled.totals[t])
    for i in range(tokens.shape[0]):
        v = tokens[i]
        if not first:
            old = states[i]
            sampled.counts[v, old] -= 1
            sampled.totals[old] -= 1
            counts[old] -= 1
            gain[old] = (alpha[old] + counts[old]) / (totals[old] + sampled.totals[old])
        total = 0.0
        for t in range(alpha.shape[0]):
            total += gain[t] * (table[v, t] + sampled.counts[v, t])
            cumulated[t] = total
        new = draw_topic(cumulated, uniforms[i])
        sampled.counts[v, new] += 1
        sampled.totals[new] += 1
        counts[new] += 1
        gain[new] = (alpha[new] + counts[new]) / (totals[new] + sampled.totals[new])
        states[i] = new


@kernel
def repeat_words(occurrences: Any) -> Any:
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
def sample_document(
    tokens: Any, rows: Any, base: Any, trained: Any, sweeps: Any, kept: Any, keys: Any
) -> Any:
    """Draw the topics of a document in a first pass and ``sweeps`` Gibbs sweeps.

    Args:
        tokens: int32[n], indices into ``rows``.
        rows: int64[V], the document's words as rows of the model.
        base: float64[V], B(w) of these words.
        trained: :class:`~model.gibbs.kernels.records.ModelCounts`.
        sweeps: number of sweeps after the first pass.
        kept: number of states that are summed, the last ones.
        keys: (int, int), the stream key of the document.

    Returns:
        int64[T], the sum of n_td over the last ``kept`` states.
    """
    n, t_count = tokens.shape[0], trained.alpha.shape[0]
    table = dense_rows(
        rows, trained.offsets, trained.topics, trained.counts, trained.strength, base
    )
    fixed = DenseFixed(table, trained.totals, trained.alpha)
    sampled = DenseSampled(
        np.zeros((rows.shape[0], t_count), np.int32), np.zeros(t_count, np.int64)
    )
    document = Document(tokens, np.empty(n, np.int32), np.zeros(t_count, np.int64))
    workspace = DenseWorkspace(np.empty(t_count), np.empty(t_count), np.empty(n))
    result = np.zeros(t_count, np.int64)
    for sweep in range(sweeps + 1):
        fill_uniforms(workspace.uniforms, n, sweep * n, keys[0], keys[1], 0, 0, INFERENCE)
        sweep_document(document, fixed, sampled, workspace, sweep == 0)
        if sweep > sweeps - kept:
            result += document.counts
    return result


@kernel
def sample_documents(words: Any, base: Any, trained: Any, sweeps: Any, kept: Any, keys: Any) -> Any:
    """Draw the topics of many documents, each alone, as :func:`sample_document` does.

    Args:
        words: :class:`~model.gibbs.kernels.records.DocumentWords`.
        base: float64[N], B(w) of these words.
        trained: :class:`~model.gibbs.kernels.records.ModelCounts`.
        sweeps: number of sweeps after the first pass.
        kept: number of states that are summed, the last ones.
        keys: int64[D, 2], the stream key of each document.

    Returns:
        int64[D, T].
    """
    counts = np.empty((keys.shape[0], trained.alpha.shape[0]), np.int64)
    for d in range(keys.shape[0]):
        here = slice(words.offsets[d], words.offsets[d + 1])
        tokens = repeat_words(words.occurrences[here])
        key = (keys[d, 0], keys[d, 1])
        counts[d] = sample_document(
            tokens, words.rows[here], base[here], trained, sweeps, kept, key
        )
    return counts
