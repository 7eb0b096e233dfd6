"""Estimation of alpha, the Dirichlet prior of a document's topics, by Minka's fixed point.

For D documents with n_td tokens in topic t and n_d in all, the likelihood of alpha grows with every
step of

    alpha_t <- alpha_t * sum_d [psi(alpha_t + n_td) - psi(alpha_t)]
                       / sum_d [psi(sum alpha + n_d) - psi(sum alpha)]

The counts are integers, so psi(x + n) - psi(x) = 1/x + 1/(x + 1) + ... + 1/(x + n - 1), which needs
only divisions. With D_k the number of documents that have more than k tokens in topic t, the sum
over d is sum_k D_k / (alpha_t + k).
"""

from __future__ import annotations

import numpy as np

from model.records import FloatArray, IntArray

# The alpha of a topic that no document uses would converge to 0 and stay there.
SMALLEST_ALPHA = 1e-4


def fit_alpha(in_documents: IntArray, alpha: FloatArray, steps: int = 5) -> FloatArray:
    """Make ``steps`` steps of the fixed point.

    Args:
        in_documents: int32[D, T], n_td.
        alpha: float64[T], the start.
        steps: number of steps.

    Returns:
        float64[T]; ``alpha`` itself where no document has a token.
    """
    by_topic = [_counts_above(in_documents[:, t]) for t in range(len(alpha))]
    by_length = _counts_above(in_documents.sum(axis=1))
    for _ in range(steps if len(by_length) else 0):
        below = _psi_sum(by_length, float(alpha.sum()))
        above = np.array(
            [_psi_sum(counts, float(a)) for counts, a in zip(by_topic, alpha, strict=True)]
        )
        alpha = np.maximum(alpha * above / below, SMALLEST_ALPHA)
    return alpha


def _counts_above(counts: IntArray) -> FloatArray:
    """Return D_k for k = 0, 1, ...: how many of the counts are above k."""
    tally = np.bincount(counts)
    return np.cumsum(tally[::-1])[::-1][1:].astype(np.float64)


def _psi_sum(counts_above: FloatArray, x: float) -> float:
    """Return the sum over k of D_k / (x + k)."""
    return float(np.sum(counts_above / (x + np.arange(len(counts_above)))))
