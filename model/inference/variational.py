"""Variational inference of one document alone: mean field with the model's P(w | z) held.

phi_it is in proportion to P(w_i | t) exp(psi(gamma_t)), gamma_t = alpha_t + sum_i phi_it, repeated until the proportions
gamma_t / sum(gamma) stay as they are. Nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.inference.base import PublishedModel, mixtures_of, register
from model.inference.features import word_counts
from model.inference.settings import InferenceSettings
from model.kernels.variational import infer_documents
from model.records import FloatArray, TokenisedDocument, TopicMixture


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model's P(w | z) in two parts, see :mod:`model.kernels.variational`."""

    settings: InferenceSettings
    published: PublishedModel
    sparse: FloatArray
    smooth: FloatArray


@register("variational")
class Variational:
    """See the module's docstring."""

    name: str
    together: bool
    needs: tuple[str, ...]

    def prepare(self, settings: InferenceSettings, published: PublishedModel) -> Prepared:
        snapshot = published.snapshot
        totals = snapshot.normalisers
        return Prepared(settings, published, snapshot.counts / totals[snapshot.topics], snapshot.prior.strength / totals)

    def infer(self, prepared: Prepared, documents: Sequence[TokenisedDocument]) -> list[TopicMixture]:
        settings, snapshot = prepared.settings, prepared.published.snapshot
        counts = word_counts(snapshot, documents)
        gamma = infer_documents(
            counts.offsets,
            counts.rows,
            counts.times,
            snapshot.offsets,
            snapshot.topics,
            prepared.sparse,
            prepared.smooth,
            snapshot.prior.base[counts.rows],
            snapshot.alpha,
            settings.iterations,
            settings.tolerance,
        )
        proportions = gamma / gamma.sum(axis=1, keepdims=True)
        return mixtures_of(documents, prepared.published.version, self.name, proportions, counts.tokens)
