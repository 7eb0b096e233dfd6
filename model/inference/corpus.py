"""Documents and counts for Gibbs sampling over several documents together, with dense or sparse
counts.

A :class:`Corpus` holds documents as numbers, with their topics. A sampler holds the counts that
corpora share: those of a model, which are held as they are, and those of the corpora's own tokens,
which change. Both samplers draw from the same law, though not the same topics:

>>> from model.snapshot import Snapshot, TopicWordPrior
>>> words, alpha = ("ship", "sea"), np.array([0.1, 0.1])
>>> prior = TopicWordPrior.flat(0.2, 2, 2, topics=2)
>>> facts = dict(key="", sequence=0, event_time=0, fingerprint="")
>>> facts |= dict(alpha=alpha, prior=prior, words=words)
>>> snapshot = Snapshot.from_dense(np.array([[9.0, 0.0], [0.0, 9.0]]), **facts)
>>> document = TokenisedDocument("d", 0, None, "", ("ship",), np.zeros(5, np.int32))
>>> rows, corpora = build_corpora(snapshot, [document])
>>> sampler = make_sampler(snapshot, rows, corpora, (1, 2), "sparse")
>>> sampler.sweep(corpora[0], 0, first=True)
>>> int(corpora[0].in_documents.sum()), int(sampler.counts().sum())
(5, 5)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from model.gibbs.kernels import gibbs2
from model.gibbs.kernels import sparse_lda as sparse_lda
from model.gibbs.kernels.gibbs3 import dense_rows
from model.gibbs.kernels.row_sums import LANES
from model.gibbs.packed_counts import PackedCounts
from model.gibbs.samplers import Sampler, is_sparse
from model.inference.features import known_tokens
from model.records import FloatArray, IntArray, LongArray, TokenisedDocument
from model.snapshot import Snapshot

# From so many topics on sparse counts are faster; benchmarks/README.md has the measurement.
SPARSE_FROM = 8
# Far above the number of any document: each corpus has uniforms of its own.
CORPUS_STRIDE = 1 << 40


@dataclass(eq=False)
class Corpus:
    """Documents in an order of their own, as words and topics.

    Attributes:
        tokens: int32[N], numbers of words. offsets: int64[D + 1]. states: int32[N], the topics.
        in_documents: int32[D, T]. number: the first document's, which names its uniforms.
    """

    tokens: IntArray
    offsets: LongArray
    states: IntArray
    in_documents: IntArray
    number: int


class CorpusSampler(Protocol):
    """The counts that corpora share; ``alpha``, float64[T], may be replaced between sweeps."""

    alpha: FloatArray

    def sweep(self, corpus: Corpus, sweep: int, first: bool = False) -> None:
        """Redraw the topics of a corpus; draw them for the first time where ``first``. ``sweep``
        names the uniforms.
        """

    def drop_model_counts(self) -> None:
        """Leave only the corpora's own counts, and the prior."""

    def counts(self) -> IntArray:
        """int32[V, T]: the corpora's own n_wt."""


def canonical_order(documents: Sequence[TokenisedDocument]) -> list[int]:
    """The documents' places in the order of (time, id, content)."""
    keys = [document.order() for document in documents]
    return sorted(range(len(keys)), key=keys.__getitem__)


def build_corpora(
    snapshot: Snapshot, *groups: Sequence[TokenisedDocument]
) -> tuple[LongArray, list[Corpus]]:
    """int64[V]: the rows of the snapshot that the documents use, ascending; and a corpus of each
    group, without topics yet.
    """
    known = [[known_tokens(snapshot, document) for document in group] for group in groups]
    rows = np.unique(
        np.concatenate([np.zeros(0, np.int64), *(used for group in known for used, _ in group)])
    )
    corpora = []
    for number, group in enumerate(known):
        tokens = [np.searchsorted(rows, used).astype(np.int32)[local] for used, local in group]
        offsets = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
        flat = np.concatenate([np.zeros(0, np.int32), *tokens])
        in_documents = np.zeros((len(group), snapshot.topic_count), np.int32)
        corpora.append(
            Corpus(
                flat, offsets, np.zeros(len(flat), np.int32), in_documents, number * CORPUS_STRIDE
            )
        )
    return rows, corpora


def make_sampler(
    snapshot: Snapshot,
    rows: LongArray,
    corpora: Sequence[Corpus],
    keys: tuple[int, int],
    sampler: Sampler = "auto",
) -> CorpusSampler:
    """A sampler of corpora beside the model's counts, with none of their tokens counted yet;
    ``keys`` are of the stream of uniforms.
    """
    if is_sparse(sampler, snapshot.topic_count, SPARSE_FROM):
        return SparseSampler(snapshot, rows, corpora, keys)
    return DenseSampler(snapshot, rows, keys)


class DenseSampler:
    """Every topic is weighed: :mod:`model.gibbs.kernels.gibbs2`."""

    def __init__(self, snapshot: Snapshot, rows: LongArray, keys: tuple[int, int]) -> None:
        fixed = snapshot.offsets, snapshot.topics, snapshot.counts
        self._strength, self._base = snapshot.prior.strength, snapshot.prior.base[rows]
        self._table, self._totals = (
            dense_rows(rows, *fixed, self._strength, self._base),
            snapshot.normalisers,
        )
        self._sampled, self._sampled_totals = (
            np.zeros(self._table.shape, np.int32),
            np.zeros(snapshot.topic_count, np.int64),
        )
        self.alpha, self._keys = snapshot.alpha, keys

    def sweep(self, corpus: Corpus, sweep: int, first: bool = False) -> None:
        counts = (
            corpus.in_documents,
            self._sampled,
            self._sampled_totals,
            self._table,
            self._totals,
            self.alpha,
        )
        gibbs2.sweep_documents(
            corpus.tokens,
            corpus.offsets,
            corpus.states,
            *counts,
            first,
            corpus.number,
            sweep,
            *self._keys,
        )

    def drop_model_counts(self) -> None:
        self._table = np.multiply.outer(self._base, self._strength)
        self._totals = self._strength

    def counts(self) -> IntArray:
        return self._sampled


class SparseSampler:
    """SparseLDA: :mod:`model.gibbs.kernels.sparse_lda`."""

    def __init__(
        self, snapshot: Snapshot, rows: LongArray, corpora: Sequence[Corpus], keys: tuple[int, int]
    ) -> None:
        frequency = sum(
            (np.bincount(corpus.tokens, minlength=len(rows)) for corpus in corpora),
            np.zeros(len(rows), np.int64),
        )
        self._sampled = PackedCounts(frequency, snapshot.topic_count)
        self._fixed = _fixed_rows(snapshot, rows)
        self._totals, self._sampled_totals = (
            snapshot.normalisers,
            np.zeros(snapshot.topic_count, np.int64),
        )
        self._strength, self._base = snapshot.prior.strength, snapshot.prior.base[rows]
        self.alpha, self._keys = snapshot.alpha, keys

    def sweep(self, corpus: Corpus, sweep: int, first: bool = False) -> None:
        documents = corpus.tokens, corpus.offsets, corpus.states, corpus.in_documents
        fixed = (
            self._sampled_totals,
            self._totals,
            self.alpha,
            self._strength,
            self._base,
            *self._fixed,
        )

        def kernel(progress: LongArray, carried: FloatArray) -> None:
            counts = *self._sampled.rows, *self._sampled.growth
            sparse_lda.sweep_documents(
                *documents,
                *fixed,
                *counts,
                first,
                corpus.number,
                sweep,
                *self._keys,
                progress,
                carried,
            )

        self._sampled.run(len(corpus.in_documents), kernel)

    def drop_model_counts(self) -> None:
        self._fixed = sparse_lda.empty_rows(len(self._base))
        self._totals = self._strength

    def counts(self) -> IntArray:
        dense = np.zeros((len(self._base), len(self._totals)), np.int32)
        words, topics, counts = self._sampled.triples()
        dense[words, topics] = counts
        return dense


def sorted_rows(snapshot: Snapshot) -> tuple[IntArray, FloatArray]:
    """The model's topics and counts, each row in descending order of the counts, ties by topic."""
    words = np.repeat(np.arange(len(snapshot.words)), np.diff(snapshot.offsets))
    order = np.lexsort((snapshot.topics, -snapshot.counts, words))
    return snapshot.topics[order], snapshot.counts[order]


def _fixed_rows(snapshot: Snapshot, rows: LongArray) -> tuple[LongArray, IntArray, FloatArray]:
    """(offsets, topics, counts) of some of the model's rows, descending, each in whole blocks."""
    from_topics, from_counts = sorted_rows(snapshot)
    lengths = snapshot.offsets[rows + 1] - snapshot.offsets[rows]
    offsets = np.concatenate([[0], np.cumsum(-(-lengths // LANES) * LANES)]).astype(np.int64)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    into, source = (
        within + np.repeat(offsets[:-1], lengths),
        within + np.repeat(snapshot.offsets[rows], lengths),
    )
    topics, counts = np.zeros(offsets[-1], np.int32), np.zeros(offsets[-1])
    topics[into], counts[into] = from_topics[source], from_counts[source]
    return offsets, topics, counts
