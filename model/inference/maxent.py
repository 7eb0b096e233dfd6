"""MaxEnt (Yao, Mimno and McCallum 2009): proportions by a classifier.

A sparse matrix of the batch's words is multiplied by the classifier's weights, and divided by its
temperature. ``beam-topics fit_classifier`` fits a classifier for a model version.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import (
    CLASSIFIER,
    Inference,
    InferenceSettings,
    PublishedModel,
    register,
)
from beam_topics.model.inference.classifier import SingleArray
from beam_topics.model.inference.features import NumberedDocuments, WordCounts
from beam_topics.model.inference.mixture_blocks import posterior_mean, softmax
from beam_topics.model.inference.settings import MaxEnt


@dataclass(frozen=True, eq=False)
class Prepared:
    """A classifier, as inference needs it.

    Attributes:
        published: the model.
        weights: float32[W, T], lambda.
        temperature: tau.
        features: f.
    """

    published: PublishedModel
    weights: SingleArray
    temperature: float
    features: str


def prepare(settings: InferenceSettings, published: PublishedModel) -> Prepared:
    """Return the classifier of a model version.

    Raises:
        OptionError: the version has none.
    """
    classifier = published.classifier
    if classifier is None:
        raise OptionError(
            "--method",
            settings.kind,
            "a method for which there is a classifier",
            "Fit one first, with beam-topics fit_classifier.",
        )
    return Prepared(
        published, classifier.table(published.snapshot), classifier.temperature, classifier.features
    )


@register(MaxEnt, needs=(CLASSIFIER,))
class MaxEntInference(Inference[Prepared]):
    """MaxEnt; see the module's docstring."""

    def prepare(self, settings: MaxEnt, published: PublishedModel) -> Prepared:
        return prepare(settings, published)

    def infer(self, prepared: Prepared, documents: NumberedDocuments) -> FloatArray:
        return proportions_of(prepared, documents.counts)


def proportions_of(prepared: Prepared, counts: WordCounts) -> FloatArray:
    """Return the proportions by the classifier, float64[D, T]."""
    snapshot = prepared.published.snapshot
    values = counts.matrix(len(snapshot.words), np.float32, prepared.features)
    found = softmax((values @ prepared.weights).astype(np.float64) / prepared.temperature)
    found[counts.tokens == 0] = posterior_mean(np.zeros(snapshot.topic_count), snapshot.alpha)
    return found
