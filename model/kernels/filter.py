"""Where particles meet: weights, resampling, and the filter that resamples after any token (Alg. 4 of Canini et al. 2009).

A meeting has three steps: :func:`meet` says who descends from whom, the survivors :func:`settle` what they drew, and all
:func:`become` what their ancestors are. It comes after each document, or in :func:`filter_tokens` after each token. Between two meetings
particles are independent and may run in threads. :func:`filter_tokens` runs one whole document in one thread: token, weights, resampling
where the ESS asks for it, and rejuvenation by tokens of the history, to which each token is admitted as it comes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.arrivals import arrival, draw_tokens, settle_page
from model.kernels.history import LONGEST, TOKENS, admit, schedule
from model.kernels.jit import inlined, kernel, page_inlined
from model.kernels.moves import move_units
from model.kernels.particles import PAGE, Draws, name_draws, new_desk, normalise, put_counts_back, start_gain, take_counts
from model.kernels.random import MOVE
from model.kernels.resampling import ancestors_of, children, normalise_weights
from model.kernels.tables import has_room, inherit

RESAMPLINGS, MOVES, SCHEDULED, GENERATIONS = range(4)

# Beside the units that it visits, a token writes itself; and the document's counts are written before the visits and at the end.
BESIDE = 2


class Meeting(NamedTuple):
    """What a meeting needs beside the cloud.

    threshold: resample when ESS <= threshold; 0: never, and then the particles are chains of equal weight. scheme: see :mod:`resampling`.
    evidence, evidence_exponent: float64[1], int64[1], the running product of P(document | past).
    ess: float64[1], after the last meeting. counters: int64[4], of this minibatch: resamplings, moves drawn, units
    scheduled; and, over the whole life, generations given.
    """

    threshold: float
    scheme: int
    evidence: npt.NDArray[np.float64]
    evidence_exponent: npt.NDArray[np.int64]
    ess: npt.NDArray[np.float64]
    counters: npt.NDArray[np.int64]


class Rejuvenation(NamedTuple):
    """When :func:`filter_tokens` visits the history: after ``every`` tokens (0: after each resampling), ``moves`` units each time."""

    every: int
    moves: int
    choice: int
    newest_share: float
    decay_sums: npt.NDArray[np.float64]


@kernel
def become(cloud: Any, ancestors: Any, counters: Any) -> None:
    """Every particle becomes a child of ``ancestors[p]``, sharing what it had; weights are even afterwards."""
    size = len(ancestors)
    shared = np.zeros(size, np.bool_)
    for p in range(size):
        if ancestors[p] != p:
            shared[ancestors[p]] = True
            shared[p] = True
    for p in range(size):
        if ancestors[p] != p:
            parent = ancestors[p]
            cloud.totals[p, :] = cloud.totals[parent, :]
            cloud.kinds[p, :] = cloud.kinds[parent, :]
            cloud.tables[p] = cloud.tables[parent]
            cloud.concentration[p, :] = cloud.concentration[parent, :]
            cloud.joint[p] = cloud.joint[parent]
            cloud.joint_exponent[p] = cloud.joint_exponent[parent]
        if shared[p]:
            counters[GENERATIONS] += 1
            cloud.generation[p] = counters[GENERATIONS]
        cloud.weight[p] = 1.0 / size
        cloud.weight_exponent[p] = 0
    inherit(cloud.words, ancestors)
    inherit(cloud.documents, ancestors)
    inherit(cloud.topics, ancestors)


@kernel
def meet(cloud: Any, meeting: Any, draws: Any, ancestors: Any) -> Any:
    """Normalise the weights, take the evidence; whether the ESS asks for resampling, and who descends from whom: int64[P]."""
    size = len(cloud.weight)
    for p in range(size):
        ancestors[p] = p
    meeting.ess[0] = normalise_weights(cloud.weight, cloud.weight_exponent, meeting.evidence, meeting.evidence_exponent)
    if meeting.threshold <= 0.0:
        for p in range(size):
            cloud.weight[p] = 1.0 / size
        return False
    if meeting.ess[0] > meeting.threshold or size == 1:
        return False
    counts = np.empty(size, np.int64)
    number = meeting.counters[RESAMPLINGS]
    children(cloud.weight, meeting.scheme, counts, draws.key0, draws.key1, cloud.identity[0], draws.sequence, number)
    ancestors_of(counts, ancestors)
    meeting.counters[RESAMPLINGS] += 1
    return True


@inlined
def rows_needed(particles: Any, units: Any, longest: Any, words: Any) -> Any:
    """Most rows of (words, documents, topics) that so many particles write while each visits so many units of at most ``longest`` tokens.

    A particle writes a word's row once, so ``words``, the vocabulary's size, bounds the first.
    """
    return particles * min(units * longest, words), particles * units, particles * units * (longest // PAGE + 2)


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
    at, page = begin, pages.first[slot]
    for _ in range(begin // PAGE):
        page = pages.following[page]
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
    words, documents, topics = rows_needed(size, rejuvenation.moves + BESIDE, past.sizes[LONGEST], len(prior.base) + 1)
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
