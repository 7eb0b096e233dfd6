"""Fit a classifier to pairs of (document, topic proportions).

The classifier is a maximum entropy model with soft labels and a Gaussian prior. For document x_i
with proportions theta_i, in which word w occurs n_iw times, L-BFGS maximises over the weights
lambda [W, T]

    sum_i sum_t theta_it ln p(t | x_i)  -  sum lambda^2 / (2 sigma^2)
    p(t | x) ~ exp(sum_w lambda_wt f(n_w))

f is the square root, because the tenth occurrence of a word says less than the first, or the count
itself, as in the paper.

sigma^2 is chosen on held-out pairs. Candidates are tried from the narrowest to the widest, each
from the optimum of the one before. For each, the loss on held-out pairs is measured at the
temperature tau that minimises it. Then lambda is fitted to all pairs with the best sigma^2. The ids
of the pairs determine which are held out, so the result is a function of the set of pairs.

>>> pairs = [Pair(str(d), np.array([d % 2]), np.array([3.0]), np.eye(2)[d % 2]) for d in range(20)]
>>> fitted = fit(pairs, topics=2)
>>> bool(fitted.weights[0, 0] > 0 > fitted.weights[0, 1])
True
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from beam_topics.model import __version__
from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import (
    FitSettings,
    InferenceSettings,
    PublishedModel,
    inference_for,
)
from beam_topics.model.inference.classifier import (
    Classifier,
    Provenance,
    SingleArray,
    log_likelihoods,
)
from beam_topics.model.inference.features import feature_values, numbered
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.stored import checks, wire

# The values of sigma^2 that are tried. The share of the pairs that chooses among them, and chooses
# the temperature. L-BFGS ends at this relative decrease of the loss per pair, or after this
# many iterations.
VARIANCES, HELD_OUT, TOLERANCE, ITERATIONS = (1e-4, 1e-3, 1e-2, 1e-1), 0.2, 1e-6, 100
# Bounds of 1 / tau.
_SHARPEST, _FLATTEST = 10.0, 0.05


@dataclass(frozen=True, eq=False)
class Pair:
    """A document and its proportions.

    Attributes:
        name: its key and id.
        rows: int64[V], the model's words in it.
        occurrences: float64[V], n_w.
        proportions: float64[T].
    """

    name: str
    rows: LongArray
    occurrences: FloatArray
    proportions: FloatArray

    MAGIC = b"BTq1"

    def to_bytes(self) -> bytes:
        parts = (self.rows, "<i8"), (self.occurrences, "<f8"), (self.proportions, "<f8")
        return wire.pack(
            self.MAGIC,
            {"name": self.name},
            *(wire.array_to_bytes(values, kind) for values, kind in parts),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Pair:
        header, parts = wire.unpack(cls.MAGIC, data, 3)
        facts = checks.record(cls, header, "a pair", apart=("rows", "occurrences", "proportions"))
        rows, occurrences, proportions = (
            wire.array_from_bytes(part, kind)
            for part, kind in zip(parts, ("<i8", "<f8", "<f8"), strict=True)
        )
        checks.within("words of a pair", rows, 0, checks.LARGEST)
        checks.sized("occurrences of a pair", occurrences, len(rows))
        checks.measures("occurrences of a pair", occurrences, 1.0, float(checks.LARGEST))
        checks.measures("proportions of a pair", proportions, 0.0, 1.0)
        return cls(**facts, rows=rows, occurrences=occurrences, proportions=proportions)


@dataclass(frozen=True, slots=True)
class FitProgress:
    """The progress of a fit, reported after each iteration."""

    stage: str
    iteration: int
    objective: float


@dataclass(frozen=True, eq=False)
class FitResult:
    """A fitted classifier.

    Attributes:
        rows: int64[R], ascending: the words that have weights.
        weights: float32[R, T].
        temperature, variance, held_out_loss, iterations: as in
            :class:`beam_topics.model.inference.classifier.Provenance`.
    """

    rows: LongArray
    weights: SingleArray
    temperature: float
    variance: float
    held_out_loss: list[list[float]]
    iterations: int


@dataclass(eq=False)
class Objective:
    """The objective of a fit for one variance.

    Attributes:
        values: CSR [N, R], f(n_iw).
        proportions: float64[N, T].
        variance: sigma squared.
    """

    values: Any
    proportions: FloatArray
    variance: float
    transposed: Any = field(init=False)

    def __post_init__(self) -> None:
        self.transposed = self.values.T.tocsr()

    def objective(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return the negative objective and its gradient, both divided by N.

        Args:
            flat: float64[R * T], the weights.
        """
        number, topics = self.proportions.shape
        weights = flat.reshape(-1, topics)
        logs = log_likelihoods(self.values @ weights)
        value = float(np.sum(flat * flat)) / (2 * self.variance) - float(
            np.sum(self.proportions * logs)
        )
        gradient = self.transposed @ (np.exp(logs) - self.proportions) + weights / self.variance
        return value / number, gradient.ravel() / number


def fit(
    pairs: Sequence[Pair],
    topics: int,
    settings: FitSettings | None = None,
    on_step: Callable[[FitProgress], None] = lambda step: None,
) -> FitResult:
    """Fit a classifier.

    Args:
        pairs: the documents and their proportions.
        topics: T.
        settings: how to fit; the default settings where None.
        on_step: is called after each iteration.

    Raises:
        OptionError: there are fewer than two pairs.
    """
    settings = settings or FitSettings()
    if len(pairs) < 2:
        given, remedy = (
            f"{len(pairs)} documents with known words",
            "Give documents like the model's.",
        )
        raise OptionError("--input", given, "at least 2 of them", remedy)
    pairs = sorted(
        pairs, key=lambda pair: (hashlib.sha256(pair.name.encode()).digest(), pair.to_bytes())
    )
    rows = np.unique(np.concatenate([pair.rows for pair in pairs]))
    values = _matrix(pairs, rows, settings.features)
    proportions = np.array([pair.proportions for pair in pairs])
    apart = min(max(int(len(pairs) * HELD_OUT), 1), len(pairs) - 1)
    # With several threads of the linear algebra, the last bits would depend on the number of cores.
    with threadpool_limits(1):
        losses, weights = [], np.zeros(len(rows) * topics)
        for variance in sorted(VARIANCES):
            weights, _ = _maximise(
                Objective(values[apart:], proportions[apart:], variance), weights, on_step
            )
            losses.append(
                (
                    variance,
                    *_temperature(
                        values[:apart] @ weights.reshape(-1, topics), proportions[:apart]
                    ),
                )
            )
        variance, _, temperature = min(losses, key=lambda tried: tried[1])
        weights, iterations = _maximise(
            Objective(values, proportions, variance), weights, on_step, "all pairs, "
        )
    table = weights.reshape(-1, topics).astype(np.float32)
    return FitResult(
        rows, table, temperature, variance, [[tried, loss] for tried, loss, _ in losses], iterations
    )


def _matrix(pairs: Sequence[Pair], rows: LongArray, features: str) -> Any:
    from scipy.sparse import csr_array

    offsets = np.cumsum([0, *(len(pair.rows) for pair in pairs)])
    columns = np.searchsorted(rows, np.concatenate([pair.rows for pair in pairs]))
    values = feature_values(features, np.concatenate([pair.occurrences for pair in pairs]))
    return csr_array((values, columns, offsets), shape=(len(pairs), len(rows)))


def _maximise(
    problem: Objective, start: FloatArray, on_step: Callable[[FitProgress], None], where: str = ""
) -> tuple[FloatArray, int]:
    stage, iteration = f"{where}sigma^2 = {problem.variance:g}", 0

    def report(intermediate_result: Any) -> None:
        nonlocal iteration
        iteration += 1
        on_step(FitProgress(stage, iteration, float(intermediate_result.fun)))

    bounds = {"maxiter": ITERATIONS, "ftol": TOLERANCE, "gtol": 1e-8, "maxcor": 10}
    # Imported here, as it takes longer than all options of a command line.
    from scipy.optimize import minimize

    found = minimize(
        problem.objective, start, jac=True, method="L-BFGS-B", options=bounds, callback=report
    )
    return found.x, int(found.nit)


def _temperature(scores: FloatArray, proportions: FloatArray) -> tuple[float, float]:
    """Return (mean cross-entropy, tau) at the tau that minimises it.

    The cross-entropy is convex in 1 / tau.
    """

    def loss(inverse: float) -> float:
        return -float(np.sum(proportions * log_likelihoods(scores * inverse))) / len(scores)

    from scipy.optimize import minimize_scalar

    best = minimize_scalar(loss, bounds=(_FLATTEST, _SHARPEST), method="bounded")
    return float(best.fun), 1 / float(best.x)


def make_pair(
    settings: InferenceSettings, prepared: Any, published: PublishedModel, document: Block
) -> Pair | None:
    """Return the one document of a block with the proportions that the method gives it.

    Returns:
        The pair; None where the model knows none of the document's words.
    """
    found = numbered(published.snapshot, document)
    counts = found.counts
    if not counts.tokens[0]:
        return None
    (proportions,) = inference_for(settings).infer(prepared, found)
    return Pair(document.name(0), counts.rows, counts.occurrences.astype(np.float64), proportions)


def fit_classifier(
    manifest: Manifest,
    topics: int,
    pairs: Iterable[Pair],
    settings: FitSettings,
    *,
    inference: InferenceSettings,
    on_step: Callable[[FitProgress], None],
) -> Classifier:
    """Fit a classifier for a model version; the result is a function of the set of pairs.

    Args:
        manifest: of the model version.
        topics: T.
        pairs: documents with their proportions.
        settings: how to fit.
        inference: the method that gave the proportions.
        on_step: is called after each iteration.
    """
    found = list(pairs)
    fitted = fit(found, topics, settings, on_step)
    provenance = Provenance(
        key=manifest.key,
        version=manifest.version,
        snapshot=manifest.snapshot,
        pairs=len(found),
        tokens=int(sum(pair.occurrences.sum() for pair in found)),
        pairs_digest=wire.digest(*sorted(pair.to_bytes() for pair in found)).hex(),
        settings=asdict(settings),
        method=inference.to_json(),
        variance=fitted.variance,
        held_out_loss=fitted.held_out_loss,
        iterations=fitted.iterations,
        release=__version__,
    )
    return Classifier(
        fitted.rows, fitted.weights, fitted.temperature, settings.features, provenance
    )
