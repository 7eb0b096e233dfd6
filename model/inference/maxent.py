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

from model.classifier import SingleArray
from model.errors import OptionError
from model.inference import variational
from model.inference.base import CLASSIFIER, PublishedModel, from_counts, from_logs, known_tokens, mixture_of, register
from model.inference.features import word_counts
from model.inference.settings import InferenceSettings
from model.kernels import random
from model.kernels.hybrid import repeat_document
from model.records import FloatArray, LongArray, TokenisedDocument, TopicMixture


@dataclass(frozen=True, eq=False)
class Prepared:
    """``weights``: float32[W, T], lambda."""

    published: PublishedModel
    weights: SingleArray
    temperature: float


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
        return Prepared(published, published.classifier.table(published.snapshot), published.classifier.temperature)

    def infer(self, prepared: Prepared, documents: Sequence[TokenisedDocument]) -> list[TopicMixture]:
        found, known = proportions_of(prepared, documents)
        return [
            mixture_of(document, prepared.published.version, self.name, proportions, int(tokens))
            for document, proportions, tokens in zip(documents, found, known, strict=True)
        ]


def proportions_of(prepared: Prepared, documents: Sequence[TokenisedDocument]) -> tuple[FloatArray, LongArray]:
    """float64[documents, T]: the classifier's proportions; int64[documents]: known tokens."""
    snapshot = prepared.published.snapshot
    matrix, known = word_counts(snapshot, documents, np.float32)
    found = from_logs((matrix @ prepared.weights).astype(np.float64) / prepared.temperature)
    found[known == 0] = from_counts(np.zeros(snapshot.topic_count), snapshot.alpha)
    return found, known


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
        first, _ = proportions_of(prepared.classifier, documents)
        return [self._infer(prepared, document, theta) for document, theta in zip(documents, first, strict=True)]

    def _infer(self, prepared: PreparedHybrid, document: TokenisedDocument, theta: FloatArray) -> TopicMixture:
        settings, topics = prepared.settings, prepared.topics
        snapshot = topics.published.snapshot
        rows, tokens = known_tokens(snapshot, document)
        key0, key1 = random.stream_key(settings.seed, f"{document.key}\0{document.id}")
        counts = repeat_document(
            tokens,
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
        proportions = from_counts(counts / settings.kept_repeats, snapshot.alpha)
        return mixture_of(document, topics.published.version, self.name, proportions, len(tokens))
