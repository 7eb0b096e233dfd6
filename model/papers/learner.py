"""The learners of Canini et al. (2009): one algorithm with different settings.

:mod:`beam_topics.model.papers.kernels.filter` has the algorithm, and
:mod:`beam_topics.model.papers.settings` its four forms. Learning begins with a batch Gibbs sample
of the first documents (:mod:`beam_topics.model.papers.sample`), from which all particles start. The
initial batch of ``batch-gibbs`` never ends, so each of its versions is such a sample.

A version is the particle with the largest P(w, z).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.learners.base import Arrivals, StepInfo, Summary, register
from beam_topics.model.papers import stored
from beam_topics.model.papers.erasing import erase
from beam_topics.model.papers.kernels.resampling import MOVES, RESAMPLINGS, SCHEDULED
from beam_topics.model.papers.sample import Documents
from beam_topics.model.papers.settings import (
    BatchGibbs,
    IncrementalGibbs,
    InitialBatch,
    OLda,
    PaperSettings,
    ParticleFilter,
)
from beam_topics.model.papers.state import (
    PaperState,
    begin_particles,
    best_particle,
    counts_of,
    in_sample_nmi,
    learn_document,
)
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import wire
from beam_topics.model.words.vocabulary import UNKNOWN


@register(BatchGibbs, OLda, IncrementalGibbs, ParticleFilter)
class PaperLearner:
    """Algorithms 1 to 4; see the module's docstring."""

    def init(self, settings: PaperSettings, key: str, island: int, threads: int = 1) -> PaperState:
        return PaperState(settings, key, island)

    def step(self, state: PaperState, minibatch: Minibatch) -> StepInfo:
        numbers = state.vocabulary.numbers(minibatch.words)[minibatch.tokens]
        documents = [numbers[first:last] for first, last in pairwise(minibatch.offsets.tolist())]
        known = [tokens[tokens != UNKNOWN] for tokens in documents]
        _begin_minibatch(state, minibatch.sequence)
        learned = _wait(state, list(zip(known, minibatch.labels, strict=True)))
        index = 0
        for tokens, label in learned:
            learn_document(state, tokens, label, index)
            index += len(tokens)
        resampler = state.resampler
        evidence = Scaled(float(resampler.evidence[0]), int(resampler.evidence_exponent[0]))
        state.score(evidence, index)
        return StepInfo(
            documents=len(minibatch),
            tokens=len(numbers),
            unknown_tokens=int(np.count_nonzero(numbers == UNKNOWN)),
            moves=int(resampler.counters[MOVES]),
            resamplings=int(resampler.counters[RESAMPLINGS]),
            ess=float(state.resampler.ess[0]),
            log_evidence=evidence.log(),
            words=len(state.vocabulary),
            scored_tokens=index,
        )

    def snapshot(self, state: PaperState, chain: int | None = None) -> Snapshot:
        settings, known = state.settings, len(state.vocabulary)
        if state.waiting is None:
            counts = counts_of(state, best_particle(state.particles) if chain is None else chain)
        else:
            counts = state.current_sample().counts.astype(np.float64)
        words, topics = np.nonzero(counts)
        size, alpha = settings.vocabulary.size, settings.topic_alpha
        return Snapshot(
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=np.full(settings.topic_count, alpha),
            prior=TopicWordPrior.flat(size * settings.beta, size, known, settings.topic_count),
            words=state.vocabulary.words,
            offsets=np.searchsorted(words, np.arange(known + 1)).astype(np.int64),
            topics=topics.astype(np.int32),
            counts=counts[words, topics],
        )

    def summary(self, state: PaperState, chain: int | None = None) -> Summary:
        particle = best_particle(state.particles) if chain is None else chain
        if state.waiting is not None:
            posterior = state.current_sample().joint
        else:
            joint, exponent = state.particles.joint, state.particles.joint_exponent
            posterior = Scaled.of(float(joint[particle]), int(exponent[particle]))
        return Summary(
            evidence=state.recent_evidence,
            posterior=posterior,
            documents=state.documents,
            tokens=state.tokens,
            words=len(state.vocabulary),
            log_evidence=state.evidence.log(),
            scored_tokens=state.scored,
            ess=float(state.resampler.ess[0]),
            in_sample_nmi=in_sample_nmi(state, particle),
        )

    def arrivals(self, state: PaperState, after: int, unlearned: bool = False) -> Arrivals:
        settings = state.settings
        counts = np.zeros((settings.independent_chains, 2, settings.topic_count))
        if state.waiting is not None:
            if unlearned and after < state.documents:
                counts[:] = state.current_sample().arrivals(after)
            return Arrivals(counts, state.documents if unlearned else 0)
        for number, topics in state.arrived if not unlearned else []:
            if number >= after and topics.any():
                counts[:, 0] += topics
                counts[np.arange(len(topics)), 1, topics.argmax(axis=1)] += 1.0
        return Arrivals(counts, state.documents)

    def witness(self, state: PaperState) -> bytes:
        particles = state.particles
        parts = particles.joint, particles.joint_exponent, particles.weight
        return wire.digest(state.evidence.to_bytes(), *(part.tobytes() for part in parts))

    def save(self, state: PaperState) -> bytes:
        return stored.state_to_bytes(state)

    def load(
        self, settings: PaperSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> PaperState:
        return stored.state_from_bytes(PaperState(settings, key, island), data)

    def nbytes(self, state: PaperState) -> int:
        particles, waiting = state.particles, state.waiting or []
        rows = sum(part.nbytes for rows in (particles.words, particles.topics) for part in rows)
        sample = state.sample.counts.nbytes + state.sample.z.nbytes if state.sample else 0
        held = sum(tokens.nbytes for tokens, _ in waiting) + state.history.nbytes()
        return rows + sample + held + particles.totals.nbytes + state.vocabulary.nbytes()

    def held(self, state: PaperState, after: int = 0) -> list[list[str]]:
        words, history = tuple(state.vocabulary.words), state.history
        newest = [slot for slot in history.slots().tolist() if history.arrival[slot] >= after]
        documents = [history.words_of(slot) for slot in newest]
        documents += [tokens for tokens, _ in (state.waiting or [])[after:]]
        return [[words[word] for word in tokens.tolist()] for tokens in documents]

    def erase(self, state: PaperState, arrivals: npt.NDArray[np.int64], came: int) -> int | None:
        return erase(state, arrivals) if came == state.documents else None


def _begin_minibatch(state: PaperState, sequence: int) -> None:
    resampler = state.resampler
    state.sequence, state.arrived, state.sample = sequence, [], None
    resampler.evidence[0], resampler.evidence_exponent[0] = 0.5, 1
    resampler.counters[[RESAMPLINGS, MOVES, SCHEDULED]] = 0


def _wait(state: PaperState, documents: Documents) -> Documents:
    """Return what is learned at once: not what the initial batch takes."""
    if state.waiting is None:
        return documents
    initial = state.settings.initial
    assert isinstance(initial, InitialBatch)
    count = min(len(documents), initial.documents - len(state.waiting))
    state.waiting += documents[:count]
    state.documents += count
    state.tokens += sum(len(tokens) for tokens, _ in documents[:count])
    if len(state.waiting) == initial.documents:
        begin_particles(state, state.waiting, state.current_sample())
    return documents[count:]
