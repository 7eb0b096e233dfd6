"""MaxEnt and hybrid MaxEnt (Yao, Mimno and McCallum 2009): proportions by a classifier.

* ``maxent``: a sparse matrix of the batch's words is multiplied by the classifier's weights, and
  divided by its temperature.
* ``hybrid``: from these proportions, topics are drawn for all tokens given the proportions and
  P(w | z), and the proportions are estimated from the draws. This is repeated ``repeats`` times. It
  corrects proportions that are too extreme.

Both need a classifier, which ``beam-topics fit_classifier`` fits for a model version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beam_topics.model.errors import OptionError
from beam_topics.model.gibbs.kernels.dense import repeat_words
from beam_topics.model.inference import variational
from beam_topics.model.inference.base import CLASSIFIER, InferenceSettings, PublishedModel, register
from beam_topics.model.inference.classifier import SingleArray
from beam_topics.model.inference.features import WordCounts, numbered, word_counts
from beam_topics.model.inference.kernels.hybrid import sample_document
from beam_topics.model.inference.mixture_blocks import make_mixtures, posterior_mean, softmax
from beam_topics.model.inference.settings import Hybrid, MaxEnt
from beam_topics.model.kernels import random
from beam_topics.model.records import FloatArray, LongArray, TokenisedDocument, TopicMixture


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

    def infer(
        self, prepared: Prepared, documents: Sequence[TokenisedDocument]
    ) -> list[TopicMixture]:
        documents = numbered(prepared.published.snapshot, documents)
        counts = word_counts(prepared.published.snapshot, documents)
        return make_mixtures(
            documents,
            prepared.published.version,
            MaxEnt.kind,
            proportions_of(prepared, counts),
            counts.tokens,
        )


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

    def infer(
        self, prepared: PreparedHybrid, documents: Sequence[TokenisedDocument]
    ) -> list[TopicMixture]:
        snapshot = prepared.topics.published.snapshot
        documents = numbered(snapshot, documents)
        counts = word_counts(snapshot, documents)
        first = proportions_of(prepared.classifier, counts)
        found = np.empty_like(first)
        for d, (document, words) in enumerate(
            zip(documents, counts.document_slices(), strict=True)
        ):
            found[d] = self._infer(
                prepared, document, counts.rows[words], counts.occurrences[words], first[d]
            )
        return make_mixtures(
            documents, prepared.topics.published.version, Hybrid.kind, found, counts.tokens
        )

    def _infer(
        self,
        prepared: PreparedHybrid,
        document: TokenisedDocument,
        rows: LongArray,
        occurrences: LongArray,
        theta: FloatArray,
    ) -> FloatArray:
        settings, topics = prepared.settings, prepared.topics
        snapshot = topics.published.snapshot
        keys = random.stream_key(settings.seed, f"{document.key}\0{document.id}")
        counts = sample_document(
            repeat_words(occurrences),
            rows,
            snapshot.prior.base[rows],
            topics.trained,
            theta,
            settings.repeats,
            settings.kept,
            keys,
        )
        return posterior_mean(counts / settings.kept, snapshot.alpha)
