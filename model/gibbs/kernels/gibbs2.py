"""Gibbs sampling of many documents together, beside fixed counts.

Token i of document d, of word w, is drawn with

    P(z = t) ~ (n_td + alpha_t) (fixed.table[w, t] + sampled.counts[w, t])
               / (fixed.totals[t] + sampled.totals[t])

``fixed`` is the part of n_wt + s_t B(w) that does not change: the counts of a model and the prior,
or the prior alone where the model's documents are sampled again. ``sampled`` counts the tokens of
these documents. Sampled counts are integers beside the fixed counts, which may be fractional. So
removing a token restores the bits from before it was added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.gibbs.kernels.gibbs3 import sweep_document
from model.gibbs.kernels.records import DenseWorkspace, Document
from model.kernels.jit import inlined, kernel
from model.kernels.random import INFERENCE, fill_uniforms


@inlined
def longest_document(offsets: Any) -> Any:
    """Return the number of tokens of the longest document; 0 where there is none."""
    longest = 0
    for d in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[d + 1] - offsets[d])
    return longest


@kernel
def sweep_documents(documents: Any, fixed: Any, sampled: Any, name: Any) -> None:
    """Draw the topic of each token once, document by document, in place.

    Args:
        documents: :class:`~model.gibbs.kernels.records.Documents`.
        fixed: :class:`~model.gibbs.kernels.records.DenseFixed`.
        sampled: :class:`~model.gibbs.kernels.records.DenseSampled`.
        name: :class:`~model.gibbs.kernels.records.SweepName`.
    """
    t_count, offsets = fixed.alpha.shape[0], documents.offsets
    workspace = DenseWorkspace(
        np.empty(t_count), np.empty(t_count), np.empty(longest_document(offsets))
    )
    for d in range(offsets.shape[0] - 1):
        begin, end = offsets[d], offsets[d + 1]
        n, number = end - begin, name.first_document + d
        fill_uniforms(
            workspace.uniforms, n, name.sweep * n, name.key0, name.key1, 0, number, INFERENCE
        )
        document = Document(
            documents.tokens[begin:end], documents.states[begin:end], documents.in_documents[d]
        )
        sweep_document(document, fixed, sampled, workspace, name.first)
