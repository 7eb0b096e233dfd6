r"""The learners of the particle family: one algorithm with different settings.

The algorithm is Alg. 4 of Canini et al. (2009), with documents in place of tokens. w_i are the
words of document i, z_i(p) and ω_i(p) are its topics and the weight of particle p:

.. code-block:: text

    initialise ω_0(p) = 1 / P
    for i = 1 .. N:
        for p = 1 .. P:
            ω_i(p) = ω_i-1(p) P(w_i | z_i-1(p), w_i-1)
            draw z_i(p) from P(z_i | z_i-1(p), w_i)
        normalise ω_i
        if 1 / sum ω_i(p)^2 <= ESS threshold:
            resample the particles
            for j in R(i):
                for p = 1 .. P:
                    draw z_j(p) from P(z_j | z_i\j(p), w_i)
            ω_i(p) = 1 / P

:func:`beam_topics.model.learners.particles.stepping.filter_document` is the body of the loop over
i.

* ``particle-filter`` is Alg. 4. The settings say when particles are resampled, and what triggers
  rejuvenation.
* ``incremental-gibbs`` is Alg. 3. It never resamples. Each particle is a chain, which is
  rejuvenated after each document or after every n tokens.
* ``o-lda`` is Alg. 2. It neither resamples nor rejuvenates.

``batch-gibbs`` (Alg. 1) has a module of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beam_topics.model import wire
from beam_topics.model.evaluation.agreement import nmi
from beam_topics.model.learners.base import Arrivals, StepInfo, Summary, register
from beam_topics.model.learners.particles import stored_state
from beam_topics.model.learners.particles.forgetting import forget, make_room_for_words
from beam_topics.model.learners.particles.history import Documents
from beam_topics.model.learners.particles.initial_batch import (
    Chains,
    initialise,
    initialised,
    join,
    most_frequent_topics,
)
from beam_topics.model.learners.particles.kernels.resampling import MOVES
from beam_topics.model.learners.particles.population import best_particle, joint, nbytes
from beam_topics.model.learners.particles.priors import published_counts, published_prior
from beam_topics.model.learners.particles.settings import (
    AUTO,
    IncrementalGibbs,
    OLda,
    ParticleFilter,
    ParticleSettings,
)
from beam_topics.model.learners.particles.state import (
    ParticleState,
    arrivals,
    begin_minibatch,
    ensure_capacity,
    learn_spelling,
    new_state,
    plant_seeds,
    shares_without_weight,
)
from beam_topics.model.learners.particles.stepping import (
    known_words,
    learn_documents,
    learn_together,
    remember_evidence,
    resamplings,
    together,
)
from beam_topics.model.learners.particles.topic_weights import (
    draw_is_due,
    learn_concentrations,
    learn_weights,
)
from beam_topics.model.learners.particles.trials import observe, release
from beam_topics.model.records import IntArray, Minibatch
from beam_topics.model.scaled import Scaled
from beam_topics.model.snapshot import Snapshot
from beam_topics.model.words.vocabulary import UNKNOWN


@register(ParticleFilter, IncrementalGibbs, OLda)
class ParticleLearner:
    """Alg. 4. The other learners of the family differ in their settings only."""

    def init(
        self, settings: ParticleSettings, key: str, island: int, threads: int = 1
    ) -> ParticleState:
        state = new_state(settings, key, island, threads)
        if state.waiting is None:
            plant_seeds(state)
        return state

    def step(self, state: ParticleState, minibatch: Minibatch) -> StepInfo:
        words = _number_words(state, minibatch)
        before = state.documents, state.tokens, state.scored
        state.arrived, state.events = [], []
        begin_minibatch(state, minibatch.sequence)
        by_tokens = state.settings.half_life == AUTO
        forget(state, state.tokens if by_tokens else minibatch.window_end)
        documents = _documents_to_learn(state, known_words(words, minibatch), minibatch)
        learn_documents(state, documents)
        learned, tokens, scored = before
        if state.waiting is None and draw_is_due(tokens, state.tokens, len(state.vocabulary)):
            learn_concentrations(state)
        if documents:
            learn_weights(state)
        # The product over i of the sum over p of ω_i(p) before it is normalised.
        evidence = _minibatch_evidence(state)
        if state.following:
            new = state.scored - scored, state.documents - learned
            observe(state, state.following, evidence, *new, ids=minibatch.ids)
        remember_evidence(state, evidence)
        return StepInfo(
            documents=len(minibatch),
            tokens=len(words),
            unknown_tokens=int(np.count_nonzero(words == UNKNOWN)),
            moves=int(state.resampler.counters[MOVES]),
            resamplings=resamplings(state),
            ess=float(state.resampler.ess[0]),
            log_evidence=evidence.log(),
            words=len(state.vocabulary),
            scored_tokens=state.scored - scored,
            events=tuple(state.events),
        )

    def steps(self, state: ParticleState, minibatches: Sequence[Minibatch]) -> list[StepInfo]:
        infos: list[StepInfo] = []
        arrived: list[IntArray] = []
        while len(infos) < len(minibatches):
            count = together(state, minibatches[len(infos) :])
            some = minibatches[len(infos) : len(infos) + count]
            infos += learn_together(state, some) if count > 1 else [self.step(state, some[0])]
            arrived += state.arrived
        state.arrived = arrived
        return infos

    def snapshot(self, state: ParticleState, chain: int | None = None) -> Snapshot:
        state = initialised(state)
        settings = state.settings
        ensure_capacity(state, 0, 0, 0)
        particle = best_particle(state.population) if chain is None else chain
        factors = shares_without_weight(settings, state.population.totals[particle])
        counts, strength, base, left = published_counts(
            state.population, state.prior, particle, len(state.vocabulary), factors
        )
        return Snapshot(
            **counts._asdict(),
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=state.prior.alpha[: settings.topic_count].copy(),
            prior=published_prior(settings, state.characters, strength, base, left),
            words=state.vocabulary.words,
        )

    def summary(self, state: ParticleState, chain: int | None = None) -> Summary:
        recent = Scaled(0.5, 1)
        for evidence in state.recent:
            recent = recent * evidence
        posterior, in_sample = self.posterior_and_nmi(state, chain)
        return Summary(
            evidence=recent,
            posterior=posterior,
            documents=state.documents + len(state.unlearned),
            tokens=state.tokens + sum(len(tokens) for tokens, _ in state.unlearned),
            words=len(state.vocabulary),
            log_evidence=state.evidence.log(),
            scored_tokens=state.scored,
            ess=float(state.resampler.ess[0]),
            in_sample_nmi=in_sample,
        )

    def posterior_and_nmi(
        self, state: ParticleState, chain: int | None = None
    ) -> tuple[Scaled, float | None]:
        """Return P(w, z) of a chain, or of the best particle, and the nMI of its topics and labels.

        The nMI is None where no document of the history has a label.
        """
        state = initialised(state)
        particle = best_particle(state.population) if chain is None else chain
        return joint(state.population, particle), _in_sample(state, particle)

    def held(self, state: ParticleState) -> list[list[str]]:
        documents = [state.history.words_of(int(slot)) for slot in state.history.slots()]
        documents += [tokens for tokens, _ in state.unlearned]
        words = tuple(state.vocabulary.words)
        return [[words[word] for word in tokens[tokens >= 0].tolist()] for tokens in documents]

    def arrivals(self, state: ParticleState, after: int, unlearned: bool = False) -> Arrivals:
        if not unlearned:
            return arrivals(state, after)
        # Without documents that wait, every document is before the end.
        return arrivals(initialised(state), after if state.unlearned else state.documents)

    def witness(self, state: ParticleState) -> bytes:
        population = state.population
        bits = [
            part.tobytes()
            for part in (
                population.joint,
                population.joint_exponent,
                population.weight,
                population.weight_exponent,
            )
        ]
        return wire.digest(state.evidence.to_bytes(), *bits)

    def save(self, state: ParticleState) -> bytes:
        return stored_state.to_bytes(state)

    def load(
        self, settings: ParticleSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> ParticleState:
        return stored_state.from_bytes(new_state(settings, key, island, threads), data)

    def nbytes(self, state: ParticleState) -> int:
        words = state.vocabulary.nbytes()
        waiting = sum(tokens.nbytes for tokens, _ in state.unlearned)
        # Publications keep the states that they made until others are made or none is needed.
        copies = {id(one): one for one in (state.initialised, state.begun) if one}
        held = [state, *copies.values()]
        return (
            words
            + waiting
            + sum(
                nbytes(one.population) + one.history.nbytes() + one.prior.base.nbytes
                for one in held
            )
        )


def _number_words(state: ParticleState, minibatch: Minibatch) -> IntArray:
    """Return the word number of each token, :data:`UNKNOWN` where the vocabulary has no room."""
    make_room_for_words(state, minibatch.words)
    numbers = state.vocabulary.numbers(minibatch.words)
    state.vocabulary.used(numbers, np.bincount(minibatch.tokens, minlength=len(minibatch.words)))
    if state.waiting is None:
        learn_spelling(state)
    found: IntArray = numbers[minibatch.tokens]
    return found


def _documents_to_learn(
    state: ParticleState, documents: Documents, minibatch: Minibatch
) -> Documents:
    """Return what is learned now: not what the initial batch takes or what waits for a duel."""
    if state.waiting is not None:
        joined, complete = join(state.initial, state.waiting, documents)
        if not complete:
            return []
        initialise(state, Chains.of(state.initial))
        state.initialised = state.begun = None
        begin_minibatch(state, minibatch.sequence)
        documents = documents[joined:]
    if state.following:
        documents = release(state, state.following, documents, ids=minibatch.ids)
        state.initialised = None
    return documents


def _minibatch_evidence(state: ParticleState) -> Scaled:
    """Return P(minibatch | everything before)."""
    resampler = state.resampler
    return Scaled(float(resampler.evidence[0]), int(resampler.evidence_exponent[0]))


def _in_sample(state: ParticleState, best: int) -> float | None:
    """Return the nMI of topics and labels over the labelled documents of the history."""
    labels = state.history.labels
    if not any(label is not None for label in labels):
        return None
    slots = [slot for slot in state.history.slots().tolist() if labels[slot] is not None]
    topics = most_frequent_topics(state, best, np.array(slots, np.int32))
    return nmi([labels[slot] for slot in slots], topics)
