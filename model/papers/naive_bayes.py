"""Naive Bayes: inference as if one topic had made the whole document, a baseline as in Yao's paper.

The score of topic t is prod_w P(w | t)^n_w; all topics have the same prior probability. Logarithms
are split as ln(n_wt + s_t B(w)) = ln s_t + ln B(w) + ln(1 + n_wt / (s_t B(w))). Here ln B(w) is the
same for all topics, so a batch is one product of sparse matrices. Proportions are at least
:data:`~beam_topics.model.inference.base.SMALLEST_PROPORTION`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from beam_topics.model.arrays import FloatArray
from beam_topics.model.inference.base import Inference, NaiveBayes, PublishedModel, register
from beam_topics.model.inference.features import NumberedDocuments
from beam_topics.model.inference.mixture_blocks import posterior_mean, softmax


@dataclass(frozen=True, eq=False)
class Prepared:
    """The model in logarithms.

    Attributes:
        published: the model.
        above: CSR [W, T], ln(1 + n_wt / (s_t B(w))).
        totals: float64[T], ln((n_t + s_t) / s_t).
    """

    published: PublishedModel
    above: Any
    totals: FloatArray


@register(NaiveBayes)
class NaiveBayesInference(Inference[Prepared]):
    """Naive Bayes; see the module's docstring."""

    def prepare(self, settings: NaiveBayes, published: PublishedModel) -> Prepared:
        snapshot = published.snapshot
        words = snapshot.count_rows
        logs = np.log1p(
            snapshot.counts
            / (snapshot.prior.strength[snapshot.topics] * snapshot.prior.base[words])
        )
        above = csr_array(
            (logs, snapshot.topics, snapshot.offsets),
            shape=(len(snapshot.words), snapshot.topic_count),
        )
        return Prepared(published, above, np.log(snapshot.normalisers / snapshot.prior.strength))

    def infer(self, prepared: Prepared, documents: NumberedDocuments) -> FloatArray:
        published, counts = prepared.published, documents.counts
        matrix = counts.matrix(len(published.snapshot.words), np.float64)
        found = softmax(
            (matrix @ prepared.above).toarray() - counts.tokens[:, None] * prepared.totals
        )
        found[counts.tokens == 0] = posterior_mean(
            np.zeros(len(prepared.totals)), published.snapshot.alpha
        )
        return found
