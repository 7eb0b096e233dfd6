"""Gibbs sampling of many documents together, beside counts that stay as they are.

Token i of document d, of word w, is drawn with P(z = t) in proportion to

    (n_td + alpha_t) * (table[w, t] + own[w, t]) / (totals[t] + own_totals[t])

``table`` is the part of n_wt + s_t B(w) that nothing here changes (a model's counts and the prior;
the prior alone if the model's documents are sampled again), ``sampled`` counts the tokens of these
documents. Own counts are integers beside the others, which may be fractional, so taking a token out
restores the very bits from before it came.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.gibbs.kernels.gibbs3 import sweep_document
from model.kernels.jit import inlined, kernel
from model.kernels.random import INFERENCE, fill_uniforms


@inlined
def longest_document(offsets: Any) -> Any:
    """Tokens of the longest document; 0 where there is none."""
    longest = 0
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    return longest


@kernel
def sweep_documents(
    tokens: Any,
    offsets: Any,
    states: Any,
    in_documents: Any,
    sampled: Any,
    sampled_totals: Any,
    table: Any,
    totals: Any,
    alpha: Any,
    first: Any,
    number: Any,
    sweep: Any,
    key0: Any,
    key1: Any,
) -> None:
    """One pass over the documents, in place.

    Args:
        tokens: int32[N], rows of ``table``; document d is tokens[offsets[d]:offsets[d + 1]].
        states: int32[N], the tokens' topics. in_documents: int32[D, T], n_td. own: int32[V, T].
        own_totals: int64[T]. table: float64[V, T]. totals: float64[T], n_t + a of what is not
        counted in ``sampled_totals``. alpha: float64[T]. first: whether the tokens have no topics yet.
        number: of the first document, sweep: of the pass; they name its uniforms.
    """
    t_count = alpha.shape[0]
    uniforms, cumulated, gain = (
        np.empty(longest_document(offsets)),
        np.empty(t_count),
        np.empty(t_count),
    )
    for d in range(offsets.shape[0] - 1):
        begin, end = offsets[d], offsets[d + 1]
        fill_uniforms(
            uniforms, end - begin, sweep * (end - begin), key0, key1, 0, number + d, INFERENCE
        )
        sweep_document(
            tokens[begin:end],
            states[begin:end],
            in_documents[d],
            first,
            sampled,
            sampled_totals,
            table,
            totals,
            alpha,
            gain,
            cumulated,
            uniforms,
        )
