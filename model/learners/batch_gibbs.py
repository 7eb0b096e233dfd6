"""Batch Gibbs (Canini et al. 2009, Alg. 1): the reference, not a streaming algorithm.

It keeps every document in an initial batch that never ends. A snapshot is what P chains of ``sweeps`` sweeps over all documents so far come
to, the best by its joint probability. Each snapshot starts from nothing, so it is a function of the documents alone. Its state
grows with the stream.

The chains are particles that never meet (``--sampler=dense``), or, where topics are many, chains of their own on packed counts
(``sparse``, :mod:`model.learners.sparse_chains`).
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from model.errors import OptionError
from model.evaluation.nmi import nmi
from model.learners.base import register
from model.learners.particle_filter import ParticleFilter
from model.learners.sparse_chains import SparseChain, best_chain
from model.learners.state import ParticleState, make_room
from model.scaled import Scaled
from model.settings import LearnerSettings
from model.snapshot import Snapshot, TopicWordPrior

# From so many topics on sparse counts are faster; benchmarks/README.md has the measurement.
SPARSE_FROM = 4


@register("batch-gibbs")
class BatchGibbs(ParticleFilter):
    """Alg. 1 over all documents so far, at each snapshot."""

    def adapt(self, settings: LearnerSettings) -> LearnerSettings:
        if settings.islands > 1:
            raise OptionError("--islands", settings.islands, "1 with --learner=batch-gibbs", "Its chains run in threads.")
        if settings.sampler == "sparse" and settings.prior != "flat":
            raise OptionError("--sampler", "sparse", f"auto or dense with --prior={settings.prior}", "SparseLDA has no tables to sample.")
        return replace(
            settings,
            particles=1,
            rejuvenation="never",
            ess_check="document",
            initial_documents=sys.maxsize,
            chains=settings.particles,
            initial_sweeps=settings.sweeps,
            initial_choice="posterior",
        )

    def snapshot(self, state: ParticleState) -> Snapshot:
        if not is_sparse(state.settings):
            return super().snapshot(state)
        settings, known = state.settings, len(state.vocabulary)
        words, topics, counts = _chain(state)[0].counts.triples()
        return Snapshot(
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=state.prior.alpha[: settings.topics].copy(),
            prior=TopicWordPrior.flat(state.prior.a, settings.prior_words, known, settings.topics),
            words=tuple(state.vocabulary.words),
            offsets=np.concatenate([[0], np.cumsum(np.bincount(words, minlength=known))]).astype(np.int64),
            topics=topics.astype(np.int32),
            counts=counts.astype(np.float64),
        )

    def nbytes(self, state: ParticleState) -> int:
        return super().nbytes(state) + (state.chain[0].nbytes() if state.chain else 0)

    def standing(self, state: ParticleState) -> tuple[Scaled, float | None]:
        if not is_sparse(state.settings):
            return super().standing(state)
        (chain, joint), labels = _chain(state), [label for _, label in state.waiting or ()]
        labelled = [d for d, label in enumerate(labels) if label is not None]
        if not labelled:
            return joint, None
        return joint, nmi([labels[d] for d in labelled], chain.in_documents[labelled].argmax(axis=1).tolist())


def is_sparse(settings: LearnerSettings) -> bool:
    """Whether these settings mean chains on packed counts."""
    return settings.sampler == "sparse" or (settings.sampler == "auto" and settings.prior == "flat" and settings.topics >= SPARSE_FROM)


def _chain(state: ParticleState) -> tuple[SparseChain, Scaled]:
    """What the documents so far come to, and its joint probability."""
    settings, documents = state.settings, [tokens for tokens, _ in state.waiting or ()]
    if state.chain is None or len(state.chain[0].in_documents) != len(documents):
        make_room(state, 0, 0, 0)
        state.chain = best_chain(
            documents,
            state.prior.alpha[: settings.topics].copy(),
            state.prior.a,
            state.prior.base[: len(state.vocabulary)],
            settings.chains,
            settings.initial_sweeps,
            settings.seed,
            state.key,
            state.threads,
        )
    return state.chain
