"""Learn alpha, the Dirichlet parameters of documents, by Minka's fixed point (Minka 2000).

With n_td tokens of topic t in document d, and n_d in all,

    alpha_t  <-  alpha_t  sum_d [Psi(n_td + alpha_t) - Psi(alpha_t)] / sum_d [Psi(n_d + A) - Psi(A)]

where A = sum of alpha. Psi(n + x) - Psi(x) = 1/x + ... + 1/(x + n - 1), so with the number of
documents that have more than i tokens of t,

    sum_d [Psi(n_td + x) - Psi(x)] = sum over i = 0, 1, ... of more_t[i] / (x + i).
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.learners.engine.kernels.draw import NONE

# n_td in the histograms; higher ones count as this.
LONGEST = 255
# The least alpha_t.
LEAST = 1e-4


@kernel
def count_documents(chosen, offsets, z, topics, of_topics):
    """Add documents to of_topics[t, n], the number of documents with n tokens of topic t.

    Args:
        chosen: int64[n], the documents.
        offsets: int64[D + 1].
        z: uint16[N].
        topics: T.
        of_topics: int64[T, LONGEST + 1].
    """
    counts = np.zeros(topics, np.int64)
    for d in chosen:
        for i in range(offsets[d], offsets[d + 1]):
            if z[i] != NONE:
                counts[z[i]] += 1
        for t in range(topics):
            if counts[t] > 0:
                of_topics[t, min(counts[t], LONGEST)] += 1
                counts[t] = 0


@inlined
def _sum_of_shares(x, documents):
    """Return the sum of Psi(n + x) - Psi(x); documents[n] have n tokens."""
    more, found = 0, 0.0
    for n in range(len(documents) - 1, 0, -1):
        more += documents[n]
        found += more / (x + (n - 1))
    return found


@kernel
def fixed_point(alpha, of_topics, lengths, steps):
    """Do some steps of the fixed point.

    Args:
        alpha: float64[T], changed.
        of_topics: int64[T, LONGEST + 1], see :func:`count_documents`.
        lengths: int64[*], lengths[n] documents have n tokens.
        steps: how many.
    """
    for _ in range(steps):
        whole = 0.0
        for t in range(len(alpha)):
            whole += alpha[t]
        below = _sum_of_shares(whole, lengths)
        for t in range(len(alpha)):
            alpha[t] = max(alpha[t] * _sum_of_shares(alpha[t], of_topics[t]) / below, LEAST)
