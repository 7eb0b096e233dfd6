"""Topics of documents as counts of tokens."""

from __future__ import annotations

from typing import Any

from model.kernels.jit import kernel
from model.learners.particles.kernels.shared_rows import row_of


@kernel
def copy_document_counts(documents: Any, p: Any, slots: Any, out: Any) -> None:
    """Copy n_dt of documents in one particle.

    Args:
        documents: the rows of counts of all documents, in all particles.
        p: the particle.
        slots: int32[D], the documents.
        out: int32[D, T], which receives the counts.
    """
    for d in range(len(slots)):
        counts = documents.rows[row_of(documents, p, slots[d])]
        for t in range(out.shape[1]):
            out[d, t] = counts[t]


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
