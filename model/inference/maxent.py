"""MaxEnt and hybrid MaxEnt (Yao, Mimno and McCallum 2009): proportions by a classifier.

* ``maxent``: a sparse matrix of the batch's words is multiplied by the classifier's weights, and
  divided by its temperature.
* ``hybrid``: from these proportions, topics are drawn for all tokens given the proportions and
  P(w | z), and the proportions are estimated from the draws. This is repeated ``repeats`` times. It
  corrects proportions that are too extreme.

Both need a classifier, which ``beam-topics fit_classifier`` fits for a model version.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.errors import OptionError
from beam_topics.model.gibbs.kernels.dense import repeat_words
from beam_topics.model.inference import variational
from beam_topics.model.inference.base import CLASSIFIER, InferenceSettings, PublishedModel, register
from beam_topics.model.inference.classifier import SingleArray
from beam_topics.model.inference.features import NumberedDocuments, WordCounts
from beam_topics.model.inference.kernels.hybrid import sample_document
from beam_topics.model.inference.mixture_blocks import posterior_mean, softmax
from beam_topics.model.inference.settings import Hybrid, MaxEnt


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
class MaxEntInference:
    """MaxEnt; see the module's docstring."""

    needs_all_documents: bool
    needs: tuple[str, ...]

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


@dataclass(frozen=True, eq=False)
class PreparedHybrid:
    """The classifier, and P(w | z) of the model."""

    settings: Hybrid
    classifier: Prepared
    topics: variational.Prepared


@register(Hybrid, needs=(CLASSIFIER,))
class HybridInference:
    """Hybrid MaxEnt; see the module's docstring."""

    needs_all_documents: bool
    needs: tuple[str, ...]

    def prepare(self, settings: Hybrid, published: PublishedModel) -> PreparedHybrid:
        return PreparedHybrid(
            settings, prepare(settings, published), variational.prepare(published)
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
