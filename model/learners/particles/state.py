"""The particle family's state: what it holds, how it begins, and room for what is coming."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from model.kernels.random import stream_key
from model.learners.batch_gibbs.sparse_chains import SparseChain
from model.learners.particles.challenger_settings import Challengers
from model.learners.particles.following import Following
from model.learners.particles.history import History
from model.learners.particles.initial_settings import InitialBatch, NoInitialBatch
from model.learners.particles.kernels.particles import Draws, Population, Prior
from model.learners.particles.kernels.resampling import SCHEDULED, Resampler
from model.learners.particles.population import new_population, with_capacity
from model.learners.particles.priors import base_probabilities, new_prior
from model.learners.particles.rejuvenation import Decayed
from model.learners.particles.settings import ParticleSettings
from model.records import IntArray
from model.scaled import Scaled
from model.words.character_model import CharacterModel
from model.words.vocabulary import Vocabulary


@dataclass
class ParticleState:
    """All that a learner of the particle family knows. ``waiting`` holds the initial batch until it
    is complete (None afterwards).

    ``recent``: the evidence of the last minibatches. ``drawn``, ``concentrated``: the next index of
    a first-pass draw, and of a draw for a and a_0, in this minibatch, so that each is named once.
    ``characters``: G, where it is a distribution over strings and there have been words. ``based``:
    how many words' G(w) the prior holds. ``sums``: of decays, as far as they were needed.
    ``initialised``, ``chain``: what an incomplete initial batch came to, remembered between a
    publication's snapshot and its figures; on tables, or on packed counts. ``following``: what is
    remembered of the stream's changes, where particles are challenged.
    """

    settings: ParticleSettings
    key: str
    island: int
    threads: int
    vocabulary: Vocabulary
    history: History
    prior: Prior
    population: Population
    resampler: Resampler
    waiting: list[tuple[IntArray, str | None]] | None
    sequence: int = 0
    drawn: int = 0
    concentrated: int = 0
    documents: int = 0
    tokens: int = 0
    scored: int = 0
    evidence: Scaled = field(default_factory=lambda: Scaled(0.5, 1))
    recent: deque[Scaled] = field(default_factory=deque)
    characters: CharacterModel | None = None
    based: int = 0
    sums: Any = field(default_factory=lambda: np.zeros(1))
    initialised: ParticleState | None = None
    chain: tuple[SparseChain, Scaled] | None = None
    following: Following | None = None

    @cached_property
    def stream(self) -> tuple[int, int]:
        """The stream key of all draws."""
        return stream_key(self.settings.seed, self.key)

    @property
    def decay_sums(self) -> Any:
        """float64: sums of (r + 1)^-decay over all ranks of age r that there can be."""
        ranks = max(len(self.history.past.newest_slot), len(self.history.past.kept_slot))
        choice = self.settings.rejuvenation.choice
        if isinstance(choice, Decayed) and len(self.sums) < ranks:
            self.sums = decay_sums(choice.decay, ranks)
        return self.sums

    @property
    def unlearned(self) -> Sequence[tuple[IntArray, str | None]]:
        """Documents that came and wait: for the initial batch to be complete, or for a duel."""
        return self.waiting or (self.following.held if self.following else ())

    @property
    def initial(self) -> InitialBatch:
        """How the waiting documents are learned; there are none without an initial batch."""
        assert isinstance(self.settings.initial, InitialBatch)
        return self.settings.initial


def new_state(settings: ParticleSettings, key: str, island: int, threads: int) -> ParticleState:
    """A learner that has seen nothing."""
    prior, particles, initial = new_prior(settings), settings.island_particles, settings.initial
    whole_past, word_list = settings.rejuvenation.whole_past, settings.prior.word_list
    chains = initial.chains if isinstance(initial, InitialBatch) else 1
    threads = 1 if settings.by_tokens or whole_past else min(threads, max(particles, chains))
    return ParticleState(
        settings=settings,
        key=key,
        island=island,
        threads=threads,
        vocabulary=settings.vocabulary.new(),
        history=History(settings.rejuvenation.history, settings.rejuvenation.unit == "token"),
        prior=prior,
        population=new_population(prior, particles, threads, island * particles, whole_past),
        resampler=new_resampler(settings),
        waiting=None if isinstance(initial, NoInitialBatch) else [],
        characters=spelling(word_list) if settings.is_spelled and word_list else None,
        following=new_following(settings),
    )


def new_following(settings: ParticleSettings) -> Following | None:
    """Of a stream of which nothing came; None where no particle is challenged."""
    challengers = settings.rejuvenation.challengers
    return Following(challengers.judges) if isinstance(challengers, Challengers) else None


@lru_cache(maxsize=4)
def spelling(words: tuple[str, ...]) -> CharacterModel:
    """G of a word list; a process has several learners of the same settings."""
    return CharacterModel.fit(words)


def learn_spelling(state: ParticleState) -> None:
    """Without a word list the first words of the stream show how words are spelled: those known
    when learning begins.
    """
    if state.characters is None and state.settings.is_spelled and len(state.vocabulary):
        state.characters = CharacterModel.fit(state.vocabulary.words)


def new_resampler(settings: ParticleSettings) -> Resampler:
    """Nothing scored yet, generations given to the first particles."""
    particles = settings.island_particles
    counters = np.array([0, 0, 0, particles], np.int64)
    begin = np.full(1, 0.5), np.ones(1, np.int64), np.full(1, float(particles))
    return Resampler(settings.ess_threshold, settings.resampling.scheme, *begin, counters)


def begin_minibatch(state: ParticleState, sequence: int) -> None:
    """Draws are named anew in each minibatch."""
    state.sequence = sequence
    state.drawn = state.concentrated = 0
    state.resampler.counters[: SCHEDULED + 1] = 0
    state.resampler.evidence[0], state.resampler.evidence_exponent[0] = 0.5, 1


def draws(state: ParticleState, purpose: int) -> Draws:
    """Where the uniforms of this minibatch come from."""
    key0, key1 = state.stream
    return Draws(key0, key1, state.sequence, purpose)


def ensure_capacity(state: ParticleState, writers: int, units: int, longest: int) -> None:
    """Before a kernel runs: room for what so many particles may write, and a prior that covers
    all words.
    """
    words = len(state.vocabulary)
    if state.based < words:
        base = state.prior.base if len(state.prior.base) >= words else np.zeros(words + words // 2)
        base[: state.based] = state.prior.base[: state.based]
        base[state.based : words] = base_probabilities(
            state.settings, state.characters, state.vocabulary.words[state.based :]
        )
        state.prior, state.based = state.prior._replace(base=base), words
    slots, pages = len(state.history.labels), len(state.history.pages.words)
    # As filter_tokens counts them: it asks for more room, for ever, if this were less.
    state.population = with_capacity(
        state.population,
        writers=writers,
        units=units,
        longest=longest,
        words=len(state.prior.base),
        slots=slots,
        pages=pages,
        threads=state.threads,
    )


def decay_sums(decay: float, count: int) -> Any:
    """float64: sums of (r + 1)^-decay over ranks of age r; powers by halves, from square roots
    and products.
    """
    ranks = np.arange(1, count + 1, dtype=np.float64)
    power = np.ones_like(ranks)
    for _ in range(int(decay)):
        power *= ranks
    if decay % 1:
        power *= np.sqrt(ranks)
    return np.cumsum(1.0 / power)
