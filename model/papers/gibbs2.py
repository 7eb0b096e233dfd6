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
documents arrive has no effect.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.documents.block import Block
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import TRAINING, FromSnapshot, PreparedModel, register
from beam_topics.model.inference.features import NumberedDocuments, numbered
from beam_topics.model.inference.mixture_blocks import posterior_means
from beam_topics.model.inference.settings import Gibbs1, Gibbs2, Gibbs2S, GibbsSampling
from beam_topics.model.kernels import random
from beam_topics.model.papers.corpora import CORPUS_STRIDE, CorpusSampler, build_corpora, run

# Sweeps over the training documents beside the model's counts. They give the tokens initial topics.
STARTING_SWEEPS = 5


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
        found: FloatArray = posterior_means(counts, documents.snapshot.alpha)
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
