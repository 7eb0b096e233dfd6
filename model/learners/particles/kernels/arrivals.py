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
