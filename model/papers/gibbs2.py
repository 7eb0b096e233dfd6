"""Gibbs1 and Gibbs2 (Yao, Mimno and McCallum 2009): Gibbs sampling of new documents together.

* ``gibbs2``: the model's counts are fixed, and the counts of the new documents are added to them.
  So documents learn from one another.
* ``gibbs2-s``: the same in two passes, the paper's Gibbs2.S.
* ``gibbs1``: the model's counts are not fixed. The documents that the model was learned from are
  read again (``--training``), and their topics are drawn from the model. Then they and the new
  documents are sampled together. The result is that of a new model of all documents, with the
  topics' numbers kept. The other methods approximate it. What the model's prior has learned, B and
  s_t, stays fixed.

The rank of a document in the order of (time, id, content) names its uniforms. So the order of
arrival has no effect. A :class:`Corpus` has documents with the topics of their tokens, and
:class:`CorpusSampler` the counts that corpora share.

>>> from beam_topics.model.documents.document import Document
>>> from beam_topics.model.publishing.snapshot import TopicWordPrior
>>> words, alpha = ("ship", "sea"), np.array([0.1, 0.1])
>>> prior = TopicWordPrior.flat(0.2, 2, 2, topics=2)
>>> facts = dict(key="", sequence=0, event_time=0, fingerprint="")
>>> facts |= dict(alpha=alpha, prior=prior, words=words)
>>> snapshot = Snapshot.from_dense(np.array([[9.0, 0.0], [0.0, 9.0]]), **facts)
>>> block = Block.of_words([Document("d", 0, "")], [["ship"] * 5])
>>> rows, corpora = build_corpora(NumberedDocuments(snapshot, block))
>>> sampler = CorpusSampler(snapshot, rows, corpora, (1, 2))
>>> sampler.sweep(corpora[0], 0, first=True)
>>> int(corpora[0].in_documents.sum()), int(sampler.counts().sum())
(5, 5)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beam_topics.model.arrays import FloatArray, IntArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import (
    TRAINING,
    FromSnapshot,
    Gibbs1,
    Gibbs2,
    Gibbs2S,
    GibbsSampling,
    PreparedModel,
    register,
)
from beam_topics.model.inference.features import NumberedDocuments, numbered
from beam_topics.model.inference.kernels.gibbs3 import sorted_rows
from beam_topics.model.inference.kernels.row_sums import LANES
from beam_topics.model.inference.mixtures import posterior_mean
from beam_topics.model.kernels import random
from beam_topics.model.papers.kernels.sparse_lda import (
    Documents,
    PackedRows,
    SparseFixed,
    SweepName,
    sweep_documents,
)
from beam_topics.model.publishing.snapshot import Snapshot

# Corpora number their documents this far apart, so that each has uniforms of its own. It is far
# above the number of documents in a corpus.
CORPUS_STRIDE = 1 << 40
# Sweeps over the training documents, given the model's counts. They give tokens initial topics.
STARTING_SWEEPS = 5
_INT32_LIMIT = 2**31


@dataclass(eq=False)
class Corpus:
    """Documents in an order of their own, as words and topics.

    Attributes:
        tokens: int32[N], word numbers.
        offsets: int64[D + 1], where documents begin in ``tokens``.
        states: int32[N], the tokens' topics.
        in_documents: int32[D, T], n_td.
        number: number of the first document, which names its uniforms.
    """

    tokens: IntArray
    offsets: LongArray
    states: IntArray
    in_documents: IntArray
    number: int

    @property
    def documents(self) -> Documents:
        """The documents as kernels take them."""
        return Documents(self.tokens, self.offsets, self.states, self.in_documents)

    def sweep_name(self, sweep: int, first: bool, keys: tuple[int, int]) -> SweepName:
        """Return the name of a sweep over this corpus."""
        return SweepName(first, self.number, sweep, *keys)


def build_corpora(*groups: NumberedDocuments) -> tuple[LongArray, list[Corpus]]:
    """Build a corpus of each group of documents of one model, without topics yet.

    Returns:
        int64[V], the rows of the model that the documents use, ascending; the corpora, whose word
        numbers are indices into these rows.
    """
    known = [group.known_tokens() for group in groups]
    rows = np.unique(np.concatenate([tokens for tokens, _ in known]))
    corpora = []
    for number, (group, (tokens, offsets)) in enumerate(zip(groups, known, strict=True)):
        corpus = Corpus(
            np.searchsorted(rows, tokens).astype(np.int32),
            offsets,
            np.zeros(len(tokens), np.int32),
            np.zeros((len(group), group.snapshot.topic_count), np.int32),
            number * CORPUS_STRIDE,
        )
        corpora.append(corpus)
    return rows, corpora


class CorpusSampler:
    """The counts that corpora share, on which SparseLDA samples.

    Args:
        snapshot: the model.
        rows: int64[V], the rows of the snapshot that the corpora use.
        corpora: documents of which no token is counted yet.
        keys: the stream key of the uniforms.

    Attributes:
        alpha: float64[T]; it may be replaced between sweeps.
    """

    def __init__(
        self, snapshot: Snapshot, rows: LongArray, corpora: Sequence[Corpus], keys: tuple[int, int]
    ) -> None:
        frequency = sum(
            (np.bincount(corpus.tokens, minlength=len(rows)) for corpus in corpora),
            np.zeros(len(rows), np.int64),
        )
        self._sampled = new_rows(frequency, snapshot.topic_count)
        self._sampled_totals = np.zeros(snapshot.topic_count, np.int64)
        self._fixed_rows, self._totals = _fixed_rows(snapshot, rows), snapshot.normalisers
        self._strength, self._base = snapshot.prior.strength, snapshot.prior.base[rows]
        self.alpha, self._keys = snapshot.alpha, keys

    def sweep(self, corpus: Corpus, sweep: int, first: bool = False) -> None:
        """Draw the topics of a corpus once.

        Args:
            corpus: documents whose tokens are counted here, except where ``first``.
            sweep: number of the sweep, which names its uniforms.
            first: whether the tokens have no topics yet.
        """
        fixed = SparseFixed(*self._fixed_rows, self._totals, self.alpha, self._strength, self._base)
        name = corpus.sweep_name(sweep, first, self._keys)
        sweep_documents(corpus.documents, fixed, self._sampled, self._sampled_totals, name)

    def drop_model_counts(self) -> None:
        """Remove the counts of the model; those of the corpora and the prior stay."""
        self._fixed_rows = (
            np.zeros(len(self._base) + 1, np.int64),
            np.zeros(0, np.int32),
            np.zeros(0),
        )
        self._totals = self._strength

    def counts(self) -> IntArray:
        """Return the corpora's own n_wt, int32[V, T]."""
        dense = np.zeros((len(self._base), len(self._totals)), np.int32)
        rows = self._sampled
        for v, (begin, length) in enumerate(zip(rows.begins, rows.lengths, strict=True)):
            entries = rows.entries[begin : begin + length]
            dense[v, entries & ((1 << rows.bits) - 1)] = entries >> rows.bits
        return dense


def new_rows(frequency: LongArray, topics: int) -> PackedRows:
    """Return rows without tokens; a row has room for all topics that its word can have.

    Args:
        frequency: int64[V], the largest number of tokens that each word can have.
        topics: T.
    """
    bits = max((topics - 1).bit_length(), 1)
    small = int(frequency.max(initial=0) + 1) << bits < _INT32_LIMIT
    # Rows are read in blocks, so each has one at least.
    room = -(-np.clip(frequency, 1, topics) // LANES) * LANES
    entries = np.zeros(int(room.sum()), np.int32 if small else np.int64)
    return PackedRows(np.cumsum(room) - room, entries, np.zeros(len(room), np.int32), bits)


def _fixed_rows(snapshot: Snapshot, rows: LongArray) -> tuple[LongArray, IntArray, FloatArray]:
    """Return (offsets, topics, counts) of some of the model's rows, sorted and in whole blocks."""
    trained = snapshot.offsets, snapshot.topics, snapshot.counts
    _, begins, from_topics, from_counts = sorted_rows(rows, *trained)
    lengths = np.diff(begins)
    offsets = np.concatenate([[0], np.cumsum(-(-lengths // LANES) * LANES)]).astype(np.int64)
    into = np.arange(begins[-1]) + np.repeat(offsets[:-1] - begins[:-1], lengths)
    topics, counts = np.zeros(offsets[-1], np.int32), np.zeros(offsets[-1])
    topics[into], counts[into] = from_topics, from_counts
    return offsets, topics, counts


def run(
    settings: GibbsSampling, sampler: CorpusSampler, new: Corpus, others: Sequence[Corpus] = ()
) -> FloatArray:
    """Sample the new documents, and average their counts over the states that are kept.

    Args:
        settings: the number of sweeps, and which states are kept.
        sampler: the counts of all corpora.
        new: the new documents, without topics.
        others: corpora that have topics and are sampled as well.

    Returns:
        float64[D, T], n_td of the new documents.
    """
    kept = np.zeros(new.in_documents.shape, np.int64)
    everything = [*others, new]
    sampler.sweep(new, 0, first=True)
    for sweep in range(settings.sweeps + 1):
        for corpus in everything if sweep else ():
            sampler.sweep(corpus, sweep)
        if sweep > settings.sweeps - settings.kept:
            kept += new.in_documents
    return kept / settings.kept


@register(Gibbs2, Gibbs2S, needs_all_documents=True)
class Gibbs2Inference(FromSnapshot[GibbsSampling]):
    """Gibbs2: the model's counts are fixed; see the module's docstring."""

    def infer(
        self, prepared: PreparedModel[GibbsSampling], documents: NumberedDocuments
    ) -> FloatArray:
        order, key = documents.block.order(), documents.block.key if len(documents) else ""
        keys = random.stream_key(prepared.settings.seed, key)
        ordered = NumberedDocuments(documents.snapshot, documents.block.take(order))
        counts = self._sample(prepared, ordered, keys)
        found: FloatArray = posterior_mean(counts, documents.snapshot.alpha)
        return found[np.argsort(order)]

    def _sample(
        self,
        prepared: PreparedModel[GibbsSampling],
        documents: NumberedDocuments,
        keys: tuple[int, int],
    ) -> FloatArray:
        """Return the mean n_td of the documents, float64[D, T]."""
        rows, (new,) = build_corpora(documents)
        sampler = CorpusSampler(prepared.published.snapshot, rows, [new], keys)
        return run(prepared.settings, sampler, new)


@register(Gibbs1, needs_all_documents=True, needs=(TRAINING,))
class Gibbs1Inference(Gibbs2Inference):
    """Gibbs1: the documents of the model are sampled again."""

    def _sample(
        self,
        prepared: PreparedModel[GibbsSampling],
        documents: NumberedDocuments,
        keys: tuple[int, int],
    ) -> FloatArray:
        snapshot = prepared.published.snapshot
        training = numbered(snapshot, prepared.published.training or Block.empty())
        learned = NumberedDocuments(snapshot, training.block.take(training.block.order()))
        rows, (new, old) = build_corpora(documents, learned)
        if len(new.tokens) and not len(old.tokens):
            known = (
                f"{len(learned)} documents without a word of model {prepared.published.version},"
                f" key {documents.block.key!r}"
            )
            raise OptionError(
                "--training",
                known,
                "the documents that it was learned from",
                "Name their files, with --key_field as then.",
            )
        sampler = CorpusSampler(snapshot, rows, [new, old], keys)
        for sweep in range(STARTING_SWEEPS + 1):
            sampler.sweep(old, sweep, first=sweep == 0)
        # From here on the counts of the training documents replace those of the model.
        sampler.drop_model_counts()
        # The sweeps below must have other uniforms than those above.
        old.number += CORPUS_STRIDE
        return run(prepared.settings, sampler, new, [old])
