"""How one document changes the state of the particle family
(:mod:`model.learners.particles.state`).

The order of things for a document, when particles meet after documents (``ess_check=document``):

1. it gets a slot in the history; 2. each particle draws topics for its tokens
    (:mod:`model.learners.particles.kernels.first_pass`);
3. the particles meet: evidence, ESS, perhaps resampling, and those that live on write down what
they drew; 4. the document can be visited from now on; 5. if the trigger says so, R units of the
history are visited, the same for all particles; 6. what nobody can visit any more leaves.

When they meet after tokens, 2 to 5 are done token by token in one kernel, in one thread.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from model.kernels.random import FIRST_PASS, MOVE
from model.learners.particles.kernels.chains import PART
from model.learners.particles.kernels.first_pass import (
    TokenDraws,
    first_pass,
    token_draws,
    write_draws,
)
from model.learners.particles.kernels.history import LONGEST, schedule
from model.learners.particles.kernels.particles import Draws
from model.learners.particles.kernels.rejuvenation import move_units
from model.learners.particles.kernels.resampling import (
    MOVES,
    RESAMPLINGS,
    SCHEDULED,
    resample,
    reweight,
)
from model.learners.particles.kernels.token_filter import EXTRA_UNITS, Rejuvenation, filter_tokens
from model.learners.particles.population import ROWS_AT_ONCE, over_slices
from model.learners.particles.state import ParticleState, draws, make_room
from model.records import IntArray


def learn_document(state: ParticleState, tokens: IntArray, label: str | None) -> None:
    """One document: see the module's docstring. ``tokens`` are word numbers."""
    slot = state.history.begin(tokens, label)
    if state.settings.by_tokens:
        _by_tokens(state, slot)
    else:
        _by_document(state, slot)
    state.history.release([slot])
    state.drawn += len(tokens)
    state.documents += 1
    state.tokens += len(tokens)
    state.scored += len(tokens)


def _by_document(state: ParticleState, slot: int) -> None:
    rejuvenation, history = state.settings.rejuvenation, state.history
    last = _draw(state, slot, state.drawn, FIRST_PASS, evenly=False)
    ancestors = np.empty(len(state.population.weight), np.int64)
    resampled = reweight(state.population, state.resampler, draws(state, FIRST_PASS), ancestors)
    _write_draws(state, last, ancestors)
    if resampled:
        resample(state.population, ancestors, state.resampler.counters)
    history.admit(slot, *state.stream)
    if rejuvenation.moves and rejuvenation.after_document(bool(resampled)):
        rejuvenate(state)


def draw_documents(state: ParticleState, slots: list[int], purpose: int, evenly: bool) -> None:
    """All particles draw topics for the tokens of these documents, and none dies."""
    index = state.drawn
    for slot in slots:
        _write_draws(
            state,
            _draw(state, slot, index, purpose, evenly),
            np.arange(len(state.population.weight), dtype=np.int64),
        )
        index += int(state.history.pages.length[slot])


def _draw(state: ParticleState, slot: int, index: int, purpose: int, evenly: bool) -> TokenDraws:
    """All particles draw topics for a document. Of a long one all but the last part is settled
    at once; the last part is returned.
    """
    length, particles = int(state.history.pages.length[slot]), len(state.population.weight)
    make_room(state, 0, 1, length)
    everyone, source = np.arange(particles, dtype=np.int64), draws(state, purpose)
    begin = 0
    while True:
        stop = min(begin + PART, length)
        new = token_draws(
            state.history.pages, slot, begin, stop, particles, len(state.prior.alpha), True
        )
        over_slices(
            particles, state.threads, partial(_first_pass, state, source, new, index, evenly)
        )
        if stop == length:
            return new
        _write_draws(state, new, everyone)
        begin = stop


def _first_pass(
    state: ParticleState,
    source: Draws,
    new: TokenDraws,
    index: int,
    evenly: bool,
    first: int,
    last: int,
    thread: int,
) -> None:
    first_pass(state.population, state.prior, source, new, index, evenly, first, last)


def _write_draws(state: ParticleState, new: TokenDraws, ancestors: npt.NDArray[np.int64]) -> None:
    make_room(
        state, int(np.count_nonzero(ancestors == np.arange(len(ancestors)))), 1, len(new.words)
    )
    run = partial(write_draws, state.population, state.history.pages, new, ancestors)
    over_slices(len(ancestors), state.threads, run)


def rejuvenate(state: ParticleState) -> None:
    """Visit R units of the history, chosen alike for all particles."""
    visits, counters = state.settings.rejuvenation, state.resampler.counters
    slots, positions = np.empty(visits.moves, np.int32), np.empty(visits.moves, np.int64)
    found = schedule(
        state.history.past,
        visits.choice.number,
        visits.history.newest_share,
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
    """All particles draw these units' topics again, as many units at a time as there is room
    for.
    """
    counters = state.resampler.counters
    lengths = np.where(positions < 0, state.history.pages.length[slots], 1)
    longest = max(int(lengths.max(initial=1)), 1)
    at_once = max(1, ROWS_AT_ONCE // (longest * len(state.population.weight)))
    for first in range(0, len(slots), at_once):
        part = slice(first, first + at_once)
        make_room(state, len(state.population.weight), min(at_once, len(slots) - first), longest)
        source, index = draws(state, purpose), int(counters[MOVES])
        run = partial(
            move_units,
            state.population,
            state.prior,
            state.history.pages,
            source,
            slots[part],
            positions[part],
            index,
        )
        over_slices(len(state.population.weight), state.threads, run)
        counters[MOVES] += int(lengths[part].sum())


def _by_tokens(state: ParticleState, slot: int) -> None:
    visits, history = state.settings.rejuvenation, state.history
    rejuvenation = Rejuvenation(
        every=visits.tokens,
        moves=visits.moves if visits.tokens or visits.after_resampling else 0,
        choice=visits.choice.number,
        newest_share=visits.history.newest_share,
        decay_sums=state.decay_sums,
    )
    at, end = 0, int(history.pages.length[slot])
    if end == 0:
        # No token writes the slot's counts, so those of the document before it would stay.
        draw_documents(state, [slot], FIRST_PASS, evenly=False)
    while at < end:
        make_room(
            state,
            len(state.population.weight),
            rejuvenation.moves + EXTRA_UNITS,
            int(history.past.sizes[LONGEST]),
        )
        at = filter_tokens(
            state.population,
            state.prior,
            history.pages,
            draws(state, FIRST_PASS),
            state.resampler,
            rejuvenation,
            history.past,
            slot,
            at,
            state.drawn,
            state.tokens,
        )
    if not history.tokens:
        history.admit(slot, *state.stream)
    if visits.moves and visits.after_document(False):
        rejuvenate(state)


def resamplings(state: ParticleState) -> int:
    """In this minibatch."""
    return int(state.resampler.counters[RESAMPLINGS])
