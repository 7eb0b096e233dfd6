"""Hybrid MaxEnt (Yao, Mimno and McCallum 2009): draws that begin where a classifier ends.

From the proportions of the classifier, topics are drawn for all tokens given the proportions and
P(w | z), and the proportions are estimated from the draws. This is repeated ``repeats`` times. It
corrects proportions that are too extreme.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.inference.base import CLASSIFIER, Hybrid, Inference, PublishedModel, register
from beam_topics.model.inference.features import NumberedDocuments
from beam_topics.model.inference.methods import (
    PreparedClassifier,
    PreparedTopics,
    prepared_classifier,
    prepared_topics,
    proportions_of,
)
from beam_topics.model.inference.mixture_blocks import posterior_mean
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
