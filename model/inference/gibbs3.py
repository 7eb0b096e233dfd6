"""Gibbs3 of Yao, Mimno and McCallum (2009): Gibbs sampling of each document alone.

The document's tokens are added to the training counts one by one, each topic drawn given all tokens
before it. Then they are drawn again in sweeps. Meanwhile the counts n_wt and n_t include the
document's own tokens. They are removed before the next document. ``gibbs3-s`` is the paper's
Gibbs3.S, in two passes.
"""

from __future__ import annotations

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.inference.base import FromSnapshot, PreparedModel, register
from beam_topics.model.inference.features import NumberedDocuments
from beam_topics.model.inference.kernels.gibbs3 import (
    DocumentWords,
    ModelCounts,
    sample_documents,
    sorted_rows,
)
from beam_topics.model.inference.mixture_blocks import posterior_means
from beam_topics.model.inference.settings import Gibbs3, Gibbs3S, GibbsSampling
from beam_topics.model.publishing.snapshot import Snapshot


def counts_of(snapshot: Snapshot, rows: LongArray) -> tuple[LongArray, ModelCounts]:
    """Return the counts of some rows of a model, as the sampler takes them.

    It wants sorted rows. Those that documents use are sorted for each batch: a model of many keys
    has few documents, and a batch of many takes a hundred times as long.

    Returns:
        int64[N], the places of the rows in the counts; the counts.
    """
    trained = snapshot.offsets, snapshot.topics, snapshot.counts
    rows, offsets, topics, counts = sorted_rows(rows, *trained)
    priors = snapshot.normalisers, snapshot.alpha, snapshot.prior.strength
    return rows, ModelCounts(offsets, topics, counts, *priors)


@register(Gibbs3, Gibbs3S)
class Gibbs3Inference(FromSnapshot[GibbsSampling]):
    """Gibbs3; see the module's docstring."""

    def infer(
        self, prepared: PreparedModel[GibbsSampling], documents: NumberedDocuments
    ) -> FloatArray:
        settings, snapshot = prepared.settings, prepared.published.snapshot
        counts = documents.counts
        rows, trained = counts_of(snapshot, counts.rows)
        sums = sample_documents(
            DocumentWords(rows, counts.occurrences, counts.offsets),
            snapshot.prior.base[counts.rows],
            trained,
            settings.sweeps,
            settings.kept,
            documents.draw_keys(settings.seed),
        )
        return posterior_means(sums / settings.kept, snapshot.alpha)
