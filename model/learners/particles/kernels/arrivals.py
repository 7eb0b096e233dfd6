"""The topics of documents: n_td as counts of tokens, shares, and how far two shares are apart.

They are counted from the topics of the tokens where they are needed, and not kept: so the memory of
a document at hand follows its tokens, and not T.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import kernel, page_kernel
from beam_topics.model.kernels.special import ln
from beam_topics.model.learners.particles.kernels.particles import GONE, PAGE
from beam_topics.model.learners.particles.kernels.shared_rows import row_of


@page_kernel
def count_tokens(population, pages, p, slot, stop, counts):
    """Write n_td of the first ``stop`` tokens of a document in one particle to ``counts``."""
    for t in range(len(counts)):
        counts[t] = 0
    page = pages.first[slot]
    for start in range(0, stop, PAGE):
        place = row_of(population.topics, p, page)
        for k in range(min(PAGE, stop - start)):
            if pages.words[page, k] != GONE:
                counts[population.topics.rows[place, k]] += 1
        page = pages.following[page]


@kernel
def count_documents(population, pages, p, slots, out):
    """Write n_td of documents in one particle.

    Args:
        population: the particles.
        pages: the tokens of the history.
        p: the particle.
        slots: int[D], the documents.
        out: int32[D, T], which receives the counts.
    """
    for d in range(len(slots)):
        count_tokens(population, pages, p, slots[d], pages.length[slots[d]], out[d])


@kernel
def sum_documents(counts, sums):
    """Add up the tokens and documents of each topic.

    Args:
        counts: int32[D, C, T], the tokens of each topic in each document.
        sums: float64[C, 2, T], which receives the sums. A document belongs to the topic with most
            of its tokens, the first of equals; without tokens to none.
    """
    for d in range(counts.shape[0]):
        for c in range(counts.shape[1]):
            main, most = -1, 0
            for t in range(counts.shape[2]):
                tokens = counts[d, c, t]
                sums[c, 0, t] += tokens
                if tokens > most:
                    main, most = t, tokens
            if main >= 0:
                sums[c, 1, main] += 1


@kernel
def sum_of_shares(population, pages, p, slots, topics):
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
def divergence(one, other):
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
