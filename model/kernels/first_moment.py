"""How well topics foretell held-out documents, without logarithms (Scott and Baldridge 2013, first moments only).

For the i-th token of a document, with n = the expected topic counts of those before it:
p_i = sum_t phi_wt (alpha_t + n_t) / (sum alpha + i - 1), and then n_t += phi_wt (alpha_t + n_t) / (the sum of these).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from model.kernels.jit import kernel


@kernel
def first_moment_probability(words: Any, offsets: Any, phi: Any, alpha: Any) -> Any:
    """(mantissa, exponent) of the product of all p_i.

    words: int32[tokens], rows of phi. offsets: int64[documents + 1]. phi: float64[W, T], P(w | t). alpha: float64[T].
    """
    topics = len(alpha)
    alpha_sum = 0.0
    for t in range(topics):
        alpha_sum += alpha[t]
    expected = np.empty(topics)
    share = np.empty(topics)
    mantissa, exponent = 0.5, 1
    for d in range(len(offsets) - 1):
        expected[:] = alpha
        for i in range(offsets[d], offsets[d + 1]):
            total = 0.0
            for t in range(topics):
                share[t] = phi[words[i], t] * expected[t]
                total += share[t]
            for t in range(topics):
                expected[t] += share[t] / total
            mantissa, shift = math.frexp(mantissa * (total / (alpha_sum + (i - offsets[d]))))
            exponent += shift
    return mantissa, exponent
