"""Gibbs1 and Gibbs2 of Yao, Mimno and McCallum (2009): all new documents together, by Gibbs sampling.

* ``gibbs2``: the model's counts are held, and the new documents' are added to them, so documents learn from one another.
* ``gibbs2-s``: the same with two passes, the paper's Gibbs2.S.
* ``gibbs1``: the model's counts are not held. The documents that it was learned from are read again (``--training``), their topics are
  drawn from the model, and then they and the new ones are swept over together: what a new model of all documents would say, with
  the topics' numbers kept. It is the reference that the others approach.

A document's place among those of its kind, sorted by (time, id, content), names its uniforms, so the order in which
documents come does not matter. With ``learn_alpha`` each sweep of the burn-in ends with steps of Minka's fixed point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from model.inference.alpha import minka
from model.inference.base import TRAINING, PublishedModel, from_counts, known_tokens, mixture_of, register
from model.inference.settings import InferenceSettings
from model.kernels import random
from model.kernels.gibbs2 import pass_over
from model.kernels.gibbs3 import dense_rows
from model.records import FloatArray, IntArray, LongArray, TokenisedDocument, TopicMixture
from model.snapshot import Snapshot

# Sweeps over the training documents, beside the model's counts, that give their tokens topics to start from.
STARTING_SWEEPS = 5
# Far above the number of any new document: the training documents' uniforms are others.
_TRAINING_NUMBER = 1 << 40


@dataclass(eq=False)
class Corpus:
    """Documents in an order of their own, as words and topics.

    Attributes:
        tokens: int32[N], rows of the model's words that are used. offsets: int64[D + 1]. states: int32[N], the topics.
        in_documents: int32[D, T]. number: the first document's, which names its uniforms.
    """

    tokens: IntArray
    offsets: LongArray
    states: IntArray
    in_documents: IntArray
    number: int


@dataclass(eq=False)
class Sampler:
    """The counts that the corpora share, see :mod:`model.kernels.gibbs2`."""

    table: FloatArray
    totals: FloatArray
    own: IntArray
    own_totals: LongArray
    alpha: FloatArray
    keys: tuple[int, int]

    def sweep(self, corpus: Corpus, sweep: int, first: bool = False) -> None:
        """Redraw the topics of a corpus; draw them for the first time where ``first``."""
        counts = corpus.in_documents, self.own, self.own_totals, self.table, self.totals, self.alpha
        pass_over(corpus.tokens, corpus.offsets, corpus.states, *counts, first, corpus.number, sweep, *self.keys)


def in_order(documents: Sequence[TokenisedDocument]) -> list[int]:
    """The documents' places in the order of (time, id, content)."""
    keys = [(document.timestamp, document.id, document.to_bytes()) for document in documents]
    return sorted(range(len(keys)), key=keys.__getitem__)


def corpora_of(snapshot: Snapshot, *groups: Sequence[TokenisedDocument]) -> tuple[LongArray, list[Corpus]]:
    """int64[V]: the rows of the snapshot that the documents use, ascending; and a corpus of each group, without topics yet."""
    known = [[known_tokens(snapshot, document) for document in group] for group in groups]
    rows = np.unique(np.concatenate([np.zeros(0, np.int64), *(used for group in known for used, _ in group)]))
    corpora = []
    for number, group in enumerate(known):
        tokens = [np.searchsorted(rows, used).astype(np.int32)[local] for used, local in group]
        offsets = np.cumsum([0, *map(len, tokens)], dtype=np.int64)
        flat = np.concatenate([np.zeros(0, np.int32), *tokens])
        in_documents = np.zeros((len(group), snapshot.topic_count), np.int32)
        corpora.append(Corpus(flat, offsets, np.zeros(len(flat), np.int32), in_documents, number * _TRAINING_NUMBER))
    return rows, corpora


def sampler_of(snapshot: Snapshot, rows: LongArray, keys: tuple[int, int]) -> Sampler:
    """A sampler beside the model's counts, with no documents counted."""
    counts = snapshot.offsets, snapshot.topics, snapshot.counts
    table = dense_rows(rows, *counts, snapshot.topic_count, snapshot.prior.share)
    own, own_totals = np.zeros(table.shape, np.int32), np.zeros(snapshot.topic_count, np.int64)
    return Sampler(table, snapshot.totals + snapshot.prior.a, own, own_totals, snapshot.alpha, keys)


def run(settings: InferenceSettings, sampler: Sampler, new: Corpus, others: Sequence[Corpus] = ()) -> FloatArray:
    """float64[D, T]: n_td of the new documents, the mean over the states that are kept; ``others`` have topics and are sampled too."""
    kept = np.zeros(new.in_documents.shape, np.int64)
    everything = [*others, new]
    sampler.sweep(new, 0, first=True)
    for sweep in range(settings.sweeps + 1):
        for corpus in everything if sweep else ():
            sampler.sweep(corpus, sweep)
        if settings.learn_alpha and sweep <= settings.burned:
            sampler.alpha = minka(np.concatenate([corpus.in_documents for corpus in everything]), sampler.alpha)
        if sweep > settings.sweeps - settings.kept:
            kept += new.in_documents
    return kept / settings.kept


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model and how to use it."""

    settings: InferenceSettings
    published: PublishedModel


@register("gibbs2", together=True)
class Gibbs2:
    """See the module's docstring."""

    name: str
    together: bool
    needs: tuple[str, ...]

    def prepare(self, settings: InferenceSettings, published: PublishedModel) -> Prepared:
        return Prepared(settings, published)

    def infer(self, prepared: Prepared, documents: Sequence[TokenisedDocument]) -> list[TopicMixture]:
        order = in_order(documents)
        ordered = [documents[place] for place in order]
        keys = random.stream_key(prepared.settings.seed, ordered[0].key if ordered else "")
        counts, alpha = self._sample(prepared, ordered, keys)
        found: list[TopicMixture | None] = [None] * len(order)
        for place, document, row in zip(order, ordered, counts, strict=True):
            known = len(known_tokens(prepared.published.snapshot, document)[1])
            found[place] = mixture_of(document, prepared.published.version, self.name, from_counts(row, alpha), known)
        return [mixture for mixture in found if mixture is not None]

    def _sample(self, prepared: Prepared, documents: Sequence[TokenisedDocument], keys: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
        rows, (new,) = corpora_of(prepared.published.snapshot, documents)
        sampler = sampler_of(prepared.published.snapshot, rows, keys)
        return run(prepared.settings, sampler, new), sampler.alpha


@register("gibbs2-s", together=True)
class Gibbs2S(Gibbs2):
    """Two passes."""

    def prepare(self, settings: InferenceSettings, published: PublishedModel) -> Prepared:
        return super().prepare(replace(settings, sweeps=1, burn_in=0), published)


@register("gibbs1", together=True, needs=(TRAINING,))
class Gibbs1(Gibbs2):
    """The model's own documents are sampled again."""

    def _sample(self, prepared: Prepared, documents: Sequence[TokenisedDocument], keys: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
        snapshot, training = prepared.published.snapshot, prepared.published.training
        learned = [training[place] for place in in_order(training)]
        rows, (new, old) = corpora_of(snapshot, documents, learned)
        sampler = sampler_of(snapshot, rows, keys)
        for sweep in range(STARTING_SWEEPS + 1):
            sampler.sweep(old, sweep, first=sweep == 0)
        # From here on the training documents speak for themselves.
        sampler.table[:] = snapshot.prior.share
        sampler.totals = np.full(snapshot.topic_count, snapshot.prior.a)
        # Their further uniforms must not be those of the sweeps before.
        old.number += _TRAINING_NUMBER
        return run(prepared.settings, sampler, new, [old]), sampler.alpha
