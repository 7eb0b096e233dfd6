"""The contract of all inference methods (new documents' topic proportions, given a model), and their registry.

A method is a small class without state. ``prepare`` does once for a model what need not be done for each document; ``infer`` takes some
documents and gives a mixture for each, in their order:

>>> from model.inference import InferenceSettings, inference_for
>>> settings = InferenceSettings(sweeps=2)
>>> inference_for(settings).name
'gibbs3'

Most methods treat a document alone: documents can then be inferred anywhere, in any batches. Those with ``together`` let documents
learn from one another, so they want all documents of a run in one call. ``needs`` says what else of a :class:`PublishedModel` must be
there: a ``classifier``, or the ``training`` documents.

Laws, tested over every registered method: a mixture is a function of the model, the settings and the document (with ``together``: the set
of documents) alone, whatever their order; randomness comes from (seed, key, document) and nothing else; proportions are
positive and sum to 1; words that the model does not know are dropped, and a document without a known word gets the prior's mixture,
alpha / sum(alpha), and ``words_known`` 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from model.errors import OptionError, one_of
from model.inference.classifier import Classifier
from model.inference.settings import InferenceSettings
from model.records import FloatArray, LongArray, TokenisedDocument, TopicMixture
from model.snapshot import Snapshot

CLASSIFIER = "classifier"
TRAINING = "training"

Prepared = TypeVar("Prepared")

# The least that a proportion can be: methods that multiply probabilities would give 0 for long documents.
LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class PublishedModel:
    """What there is of a model version.

    Attributes:
        snapshot: the model. version: its name, for the mixtures.
        classifier: fitted for this version by ``pipelines.fit_classifier``; None where there is none.
        training: the documents that the model was learned from; empty unless a method reads them again.
    """

    snapshot: Snapshot
    version: str
    classifier: Classifier | None = None
    training: tuple[TokenisedDocument, ...] = ()


class Inference(Protocol[Prepared]):
    """See the module's docstring."""

    name: str
    together: bool
    needs: tuple[str, ...]

    def prepare(self, settings: InferenceSettings, published: PublishedModel) -> Prepared:
        """What ``infer`` needs of a model; never changed afterwards, so threads may share it."""

    def infer(self, prepared: Prepared, documents: Sequence[TokenisedDocument]) -> list[TopicMixture]:
        """The documents' mixtures; ``words_known`` counts the tokens whose word the model knows."""


_METHODS: dict[str, Inference[object]] = {}

M = TypeVar("M")


def register(name: str, together: bool = False, needs: tuple[str, ...] = ()) -> Callable[[type[M]], type[M]]:
    """Class decorator: make the method known by ``name``; the other arguments as in the module's docstring."""

    def add(cls: type[M]) -> type[M]:
        for attribute, value in (("name", name), ("together", together), ("needs", needs)):
            setattr(cls, attribute, value)
        _METHODS[name] = cls()  # type: ignore[assignment]
        return cls

    return add


def inference_names() -> tuple[str, ...]:
    """The registered names, sorted."""
    return tuple(sorted(_METHODS))


def inference_for(settings: InferenceSettings) -> Inference[object]:
    """The method that the settings name.

    Raises:
        OptionError: no method has that name, or this one cannot learn alpha.
    """
    one_of("--method", settings.method, inference_names())
    method = _METHODS[settings.method]
    if settings.learn_alpha and not method.together:
        joint = ", ".join(name for name in inference_names() if _METHODS[name].together)
        raise OptionError(
            "--learn_alpha",
            True,
            f"with the methods that take all documents together: {joint}",
            f"Leave it out: with {settings.method} a document alone says little about alpha.",
        )
    return method


def mixtures_of(
    documents: Sequence[TokenisedDocument], model_version: str, method: str, proportions: FloatArray, words_known: LongArray
) -> list[TopicMixture]:
    """The records of results: float64[D, T], and int64[D], the known tokens."""
    return [
        TopicMixture(
            key=document.key,
            id=document.id,
            timestamp=document.timestamp,
            model_version=model_version,
            method=method,
            proportions=row,
            words_known=known,
            tokens=len(document.tokens),
        )
        for document, row, known in zip(documents, proportions, words_known.tolist(), strict=True)
    ]


def from_counts(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """(n_td + alpha_t), normalised."""
    weights = counts + alpha
    result: FloatArray = weights / np.sum(weights)
    return result


def from_logs(logs: FloatArray) -> FloatArray:
    """exp(logs) along the last axis, normalised, none below :data:`LEAST`."""
    weights = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
    result: FloatArray = np.maximum(weights / np.sum(weights, axis=-1, keepdims=True), LEAST)
    return result
