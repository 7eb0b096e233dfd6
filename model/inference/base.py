"""The contract of all inference methods, and their registry.

A method infers the topic proportions of new documents, given a model. It is a small class without
state. ``prepare`` does once for a model what does not depend on a document. ``infer`` takes a block
of documents and returns the proportions of each:

>>> from beam_topics.model.inference import Gibbs3, inference_for
>>> inference_for(Gibbs3(sweeps=2)).needs_all_documents
False

Most methods treat each document alone. Documents can then be inferred anywhere, in any batches. A
method with ``needs_all_documents`` lets documents learn from one another, so it takes all documents
of a run in one call. ``needs`` names what else a :class:`PublishedModel` must contain: a
``classifier``, or the ``training`` documents.

Every registered method is tested for these laws:

* Proportions are a function of the model, the settings and the document alone, whatever the order
  of the documents. With ``needs_all_documents`` it is a function of the set of documents.
* Draws depend on (seed, key, document) and nothing else.
* Proportions are positive and sum to 1.
* Words that the model does not know are dropped. A document without a known word has no topic, so
  its proportions are not used (:class:`beam_topics.model.inference.mixture_blocks.MixtureBlock`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from beam_topics.model.settings.compositions import Choice
from beam_topics.model.settings.options import Implementations, Kinds, Record

if TYPE_CHECKING:
    from beam_topics.model.arrays import FloatArray
    from beam_topics.model.documents.block import Block
    from beam_topics.model.inference.classifier import Classifier
    from beam_topics.model.inference.features import NumberedDocuments
    from beam_topics.model.publishing.snapshot import Snapshot

CLASSIFIER = "classifier"
TRAINING = "training"

Prepared = TypeVar("Prepared")


class InferenceSettings(Record):
    """The settings of a method.

    The settings of each method derive from this class; their ``kind`` is the method's name.
    """

    @property
    def seed(self) -> int:
        """The seed of the draws; it has no effect on methods without draws."""
        return 1


S = TypeVar("S", bound=InferenceSettings)


@dataclass(frozen=True, eq=False)
class PublishedModel:
    """A model version, as inference needs it.

    Attributes:
        snapshot: the model.
        version: its name, for the mixtures.
        classifier: the classifier of ``beam-topics fit_classifier`` for this version, or
            None.
        training: the documents that the model was learned from; None unless a method reads them.
        ids: the ids of the topics by place; empty where each is the number of its place.
    """

    snapshot: Snapshot
    version: str
    classifier: Classifier | None = None
    training: Block | None = None
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class PreparedModel(Generic[S]):
    """A model and the settings of a method that needs nothing else."""

    settings: S
    published: PublishedModel


class Inference(Protocol[Prepared]):
    """An inference method; see the module's docstring."""

    needs_all_documents: bool
    needs: tuple[str, ...]

    def prepare(self, settings: Any, published: PublishedModel) -> Prepared:
        """Return what ``infer`` needs of a model.

        It never changes afterwards, so threads may share it.
        """

    def infer(self, prepared: Prepared, documents: NumberedDocuments) -> FloatArray:
        """Return the proportions of D documents, float64[D, T]."""


class FromSnapshot(Inference[PreparedModel[S]], Generic[S]):
    """What methods share that need nothing of a model but its snapshot."""

    def prepare(self, settings: S, published: PublishedModel) -> PreparedModel[S]:
        return PreparedModel(settings, published)


METHODS = Kinds()
METHOD: Choice[InferenceSettings] = Choice(
    "method", "how documents' topics are inferred", METHODS, "gibbs3"
)

_METHODS: Implementations[Inference[Any]] = Implementations(METHODS)

M = TypeVar("M")


def register(
    *settings: type[InferenceSettings],
    needs_all_documents: bool = False,
    needs: tuple[str, ...] = (),
) -> Callable[[type[M]], type[M]]:
    """Register a class as the method of some settings.

    Args:
        settings: the classes of settings; their ``kind`` names the method.
        needs_all_documents: whether documents learn from one another.
        needs: what else of a model the method needs.
    """

    def add(cls: type[M]) -> type[M]:
        for attribute, value in (("needs_all_documents", needs_all_documents), ("needs", needs)):
            setattr(cls, attribute, value)
        method = cls()
        for one in settings:
            _METHODS.add(one, method)  # type: ignore[arg-type]
        return cls

    return add


def implemented_in(module: str) -> Callable[[type[S]], type[S]]:
    """Return a class decorator that registers settings whose method is in another module.

    The module is imported when the method is first used. So the options of a method can be listed
    without its kernels.

    Args:
        module: the module that has the method, under :func:`register`.
    """
    return _METHODS.declare(module)


def inference_names() -> tuple[str, ...]:
    """Return the names of all methods, sorted."""
    return tuple(sorted(METHODS))


def inference_for(settings: InferenceSettings) -> Inference[object]:
    """Return the method that these settings belong to."""
    return _METHODS.of(type(settings))


def inference_named(name: str) -> Inference[object]:
    """Return the method with one of the names of :func:`inference_names`."""
    return _METHODS.of(METHODS[name])
