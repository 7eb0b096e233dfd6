"""Gibbs sampling of many documents together, beside counts that stay as they are.

Token i of document d, of word w, is drawn with P(z = t) in proportion to

    (n_td + alpha_t) * (table[w, t] + own[w, t]) / (totals[t] + own_totals[t])

``table`` is the part of n_wt + a B(w) that nothing here changes (a model's counts and the prior; the prior alone if the model's
documents are
sampled again), ``own`` counts the tokens of these documents. Own counts are integers beside the others, which may be fractional, so
taking a token out restores the very bits from before it came.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.gibbs3 import pick
from model.kernels.jit import kernel
from model.kernels.random import INFERENCE, fill_uniforms


@kernel
def pass_over(
    tokens: Any,
    offsets: Any,
    states: Any,
    in_documents: Any,
    own: Any,
    own_totals: Any,
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
        tokens: int32[N], rows of ``table``; document d is tokens[offsets[d]:offsets[d + 1]]. states: int32[N], the tokens' topics.
        in_documents: int32[D, T], n_td. own: int32[V, T]. own_totals: int64[T].
        table: float64[V, T]. totals: float64[T], n_t + a of what is not counted in ``own_totals``. alpha: float64[T].
        first: whether the tokens have no topics yet. number: of the first document, sweep: of the pass; they name its uniforms.
    """
    t_count = alpha.shape[0]
    longest = 0
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    uniforms, cumulated, gain = np.empty(longest), np.empty(t_count), np.empty(t_count)
    for d in range(offsets.shape[0] - 1):
        begin, n = offsets[d], offsets[d + 1] - offsets[d]
        counts = in_documents[d]
        fill_uniforms(uniforms, n, sweep * n, key0, key1, 0, number + d, INFERENCE)
        for t in range(t_count):
            gain[t] = (alpha[t] + counts[t]) / (totals[t] + own_totals[t])
        for i in range(n):
            v = tokens[begin + i]
            if not first:
                old = states[begin + i]
                own[v, old] -= 1
                own_totals[old] -= 1
                counts[old] -= 1
                gain[old] = (alpha[old] + counts[old]) / (totals[old] + own_totals[old])
            total = 0.0
            for t in range(t_count):
                total += gain[t] * (table[v, t] + own[v, t])
                cumulated[t] = total
            new = pick(cumulated, uniforms[i])
            own[v, new] += 1
            own_totals[new] += 1
            counts[new] += 1
            gain[new] = (alpha[new] + counts[new]) / (totals[new] + own_totals[new])
            states[begin + i] = new
