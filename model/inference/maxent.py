"""MaxEnt and hybrid MaxEnt of Yao, Mimno and McCallum (2009): a classifier that foretells what Gibbs sampling would say.

* ``maxent``: one product of a sparse matrix (the batch's words) with the classifier's weights, divided by its temperature.
* ``hybrid``: from there, topics are drawn for all tokens given the proportions and P(w | z), and the proportions estimated from the
  draws, so often as ``repeats`` says. It mends what the classifier's sharpness gets wrong.

Both need a classifier, which ``pipelines.fit_classifier`` fits for a model version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.errors import OptionError
from model.inference import variational
from model.inference.base import CLASSIFIER, PublishedModel, from_counts, from_logs, mixtures_of, register
from model.inference.classifier import SingleArray
from model.inference.features import WordCounts, tokens_of, word_counts
from model.inference.settings import InferenceSettings
from model.kernels import random
from model.kernels.hybrid import repeat_document
from model.records import FloatArray, LongArray, TokenisedDocument, TopicMixture


@dataclass(frozen=True, eq=False)
class Prepared:
    """``weights``: float32[W, T], lambda. ``temperature``, ``features``: tau and f of the classifier."""

    published: PublishedModel
    weights: SingleArray
    temperature: float
    features: str


@register("maxent", needs=(CLASSIFIER,))
class MaxEnt:
    """See the module's docstring."""

    name: str
    together: bool
    needs: tuple[str, ...]

    def prepare(self, settings: InferenceSettings, published: PublishedModel) -> Prepared:
        if published.classifier is None:
            raise OptionError(
                "--method", settings.method, "a method for which there is a classifier", "Fit one first, with pipelines.fit_classifier."
            )
        classifier = published.classifier
        return Prepared(published, classifier.table(published.snapshot), classifier.temperature, classifier.features)

    def infer(self, prepared: Prepared, documents: Sequence[TokenisedDocument]) -> list[TopicMixture]:
        counts = word_counts(prepared.published.snapshot, documents)
        return mixtures_of(documents, prepared.published.version, self.name, proportions_of(prepared, counts), counts.tokens)


def proportions_of(prepared: Prepared, counts: WordCounts) -> FloatArray:
    """float64[documents, T]: the classifier's proportions."""
    snapshot = prepared.published.snapshot
    values = counts.matrix(len(snapshot.words), np.float32, prepared.features)
    found = from_logs((values @ prepared.weights).astype(np.float64) / prepared.temperature)
    found[counts.tokens == 0] = from_counts(np.zeros(snapshot.topic_count), snapshot.alpha)
    return found


@dataclass(frozen=True, eq=False)
class PreparedHybrid:
    """The classifier and the model's P(w | z)."""

    settings: InferenceSettings
    classifier: Prepared
    topics: variational.Prepared


@register("hybrid", needs=(CLASSIFIER,))
class Hybrid:
    """See the module's docstring."""

    name: str
    together: bool
    needs: tuple[str, ...]

    def prepare(self, settings: InferenceSettings, published: PublishedModel) -> PreparedHybrid:
        return PreparedHybrid(settings, MaxEnt().prepare(settings, published), variational.Variational().prepare(settings, published))

    def infer(self, prepared: PreparedHybrid, documents: Sequence[TokenisedDocument]) -> list[TopicMixture]:
        snapshot = prepared.topics.published.snapshot
        counts = word_counts(snapshot, documents)
        first = proportions_of(prepared.classifier, counts)
        found = np.empty_like(first)
        for d, (document, words) in enumerate(zip(documents, counts.each(), strict=True)):
            found[d] = self._infer(prepared, document, counts.rows[words], counts.times[words], first[d])
        return mixtures_of(documents, prepared.topics.published.version, self.name, found, counts.tokens)

    def _infer(
        self, prepared: PreparedHybrid, document: TokenisedDocument, rows: LongArray, times: LongArray, theta: FloatArray
    ) -> FloatArray:
        settings, topics = prepared.settings, prepared.topics
        snapshot = topics.published.snapshot
        key0, key1 = random.stream_key(settings.seed, f"{document.key}\0{document.id}")
        counts = repeat_document(
            tokens_of(times),
            rows,
            snapshot.offsets,
            snapshot.topics,
            topics.sparse,
            topics.smooth,
            snapshot.prior.base[rows],
            theta,
            snapshot.alpha,
            settings.repeats,
            settings.kept_repeats,
            key0,
            key1,
        )
        return from_counts(counts / settings.kept_repeats, snapshot.alpha)
