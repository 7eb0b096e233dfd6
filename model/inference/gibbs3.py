"""Gibbs3 of Yao, Mimno and McCallum (2009): each document alone, by Gibbs sampling.

The document's tokens are added to the training counts one by one, each topic drawn given all tokens
before it, and then redrawn in sweeps. While that goes on the counts n_wz and n_z hold the
document's own tokens too; nothing of it stays for the next document. ``gibbs3-s`` is the paper's
Gibbs3.S: two passes, no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.gibbs.kernels import gibbs3
from model.gibbs.kernels import sparse_gibbs3 as sparse_gibbs3
from model.gibbs.kernels.records import ModelCounts
from model.gibbs.samplers import SPARSE_INFERENCE_FROM, is_sparse
from model.inference.base import PublishedModel, make_mixtures, posterior_mean, register
from model.inference.corpus import sorted_rows
from model.inference.features import repeat_words, word_counts
from model.inference.sampling import GibbsSampling, GibbsSweeps
from model.kernels import random
from model.records import FloatArray, LongArray, TokenisedDocument, TopicMixture


@dataclass(frozen=True)
class Gibbs3(GibbsSweeps):
    """Each document alone, against the model's counts."""

    kind = "gibbs3"


@dataclass(frozen=True)
class Gibbs3S(GibbsSampling):
    """Each document alone, in two passes."""

    kind = "gibbs3-s"


@dataclass(frozen=True, eq=False)
class PreparedGibbs3:
    """A model and how to use it.

    Attributes:
        settings, published: the method's settings and the model.
        model: the model's counts, in descending order within a word where the sampler is sparse.
        sparse: whether the sampler is sparse.
    """

    settings: GibbsSampling
    published: PublishedModel
    model: ModelCounts
    sparse: bool


@register(Gibbs3, Gibbs3S)
class Gibbs3Inference:
    """See the module's docstring."""

    needs_all_documents: bool
    needs: tuple[str, ...]

    def prepare(self, settings: GibbsSampling, published: PublishedModel) -> PreparedGibbs3:
        snapshot = published.snapshot
        sparse = is_sparse(settings.sampler, snapshot.topic_count, SPARSE_INFERENCE_FROM)
        topics, counts = sorted_rows(snapshot) if sparse else (snapshot.topics, snapshot.counts)
        model = ModelCounts(
            snapshot.offsets,
            topics,
            counts,
            snapshot.normalisers,
            snapshot.alpha,
            snapshot.prior.strength,
        )
        return PreparedGibbs3(settings, published, model, sparse)

    def infer(
        self, prepared: PreparedGibbs3, documents: Sequence[TokenisedDocument]
    ) -> list[TopicMixture]:
        snapshot = prepared.published.snapshot
        counts = word_counts(snapshot, documents)
        found = np.empty((len(documents), snapshot.topic_count))
        for d, (document, words) in enumerate(
            zip(documents, counts.document_slices(), strict=True)
        ):
            found[d] = self._infer(
                prepared, document, counts.rows[words], counts.occurrences[words]
            )
        return make_mixtures(
            documents, prepared.published.version, prepared.settings.kind, found, counts.tokens
        )

    def _infer(
        self,
        prepared: PreparedGibbs3,
        document: TokenisedDocument,
        rows: LongArray,
        occurrences: LongArray,
    ) -> FloatArray:
        settings, snapshot = prepared.settings, prepared.published.snapshot
        keys = random.stream_key(settings.seed, f"{document.key}\0{document.id}")
        given = (
            rows,
            snapshot.prior.base[rows],
            prepared.model,
            settings.sweeps,
            settings.kept,
            keys,
        )
        if prepared.sparse:
            counts = sparse_gibbs3.sample_document(occurrences, *given)
        else:
            counts = gibbs3.sample_document(repeat_words(occurrences), *given)
        return posterior_mean(counts / settings.kept, snapshot.alpha)
