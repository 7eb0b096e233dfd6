"""The filter that resamples after any token (Alg. 4 of Canini et al. 2009): one document, in one thread.

Token by token: weights, resampling where the ESS asks for it (:mod:`model.kernels.meeting`), and rejuvenation by tokens of the history, to
which each token is admitted as it comes. Resampling is rare next to tokens, so the document's counts and gains stay on one desk for all
particles, children take over their ancestors' places there, and the table has the counts before visits and at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.arrivals import arrival, draw_tokens, settle_page
from model.kernels.desk import name_draws, new_desk, put_counts_back, start_gain, take_counts
from model.kernels.history import LONGEST, TOKENS, admit, schedule
from model.kernels.jit import inlined, kernel, page_inlined
from model.kernels.meeting import MOVES, SCHEDULED, become, meet
from model.kernels.moves import move_units
from model.kernels.particles import PAGE, Draws, normalise, page_at
from model.kernels.random import MOVE
from model.kernels.tables import has_room

# Beside the units that it visits, a token writes itself; and the document's counts are written before the visits and at the end.
BESIDE = 2


class Rejuvenation(NamedTuple):
    """When :func:`filter_tokens` visits the history: after ``every`` tokens (0: after each resampling), ``moves`` units each time."""

    every: int
    moves: int
    choice: int
    newest_share: float
    decay_sums: npt.NDArray[np.float64]


@inlined
def rows_needed(particles: Any, units: Any, longest: Any, words: Any, slots: Any, pages: Any) -> Any:
    """Most rows of (words, documents, topics) that so many particles write while each visits so many units of at most ``longest`` tokens.

    A particle writes a row once, so there are bounds: of ``words``, the vocabulary's size, of ``slots`` and of ``pages``. Where it descends
    from another in between, it writes again what it wrote for its token and for the document.
    """
    each = min(units * (longest // PAGE + 2), pages + BESIDE)
    return particles * min(units * longest, words + 1), particles * min(units, slots + BESIDE), particles * each


@kernel
def filter_tokens(
    cloud: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    meeting: Any,
    rejuvenation: Any,
    past: Any,
    slot: Any,
    begin: Any,
    index: Any,
    age: Any,
) -> Any:
    """Alg. 4 (or 3) for one document from token ``begin`` on; returns the token to go on with when the tables run short of room.

    past: the history, whose units are tokens where ``past.sizes[TOKENS]`` is 1; each token is admitted as it comes. ``index``
    names the document's first draw in the minibatch, ``age`` is how many tokens were learned before the document.
    """
    size, length, tp = len(cloud.weight), pages.length[slot], len(prior.alpha)
    desk = new_desk(tp, size)
    take_counts(cloud, desk, slot, begin > 0, 0, size)
    start_gain(desk, cloud, prior, 0, size)
    at, page = begin, page_at(pages, slot, begin)
    while at < length:
        new = arrival(pages, slot, at, min((at // PAGE + 1) * PAGE, length), size, tp, False)
        at = _filter_page(cloud, prior, pages, draws, meeting, rejuvenation, past, desk, new, page, index, age)
        if at < new.stop:
            break
        page = pages.following[page]
    put_counts_back(cloud, desk, slot, 0, size, 0)
    for p in range(size):
        normalise(cloud.joint, cloud.joint_exponent, p)
    return at


@kernel
def _filter_page(
    cloud: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    meeting: Any,
    rejuvenation: Any,
    past: Any,
    desk: Any,
    new: Any,
    page: Any,
    index: Any,
    age: Any,
) -> Any:
    """The tokens of an arrival, all of one page, one by one: each is settled before the next is drawn."""
    size = len(cloud.weight)
    ancestors, none = np.empty(size, np.int64), np.empty((0, size, cloud.words.rows.shape[1]), cloud.words.rows.dtype)
    slots, count, units = len(pages.first), len(pages.words), rejuvenation.moves + BESIDE
    words, documents, topics = rows_needed(size, units, past.sizes[LONGEST], len(prior.base), slots, count)
    name_draws(desk, cloud, prior, draws, index + new.begin, len(new.words), 0, size)
    for k in range(len(new.words)):
        i = new.begin + k
        if not (has_room(cloud.words, words) and has_room(cloud.documents, documents) and has_room(cloud.topics, topics)):
            return i
        draw_tokens(cloud, prior, desk, new, none, k, k + 1, k, 0, size, 0)
        resampled = meet(cloud, meeting, draws, ancestors)
        settle_page(cloud, new, page, k, k + 1, ancestors, 0, size, 0)
        if resampled:
            become(cloud, ancestors, meeting.counters)
            _inherit_desk(desk, ancestors)
        if past.sizes[TOKENS]:
            admit(past, new.slot, i, draws.key0, draws.key1)
        due = (age + i + 1) % rejuvenation.every == 0 if rejuvenation.every > 0 else resampled
        if due and rejuvenation.moves > 0:
            put_counts_back(cloud, desk, new.slot, 0, size, 0)
            _revisit(cloud, prior, pages, draws, meeting, rejuvenation, past)
            take_counts(cloud, desk, new.slot, True, 0, size)
            start_gain(desk, cloud, prior, 0, size)
    return new.stop


@page_inlined
def _inherit_desk(desk: Any, ancestors: Any) -> None:
    """What lies on the desk for a particle is what lies there for its ancestor."""
    for p in range(len(ancestors)):
        if ancestors[p] != p:
            desk.changed[p] = desk.changed[ancestors[p]]
            for t in range(desk.counts.shape[1]):
                desk.counts[p, t] = desk.counts[ancestors[p], t]
                desk.gain[p, t] = desk.gain[ancestors[p], t]
                desk.strength[p, t] = desk.strength[ancestors[p], t]


@inlined
def _revisit(cloud: Any, prior: Any, pages: Any, draws: Any, meeting: Any, rejuvenation: Any, past: Any) -> None:
    """All particles draw the topics of units of the history again."""
    slots, positions = np.empty(rejuvenation.moves, np.int32), np.empty(rejuvenation.moves, np.int64)
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
        meeting.counters[SCHEDULED],
    )
    meeting.counters[SCHEDULED] += found
    drawn = 0
    for unit in range(found):
        drawn += pages.length[slots[unit]] if positions[unit] < 0 else 1
    moves = Draws(draws.key0, draws.key1, draws.sequence, MOVE)
    move_units(cloud, prior, pages, moves, slots[:found], positions[:found], meeting.counters[MOVES], 0, len(cloud.weight), 0)
    meeting.counters[MOVES] += drawn
