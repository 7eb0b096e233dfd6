"""The particle family's state, and how one document changes it.

The order of things for a document, when particles meet after documents (``ess_check=document``):

1. it gets a slot in the history; 2. each particle draws topics for its tokens (:mod:`model.kernels.arrivals`);
3. the particles meet: evidence, ESS, perhaps resampling, and those that live on write down what they drew; 4. the document can be
visited from now on; 5. if the trigger says so, R units of the history are visited, the same for all particles; 6. what nobody can visit
any more leaves.

When they meet after tokens, 2 to 5 are done token by token in one kernel, in one thread.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from model.kernels.arrivals import Arrival, arrival, first_pass, settle
from model.kernels.filter import MOVES, RESAMPLINGS, SCHEDULED, Meeting, Rejuvenation, become, filter_tokens, meet
from model.kernels.history import CHOICES, LONGEST, schedule
from model.kernels.moves import move_units
from model.kernels.particles import Cloud, Draws, Prior
from model.kernels.random import FIRST_PASS, MOVE, stream_key
from model.kernels.resampling import SCHEMES
from model.learners.cloud import ROWS_AT_ONCE, new_cloud, over_slices, with_room
from model.learners.history import History
from model.learners.priors import masses, needs_characters, new_prior
from model.learners.sparse_chains import SparseChain
from model.records import IntArray
from model.scaled import Scaled
from model.settings import LearnerSettings
from model.strings import CharacterModel
from model.vocabulary import Vocabulary

# Tokens that are drawn before they are written down: what is kept meanwhile is P times so many numbers.
PART = 4096


@dataclass
class ParticleState:
    """All that a learner of the particle family knows. ``waiting`` holds the initial batch until it is complete (None afterwards).

    ``recent``: the evidence of the last minibatches. ``drawn``, ``concentrated``: first-pass draws, and draws of a, in this
    minibatch, so that each is named once.
    ``characters``: G, where it is a distribution over strings and there have been words. ``based``: how many words' G(w) the prior holds.
    ``settled``, ``chain``: what an incomplete initial batch came to, remembered between a publication's snapshot and its figures; on
    tables, or on packed counts.
    """

    settings: LearnerSettings
    key: str
    island: int
    threads: int
    vocabulary: Vocabulary
    history: History
    prior: Prior
    cloud: Cloud
    meeting: Meeting
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
    settled: ParticleState | None = None
    chain: tuple[SparseChain, Scaled] | None = None

    @cached_property
    def stream(self) -> tuple[int, int]:
        """The stream key of all draws."""
        return stream_key(self.settings.seed, self.key)

    @cached_property
    def decay_sums(self) -> Any:
        """float64: sums of (r + 1)^-decay over ranks of age r."""
        return decay_sums(self.settings)

    @property
    def by_tokens(self) -> bool:
        """Whether particles meet, or rejuvenate, after single tokens."""
        return self.settings.ess_check == "token" or self.settings.rejuvenation == "tokens"


def new_state(settings: LearnerSettings, key: str, island: int, threads: int) -> ParticleState:
    """A learner that has seen nothing."""
    vocabulary = Vocabulary(settings.words, settings.prior_words, settings.word_memory)
    prior = new_prior(settings)
    particles = settings.island_particles
    by_tokens = settings.ess_check == "token" or settings.rejuvenation == "tokens"
    threads = 1 if by_tokens else min(threads, max(particles, settings.chains))
    return ParticleState(
        settings=settings,
        key=key,
        island=island,
        threads=threads,
        vocabulary=vocabulary,
        history=History(settings),
        prior=prior,
        cloud=new_cloud(prior, particles, threads, island * particles),
        meeting=new_meeting(settings),
        waiting=[] if settings.initial_documents else None,
        characters=spelling(settings.word_list) if needs_characters(settings) and settings.word_list else None,
    )


@lru_cache(maxsize=4)
def spelling(words: tuple[str, ...]) -> CharacterModel:
    """G of a word list; a process has several learners of the same settings."""
    return CharacterModel.fit(words)


def learn_spelling(state: ParticleState) -> None:
    """Without a word list the first words of the stream show how words are spelled: those known when learning begins."""
    if state.characters is None and needs_characters(state.settings) and len(state.vocabulary):
        state.characters = CharacterModel.fit(state.vocabulary.words)


def new_meeting(settings: LearnerSettings) -> Meeting:
    """Nothing scored yet, generations given to the first particles."""
    particles = settings.island_particles
    counters = np.array([0, 0, 0, particles], np.int64)
    scheme = SCHEMES.index(settings.resampling)
    return Meeting(settings.ess_threshold, scheme, np.full(1, 0.5), np.ones(1, np.int64), np.full(1, float(particles)), counters)


def begin_minibatch(state: ParticleState, sequence: int) -> None:
    """Draws are named anew in each minibatch."""
    state.sequence = sequence
    state.drawn = state.concentrated = 0
    state.meeting.counters[: SCHEDULED + 1] = 0
    state.meeting.evidence[0], state.meeting.evidence_exponent[0] = 0.5, 1


def draws(state: ParticleState, purpose: int) -> Draws:
    """Where the uniforms of this minibatch come from."""
    key0, key1 = state.stream
    return Draws(key0, key1, state.sequence, purpose)


def learn_document(state: ParticleState, tokens: IntArray, label: str | None) -> None:
    """One document: see the module's docstring. ``tokens`` are word numbers."""
    slot = state.history.begin(tokens, label)
    if state.by_tokens:
        _by_tokens(state, slot)
    else:
        _by_document(state, slot)
    state.history.release(slot)
    state.drawn += len(tokens)
    state.documents += 1
    state.tokens += len(tokens)
    state.scored += len(tokens)


def make_room(state: ParticleState, writers: int, units: int, longest: int) -> None:
    """Before a kernel runs: room for what so many particles may write, and a prior that covers all words."""
    words = len(state.vocabulary)
    if state.based < words:
        base = state.prior.base if len(state.prior.base) >= words else np.zeros(words + words // 2)
        base[: state.based] = state.prior.base[: state.based]
        base[state.based : words] = masses(state.settings, state.characters, state.vocabulary.words[state.based :])
        state.prior, state.based = state.prior._replace(base=base), words
    slots, pages = len(state.history.labels), len(state.history.pages.words)
    # As filter_tokens counts them: it asks for more room, for ever, if this were less.
    state.cloud = with_room(state.cloud, writers, units, longest, len(state.prior.base), slots, pages, state.threads)


def _by_document(state: ParticleState, slot: int) -> None:
    settings, history = state.settings, state.history
    last = _draw(state, slot, state.drawn, FIRST_PASS, blind=False)
    ancestors = np.empty(len(state.cloud.weight), np.int64)
    resampled = meet(state.cloud, state.meeting, draws(state, FIRST_PASS), ancestors)
    _settle(state, last, ancestors)
    if resampled:
        become(state.cloud, ancestors, state.meeting.counters)
    history.admit(slot, *state.stream)
    if settings.moves and (settings.rejuvenation == "document" or (settings.rejuvenation == "resampling" and resampled)):
        rejuvenate(state)


def draw_documents(state: ParticleState, slots: list[int], purpose: int, blind: bool) -> None:
    """All particles draw topics for the tokens of these documents, and none dies."""
    index = state.drawn
    for slot in slots:
        _settle(state, _draw(state, slot, index, purpose, blind), np.arange(len(state.cloud.weight), dtype=np.int64))
        index += int(state.history.pages.length[slot])


def _draw(state: ParticleState, slot: int, index: int, purpose: int, blind: bool) -> Arrival:
    """All particles draw topics for a document. Of a long one all but the last part is settled at once; the last part is returned."""
    length, particles = int(state.history.pages.length[slot]), len(state.cloud.weight)
    make_room(state, 0, 1, length)
    everyone, source = np.arange(particles, dtype=np.int64), draws(state, purpose)
    begin = 0
    while True:
        stop = min(begin + PART, length)
        new = arrival(state.history.pages, slot, begin, stop, particles, len(state.prior.alpha))
        over_slices(particles, state.threads, partial(_first_pass, state, source, new, index, blind))
        if stop == length:
            return new
        _settle(state, new, everyone)
        begin = stop


def _first_pass(state: ParticleState, source: Draws, new: Arrival, index: int, blind: bool, first: int, last: int, thread: int) -> None:
    first_pass(state.cloud, state.prior, source, new, index, blind, first, last)


def _settle(state: ParticleState, new: Arrival, ancestors: npt.NDArray[np.int64]) -> None:
    make_room(state, int(np.count_nonzero(ancestors == np.arange(len(ancestors)))), 1, len(new.words))
    run = partial(settle, state.cloud, state.history.pages, new, ancestors)
    over_slices(len(ancestors), state.threads, run)


def rejuvenate(state: ParticleState) -> None:
    """Visit R units of the history, chosen alike for all particles."""
    settings, counters = state.settings, state.meeting.counters
    slots, positions = np.empty(settings.moves, np.int32), np.empty(settings.moves, np.int64)
    found = schedule(
        state.history.past,
        CHOICES.index(settings.choice),
        settings.newest_share,
        state.decay_sums,
        slots,
        positions,
        *state.stream,
        state.sequence,
        int(counters[SCHEDULED]),
    )
    counters[SCHEDULED] += found
    visit(state, slots[:found], positions[:found], MOVE)


def visit(state: ParticleState, slots: Any, positions: Any, purpose: int) -> None:
    """All particles draw these units' topics again, as many units at a time as there is room for."""
    counters = state.meeting.counters
    lengths = np.where(positions < 0, state.history.pages.length[slots], 1)
    longest = max(int(lengths.max(initial=1)), 1)
    at_once = max(1, ROWS_AT_ONCE // (longest * len(state.cloud.weight)))
    for first in range(0, len(slots), at_once):
        part = slice(first, first + at_once)
        make_room(state, len(state.cloud.weight), min(at_once, len(slots) - first), longest)
        source, index = draws(state, purpose), int(counters[MOVES])
        run = partial(move_units, state.cloud, state.prior, state.history.pages, source, slots[part], positions[part], index)
        over_slices(len(state.cloud.weight), state.threads, run)
        counters[MOVES] += int(lengths[part].sum())


def _by_tokens(state: ParticleState, slot: int) -> None:
    settings, history = state.settings, state.history
    triggered = settings.rejuvenation in ("tokens", "resampling")
    rejuvenation = Rejuvenation(
        every=settings.every if settings.rejuvenation == "tokens" else 0,
        moves=settings.moves if triggered else 0,
        choice=CHOICES.index(settings.choice),
        newest_share=settings.newest_share,
        decay_sums=state.decay_sums,
    )
    at, end = 0, int(history.pages.length[slot])
    if end == 0:
        # No token writes the slot's counts, so those of the document before it would stay.
        draw_documents(state, [slot], FIRST_PASS, blind=False)
    while at < end:
        make_room(state, len(state.cloud.weight), rejuvenation.moves + 1, int(history.past.sizes[LONGEST]))
        at = filter_tokens(
            state.cloud,
            state.prior,
            history.pages,
            draws(state, FIRST_PASS),
            state.meeting,
            rejuvenation,
            history.past,
            slot,
            at,
            state.drawn,
            state.tokens,
        )
    if not history.tokens:
        history.admit(slot, *state.stream)
    if settings.moves and settings.rejuvenation == "document":
        rejuvenate(state)


def decay_sums(settings: LearnerSettings) -> Any:
    """float64: sums of (r + 1)^-decay over ranks of age r; powers by halves, from square roots and products."""
    if settings.choice != "decayed":
        return np.zeros(1)
    ranks = np.arange(1, max(settings.newest, settings.reservoir) + 1, dtype=np.float64)
    power = np.ones_like(ranks)
    for _ in range(int(settings.decay)):
        power *= ranks
    if settings.decay % 1:
        power *= np.sqrt(ranks)
    return np.cumsum(1.0 / power)


def resamplings(state: ParticleState) -> int:
    """In this minibatch."""
    return int(state.meeting.counters[RESAMPLINGS])
