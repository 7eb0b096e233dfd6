"""Variational inference of one document alone: mean field with fixed P(w | z).

phi_it ~ P(w_i | t) exp(psi(gamma_t)) and gamma_t = alpha_t + sum_i phi_it are updated until the
proportions gamma_t / sum(gamma) no longer change. Nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beam_topics.model.inference.base import PublishedModel, register
from beam_topics.model.inference.features import numbered, word_counts
from beam_topics.model.inference.kernels.mean_field import TopicWords, infer_documents
from beam_topics.model.inference.mixture_blocks import make_mixtures
from beam_topics.model.inference.settings import Variational
from beam_topics.model.records import TokenisedDocument, TopicMixture


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
class VariationalInference:
    """Variational inference; see the module's docstring."""

    needs_all_documents: bool
    needs: tuple[str, ...]

    def prepare(
        self, settings: Variational, published: PublishedModel
    ) -> tuple[Variational, Prepared]:
        return settings, prepare(published)

    def infer(
        self, prepared: tuple[Variational, Prepared], documents: Sequence[TokenisedDocument]
    ) -> list[TopicMixture]:
        settings, held = prepared
        snapshot = held.published.snapshot
        documents = numbered(snapshot, documents)
        counts = word_counts(snapshot, documents)
        gamma = infer_documents(
            counts.offsets,
            counts.rows,
            counts.occurrences,
            snapshot.prior.base[counts.rows],
            held.trained,
            settings.iterations,
            settings.tolerance,
        )
        proportions = gamma / gamma.sum(axis=1, keepdims=True)
        return make_mixtures(
            documents, held.published.version, settings.kind, proportions, counts.tokens
        )
