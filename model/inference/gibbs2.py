"""Gibbs1 and Gibbs2 (Yao, Mimno and McCallum 2009): Gibbs sampling of new documents together.

* ``gibbs2``: the model's counts are fixed, and the counts of the new documents are added to them.
  So documents learn from one another.
* ``gibbs2-s``: the same in two passes, the paper's Gibbs2.S.
* ``gibbs1``: the model's counts are not fixed. The documents that the model was learned from are
  read again (``--training``), and their topics are drawn from the model. Then they and the new
  documents are sampled together. The result is what a new model of all documents would give, with
  the topics' numbers kept. The other methods approximate it. What the model's prior has learned,
  B and s_t, stays fixed.

The rank of a document in the order of (time, id, content) names its uniforms. So the order in which
documents arrive has no effect. With ``learn_alpha`` each sweep of the burn-in ends with steps of
Minka's fixed point, which estimates alpha, the Dirichlet prior of a document's topics: for D
documents with n_td tokens in topic t and n_d in all, the likelihood of alpha grows with every
step of

    alpha_t <- alpha_t * sum_d [psi(alpha_t + n_td) - psi(alpha_t)]
                       / sum_d [psi(sum alpha + n_d) - psi(sum alpha)]

The counts are integers, so psi(x + n) - psi(x) = 1/x + 1/(x + 1) + ... + 1/(x + n - 1), which needs
only divisions. With D_k the number of documents that have more than k tokens in topic t, the sum
over d is sum_k D_k / (alpha_t + k).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beam_topics.model.arrays import FloatArray, IntArray
from beam_topics.model.documents.block import Block
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import TRAINING, PreparedModel, PublishedModel, register
from beam_topics.model.inference.corpus import (
    CORPUS_STRIDE,
    Corpus,
    CorpusSampler,
    build_corpora,
)
from beam_topics.model.inference.features import NumberedDocuments, numbered
from beam_topics.model.inference.mixture_blocks import posterior_means
from beam_topics.model.inference.settings import CorpusGibbs, Gibbs1, Gibbs2, Gibbs2S
from beam_topics.model.kernels import random

# The alpha of a topic that no document uses would converge to 0 and stay there.
SMALLEST_ALPHA = 1e-4


def fit_alpha(in_documents: IntArray, alpha: FloatArray, steps: int = 5) -> FloatArray:
    """Make ``steps`` steps of the fixed point.

    Args:
        in_documents: int32[D, T], n_td.
        alpha: float64[T], the start.
        steps: number of steps.

    Returns:
        float64[T]; ``alpha`` itself where no document has a token.
    """
    by_topic = [_counts_above(in_documents[:, t]) for t in range(len(alpha))]
    by_length = _counts_above(in_documents.sum(axis=1))
    for _ in range(steps if len(by_length) else 0):
        below = _psi_sum(by_length, float(alpha.sum()))
        above = np.array(
            [_psi_sum(counts, float(a)) for counts, a in zip(by_topic, alpha, strict=True)]
        )
        alpha = np.maximum(alpha * above / below, SMALLEST_ALPHA)
    return alpha


def _counts_above(counts: IntArray) -> FloatArray:
    """Return D_k for k = 0, 1, ...: how many of the counts are above k."""
    tally = np.bincount(counts)
    return np.cumsum(tally[::-1])[::-1][1:].astype(np.float64)


def _psi_sum(counts_above: FloatArray, x: float) -> float:
    """Return the sum over k of D_k / (x + k)."""
    return float(np.sum(counts_above / (x + np.arange(len(counts_above)))))


# Sweeps over the training documents beside the model's counts. They give the tokens initial topics.
STARTING_SWEEPS = 5


def run(
    settings: CorpusGibbs, sampler: CorpusSampler, new: Corpus, others: Sequence[Corpus] = ()
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
        if settings.learn_alpha and sweep <= settings.burned:
            sampler.alpha = fit_alpha(
                np.concatenate([corpus.in_documents for corpus in everything]), sampler.alpha
            )
        if sweep > settings.sweeps - settings.kept:
            kept += new.in_documents
    return kept / settings.kept


@register(Gibbs2, Gibbs2S, needs_all_documents=True)
class Gibbs2Inference:
    """Gibbs2: the model's counts are fixed; see the module's docstring."""

    needs_all_documents: bool
    needs: tuple[str, ...]

    def prepare(
        self, settings: CorpusGibbs, published: PublishedModel
    ) -> PreparedModel[CorpusGibbs]:
        return PreparedModel(settings, published)

    def infer(
        self, prepared: PreparedModel[CorpusGibbs], documents: NumberedDocuments
    ) -> FloatArray:
        order, key = documents.block.order(), documents.block.key if len(documents) else ""
        keys = random.stream_key(prepared.settings.seed, key)
        ordered = NumberedDocuments(documents.snapshot, documents.block.take(order))
        counts, alpha = self._sample(prepared, ordered, keys)
        found: FloatArray = posterior_means(counts, alpha)
        return found[np.argsort(order)]

    def _sample(
        self,
        prepared: PreparedModel[CorpusGibbs],
        documents: NumberedDocuments,
        keys: tuple[int, int],
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean n_td of the documents, float64[D, T], and alpha."""
        rows, (new,) = build_corpora(documents)
        sampler = CorpusSampler(prepared.published.snapshot, rows, [new], keys)
        return run(prepared.settings, sampler, new), sampler.alpha


@register(Gibbs1, needs_all_documents=True, needs=(TRAINING,))
class Gibbs1Inference(Gibbs2Inference):
    """Gibbs1: the documents of the model are sampled again."""

    def _sample(
        self,
        prepared: PreparedModel[CorpusGibbs],
        documents: NumberedDocuments,
        keys: tuple[int, int],
    ) -> tuple[FloatArray, FloatArray]:
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
        return run(prepared.settings, sampler, new, [old]), sampler.alpha
