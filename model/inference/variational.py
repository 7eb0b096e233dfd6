"""Variational inference of one document alone: mean field with fixed P(w | z).

phi_it ~ P(w_i | t) exp(psi(gamma_t)) and gamma_t = alpha_t + sum_i phi_it are updated until the
proportions gamma_t / sum(gamma) no longer change. Nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from beam_topics.model.arrays import FloatArray
from beam_topics.model.inference.base import Inference, PublishedModel, register
from beam_topics.model.inference.features import NumberedDocuments
from beam_topics.model.inference.kernels.mean_field import TopicWords, infer_documents
from beam_topics.model.inference.settings import Variational

# The most updates of a document; they end when no proportion changes by more than the tolerance.
ITERATIONS, TOLERANCE = 100, 1e-4


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model, and its P(w | z) in two parts.

    Attributes:
        published: the model.
        trained: see :mod:`beam_topics.model.inference.kernels.mean_field`.
    """

    published: PublishedModel
    trained: TopicWords


def prepare(published: PublishedModel) -> Prepared:
    """Compute what does not depend on a document."""
    snapshot = published.snapshot
    totals = snapshot.normalisers
    trained = TopicWords(
        snapshot.offsets,
        snapshot.topics,
        snapshot.counts / totals[snapshot.topics],
        snapshot.prior.strength / totals,
        snapshot.alpha,
    )
    return Prepared(published, trained)


@register(Variational)
class VariationalInference(Inference[Prepared]):
    """Variational inference; see the module's docstring."""

    def prepare(self, settings: Variational, published: PublishedModel) -> Prepared:
        return prepare(published)

    def infer(self, prepared: Prepared, documents: NumberedDocuments) -> FloatArray:
        snapshot, counts = prepared.published.snapshot, documents.counts
        gamma: FloatArray = infer_documents(
            counts.offsets,
            counts.rows,
            counts.occurrences,
            snapshot.prior.base[counts.rows],
            prepared.trained,
            ITERATIONS,
            TOLERANCE,
        )
        return gamma / gamma.sum(axis=1, keepdims=True)
