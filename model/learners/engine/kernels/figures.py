"""Figures of a model: topics of documents, how alike topics are, the joint probability P(w, z).

P(w, z) is given G, a and alpha. With A = sum of alpha and

    x^(n) = x (x + 1) ... (x + n - 1) = Gamma(x + n) / Gamma(x)

it is

    P(w, z) = prod_d [prod_t alpha_t^(n_td) / A^(n_d)] prod_t [prod_w (a G_w)^(n_wt) / a^(n_t)]

Counts of documents that have left are part of n_wt and n_t.
"""

from __future__ import annotations

import math

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.special import ln
from beam_topics.model.learners.engine.kernels.draw import NONE


@inlined
def _of_documents(offsets, z, alpha):
    """Return ln of the factors of all documents, token by token."""
    counts, whole, found = np.zeros(alpha.shape[0], np.int64), alpha.sum(), 0.0
    for d in range(offsets.shape[0] - 1):
        n = 0
        for i in range(offsets[d], offsets[d + 1]):
            if z[i] != NONE:
                found += ln((alpha[z[i]] + counts[z[i]]) / (whole + n))
                counts[z[i]] += 1
                n += 1
        for i in range(offsets[d], offsets[d + 1]):
            if z[i] != NONE:
                counts[z[i]] = 0
    return found


@inlined
def _rising(x, n):
    """Return ln x^(n)."""
    return math.lgamma(x + n) - math.lgamma(x)


@kernel
def log_joint(offsets, z, rows, totals, shares, a, alpha):
    """Return ln P(w, z).

    Args:
        offsets: int64[D + 1].
        z: uint16[N].
        rows: int32[W, T8], n_wt.
        totals: int64[T8], n_t.
        shares: float64[W], a G_w.
        a: the strength of a topic's prior.
        alpha: float64[T8].
    """
    found = _of_documents(offsets, z, alpha)
    for w in range(rows.shape[0]):
        for t in range(rows.shape[1]):
            if rows[w, t] > 0:
                found += _rising(shares[w], rows[w, t])
    for t in range(totals.shape[0]):
        if totals[t] > 0:
            found -= _rising(a, totals[t])
    return found


@kernel
def products(rows, base, topics, found):
    """Set found[i, j], i <= j, to the sum over words of n_wi n_wj / G_w.

    Args:
        rows: int32[W, T8], n_wt.
        base: float64[W], G.
        topics: int64[n], the topics that are compared.
        found: float64[n, n], written where i <= j.
    """
    found[:] = 0.0
    used = np.zeros(topics.shape[0], np.int64)
    for w in range(rows.shape[0]):
        count = 0
        for i in range(topics.shape[0]):
            if rows[w, topics[i]] > 0:
                used[count] = i
                count += 1
        for x in range(count):
            share = rows[w, topics[used[x]]] / base[w]
            for y in range(x, count):
                found[used[x], used[y]] += share * rows[w, topics[used[y]]]


@kernel
def main_topics(offsets, z, topics, main):
    """Set main[d] to the topic with the most tokens of d, the first of equals; -1 without any.

    Args:
        offsets: int64[D + 1].
        z: uint16[N].
        topics: T.
        main: int32[D], written.
    """
    counts = np.zeros(topics, np.int64)
    for d in range(offsets.shape[0] - 1):
        most, main[d] = 0, -1
        for i in range(offsets[d], offsets[d + 1]):
            if z[i] != NONE:
                counts[z[i]] += 1
                most = max(most, counts[z[i]])
        for i in range(offsets[d], offsets[d + 1]):
            if z[i] != NONE and counts[z[i]] == most and (main[d] < 0 or z[i] < main[d]):
                main[d] = z[i]
        for i in range(offsets[d], offsets[d + 1]):
            if z[i] != NONE:
                counts[z[i]] = 0
