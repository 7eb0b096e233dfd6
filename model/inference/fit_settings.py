"""Settings of :mod:`model.inference.fitting`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from model.options import Record, option

Features = Literal["roots", "counts"]
# The feature of a word that occurs n times: the square root of n, or n.
FEATURES: tuple[Features, ...] = get_args(Features)


@dataclass(frozen=True)
class FitSettings(Record):
    """How a classifier is fitted."""

    features: Features = option(
        "roots",
        "features of a document: square roots of the counts of its words, or the counts, as in"
        " Yao et al.",
    )
    variances: tuple[float, ...] = option(
        (1e-4, 1e-3, 1e-2, 1e-1),
        "values of sigma squared, with commas, among which held-out pairs choose",
        name="prior_variances",
        unit="numbers",
        above=0,
        remedy="Give for example 0.001,0.01,0.1.",
    )
    held_out: float = option(
        0.2,
        "share of the pairs that is held out to choose sigma squared and the temperature",
        name="held_out_share",
        above=0,
        below=1,
        remedy="Give for example 0.2.",
    )
    iterations: int = option(
        100, "largest number of iterations of L-BFGS in each fit", name="fit_iterations", least=1
    )
    tolerance: float = option(
        1e-6,
        "relative decrease of the loss per pair at which L-BFGS ends",
        name="fit_tolerance",
        above=0,
        below=1,
        remedy="Give for example 1e-6.",
    )
    sample: int | None = option(
        None, "size of a uniform sample of the documents to fit to; without it, all", least=1
    )
