"""The contract of all inference methods (new documents' topic proportions, given a model), and
their registry.

A method is a small class without state. ``prepare`` does once for a model what need not be done for
each document; ``infer`` takes some documents and gives a mixture for each, in their order:

>>> from model.inference import Gibbs3, inference_for
>>> inference_for(Gibbs3(sweeps=2)).needs_all_documents
False

Most methods treat a document alone: documents can then be inferred anywhere, in any batches. Those
with ``needs_all_documents`` let documents learn from one another, so they want all documents of a run in one
call. ``needs`` says what else of a :class:`PublishedModel` must be there: a ``classifier``, or the
``training`` documents.

Laws, tested over every registered method: a mixture is a function of the model, the settings and
the document (with ``needs_all_documents``: the set of documents) alone, whatever their order; randomness comes
from (seed, key, document) and nothing else; proportions are positive and sum to 1; words that the
model does not know are dropped, and a document without a known word gets the prior's mixture, alpha
/ sum(alpha), and ``words_known`` 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from model.compositions import Choice
from model.inference.classifier import Classifier
from model.options import Kinds, Record
from model.records import FloatArray, LongArray, TokenisedDocument, TopicMixture
from model.snapshot import Snapshot

CLASSIFIER = "classifier"
TRAINING = "training"

Prepared = TypeVar("Prepared")

# The least that a proportion can be: methods that multiply probabilities would give 0 for long
# documents.
SMALLEST_PROPORTION = 1e-300


class InferenceSettings(Record):
    """What every method has; a method's own settings derive from it, and its ``kind`` is the
    method's name.
    """

    @property
    def seed(self) -> int:
        """Names the draws; of a method that draws nothing it says nothing."""
        return 1


@dataclass(frozen=True, eq=False)
class PublishedModel:
    """What there is of a model version.

    Attributes:
        snapshot: the model. version: its name, for the mixtures. classifier: fitted for this
        version by ``pipelines.fit_classifier``; None where there is none. training: the documents
        that the model was learned from; empty unless a method reads them again.
    """

    snapshot: Snapshot
    version: str
    classifier: Classifier | None = None
    training: tuple[TokenisedDocument, ...] = ()


class Inference(Protocol[Prepared]):
    """See the module's docstring."""

    needs_all_documents: bool
    needs: tuple[str, ...]

    def prepare(self, settings: Any, published: PublishedModel) -> Prepared:
        """What ``infer`` needs of a model; never changed afterwards, so threads may share it."""

    def infer(
        self, prepared: Prepared, documents: Sequence[TokenisedDocument]
    ) -> list[TopicMixture]:
        """The documents' mixtures; ``words_known`` counts the tokens whose word the model knows."""


METHODS = Kinds()
METHOD: Choice[InferenceSettings] = Choice(
    "method", "how documents' topics are inferred", METHODS, "gibbs3"
)

_BY_SETTINGS: dict[type[Record], Inference[object]] = {}

M = TypeVar("M")


def register(
    *settings: type[InferenceSettings],
    needs_all_documents: bool = False,
    needs: tuple[str, ...] = (),
) -> Callable[[type[M]], type[M]]:
    """Class decorator: make the method known by the ``kind`` of its settings; the other
    arguments as in the module's docstring.
    """

    def add(cls: type[M]) -> type[M]:
        for attribute, value in (("needs_all_documents", needs_all_documents), ("needs", needs)):
            setattr(cls, attribute, value)
        method = cls()
        for one in settings:
            METHODS.register(one)
            _BY_SETTINGS[one] = method  # type: ignore[assignment]
        return cls

    return add


def inference_names() -> tuple[str, ...]:
    """The registered names, sorted."""
    return tuple(sorted(METHODS))


def inference_for(settings: InferenceSettings) -> Inference[object]:
    """The method that these settings belong to."""
    return _BY_SETTINGS[type(settings)]


def inference_named(name: str) -> Inference[object]:
    """A method by one of :func:`inference_names`."""
    return _BY_SETTINGS[METHODS[name]]


def make_mixtures(
    documents: Sequence[TokenisedDocument],
    model_version: str,
    method: str,
    proportions: FloatArray,
    words_known: LongArray,
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


def posterior_mean(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """(n_td + alpha_t), normalised."""
    weights = counts + alpha
    result: FloatArray = weights / np.sum(weights)
    return result


def softmax(logs: FloatArray) -> FloatArray:
    """exp(logs) along the last axis, normalised, none below :data:`SMALLEST_PROPORTION`."""
    weights = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
    result: FloatArray = np.maximum(
        weights / np.sum(weights, axis=-1, keepdims=True), SMALLEST_PROPORTION
    )
    return result
