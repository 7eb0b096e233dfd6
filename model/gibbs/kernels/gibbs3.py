"""Gibbs sampling of one document beside fixed training counts.

Token i of word w is drawn with P(z = t) in proportion to gain[t] * (n_wt + own_wt + s_t B(w)), with
gain[t] = (n_td + alpha_t) / (n_t + s_t + n_td): as the document is alone, its own tokens in topic t
are both n_td and what it adds to n_t. Own counts are integers beside the training counts, which may
be fractional, so taking a token out restores the very bits from before it came.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import INFERENCE, fill_uniforms


@inlined
def draw_topic(cumulated: Any, u: Any) -> Any:
    """The first t whose prefix sum is above u times the whole sum; its own weight is positive."""
    last = cumulated.shape[0] - 1
    x = u * cumulated[last]
    if x >= cumulated[last]:
        # Rounding: u is below 1, but the product is not below the sum.
        x = np.nextafter(cumulated[last], 0.0)
    t = 0
    for k in range(last):
        t += cumulated[k] <= x
    return t


@kernel
def dense_rows(rows: Any, offsets: Any, topics: Any, counts: Any, strength: Any, base: Any) -> Any:
    """float64[V, T]: n_wt + s_t B(w) of the rows named; a row of -1 is a word without counts.
    base: float64[V], of these words.
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
def sweep_document(
    tokens: Any,
    states: Any,
    counts: Any,
    first: Any,
    sampled: Any,
    sampled_totals: Any,
    table: Any,
    totals: Any,
    alpha: Any,
    gain: Any,
    cumulated: Any,
    uniforms: Any,
) -> None:
    """One pass over one document, in place.

    Args:
        tokens: int32[n], words v. states: int32[n], topics. counts: int[T], n_td. first: whether
        the tokens have no topics yet. own: int32[V, T] and own_totals: int64[T], counts of the
        tokens that are sampled. table: float64[V, T], n_wt + s_t B(w) of what is not. totals:
        float64[T], n_t + s_t of what is not. alpha: float64[T]. gain, cumulated: float64[T],
        scratch. uniforms: float64[>= n].
    """
    for t in range(alpha.shape[0]):
        gain[t] = (alpha[t] + counts[t]) / (totals[t] + sampled_totals[t])
    for i in range(tokens.shape[0]):
        v = tokens[i]
        if not first:
            old = states[i]
            sampled[v, old] -= 1
            sampled_totals[old] -= 1
            counts[old] -= 1
            gain[old] = (alpha[old] + counts[old]) / (totals[old] + sampled_totals[old])
        total = 0.0
        for t in range(alpha.shape[0]):
            total += gain[t] * (table[v, t] + sampled[v, t])
            cumulated[t] = total
        new = draw_topic(cumulated, uniforms[i])
        sampled[v, new] += 1
        sampled_totals[new] += 1
        counts[new] += 1
        gain[new] = (alpha[new] + counts[new]) / (totals[new] + sampled_totals[new])
        states[i] = new


@kernel
def sample_document(
    tokens: Any,
    rows: Any,
    offsets: Any,
    topics: Any,
    counts: Any,
    totals: Any,
    alpha: Any,
    strength: Any,
    base: Any,
    sweeps: Any,
    kept: Any,
    key0: Any,
    key1: Any,
) -> Any:
    """A first pass and ``sweeps`` sweeps.

    Args:
        tokens: int32[n], indices into ``rows``. rows: int64[V], into the model's words. offsets,
        topics, counts: the model's counts. totals: float64[T], n_t + s_t. alpha, strength:
        float64[T]. base: float64[V], B(w) of the document's words. key0, key1: of the document's
        stream of uniforms.

    Returns:
        int64[T]: n_td, summed over the states after the last ``kept`` passes.
    """
    n, t_count = tokens.shape[0], alpha.shape[0]
    table = dense_rows(rows, offsets, topics, counts, strength, base)
    sampled = np.zeros((rows.shape[0], t_count), np.int32)
    in_document, result, sampled_totals = (
        np.zeros(t_count, np.int64),
        np.zeros(t_count, np.int64),
        np.zeros(t_count, np.int64),
    )
    states, uniforms, gain, cumulated = (
        np.empty(n, np.int32),
        np.empty(n),
        np.empty(t_count),
        np.empty(t_count),
    )
    for sweep in range(sweeps + 1):
        fill_uniforms(uniforms, n, sweep * n, key0, key1, 0, 0, INFERENCE)
        sweep_document(
            tokens,
            states,
            in_document,
            sweep == 0,
            sampled,
            sampled_totals,
            table,
            totals,
            alpha,
            gain,
            cumulated,
            uniforms,
        )
        if sweep > sweeps - kept:
            result += in_document
    return result
