"""The particle family: one machine with settings (DESIGN section 7).

* ``particle-filter`` (Canini et al. 2009, Alg. 4): resampling and rejuvenation, as the settings
  say;
* ``incremental-gibbs`` (Alg. 3): no resampling; P chains that rejuvenate after each document or
  after every n tokens;
* ``o-lda`` (Alg. 2): neither; P chains that never revise a topic.

``batch-gibbs`` (Alg. 1) has a module of its own.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from model import wire
from model.evaluation.nmi import nmi
from model.learners.base import StepInfo, Summary, register
from model.learners.particles import loading, saving
from model.learners.particles.chains import learn_by_chains
from model.learners.particles.concentration import draw_is_due, learn_concentrations
from model.learners.particles.contraction import make_room_for_words
from model.learners.particles.initial_batch import initialise, most_frequent_topics
from model.learners.particles.kernels.resampling import MOVES
from model.learners.particles.population import best_particle, joint, nbytes
from model.learners.particles.priors import published_prior, topic_words
from model.learners.particles.settings import (
    IncrementalGibbs,
    OLda,
    ParticleFilter,
    ParticleSettings,
)
from model.learners.particles.state import (
    ParticleState,
    begin_minibatch,
    ensure_capacity,
    learn_spelling,
    new_state,
)
from model.learners.particles.stepping import learn_document, resamplings
from model.learners.particles.trials import observe, release
from model.records import IntArray, Minibatch
from model.scaled import Scaled
from model.snapshot import Snapshot
from model.words.vocabulary import UNKNOWN


@register(ParticleFilter, IncrementalGibbs, OLda)
class ParticleLearner:
    """Alg. 4; the other learners of the family have other settings only."""

    def init(
        self, settings: ParticleSettings, key: str, island: int, threads: int = 1
    ) -> ParticleState:
        return new_state(settings, key, island, threads)

    def step(self, state: ParticleState, minibatch: Minibatch) -> StepInfo:
        make_room_for_words(state, minibatch.words)
        numbers = state.vocabulary.numbers(minibatch.words)[minibatch.tokens]
        state.vocabulary.used(numbers)
        if state.waiting is None:
            learn_spelling(state)
        unknown = int(np.count_nonzero(numbers == UNKNOWN))
        scored, before, learned = state.scored, state.tokens, state.documents
        begin_minibatch(state, minibatch.sequence)
        parts = [numbers[begin:end] for begin, end in pairwise(minibatch.offsets.tolist())]
        if unknown:
            parts = [tokens[tokens != UNKNOWN] for tokens in parts]
        self._take(state, list(zip(parts, minibatch.labels, strict=True)), minibatch.sequence)
        if state.waiting is None and draw_is_due(before, state.tokens, len(state.vocabulary)):
            learn_concentrations(state)
        evidence = Scaled(
            float(state.resampler.evidence[0]), int(state.resampler.evidence_exponent[0])
        )
        if state.following:
            newly = state.documents - learned
            observe(state, state.following, evidence, state.scored - scored, newly)
        state.evidence = state.evidence * evidence
        state.recent.append(evidence)
        while len(state.recent) > state.settings.evidence_window:
            state.recent.popleft()
        return StepInfo(
            documents=len(minibatch),
            tokens=len(numbers),
            unknown_tokens=unknown,
            moves=int(state.resampler.counters[MOVES]),
            resamplings=resamplings(state),
            ess=float(state.resampler.ess[0]),
            log_evidence=evidence.log(),
            words=len(state.vocabulary),
            scored_tokens=state.scored - scored,
        )

    def snapshot(self, state: ParticleState) -> Snapshot:
        state = initialised(state)
        settings = state.settings
        ensure_capacity(state, 0, 0, 0)
        words = np.arange(len(state.vocabulary))
        counts, strength, base, left = topic_words(
            state.population, state.prior, best_particle(state.population), words
        )
        return Snapshot.from_dense(
            counts,
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=state.prior.alpha[: settings.topics].copy(),
            prior=published_prior(settings, state.characters, strength, base, left),
            words=tuple(state.vocabulary.words),
        )

    def summary(self, state: ParticleState) -> Summary:
        recent = Scaled(0.5, 1)
        for evidence in state.recent:
            recent = recent * evidence
        posterior, in_sample = self.posterior_and_nmi(state)
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

    def posterior_and_nmi(self, state: ParticleState) -> tuple[Scaled, float | None]:
        """P(w, z) of the best particle, and the nMI of its topics with the labels; None where
        there are none.
        """
        state = initialised(state)
        best = best_particle(state.population)
        return joint(state.population, best), _in_sample(state, best)

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
        return saving.to_bytes(state)

    def load(
        self, settings: ParticleSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> ParticleState:
        return loading.from_bytes(self.init(settings, key, island, threads), data)

    def nbytes(self, state: ParticleState) -> int:
        words = state.vocabulary.nbytes()
        waiting = sum(tokens.nbytes for tokens, _ in state.unlearned)
        # What a publication made of an incomplete batch is held until the next, or until the batch
        # is complete.
        held = (state, state.initialised) if state.initialised else (state,)
        return (
            words
            + waiting
            + sum(
                nbytes(one.population) + one.history.nbytes() + one.prior.base.nbytes
                for one in held
            )
        )

    def _take(
        self, state: ParticleState, documents: list[tuple[IntArray, str | None]], sequence: int
    ) -> None:
        """Into the initial batch while that is incomplete, else into the particles."""
        if state.waiting is not None:
            wanted = state.initial.documents - len(state.waiting)
            state.waiting += documents[:wanted]
            if len(documents) < wanted:
                return
            initialise(state)
            state.initialised = None
            begin_minibatch(state, sequence)
            documents = documents[wanted:]
        if state.following:
            documents = release(state, state.following, documents)
            state.initialised = None
        if state.settings.ess_threshold or state.settings.by_tokens:
            for tokens, label in documents:
                learn_document(state, tokens, label)
        elif documents:
            learn_by_chains(state, documents)


def initialised(state: ParticleState) -> ParticleState:
    """The state, or, while documents wait, what it would be if the wait ended here; the state
    itself is left alone.
    """
    if not state.unlearned:
        return state
    came = state.documents + len(state.unlearned)
    if state.initialised is None or state.initialised.documents != came:
        copied = _without_held if state.waiting is None else _with_initial_batch
        state.initialised = copied(state)
    return state.initialised


def _with_initial_batch(state: ParticleState) -> ParticleState:
    """The initial batch ends here."""
    copy = new_state(state.settings, state.key, state.island, state.threads)
    copy.vocabulary, copy.waiting = state.vocabulary, list(state.waiting or ())
    initialise(copy)
    copy.sequence = state.sequence
    return copy


def _without_held(state: ParticleState) -> ParticleState:
    """Documents that wait for a duel are learned without one."""
    copy = new_state(state.settings, state.key, state.island, state.threads)
    loading.from_bytes(copy, saving.to_bytes(state))
    begin_minibatch(copy, state.sequence)
    if copy.following:
        learn_by_chains(copy, copy.following.held)
        copy.following = None
    return copy


def _in_sample(state: ParticleState, best: int) -> float | None:
    slots = [int(slot) for slot in state.history.slots() if state.history.labels[slot] is not None]
    if not slots:
        return None
    return nmi(
        [state.history.labels[slot] for slot in slots], most_frequent_topics(state, best, slots)
    )
