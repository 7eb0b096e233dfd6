"""Hybrid MaxEnt and Naive Bayes (Yao, Mimno and McCallum 2009).

*Hybrid MaxEnt*: draws that begin where a classifier ends. From the proportions of the classifier,
topics are drawn for all tokens given the proportions and P(w | z), and the proportions are
estimated from the draws. This is repeated ``repeats`` times. It corrects proportions that are too
extreme.

*Naive Bayes*, a baseline: inference as if one topic had made the whole document. The score of topic
t is prod_w P(w | t)^n_w; all topics have the same prior probability. Logarithms are split as
ln(n_wt + s_t B(w)) = ln s_t + ln B(w) + ln(1 + n_wt / (s_t B(w))). Here ln B(w) is the same for all
topics, so a batch is one product of sparse matrices. Proportions are at least
:data:`~beam_topics.model.inference.base.SMALLEST_PROPORTION`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.inference.base import (
    CLASSIFIER,
    Hybrid,
    Inference,
    NaiveBayes,
    PublishedModel,
    register,
)
from beam_topics.model.inference.features import NumberedDocuments
from beam_topics.model.inference.methods import (
    PreparedClassifier,
    PreparedTopics,
    prepared_classifier,
    prepared_topics,
    proportions_of,
)
from beam_topics.model.inference.mixtures import posterior_mean, softmax
from beam_topics.model.papers.kernels.hybrid import repeat_words, sample_document


@dataclass(frozen=True, eq=False)
class PreparedHybrid:
    """The classifier, and P(w | z) of the model."""

    settings: Hybrid
    classifier: PreparedClassifier
    topics: PreparedTopics


@register(Hybrid, needs=(CLASSIFIER,))
class HybridInference(Inference[PreparedHybrid]):
    """Hybrid MaxEnt; see the module's docstring."""

    def prepare(self, settings: Hybrid, published: PublishedModel) -> PreparedHybrid:
        return PreparedHybrid(
            settings,
            prepared_classifier(settings, published),
            prepared_topics(published),
        )

    def infer(self, prepared: PreparedHybrid, documents: NumberedDocuments) -> FloatArray:
        counts = documents.counts
        first = proportions_of(prepared.classifier, counts)
        keys = documents.draw_keys(prepared.settings.seed)
        found = np.empty_like(first)
        for d, words in enumerate(counts.document_slices()):
            found[d] = self._infer(
                prepared, keys[d], counts.rows[words], counts.occurrences[words], first[d]
            )
        return found

    def _infer(
        self,
        prepared: PreparedHybrid,
        keys: LongArray,
        rows: LongArray,
        occurrences: LongArray,
        theta: FloatArray,
    ) -> FloatArray:
        settings, topics = prepared.settings, prepared.topics
        snapshot = topics.published.snapshot
        counts = sample_document(
            repeat_words(occurrences),
            rows,
            snapshot.prior.base[rows],
            topics.trained,
            theta,
            settings.repeats,
            settings.kept,
            (int(keys[0]), int(keys[1])),
        )
        return posterior_mean(counts / settings.kept, snapshot.alpha)


@dataclass(frozen=True, eq=False)
class Prepared:
    """The model in logarithms.

    Attributes:
        published: the model.
        above: CSR [W, T], ln(1 + n_wt / (s_t B(w))).
        totals: float64[T], ln((n_t + s_t) / s_t).
    """

    published: PublishedModel
    above: Any
    totals: FloatArray


@register(NaiveBayes)
class NaiveBayesInference(Inference[Prepared]):
    """Naive Bayes; see the module's docstring."""

    def prepare(self, settings: NaiveBayes, published: PublishedModel) -> Prepared:
        snapshot = published.snapshot
        words = snapshot.count_rows
        logs = np.log1p(
            snapshot.counts
            / (snapshot.prior.strength[snapshot.topics] * snapshot.prior.base[words])
        )
        above = csr_array(
            (logs, snapshot.topics, snapshot.offsets),
            shape=(len(snapshot.words), snapshot.topic_count),
        )
        return Prepared(published, above, np.log(snapshot.normalisers / snapshot.prior.strength))

    def infer(self, prepared: Prepared, documents: NumberedDocuments) -> FloatArray:
        published, counts = prepared.published, documents.counts
        matrix = counts.matrix(len(published.snapshot.words), np.float64)
        found = softmax(
            (matrix @ prepared.above).toarray() - counts.tokens[:, None] * prepared.totals
        )
        found[counts.tokens == 0] = posterior_mean(
            np.zeros(len(prepared.totals)), published.snapshot.alpha
        )
        return found
