"""Gibbs sampling that weighs every topic for each token: what SparseLDA is compared with.

Token i of document d, of word w, is drawn with

    P(z = t) ~ (n_td + alpha_t) (fixed.table[w, t] + sampled.counts[w, t])
               / (fixed.totals[t] + sampled.totals[t])

``fixed`` is the part of n_wt + s_t B(w) that does not change. ``sampled`` counts the tokens of the
documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.evaluation.kernels.held_out import dense_rows, draw_topic
from beam_topics.model.kernels.jit import kernel, page_kernel
from beam_topics.model.kernels.random import INFERENCE, fill_uniforms
from beam_topics.model.papers.gibbs2 import Corpus
from beam_topics.model.papers.kernels.sparse_lda import Document, longest_document
from beam_topics.model.publishing.snapshot import Snapshot


class DenseFixed(NamedTuple):
    """Fixed counts as a dense table.

    Attributes:
        table: float64[V, T], n_wt + s_t B(w).
        totals: float64[T], n_t + s_t.
        alpha: float64[T].
    """

    table: Any
    totals: Any
    alpha: Any


class DenseSampled(NamedTuple):
    """Sampled counts as a dense table.

    Attributes:
        counts: int32[V, T], n_wt.
        totals: int64[T], n_t.
    """

    counts: Any
    totals: Any


class DenseWorkspace(NamedTuple):
    """Scratch of the dense kernels.

    Attributes:
        gain, cumulated: float64[T].
        uniforms: float64[>= n], one uniform for each token of a document.
    """

    gain: Any
    cumulated: Any
    uniforms: Any


class DenseSampler:
    """A sampler of corpora that weighs every topic."""

    def __init__(self, snapshot: Snapshot, rows: LongArray, keys: tuple[int, int]) -> None:
        trained = snapshot.offsets, snapshot.topics, snapshot.counts
        self._strength, self._base = snapshot.prior.strength, snapshot.prior.base[rows]
        self._table = dense_rows(rows, *trained, self._strength, self._base)
        self._totals = snapshot.normalisers
        self._sampled = DenseSampled(
            np.zeros(self._table.shape, np.int32), np.zeros(snapshot.topic_count, np.int64)
        )
        self.alpha, self._keys = snapshot.alpha, keys

    def sweep(self, corpus: Corpus, sweep: int, first: bool = False) -> None:
        fixed = DenseFixed(self._table, self._totals, self.alpha)
        name = corpus.sweep_name(sweep, first, self._keys)
        sweep_documents(corpus.documents, fixed, self._sampled, name)

    def drop_model_counts(self) -> None:
        self._table = np.multiply.outer(self._base, self._strength)
        self._totals = self._strength

    def counts(self) -> IntArray:
        counts: IntArray = self._sampled.counts
        return counts


@page_kernel
def sweep_document(document: Any, fixed: Any, sampled: Any, workspace: Any, first: Any) -> None:
    """Draw the topic of each token of one document once, in place.

    Args:
        document: :class:`~beam_topics.model.papers.kernels.sparse_lda.Document`.
        fixed: :class:`DenseFixed`.
        sampled: :class:`DenseSampled`.
        workspace: :class:`DenseWorkspace`.
        first: whether the tokens have no topics yet.
    """
    tokens, states, counts = document.tokens, document.states, document.counts
    table, totals, alpha = fixed.table, fixed.totals, fixed.alpha
    gain, cumulated, uniforms = workspace.gain, workspace.cumulated, workspace.uniforms
    for t in range(alpha.shape[0]):
        gain[t] = (alpha[t] + counts[t]) / (totals[t] + sampled.totals[t])
    for i in range(tokens.shape[0]):
        v = tokens[i]
        if not first:
            old = states[i]
            sampled.counts[v, old] -= 1
            sampled.totals[old] -= 1
            counts[old] -= 1
            gain[old] = (alpha[old] + counts[old]) / (totals[old] + sampled.totals[old])
        total = 0.0
        for t in range(alpha.shape[0]):
            total += gain[t] * (table[v, t] + sampled.counts[v, t])
            cumulated[t] = total
        new = draw_topic(cumulated, uniforms[i])
        sampled.counts[v, new] += 1
        sampled.totals[new] += 1
        counts[new] += 1
        gain[new] = (alpha[new] + counts[new]) / (totals[new] + sampled.totals[new])
        states[i] = new


@kernel
def sweep_documents(documents: Any, fixed: Any, sampled: Any, name: Any) -> None:
    """Draw the topic of each token once, document by document, in place.

    Args:
        documents: :class:`~beam_topics.model.papers.kernels.sparse_lda.Documents`.
        fixed: :class:`DenseFixed`.
        sampled: :class:`DenseSampled`.
        name: :class:`~beam_topics.model.papers.kernels.sparse_lda.SweepName`.
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
