"""The state of the learners of this room, and how documents enter it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from beam_topics.model.arrays import FloatArray, IntArray, LongArray
from beam_topics.model.evaluation.held_out import nmi
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.learners.states import KeepsEvidence
from beam_topics.model.papers.history import History
from beam_topics.model.papers.kernels import filter as alg4
from beam_topics.model.papers.kernels.copy_on_write import new_table, replicate, with_capacity
from beam_topics.model.papers.kernels.particles import PAGE, Draws, Particles, Prior, Scratch
from beam_topics.model.papers.kernels.resampling import GENERATIONS, SCHEMES, Resampler
from beam_topics.model.papers.sample import Documents, Sample, draw_sample
from beam_topics.model.papers.settings import (
    AfterResampling,
    EveryDocument,
    EveryTokens,
    InitialBatch,
    PaperSettings,
    Rejuvenation,
)
from beam_topics.model.words.vocabulary import Vocabulary

_TRIGGERS: dict[type[Rejuvenation], int] = {
    AfterResampling: alg4.RESAMPLING,
    EveryDocument: alg4.DOCUMENT,
    EveryTokens: alg4.TOKENS,
}


@dataclass(eq=False)
class PaperState(KeepsEvidence):
    """What a learner knows.

    Attributes:
        settings, key, island: as given to ``init``.
        vocabulary: the words.
        particles: the particles.
        history: the documents that can be visited again.
        resampler: the figures of resampling.
        law: what the filter does when.
        prior: the priors as kernels take them.
        stream: what names the draws of the stream.
        waiting: the documents of an initial batch that is not complete; None afterwards.
        sequence: number of the last minibatch.
        documents, tokens: how many were learned, or wait.
        arrived: of each document of the last step its number and the tokens of each topic in each
            chain, int64[C, T]; not saved.
        sample: the best chain over ``waiting``, if it was made since the last minibatch; not saved.
    """

    settings: PaperSettings
    key: str
    island: int
    vocabulary: Vocabulary = field(init=False)
    particles: Particles = field(init=False)
    history: History = field(init=False)
    resampler: Resampler = field(init=False)
    law: alg4.Law = field(init=False)
    prior: Prior = field(init=False)
    stream: tuple[int, int] = field(init=False)
    waiting: list[tuple[IntArray, str | None]] | None = None
    sequence: int = 0
    documents: int = 0
    tokens: int = 0
    arrived: list[tuple[int, LongArray]] = field(default_factory=list)
    sample: Sample | None = None

    def __post_init__(self) -> None:
        settings = self.settings
        self.vocabulary = settings.vocabulary.new()
        self.particles = new_particles(settings, settings.island_particles, self.island)
        self.history = History(settings.rejuvenation.history)
        scheme = getattr(settings.resampling, "kind", "")
        self.resampler = Resampler(
            threshold=settings.resampling.threshold(settings.particles, settings.islands),
            scheme=SCHEMES.index(scheme) if scheme in SCHEMES else 0,
            evidence=np.array([0.5]),
            evidence_exponent=np.array([1]),
            ess=np.array([float(settings.island_particles)]),
            counters=np.zeros(4, np.int64),
        )
        self.resampler.counters[GENERATIONS] = settings.island_particles
        self.waiting = [] if isinstance(settings.initial, InitialBatch) else None
        rejuvenation = settings.rejuvenation
        self.law = alg4.Law(
            settings.by_tokens,
            rejuvenation.by_tokens,
            _TRIGGERS.get(type(rejuvenation), alg4.NOTHING),
            rejuvenation.moves,
        )
        topics, alpha, beta = settings.topic_count, settings.topic_alpha, settings.beta
        size = settings.vocabulary.size
        self.prior = Prior(np.full(topics, alpha), alpha * topics, beta, beta * size)
        self.stream = stream_key(settings.seed, self.key)

    @property
    def draws(self) -> Draws:
        """Return what names the draws of the minibatch."""
        return Draws(*self.stream, self.sequence)

    def current_sample(self) -> Sample:
        """Return the best chain over the documents that wait."""
        assert self.waiting is not None
        if self.sample is None:
            words = len(self.vocabulary)
            self.sample = draw_sample(self.settings, self.key, self.waiting, words)
        return self.sample


def new_particles(settings: PaperSettings, count: int, island: int) -> Particles:
    """Return particles without tokens."""
    topics = settings.topic_count
    return Particles(
        words=new_table(count, 1, topics, np.int64),
        topics=new_table(count, 1, PAGE),
        totals=np.zeros((count, topics), np.int64),
        weight=np.full(count, 1.0 / count),
        weight_exponent=np.zeros(count, np.int64),
        joint=np.full(count, 0.5),
        joint_exponent=np.ones(count, np.int64),
        generation=np.arange(count),
        identity=island * count + np.arange(count),
    )


def ensure_capacity(state: PaperState, words: int, pages: int) -> None:
    """Make free rows for a number of writes of words and of pages by all particles together."""
    particles = state.particles
    state.particles = particles._replace(
        words=with_capacity(particles.words, max(len(state.vocabulary), 1), words),
        topics=with_capacity(particles.topics, max(len(state.history.pages.words), 1), pages),
    )


def begin_particles(state: PaperState, documents: Documents, sample: Sample) -> None:
    """Give all particles the sample of an initial batch, and end the batch."""
    settings, count = state.settings, state.settings.island_particles
    state.particles = new_particles(settings, 1, state.island)
    slots = np.array(
        [_store(state, *document, number) for number, document in enumerate(documents)], np.int32
    )
    pages = len(state.history.pages.words)
    ensure_capacity(state, len(sample.counts), pages)
    one = state.particles
    alg4.write_counts(one, sample.counts)
    alg4.write_sample(one, state.history.pages, slots, sample.starts, sample.z)
    every = new_particles(settings, count, state.island)
    every.totals[:] = sample.counts.sum(axis=0)
    every.joint[:], every.joint_exponent[:] = sample.joint.mantissa, sample.joint.exponent
    state.particles = every._replace(
        words=replicate(one.words, 0, count), topics=replicate(one.topics, 0, count)
    )
    law, (key0, key1, _) = state.law, state.draws
    for slot in slots.tolist():
        alg4.admit_document(state.history.past, state.history.pages, law, slot, key0, key1)
        note_arrival(state, slot)
        state.history.release(slot)
    state.waiting = state.sample = None


def learn_document(state: PaperState, tokens: IntArray, label: str | None, index: int) -> None:
    """Learn one document by :func:`~beam_topics.model.papers.kernels.filter.filter_document`.

    Args:
        state: changed.
        tokens: int32[n], its word numbers.
        label: its label.
        index: tokens before it in the minibatch.
    """
    slot, law = _store(state, tokens, label, state.documents), state.law
    longest = int(state.history.pages.length.max(initial=1))
    n_td, share, sums = np.zeros((3, state.settings.topic_count))
    scratch, need = Scratch(n_td, share, sums, np.zeros(longest)), _need(state, longest)
    done = False
    while not done:
        ensure_capacity(state, need.words, need.pages)
        done = alg4.filter_document(
            state.particles,
            state.prior,
            state.history.pages,
            state.history.past,
            law,
            need,
            state.resampler,
            state.draws,
            scratch,
            slot,
            index,
        )
    note_arrival(state, slot)
    state.history.release(slot)
    state.documents, state.tokens = state.documents + 1, state.tokens + len(tokens)


def _need(state: PaperState, longest: int) -> alg4.Need:
    """Return the most rows that a document and the visits after it write.

    A particle writes a row once in the first pass. If it becomes a child, visits write it again.
    """
    words, pages = len(state.vocabulary), len(state.history.pages.words)
    law, particles = state.law, len(state.particles.weight)
    # Tokens of a unit, and of a visit.
    unit, visit = (1 if one else longest for one in (law.unit_tokens, law.visits_tokens))
    of_unit, of_visit = (1 if size == 1 else size // PAGE + 2 for size in (unit, visit))
    return alg4.Need(
        particles * (min(unit, words) + min(law.moves * visit, words)),
        particles * (min(of_unit, pages) + min(law.moves * of_visit, pages)),
    )


def _store(state: PaperState, tokens: IntArray, label: str | None, number: int) -> int:
    """Store a document in the history; return its slot."""
    units = len(tokens) if state.law.visits_tokens else 1
    return state.history.begin(tokens, label, number, units)


def note_arrival(state: PaperState, slot: int) -> None:
    """Note the topics of a document that was learned."""
    counts = topics_of(state, slot)
    chains = state.settings.independent_chains
    if chains == 1:
        best = best_particle(state.particles)
        counts = counts[best : best + 1]
    state.arrived.append((int(state.history.arrival[slot]), counts))


def topics_of(state: PaperState, slot: int) -> LongArray:
    """Return int64[P, T], the tokens of each topic in a document."""
    found = np.zeros(state.particles.totals.shape, np.int64)
    alg4.count_topics(state.particles, state.history.pages, slot, found)
    return found


def best_particle(particles: Particles) -> int:
    """Return the particle with the largest P(w, z), the first of equals."""
    order = particles.joint_exponent, particles.joint
    return max(range(len(particles.weight)), key=lambda p: (order[0][p], order[1][p], -p))


def counts_of(state: PaperState, p: int) -> FloatArray:
    """Return float64[W, T], n_wt of a particle."""
    found = np.zeros((len(state.vocabulary), state.settings.topic_count))
    alg4.read_counts(state.particles, p, found)
    return found


def in_sample_nmi(state: PaperState, particle: int) -> float | None:
    """Return the nMI of topics and labels over the labelled documents at hand."""
    if state.waiting is not None:
        main, labels = state.current_sample().main_topics(), [label for _, label in state.waiting]
    else:
        slots = state.history.slots().tolist()
        labels = [state.history.labels[slot] for slot in slots]
        main = [
            int(topics_of(state, slot)[particle].argmax()) if label is not None else 0
            for slot, label in zip(slots, labels, strict=True)
        ]
    found = [(label, topic) for label, topic in zip(labels, main, strict=True) if label is not None]
    return nmi([label for label, _ in found], [topic for _, topic in found]) if found else None
