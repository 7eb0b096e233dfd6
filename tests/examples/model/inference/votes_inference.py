"""Each word is a vote for the topic in which it is most probable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.inference.base import Inference, PublishedModel, register
from beam_topics.model.inference.features import NumberedDocuments
from beam_topics.model.inference.mixtures import posterior_mean
from beam_topics.model.inference.votes import Votes


@dataclass(frozen=True, eq=False)
class Prepared:
    """The model, and int64[W], the topic that each word votes for."""

    published: PublishedModel
    topics: LongArray


@register(Votes)
class VotesInference(Inference[Prepared]):
    """Count votes; see the module's docstring."""

    def prepare(self, settings: Votes, published: PublishedModel) -> Prepared:
        snapshot = published.snapshot
        words = np.arange(len(snapshot.words))
        phi = (snapshot.rows(words) + snapshot.prior.shares(words)) / snapshot.normalisers
        return Prepared(published, phi.argmax(axis=1))

    def infer(self, prepared: Prepared, documents: NumberedDocuments) -> FloatArray:
        snapshot, counts = documents.snapshot, documents.counts
        found = np.empty((len(documents), snapshot.topic_count))
        for d, part in enumerate(counts.document_slices()):
            topics = np.repeat(prepared.topics[counts.rows[part]], counts.occurrences[part])
            votes = np.bincount(topics, minlength=snapshot.topic_count).astype(np.float64)
            found[d] = posterior_mean(votes, snapshot.alpha)
        return found
