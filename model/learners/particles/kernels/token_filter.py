"""The filter that resamples after any token (Alg. 4 of Canini et al. 2009): one document, in one
thread.

Token by token: weights, resampling where the ESS asks for it
(:mod:`model.learners.particles.kernels.resampling`), and rejuvenation by tokens of the history, to
which each token is admitted as it comes. Resampling is rare next to tokens, so the document's
counts and gains stay on one workspace for all particles, children take over their ancestors' places
there, and the table has the counts before visits and at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import inlined, kernel, page_inlined
from model.kernels.random import MOVE
from model.learners.particles.kernels.first_pass import draw_tokens, token_draws, write_page_draws
from model.learners.particles.kernels.history import LONGEST, TOKENS, admit, schedule
from model.learners.particles.kernels.particles import PAGE, Draws, normalise, page_at
from model.learners.particles.kernels.rejuvenation import move_units
from model.learners.particles.kernels.resampling import MOVES, SCHEDULED, resample, reweight
from model.learners.particles.kernels.shared_rows import has_room
from model.learners.particles.kernels.workspace import (
    name_draws,
    new_workspace,
    put_counts_back,
    start_gain,
    take_counts,
)

# Beside the units that it visits, a token writes itself; and the document's counts are written
# before the visits and at the end.
EXTRA_UNITS = 2


class Rejuvenation(NamedTuple):
    """When :func:`filter_tokens` visits the history: after ``every`` tokens (0: after each
    resampling), ``moves`` units each time.
    """

    every: int
    moves: int
    choice: int
    newest_share: float
    decay_sums: npt.NDArray[np.float64]


@inlined
def rows_needed(
    particles: Any, units: Any, longest: Any, words: Any, slots: Any, pages: Any
) -> Any:
    """Most rows of (words, documents, topics) that so many particles write while each visits so
    many units of at most ``longest`` tokens.

    A particle writes a row once, so there are bounds: of ``words``, the vocabulary's size, of
    ``slots`` and of ``pages``. Where it descends from another in between, it writes again what it
    wrote for its token and for the document.
    """
    each = min(units * (longest // PAGE + 2), pages + EXTRA_UNITS)
    return (
        particles * min(units * longest, words + 1),
        particles * min(units, slots + EXTRA_UNITS),
        particles * each,
    )


@kernel
def filter_tokens(
    population: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    resampler: Any,
    rejuvenation: Any,
    past: Any,
    slot: Any,
    begin: Any,
    index: Any,
    age: Any,
) -> Any:
    """Alg. 4 (or 3) for one document from token ``begin`` on; returns the token to go on with when
    the tables run short of room.

    past: the history, whose units are tokens where ``past.sizes[TOKENS]`` is 1; each token is
    admitted as it comes. ``index`` names the document's first draw in the minibatch, ``age`` is how
    many tokens were learned before the document.
    """
    size, length, tp = len(population.weight), pages.length[slot], len(prior.alpha)
    workspace = new_workspace(tp, size)
    take_counts(population, workspace, slot, begin > 0, 0, size)
    start_gain(workspace, population, prior, 0, size)
    at, page = begin, page_at(pages, slot, begin)
    while at < length:
        new = token_draws(pages, slot, at, min((at // PAGE + 1) * PAGE, length), size, tp, False)
        at = _filter_page(
            population,
            prior,
            pages,
            draws,
            resampler,
            rejuvenation,
            past,
            workspace,
            new,
            page,
            index,
            age,
        )
        if at < new.stop:
            break
        page = pages.following[page]
    put_counts_back(population, workspace, slot, 0, size, 0)
    for p in range(size):
        normalise(population.joint, population.joint_exponent, p)
    return at


@kernel
def _filter_page(
    population: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    resampler: Any,
    rejuvenation: Any,
    past: Any,
    workspace: Any,
    new: Any,
    page: Any,
    index: Any,
    age: Any,
) -> Any:
    """The tokens of an arrival, all of one page, one by one: each is settled before the next is
    drawn.
    """
    size = len(population.weight)
    ancestors, none = (
        np.empty(size, np.int64),
        np.empty((0, size, population.words.rows.shape[1]), population.words.rows.dtype),
    )
    slots, count, units = len(pages.first), len(pages.words), rejuvenation.moves + EXTRA_UNITS
    words, documents, topics = rows_needed(
        size, units, past.sizes[LONGEST], len(prior.base), slots, count
    )
    name_draws(workspace, population, prior, draws, index + new.begin, len(new.words), 0, size)
    for k in range(len(new.words)):
        i = new.begin + k
        if not (
            has_room(population.words, words)
            and has_room(population.documents, documents)
            and has_room(population.topics, topics)
        ):
            return i
        draw_tokens(population, prior, workspace, new, none, k, k + 1, k, 0, size, 0)
        resampled = reweight(population, resampler, draws, ancestors)
        write_page_draws(population, new, page, k, k + 1, ancestors, 0, size, 0)
        if resampled:
            resample(population, ancestors, resampler.counters)
            _inherit_workspace(workspace, ancestors)
        if past.sizes[TOKENS]:
            admit(past, new.slot, i, draws.key0, draws.key1)
        due = (age + i + 1) % rejuvenation.every == 0 if rejuvenation.every > 0 else resampled
        if due and rejuvenation.moves > 0:
            put_counts_back(population, workspace, new.slot, 0, size, 0)
            _revisit(population, prior, pages, draws, resampler, rejuvenation, past)
            take_counts(population, workspace, new.slot, True, 0, size)
            start_gain(workspace, population, prior, 0, size)
    return new.stop


@page_inlined
def _inherit_workspace(workspace: Any, ancestors: Any) -> None:
    """What lies on the workspace for a particle is what lies there for its ancestor."""
    for p in range(len(ancestors)):
        if ancestors[p] != p:
            workspace.changed[p] = workspace.changed[ancestors[p]]
            for t in range(workspace.counts.shape[1]):
                workspace.counts[p, t] = workspace.counts[ancestors[p], t]
                workspace.gain[p, t] = workspace.gain[ancestors[p], t]
                workspace.strength[p, t] = workspace.strength[ancestors[p], t]


@inlined
def _revisit(
    population: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    resampler: Any,
    rejuvenation: Any,
    past: Any,
) -> None:
    """All particles draw the topics of units of the history again."""
    slots, positions = (
        np.empty(rejuvenation.moves, np.int32),
        np.empty(rejuvenation.moves, np.int64),
    )
    found = schedule(
        past,
        rejuvenation.choice,
        rejuvenation.newest_share,
        rejuvenation.decay_sums,
        slots,
        positions,
        draws.key0,
        draws.key1,
        draws.sequence,
        resampler.counters[SCHEDULED],
    )
    resampler.counters[SCHEDULED] += found
    drawn = 0
    for unit in range(found):
        drawn += pages.length[slots[unit]] if positions[unit] < 0 else 1
    moves = Draws(draws.key0, draws.key1, draws.sequence, MOVE)
    move_units(
        population,
        prior,
        pages,
        moves,
        slots[:found],
        positions[:found],
        resampler.counters[MOVES],
        0,
        len(population.weight),
        0,
    )
    resampler.counters[MOVES] += drawn
