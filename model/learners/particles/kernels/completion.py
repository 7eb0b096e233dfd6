"""Document completion: how well fixed topics predict one half of a document from the other.

The topics are fixed at phi: float64[V, T], P(w | z) of the documents' own V words. The n tokens at
even places (0, 2, ...) get topics by a first pass and :data:`SWEEPS` Gibbs sweeps. Then theta_t =
(mean n_td of the last :data:`KEPT` sweeps + alpha_t) / (n + sum alpha), and a token w at an odd
place has the probability sum_t theta_t phi_t(w).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.gibbs.kernels.dense import draw_topic
from model.kernels.jit import kernel
from model.kernels.random import uniform
from model.kernels.special import ln

SWEEPS, KEPT = 10, 6


@kernel
def complete(
    tokens: Any, offsets: Any, phi: Any, alpha: Any, alpha_sum: Any, draws: Any, drawn: Any
) -> Any:
    """Return, for each document, the sum of ln p over its tokens at odd places.

    Args:
        tokens: int32, rows of phi; document d is tokens[offsets[d] : offsets[d + 1]].
        offsets: int64[D + 1].
        phi: float64[V, T].
        alpha: float64[T].
        alpha_sum: the sum of alpha.
        draws: names the draws, which are those of particle 0.
        drawn: the index of the first draw.

    Returns:
        float64[D], nats; 0 for a document of fewer than two tokens.
    """
    topics = len(alpha)
    counts, mean, cumulated = np.zeros(topics, np.int64), np.zeros(topics), np.empty(topics)
    states = np.empty(len(tokens), np.int32)
    scores, index = np.zeros(len(offsets) - 1), drawn
    for d in range(len(offsets) - 1):
        begin, end = offsets[d], offsets[d + 1]
        counts[:], mean[:] = 0, 0.0
        for sweep in range(SWEEPS + 1):
            for i in range(begin, end, 2):
                if sweep:
                    counts[states[i]] -= 1
                total = 0.0
                for t in range(topics):
                    total += phi[tokens[i], t] * (alpha[t] + counts[t])
                    cumulated[t] = total
                states[i] = draw_topic(
                    cumulated,
                    uniform(index, draws.key0, draws.key1, 0, draws.sequence, draws.purpose),
                )
                counts[states[i]] += 1
                index += 1
            if sweep > SWEEPS - KEPT:
                for t in range(topics):
                    mean[t] += counts[t]
        per = 1.0 / ((end - begin + 1) // 2 + alpha_sum)
        for i in range(begin + 1, end, 2):
            p = 0.0
            for t in range(topics):
                p += (mean[t] / KEPT + alpha[t]) * per * phi[tokens[i], t]
            scores[d] += ln(p)
    return scores


def draws_of(lengths: Sequence[int]) -> int:
    """Return how many draws :func:`complete` makes for documents of these lengths."""
    return sum((SWEEPS + 1) * ((length + 1) // 2) for length in lengths)
