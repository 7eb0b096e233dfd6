"""Batch Gibbs sampling (Canini et al. 2009, Alg. 1): the reference, not a streaming algorithm.

It keeps every document in an initial batch that never ends. A snapshot is the best of P chains of
``sweeps`` sweeps over all documents so far, by joint probability. Each snapshot is sampled from the
start, so it is a function of the documents alone. The state grows with the stream.

Under a flat prior the chains have packed counts
(:mod:`beam_topics.model.learners.batch_gibbs.sparse_chains`). With tables or with prior tokens of
seeds they are particles that never resample.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.evaluation.agreement import main_topics, nmi
from beam_topics.model.learners.base import Arrivals, register
from beam_topics.model.learners.batch_gibbs.settings import BatchGibbs
from beam_topics.model.learners.batch_gibbs.sparse_chains import SparseChain, best_chain
from beam_topics.model.learners.particles.particle_filter import ParticleLearner
from beam_topics.model.learners.particles.state import (
    ParticleState,
    ensure_capacity,
    sum_of_documents,
)
from beam_topics.model.scaled import Scaled
from beam_topics.model.snapshot import Snapshot, TopicWordPrior


@register(BatchGibbs)
class BatchGibbsLearner(ParticleLearner):
    """Alg. 1 over all documents so far, at each snapshot."""

    def snapshot(self, state: ParticleState, chain: int | None = None) -> Snapshot:
        if not _is_sparse(state):
            return super().snapshot(state, chain)
        settings, known = state.settings, len(state.vocabulary)
        words, topics, counts = _current_chain(state)[0].counts.triples()
        return Snapshot(
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=state.prior.alpha[: settings.topic_count].copy(),
            prior=TopicWordPrior.flat(
                state.prior.a, settings.vocabulary.size, known, settings.topic_count
            ),
            words=state.vocabulary.words,
            offsets=np.concatenate([[0], np.cumsum(np.bincount(words, minlength=known))]).astype(
                np.int64
            ),
            topics=topics.astype(np.int32),
            counts=counts.astype(np.float64),
        )

    def nbytes(self, state: ParticleState) -> int:
        return super().nbytes(state) + (state.chain[0].nbytes() if state.chain else 0)

    def arrivals(self, state: ParticleState, after: int, unlearned: bool = False) -> Arrivals:
        if not (unlearned and state.unlearned and _is_sparse(state)):
            return super().arrivals(state, after, unlearned)
        # No document is ever learned for good, so all of them wait.
        counts = _current_chain(state)[0].in_documents
        return Arrivals(sum_of_documents(counts[after:, None]), len(counts))

    def posterior_and_nmi(
        self, state: ParticleState, chain: int | None = None
    ) -> tuple[Scaled, float | None]:
        if not _is_sparse(state):
            return super().posterior_and_nmi(state, chain)
        (sampled, joint), labels = (
            _current_chain(state),
            [label for _, label in state.waiting or ()],
        )
        labelled = [d for d, label in enumerate(labels) if label is not None]
        if not labelled:
            return joint, None
        topics = main_topics(sampled.in_documents[labelled])
        return joint, nmi([labels[d] for d in labelled], topics)


def _is_sparse(state: ParticleState) -> bool:
    return isinstance(state.settings, BatchGibbs) and state.settings.is_sparse


def _current_chain(state: ParticleState) -> tuple[SparseChain, Scaled]:
    """Return the best chain over the documents so far, and its joint probability."""
    settings, documents = state.settings, [tokens for tokens, _ in state.waiting or ()]
    if state.chain is None or len(state.chain[0].in_documents) != len(documents):
        ensure_capacity(state, 0, 0, 0)
        state.chain = best_chain(
            documents,
            state.prior.alpha[: settings.topic_count].copy(),
            state.prior.a,
            state.prior.base[: len(state.vocabulary)],
            chains=state.initial.chains,
            sweeps=state.initial.sweeps,
            seed=settings.seed,
            key=state.key,
            threads=state.threads,
        )
    return state.chain
