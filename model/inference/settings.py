"""The settings of inference: its methods, labelling, serving models, and fitting a classifier.

A method's module has its algorithm and imports its kernels. The settings are apart from it, so that
the options of all methods can be listed without a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from beam_topics.model.inference.base import InferenceSettings, implemented_in
from beam_topics.model.settings.options import Record, option
from beam_topics.model.times import MICROSECONDS_PER_SECOND

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


@implemented_in("beam_topics.model.inference.gibbs3")
@dataclass(frozen=True)
class Gibbs3(GibbsSweeps):
    """Each document alone, against the model's counts."""

    kind = "gibbs3"


@implemented_in("beam_topics.model.inference.gibbs3")
@dataclass(frozen=True)
class Gibbs3S(GibbsSampling):
    """Each document alone, in two passes."""

    kind = "gibbs3-s"


@implemented_in("beam_topics.model.inference.maxent")
@dataclass(frozen=True)
class MaxEnt(InferenceSettings):
    """By a classifier, see beam-topics fit_classifier."""

    kind = "maxent"


@implemented_in("beam_topics.model.papers.hybrid")
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


@implemented_in("beam_topics.model.papers.naive_bayes")
@dataclass(frozen=True)
class NaiveBayes(InferenceSettings):
    """As if one topic had made the whole document: a baseline."""

    kind = "naive-bayes"


@implemented_in("beam_topics.model.inference.variational")
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
        _DAY,
        "event time in one report",
        name="coverage_window",
        unit="microseconds",
        least=1,
    )


@dataclass(frozen=True)
class FitSettings(Record):
    """How a classifier is fitted."""

    features: Features = option(
        "roots",
        "features of a document: square roots of the counts of its words, or the counts, as in"
        " Yao et al.",
    )
