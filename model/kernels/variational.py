"""Variational inference of one document's topics, at the cost of the counts that are not zero.

With P(w | z) = sparse[w, t] + smooth[t] B(w) (sparse where n_wt > 0, the rest is the prior's part) and e_t = exp(psi(gamma_t)):

    norm_w  = sum_t e_t P(w | t) = sum over the row of w of e_t sparse[w, t]  +  B(w) sum_t e_t smooth[t]
    gamma_t = alpha_t + e_t (sum_w (n_w / norm_w) sparse[w, t]  +  smooth[t] sum_w B(w) n_w / norm_w)

which is phi_wt = e_t P(w | t) / norm_w, gamma_t = alpha_t + sum_w n_w phi_wt, without the many phi that no count distinguishes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from model.kernels.jit import inlined, kernel

# Above this the asymptotic series of psi has all bits but the last few.
_LARGE = 8.0


@inlined
def exp_digamma(x: Any) -> Any:
    """exp(psi(x)) for x > 0; 0 where that is below the smallest number."""
    shift = 0.0
    while x < _LARGE:
        shift += 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132)))))
    return x * math.exp(-0.5 / x - series - shift)


@kernel
def infer_document(
    rows: Any, times: Any, offsets: Any, topics: Any, sparse: Any, smooth: Any, base: Any, alpha: Any, iterations: Any, tolerance: Any
) -> Any:
    """float64[T]: gamma after convergence.

    Args:
        rows: int64[V], the document's distinct words. times: float64[V], how often each occurs.
        offsets, topics: the model's rows. sparse: float64[nnz], n_wt / (n_t + s_t). smooth: float64[T], s_t / (n_t + s_t).
        base: float64[V], B(w) of the document's words.
        iterations: at most so many. tolerance: of the largest change of gamma_t / sum(gamma).
    """
    t_count = alpha.shape[0]
    total = 0.0
    for v in range(rows.shape[0]):
        total += times[v]
    mass = total
    for t in range(t_count):
        mass += alpha[t]
    gamma = alpha + total / t_count
    e, found = np.empty(t_count), np.empty(t_count)
    for _ in range(iterations if total > 0 else 0):
        everywhere = 0.0
        for t in range(t_count):
            e[t] = exp_digamma(gamma[t])
            everywhere += e[t] * smooth[t]
            found[t] = 0.0
        shared = 0.0
        for v in range(rows.shape[0]):
            norm = everywhere * base[v]
            for at in range(offsets[rows[v]], offsets[rows[v] + 1]):
                norm += e[topics[at]] * sparse[at]
            share = times[v] / norm
            shared += share * base[v]
            for at in range(offsets[rows[v]], offsets[rows[v] + 1]):
                found[topics[at]] += share * sparse[at]
        change = 0.0
        for t in range(t_count):
            new = alpha[t] + e[t] * (found[t] + shared * smooth[t])
            change = max(change, abs(new - gamma[t]))
            gamma[t] = new
        if change < tolerance * mass:
            break
    return gamma
