"""Topic proportions of documents, and how far two of them are from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import kernel
from model.learners.particles.kernels.arrivals import count_tokens
from model.learners.particles.kernels.logarithm import ln


@kernel
def sum_of_shares(population: Any, pages: Any, p: Any, slots: Any, topics: Any) -> Any:
    """Return float64[T], the sum over documents of n_td / n_d; empty documents add nothing.

    Args:
        population: the particles.
        pages: the tokens of the history.
        p: the particle.
        slots: the documents.
        topics: T.
    """
    shares, counts = np.zeros(topics), np.zeros(topics, np.int32)
    for slot in slots:
        count_tokens(population, pages, p, slot, pages.length[slot], counts)
        total = 0
        for t in range(topics):
            total += counts[t]
        for t in range(topics if total else 0):
            shares[t] += counts[t] / total
    return shares


@kernel
def divergence(one: Any, other: Any) -> Any:
    """Return the Jensen-Shannon divergence of two vectors, in nats.

    Args:
        one: float64[T], not negative; it is scaled to sum to 1.
        other: float64[T], likewise.

    Returns:
        The divergence; 0 where one of the vectors is all zero.
    """
    first, second = 0.0, 0.0
    for k in range(len(one)):
        first += one[k]
        second += other[k]
    if first <= 0.0 or second <= 0.0:
        return 0.0
    found = 0.0
    for k in range(len(one)):
        p, q = one[k] / first, max(other[k] / second, 0.0)
        middle = (p + q) / 2.0
        if p > 0.0:
            found += p * ln(p / middle) / 2.0
        if q > 0.0:
            found += q * ln(q / middle) / 2.0
    return found
