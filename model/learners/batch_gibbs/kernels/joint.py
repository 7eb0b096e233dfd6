"""The joint probability P(w, z) of documents that were sampled together, from packed counts.

With x^(n) = x (x + 1) ... (x + n - 1),

    P(w, z) = prod_d [prod_t alpha_t^(n_td) / (sum alpha)^(n_d)]
              prod_t [prod_w (a B(w))^(n_wt) / a^(n_t)]

The particle kernels compute the same product token by token, in another order.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.learners.particles.kernels.particles import normalise, times


@inlined
def _multiply_rising(mantissa, exponent, x, n):
    """Multiply by x (x + 1) ... (x + n - 1)."""
    for k in range(n):
        times(mantissa, exponent, 0, x + k)


@inlined
def _divide_rising(mantissa, exponent, x, n):
    """Divide by x (x + 1) ... (x + n - 1)."""
    for k in range(n):
        times(mantissa, exponent, 0, 1.0 / (x + k))


@kernel
def joint_probability(in_documents, totals, alpha, a, base, rows):
    """Return P(w, z) as (mantissa, exponent), 0.5 <= mantissa < 1.

    Args:
        in_documents: int[D, T], n_td.
        totals: int64[T], n_t.
        alpha: float64[T].
        a: the prior strength of a topic.
        base: float64[V], B(w).
        rows: :class:`~beam_topics.model.gibbs.kernels.records.PackedRows`, n_wt.
    """
    mantissa, exponent, alpha_sum = np.full(1, 0.5), np.ones(1, np.int64), alpha.sum()
    for d in range(in_documents.shape[0]):
        length = 0
        for t in range(alpha.shape[0]):
            _multiply_rising(mantissa, exponent, alpha[t], in_documents[d, t])
            length += in_documents[d, t]
        _divide_rising(mantissa, exponent, alpha_sum, length)
    for v in range(rows.lengths.shape[0]):
        for at in range(rows.begins[v], rows.begins[v] + rows.lengths[v]):
            _multiply_rising(mantissa, exponent, a * base[v], rows.entries[at] >> rows.bits)
    for t in range(alpha.shape[0]):
        _divide_rising(mantissa, exponent, a, totals[t])
    normalise(mantissa, exponent, 0)
    return mantissa[0], exponent[0]
