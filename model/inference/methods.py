"""The inference methods that treat each document alone: Gibbs3, variational inference and MaxEnt.

Gibbs3 (Yao, Mimno and McCallum 2009) is Gibbs sampling. The document's tokens are added to the
training counts one by one, each topic drawn given all tokens before it. Then they are drawn again
in sweeps. Meanwhile the counts n_wt and n_t include the document's own tokens. They are removed
before the next document. ``gibbs3-s`` is the paper's Gibbs3.S, in two passes.

Variational inference is mean field with fixed P(w | z). phi_it ~ P(w_i | t) exp(psi(gamma_t)) and
gamma_t = alpha_t + sum_i phi_it are updated until the proportions gamma_t / sum(gamma) no longer
change. Nothing is drawn.

MaxEnt (Yao, Mimno and McCallum 2009) gives proportions by a classifier. A sparse matrix of the
batch's words is multiplied by the classifier's weights, and divided by its temperature.
``beam-topics fit_classifier`` fits a classifier for a model version.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import (
    CLASSIFIER,
    FromSnapshot,
    Gibbs3,
    Gibbs3S,
    GibbsSampling,
    Inference,
    InferenceSettings,
    MaxEnt,
    PreparedModel,
    PublishedModel,
    Variational,
    register,
)
from beam_topics.model.inference.classifier import SingleArray
from beam_topics.model.inference.features import NumberedDocuments, WordCounts
from beam_topics.model.inference.kernels.gibbs3 import (
    DocumentWords,
    ModelCounts,
    sample_documents,
    sorted_rows,
)
from beam_topics.model.inference.kernels.mean_field import TopicWords, infer_documents
from beam_topics.model.inference.mixtures import posterior_mean, softmax
from beam_topics.model.publishing.snapshot import Snapshot

# The most updates of a document; they end when no proportion changes by more than the tolerance.
ITERATIONS, TOLERANCE = 100, 1e-4


def counts_of(snapshot: Snapshot, rows: LongArray) -> tuple[LongArray, ModelCounts]:
    """Return the counts of some rows of a model, as the sampler takes them.

    It wants sorted rows. Those that documents use are sorted for each batch: a model of many keys
    has few documents, and a batch of many takes a hundred times as long.

    Returns:
        int64[N], the places of the rows in the counts; the counts.
    """
    trained = snapshot.offsets, snapshot.topics, snapshot.counts
    rows, offsets, topics, counts = sorted_rows(rows, *trained)
    priors = snapshot.normalisers, snapshot.alpha, snapshot.prior.strength
    return rows, ModelCounts(offsets, topics, counts, *priors)


@register(Gibbs3, Gibbs3S)
class Gibbs3Inference(FromSnapshot[GibbsSampling]):
    """Gibbs3; see the module's docstring."""

    def infer(
        self, prepared: PreparedModel[GibbsSampling], documents: NumberedDocuments
    ) -> FloatArray:
        settings, snapshot = prepared.settings, prepared.published.snapshot
        counts = documents.counts
        rows, trained = counts_of(snapshot, counts.rows)
        sums = sample_documents(
            DocumentWords(rows, counts.occurrences, counts.offsets),
            snapshot.prior.base[counts.rows],
            trained,
            settings.sweeps,
            settings.kept,
            documents.draw_keys(settings.seed),
        )
        return posterior_mean(sums / settings.kept, snapshot.alpha)


@dataclass(frozen=True, eq=False)
class PreparedTopics:
    """A model, and its P(w | z) in two parts.

    Attributes:
        published: the model.
        trained: see :mod:`beam_topics.model.inference.kernels.mean_field`.
    """

    published: PublishedModel
    trained: TopicWords


def prepared_topics(published: PublishedModel) -> PreparedTopics:
    """Compute what does not depend on a document."""
    snapshot = published.snapshot
    totals = snapshot.normalisers
    trained = TopicWords(
        snapshot.offsets,
        snapshot.topics,
        snapshot.counts / totals[snapshot.topics],
        snapshot.prior.strength / totals,
        snapshot.alpha,
    )
    return PreparedTopics(published, trained)


@register(Variational)
class VariationalInference(Inference[PreparedTopics]):
    """Variational inference; see the module's docstring."""

    def prepare(self, settings: Variational, published: PublishedModel) -> PreparedTopics:
        return prepared_topics(published)

    def infer(self, prepared: PreparedTopics, documents: NumberedDocuments) -> FloatArray:
        snapshot, counts = prepared.published.snapshot, documents.counts
        gamma: FloatArray = infer_documents(
            counts.offsets,
            counts.rows,
            counts.occurrences,
            snapshot.prior.base[counts.rows],
            prepared.trained,
            ITERATIONS,
            TOLERANCE,
        )
        return gamma / gamma.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class PreparedClassifier:
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


def prepared_classifier(
    settings: InferenceSettings, published: PublishedModel
) -> PreparedClassifier:
    """Return the classifier of a model version.

    Raises:
        OptionError: the version has none.
    """
    classifier = published.classifier
    if classifier is None:
        allowed = "a method for which there is a classifier"
        remedy = "Fit one first, with beam-topics fit_classifier."
        raise OptionError("--method", settings.kind, allowed, remedy)
    return PreparedClassifier(
        published, classifier.table(published.snapshot), classifier.temperature, classifier.features
    )


@register(MaxEnt, needs=(CLASSIFIER,))
class MaxEntInference(Inference[PreparedClassifier]):
    """MaxEnt; see the module's docstring."""

    def prepare(self, settings: MaxEnt, published: PublishedModel) -> PreparedClassifier:
        return prepared_classifier(settings, published)

    def infer(self, prepared: PreparedClassifier, documents: NumberedDocuments) -> FloatArray:
        return proportions_of(prepared, documents.counts)


def proportions_of(prepared: PreparedClassifier, counts: WordCounts) -> FloatArray:
    """Return the proportions by the classifier, float64[D, T]."""
    snapshot = prepared.published.snapshot
    values = counts.matrix(len(snapshot.words), np.float32, prepared.features)
    found = softmax((values @ prepared.weights).astype(np.float64) / prepared.temperature)
    found[counts.tokens == 0] = posterior_mean(np.zeros(snapshot.topic_count), snapshot.alpha)
    return found
