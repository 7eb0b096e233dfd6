"""The settings of all inference methods of this package.

A method's module has its algorithm and imports its kernels. The settings are apart from it, so that
the options of all methods can be listed without a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.inference.base import InferenceSettings, implemented_in
from model.inference.sampling import KEPT_HELP, GibbsSampling, GibbsSweeps, Kept, Sampling
from model.options import option


@dataclass(frozen=True)
class CorpusGibbs(GibbsSampling):
    """Settings of the methods that sample all documents together."""

    learn_alpha: bool = option(False, "fit alpha to the documents during the burn-in")


@implemented_in("model.inference.gibbs2")
@dataclass(frozen=True)
class Gibbs2(GibbsSweeps, CorpusGibbs):
    """All documents together, in one batch."""

    kind = "gibbs2"


@implemented_in("model.inference.gibbs2")
@dataclass(frozen=True)
class Gibbs2S(CorpusGibbs):
    """All documents together, in two passes."""

    kind = "gibbs2-s"


@implemented_in("model.inference.gibbs2")
@dataclass(frozen=True)
class Gibbs1(GibbsSweeps, CorpusGibbs):
    """With the training documents sampled again."""

    kind = "gibbs1"


@implemented_in("model.inference.gibbs3")
@dataclass(frozen=True)
class Gibbs3(GibbsSweeps):
    """Each document alone, against the model's counts."""

    kind = "gibbs3"


@implemented_in("model.inference.gibbs3")
@dataclass(frozen=True)
class Gibbs3S(GibbsSampling):
    """Each document alone, in two passes."""

    kind = "gibbs3-s"


@implemented_in("model.inference.maxent")
@dataclass(frozen=True)
class MaxEnt(InferenceSettings):
    """By a classifier, see pipelines.fit_classifier."""

    kind = "maxent"


@implemented_in("model.inference.maxent")
@dataclass(frozen=True)
class Hybrid(Sampling):
    """By a classifier, and draws that begin where it ends."""

    kind = "hybrid"

    repeats: int = option(
        10,
        "how often topics are drawn and proportions estimated again",
        name="hybrid_repeats",
        least=1,
    )
    states: Kept = option(
        "average",
        KEPT_HELP,
        name="inference_from",
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        return {"inference_from": (self.repeats > 1, "--hybrid_repeats is above 1")}

    @property
    def kept(self) -> int:
        """The number of repeats that are averaged: the later half, or the last one."""
        return (self.repeats + 1) // 2 if self.states == "average" else 1


@implemented_in("model.inference.naive_bayes")
@dataclass(frozen=True)
class NaiveBayes(InferenceSettings):
    """As if one topic had made the whole document: a baseline."""

    kind = "naive-bayes"


@implemented_in("model.inference.variational")
@dataclass(frozen=True)
class Variational(InferenceSettings):
    """Mean field: each document alone, nothing is drawn."""

    kind = "variational"

    iterations: int = option(
        100, "largest number of updates for each document", name="variational_iterations", least=1
    )
    tolerance: float = option(
        1e-4,
        "updates end when no proportion changes by more than this",
        name="variational_tolerance",
        above=0,
        usual="1e-6 and 1e-2",
    )
