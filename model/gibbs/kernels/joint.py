"""P(w, z) of documents that were sampled together, from their counts alone: rows of words that are
packed, and n_td.

With x^(n) = x (x + 1) ... (x + n - 1) it is the product over documents of (prod_t alpha_t^(n_td)) /
(sum alpha)^(n_d), times the product over topics of (prod_w (a B(w))^(n_wt)) / a^(n_t): what the
particle kernels multiply token by token, in another order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import inlined, kernel
from model.learners.particles.kernels.particles import normalise, times


@inlined
def _rise(mantissa: Any, exponent: Any, x: Any, n: Any) -> None:
    for k in range(n):
        times(mantissa, exponent, 0, x + k)


@inlined
def _fall(mantissa: Any, exponent: Any, x: Any, n: Any) -> None:
    for k in range(n):
        times(mantissa, exponent, 0, 1.0 / (x + k))


@kernel
def joint_probability(
    in_documents: Any,
    totals: Any,
    alpha: Any,
    a: Any,
    base: Any,
    begins: Any,
    entries: Any,
    lengths: Any,
    bits: Any,
) -> Any:
    """(mantissa, exponent) of P(w, z), 0.5 <= mantissa < 1.

    Args:
        in_documents: int[D, T], n_td. totals: int64[T], n_t. alpha: float64[T]. base: float64[V],
        B(w). begins, entries, lengths, bits: the words' rows, see
        :mod:`model.gibbs.kernels.packed_rows`.
    """
    mantissa, exponent, alpha_sum = np.full(1, 0.5), np.ones(1, np.int64), alpha.sum()
    for d in range(in_documents.shape[0]):
        length = 0
        for t in range(alpha.shape[0]):
            _rise(mantissa, exponent, alpha[t], in_documents[d, t])
            length += in_documents[d, t]
        _fall(mantissa, exponent, alpha_sum, length)
    for v in range(lengths.shape[0]):
        for at in range(begins[v], begins[v] + lengths[v]):
            _rise(mantissa, exponent, a * base[v], entries[at] >> bits)
    for t in range(alpha.shape[0]):
        _fall(mantissa, exponent, a, totals[t])
    normalise(mantissa, exponent, 0)
    return mantissa[0], exponent[0]
