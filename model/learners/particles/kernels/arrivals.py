"""n_td: the topics of documents as counts of tokens.

They are counted from the topics of the tokens where they are needed, and not kept: so the memory of
a document at hand follows its tokens, and not T.
"""

from __future__ import annotations

from typing import Any

from model.kernels.jit import kernel, page_kernel
from model.learners.particles.kernels.particles import GONE, PAGE
from model.learners.particles.kernels.shared_rows import row_of


@page_kernel
def count_tokens(population: Any, pages: Any, p: Any, slot: Any, stop: Any, counts: Any) -> None:
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
def count_documents(population: Any, pages: Any, p: Any, slots: Any, out: Any) -> None:
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
def sum_documents(counts: Any, sums: Any) -> None:
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
