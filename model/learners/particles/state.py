"""The state of a learner of the particle family: its parts, its beginning, and its capacity.

Particles begin with the prior tokens of seeds (:mod:`beam_topics.model.learners.particles.seeds`).
The prior and the tables of rows grow with the vocabulary and the history; :func:`ensure_capacity`
makes them large enough before a kernel runs.

A step notes the topics that its documents have when it has visited them for the first time, just
before the history may drop them (:func:`note_arrivals`); :func:`arrivals` adds them up. The notes
are no part of the saved state: the log of the learner (:mod:`beam_topics.model.learner_log`) keeps
the sums.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from beam_topics.model.events import Event
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.learners.base import Arrivals
from beam_topics.model.learners.batch_gibbs.sparse_chains import SparseChain
from beam_topics.model.learners.particles.following import Cusum, Following, threshold_of
from beam_topics.model.learners.particles.history import Documents, History
from beam_topics.model.learners.particles.kernels.arrivals import count_documents, sum_documents
from beam_topics.model.learners.particles.kernels.history import Choice
from beam_topics.model.learners.particles.kernels.particles import Draws, Population, Prior
from beam_topics.model.learners.particles.kernels.resampling import SCHEDULED, Resampler
from beam_topics.model.learners.particles.kernels.table_counts import NONE
from beam_topics.model.learners.particles.packing import Packed, in_parts, unpacked
from beam_topics.model.learners.particles.population import (
    AtHand,
    best_particle,
    new_population,
    with_capacity,
)
from beam_topics.model.learners.particles.priors import (
    base_probabilities,
    new_prior,
    parts_each,
    row_length,
)
from beam_topics.model.learners.particles.rejuvenation import Challengers
from beam_topics.model.learners.particles.settings import (
    InitialBatch,
    NoInitialBatch,
    ParticleSettings,
)
from beam_topics.model.learners.seeds import seeds_of, words_of
from beam_topics.model.records import FloatArray, IntArray, LongArray
from beam_topics.model.scaled import Scaled
from beam_topics.model.words.character_model import CharacterModel
from beam_topics.model.words.vocabulary import Vocabulary


@dataclass
class ParticleState:
    """The state of a learner of the particle family.

    Attributes:
        settings: the learner's settings.
        key: the model key.
        island: the island's number, from 0.
        threads: how many threads run the kernels; it changes no result.
        vocabulary: the words and their numbers.
        history: the documents that can be visited again.
        at_hand: their words, and how many rows these may need.
        prior: the topic-word prior and the topic prior.
        population: the particles.
        resampler: threshold, evidence and counters of the minibatch.
        waiting: the documents of the incomplete initial batch; None once it is complete.
        sequence: the number of the last minibatch.
        time: the end of the last minibatch's window in microseconds, with ``--half_life``, or the
            tokens learned before that minibatch, with ``--half_life=auto``; None before the first
            one, and where nothing is forgotten.
        drawn: the index of the next draw of the first pass. Each draw of a minibatch has its own.
        concentrated: the same for the draws of a and a_0.
        documents: documents learned so far.
        tokens: tokens learned so far.
        scored: tokens that ``evidence`` covers.
        evidence: P(everything that was scored).
        recent: the evidence of each of the last minibatches.
        characters: G as a distribution over strings; None where G is uniform, or before the first
            word.
        based: the number of words whose G(w) the prior has.
        initialised: a copy that has learned the waiting documents. A publication makes it for the
            snapshot, and uses it again for the figures.
        begun: a copy that has learned some of the documents that wait for a complete initial batch
            (:mod:`beam_topics.model.learners.particles.initial_batch`).
        chain: the same for ``batch-gibbs`` on packed counts.
        following: the changes of the stream, and the documents that wait for a duel; None unless
            particles are challenged.
        gamma: the concentration of the learned weights of topics.
        weighed: the index of the next draw of weights in this minibatch.
        arrived: the topics of the documents that the last step learned
            (:func:`note_arrivals`); not saved.
        events: what the last step told of the stream; not saved.
    """

    settings: ParticleSettings
    key: str
    island: int
    threads: int
    vocabulary: Vocabulary
    history: History
    at_hand: AtHand
    prior: Prior
    population: Population
    resampler: Resampler
    waiting: Documents | None
    sequence: int = 0
    time: int | None = None
    drawn: int = 0
    concentrated: int = 0
    documents: int = 0
    tokens: int = 0
    scored: int = 0
    evidence: Scaled = field(default_factory=lambda: Scaled(0.5, 1))
    recent: deque[Scaled] = field(default_factory=deque)
    characters: CharacterModel | None = None
    based: int = 0
    initialised: ParticleState | None = None
    begun: ParticleState | None = None
    chain: tuple[SparseChain, Scaled] | None = None
    following: Following | None = None
    gamma: float = 1.0
    weighed: int = 0
    arrived: list[IntArray] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @cached_property
    def stream(self) -> tuple[int, int]:
        """Return the stream key of all draws."""
        return stream_key(self.settings.seed, self.key)

    @property
    def unlearned(self) -> Documents:
        """Return the documents that wait for a complete initial batch or for a duel."""
        return self.waiting or (self.following.held if self.following else [])

    @property
    def half_life(self) -> int:
        """Return the half-life, see ``half_life_of``; 0 where nothing is forgotten."""
        return self.settings.half_life_of(self.island)

    @property
    def initial(self) -> InitialBatch:
        """Return the settings of the initial batch; call this only where there is one."""
        assert isinstance(self.settings.initial, InitialBatch)
        return self.settings.initial


def new_state(settings: ParticleSettings, key: str, island: int, threads: int) -> ParticleState:
    """Return the state of a learner before the first document."""
    prior, particles, initial = new_prior(settings), settings.island_particles, settings.initial
    vocabulary = settings.vocabulary.new()
    vocabulary.keep_always(words_of(settings.seeds))
    history, word_list = settings.rejuvenation.history, settings.prior.word_list
    chains = initial.chains if isinstance(initial, InitialBatch) else 1
    alone = settings.by_tokens or history.rows_move
    threads = 1 if alone else min(threads, max(particles, chains))
    past = History(history, settings.rejuvenation.unit == "token")
    return ParticleState(
        settings=settings,
        key=key,
        island=island,
        threads=threads,
        vocabulary=vocabulary,
        history=past,
        at_hand=AtHand(past),
        prior=prior,
        population=new_population(prior, particles, threads, island * particles, history),
        resampler=new_resampler(settings),
        waiting=None if isinstance(initial, NoInitialBatch) else [],
        characters=spelling(word_list) if settings.is_spelled and word_list else None,
        following=new_following(settings),
    )


def plant_seeds(state: ParticleState) -> None:
    """Give particles that have learned nothing the prior tokens of the seeds."""
    if words := words_of(state.settings.seeds):
        numbers = state.vocabulary.numbers(words).tolist()
        state.population = plant(state.settings, state.prior, state.population, numbers)


def seed_counts(settings: ParticleSettings) -> LongArray:
    """Return the prior tokens of the words of seeds, by word and topic.

    Returns:
        int64[S, T]; row i is that of the i-th of :func:`words_of`.
    """
    rows = {word: row for row, word in enumerate(words_of(settings.seeds))}
    counts = np.zeros((len(rows), settings.topic_count), np.int64)
    for topic, seed in enumerate(seeds_of(settings.seeds)):
        numbers = [rows[word] for word in seed.tokens]
        counts[numbers, topic] = [given or settings.seed_strength for given in seed.tokens.values()]
    return counts


def plant(
    settings: ParticleSettings, prior: Prior, population: Population, numbers: Sequence[int]
) -> Population:
    """Return particles that have learned nothing but the prior tokens of the seeds.

    Args:
        settings: the learner's settings.
        prior: the prior.
        population: particles that have learned nothing.
        numbers: the numbers of the words of :func:`words_of` in the vocabulary.
    """
    counts, logical = seed_counts(settings), np.array(numbers, np.int64)
    if not len(counts):
        return population
    topics, tp, particles = settings.topic_count, len(prior.alpha), len(population.weight)
    rows = np.zeros((len(counts), row_length(prior)), np.int64)
    rows[:, :topics] = counts
    tables = (counts > 0).astype(np.int64)
    if prior.tables != NONE:
        rows[:, tp : tp + topics] = tables
        rows[:, 2 * tp] = tables.sum(axis=1)
        population.topic_tables[:, :topics] = tables.sum(axis=0)
        population.tables[:] = tables.sum()
    population.totals[:, :topics] = counts.sum(axis=0)
    nothing = np.zeros(0, np.int64)
    packed = Packed(np.arange(len(rows)), nothing, nothing.reshape(0, particles), rows)
    count, each = int(logical.max()) + 1, parts_each(population)
    if each:
        parts, packed = in_parts(packed, each, tp)
        logical, count = logical[parts // each] * each + parts % each, count * each
    words = unpacked(population.words, logical, count, packed)
    return population._replace(words=words)


def shares_without_weight(settings: ParticleSettings, totals: LongArray) -> FloatArray:
    """Return the factors that scale topics to the tokens that they really have, as float64[T].

    P(w | z) is a ratio of the two, so it stays what it is. The share of a topic in a model is then
    that of its tokens, and not of the strength of its seed.

    Args:
        settings: the learner's settings.
        totals: int64[Tp], n_z with the prior tokens.
    """
    given, factors = seed_counts(settings).sum(axis=0), np.ones(settings.topic_count)
    for topic in np.flatnonzero(given).tolist():
        # A topic without tokens of its own counts as one token.
        factors[topic] = max(int(totals[topic] - given[topic]), 1) / int(totals[topic])
    return factors


def new_following(settings: ParticleSettings) -> Following | None:
    """Return the changes of an empty stream; None where particles are not challenged."""
    challengers = settings.rejuvenation.challengers
    if not isinstance(challengers, Challengers):
        return None
    return Following(challengers.judges, Cusum(threshold_of(challengers.false_alarms)))


@lru_cache(maxsize=4)
def spelling(words: tuple[str, ...]) -> CharacterModel:
    """Return G fitted to a word list; learners of equal settings share it."""
    return CharacterModel.fit(words)


def learn_spelling(state: ParticleState) -> None:
    """Fit G to the words that are known when learning begins, where no word list is given."""
    if state.characters is None and state.settings.is_spelled and len(state.vocabulary):
        state.characters = CharacterModel.fit(state.vocabulary.words)


def new_resampler(settings: ParticleSettings) -> Resampler:
    """Return the resampler before the first document; each particle has its first generation."""
    particles = settings.island_particles
    counters = np.array([0, 0, 0, particles], np.int64)
    begin = np.full(1, 0.5), np.ones(1, np.int64), np.full(1, float(particles))
    return Resampler(settings.ess_threshold, settings.resampling.scheme, *begin, counters)


def begin_minibatch(state: ParticleState, sequence: int) -> None:
    """Reset what counts from the beginning of a minibatch: indices of draws, and the evidence."""
    state.sequence = sequence
    state.drawn = state.concentrated = state.weighed = 0
    state.resampler.counters[: SCHEDULED + 1] = 0
    state.resampler.evidence[0], state.resampler.evidence_exponent[0] = 0.5, 1


def draws(state: ParticleState, purpose: int) -> Draws:
    """Return the names that the uniforms of this minibatch share, for one purpose."""
    key0, key1 = state.stream
    return Draws(key0, key1, state.sequence, purpose)


def ensure_capacity(state: ParticleState, writers: int, units: int, longest: int) -> None:
    """Reserve the rows that the next kernel call may write, and extend the prior to all words.

    Args:
        state: the learner's state.
        writers: how many particles write.
        units: how many units each of them visits.
        longest: tokens of the longest unit.
    """
    words = len(state.vocabulary)
    if state.based < words:
        base = state.prior.base if len(state.prior.base) >= words else np.zeros(words + words // 8)
        base[: state.based] = state.prior.base[: state.based]
        base[state.based : words] = base_probabilities(
            state.settings, state.characters, state.vocabulary.words_since(state.based)
        )
        state.prior, state.based = state.prior._replace(base=base), words
    # The kernel filter_tokens counts words and pages in the same way. With fewer here it would
    # return for more rows without end.
    state.population = with_capacity(
        state.population,
        writers=writers,
        units=units,
        longest=longest,
        words=len(state.prior.base),
        pages=len(state.history.pages.words),
        threads=state.threads,
        by_tokens=state.settings.by_tokens,
        at_hand=state.at_hand,
    )


def choice_of(state: ParticleState) -> Choice:
    """Return how units are chosen for visits."""
    rejuvenation = state.settings.rejuvenation
    return Choice(rejuvenation.history.newest_share, rejuvenation.challengers.change_share)


def note_arrivals(state: ParticleState, slots: IntArray) -> None:
    """Note the topics of documents whose slots are about to be released.

    Independent chains are noted one by one. Particles that are resampled have common ancestors, and
    the best of them is noted.

    Args:
        state: the learner's state.
        slots: int32[D], documents in the order in which they came.
    """
    chains, topics = state.settings.independent_chains, state.settings.topic_count
    particles = range(chains) if chains > 1 else [best_particle(state.population)]
    counts = np.empty((len(slots), chains, topics), np.int32)
    for chain, particle in enumerate(particles):
        counts[:, chain] = document_counts(state, state.population, particle, slots)
    state.arrived.append(counts)


def document_counts(
    state: ParticleState, population: Population, particle: int, slots: IntArray | LongArray
) -> IntArray:
    """Return int32[D, T], n_td of documents in one particle.

    Args:
        state: the learner's state, which has the documents.
        population: the particles.
        particle: the particle.
        slots: int[D], the documents.
    """
    counts = np.zeros((len(slots), state.settings.topic_count), np.int32)
    count_documents(population, state.history.pages, particle, slots, counts)
    return counts


def arrivals(state: ParticleState, after: int) -> Arrivals:
    """Return the tokens and documents of each topic, of documents that the last step learned.

    Args:
        state: the learner's state.
        after: documents that came before the one with this number do not count.
    """
    counts, none = state.arrived, (0, state.settings.independent_chains, state.settings.topic_count)
    joined = counts[0] if len(counts) == 1 else np.concatenate([np.zeros(none, np.int32), *counts])
    first = max(0, after - (state.documents - len(joined)))
    return Arrivals(sum_of_documents(joined[first:]), state.documents)


def sum_of_documents(counts: IntArray) -> FloatArray:
    """Return the tokens and documents of each topic.

    Args:
        counts: int32[D, C, T], the tokens of each topic in each document.

    Returns:
        float64[C, 2, T]. A document belongs to the topic with most of its tokens, the first of
        equals; without tokens to none.
    """
    sums = np.zeros((counts.shape[1], 2, counts.shape[2]))
    sum_documents(np.ascontiguousarray(counts, np.int32), sums)
    return sums
