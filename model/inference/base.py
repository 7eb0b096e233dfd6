"""The contract of all inference methods, and their registry.

A method infers the topic proportions of new documents, given a model. It is a small class without
state. ``prepare`` does what depends on the model alone, once. ``infer`` takes a block of documents
and returns the proportions of each:

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
  its proportions are not used (:class:`beam_topics.model.inference.mixtures.MixtureBlock`).

The settings of all methods, of labelling, of serving models and of fitting a classifier are here,
so that their options can be listed without a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from beam_topics.model.settings.compositions import Choice
from beam_topics.model.settings.options import Implementations, Kinds, Record, option
from beam_topics.model.times import MICROSECONDS_PER_SECOND

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


Kept = Literal["average", "last"]

KEPT_HELP = (
    "whether proportions are averaged over the later half of the states, or come from the last one"
)
# The features of beam_topics.model.inference.features, which imports NumPy.
Features = Literal["roots", "counts"]
BeforeFirstModel = Literal["prior", "wait", "dead_letter"]
LabelWith = Literal["window", "latest"]
# The share of known distinct words below which a model should be trained again.
RETRAIN_BELOW = 0.7
_DAY = 24 * 3600 * MICROSECONDS_PER_SECOND


@dataclass(frozen=True)
class Sampling(InferenceSettings):
    """Settings of a method that draws."""

    seed: int = option(
        1, "seed of the draws, together with the document's id", name="inference_seed", least=0
    )


@dataclass(frozen=True)
class GibbsSampling(Sampling):
    """Two passes over the documents.

    These are the fewest in which each topic is drawn given all other tokens.
    """

    @property
    def sweeps(self) -> int:
        """The number of passes over the documents after the first."""
        return 1

    @property
    def kept(self) -> int:
        """The number of states that are averaged, the last ones."""
        return 1


@dataclass(frozen=True)
class GibbsSweeps(GibbsSampling):
    """A chosen number of passes over the documents."""

    sweeps: int = option(
        20,
        "sweeps after the first pass; 0 keeps the first pass alone",
        name="inference_sweeps",
        least=0,
        first=True,
    )
    states: Kept = option("average", KEPT_HELP, name="inference_from")

    @property
    def kept(self) -> int:
        return max(self.sweeps - self.sweeps // 2, 1) if self.states == "average" else 1


@implemented_in("beam_topics.model.papers.gibbs2")
@dataclass(frozen=True)
class Gibbs2(GibbsSweeps):
    """All documents together, in one batch."""

    kind = "gibbs2"


@implemented_in("beam_topics.model.papers.gibbs2")
@dataclass(frozen=True)
class Gibbs2S(GibbsSampling):
    """All documents together, in two passes."""

    kind = "gibbs2-s"


@implemented_in("beam_topics.model.papers.gibbs2")
@dataclass(frozen=True)
class Gibbs1(GibbsSweeps):
    """With the training documents sampled again."""

    kind = "gibbs1"


@implemented_in("beam_topics.model.inference.methods")
@dataclass(frozen=True)
class Gibbs3(GibbsSweeps):
    """Each document alone, against the model's counts."""

    kind = "gibbs3"


@implemented_in("beam_topics.model.inference.methods")
@dataclass(frozen=True)
class Gibbs3S(GibbsSampling):
    """Each document alone, in two passes."""

    kind = "gibbs3-s"


@implemented_in("beam_topics.model.inference.methods")
@dataclass(frozen=True)
class MaxEnt(InferenceSettings):
    """By a classifier, see beam-topics fit_classifier."""

    kind = "maxent"


@implemented_in("beam_topics.model.papers.yao")
@dataclass(frozen=True)
class Hybrid(Sampling):
    """By a classifier, and draws that begin where it ends."""

    kind = "hybrid"

    states: Kept = option("average", KEPT_HELP, name="inference_from")

    @property
    def repeats(self) -> int:
        """How often topics are drawn and proportions estimated again."""
        return 10

    @property
    def kept(self) -> int:
        """The number of repeats that are averaged: the later half, or the last one."""
        return self.repeats // 2 if self.states == "average" else 1


@implemented_in("beam_topics.model.papers.yao")
@dataclass(frozen=True)
class NaiveBayes(InferenceSettings):
    """As if one topic had made the whole document: a baseline."""

    kind = "naive-bayes"


@implemented_in("beam_topics.model.inference.methods")
@dataclass(frozen=True)
class Variational(InferenceSettings):
    """Mean field: each document alone, nothing is drawn."""

    kind = "variational"


@dataclass(frozen=True)
class LabelSettings(Record):
    """Which model labels a document."""

    before_first_model: BeforeFirstModel = option(
        "wait",
        "a document that comes before the first model has no topic, waits, or is a dead letter",
    )
    label_with: LabelWith = option(
        "window",
        "window: the newest model before the end of the document's window; latest: the newest of"
        " all, which is not reproducible",
    )


@dataclass(frozen=True)
class CacheSettings(Record):
    """How many models a worker keeps."""

    megabytes: int = option(
        1024,
        "megabytes of models that a worker keeps in memory; more keys need more, or their models"
        " are read again (the counter models_loaded)",
        name="model_cache_mb",
        least=1,
    )


@dataclass(frozen=True)
class CoverageSettings(Record):
    """What a coverage report is about."""

    window: int = option(
        _DAY, "event time in one report", name="coverage_window", unit="microseconds", least=1
    )


@dataclass(frozen=True)
class FitSettings(Record):
    """How a classifier is fitted."""

    features: Features = option(
        "roots",
        "features of a document: square roots of the counts of its words, or the counts, as in"
        " Yao et al.",
    )
