"""The place of a token in a topic, and what one particle has at hand while its tokens move.

``Desk`` has rows of the arrays of
:class:`~beam_topics.model.learners.particles.kernels.particles.Population` and of
:class:`~beam_topics.model.learners.particles.kernels.workspace.Workspace` that belong to one
particle. An index into a row of its own costs an addition, one into an array of all particles a
product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import page_inlined
from beam_topics.model.learners.particles.kernels.draw import put
from beam_topics.model.learners.particles.kernels.particles import times
from beam_topics.model.learners.particles.kernels.table_counts import (
    joint_factor,
    joint_factor_with,
)


class Desk(NamedTuple):
    """What belongs to one particle.

    Attributes:
        gain: float64[Tp], (alpha_t + n_td) / (a + n_t).
        strength: float64[Tp], a + d k_t.
        counts: int32[Tp], n_td.
        uniforms: float64[32], one for each token's topic.
        table_uniforms: float64[64], two for each token's tables.
        totals: int64[Tp], n_t.
        topic_tables: int64[Tp], k_t.
        sums: float64, see
            :class:`~beam_topics.model.learners.particles.kernels.workspace.Workspace`.
        a: the concentration.
    """

    gain: npt.NDArray[np.float64]
    strength: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int32]
    uniforms: npt.NDArray[np.float64]
    table_uniforms: npt.NDArray[np.float64]
    totals: npt.NDArray[np.int64]
    topic_tables: npt.NDArray[np.int64]
    sums: npt.NDArray[np.float64]
    a: float


class Seat(NamedTuple):
    """The terms of a token's weight in a topic, in which the token is not counted.

    Attributes:
        gain: (alpha_t + n_td) / (a + n_t).
        n: n_wt.
        tables: t_wt.
        strength: a + d k_t.
        backoff: (a + d k_t) B(w).
    """

    gain: float
    n: int
    tables: int
    strength: float
    backoff: float


@page_inlined
def desk_of(population, workspace, p, i):
    """Return the desk of particle p, which is i-th in the workspace."""
    return Desk(
        workspace.gain[i],
        workspace.strength[i],
        workspace.counts[i],
        workspace.uniforms[i],
        workspace.table_uniforms[i],
        population.totals[p],
        population.topic_tables[p],
        workspace.sums[i],
        population.concentration[p, 0],
    )


@page_inlined
def seat_left(prior, desk, n, tables, base, closed, t):
    """Return the seat in topic t that a token leaves; ``n`` and ``tables`` still have it."""
    gain = (prior.alpha[t] + (desk.counts[t] - 1)) / (desk.a + (desk.totals[t] - 1))
    strength = desk.a + prior.discount * (desk.topic_tables[t] - closed)
    return Seat(gain, n - 1, tables - closed, strength, strength * base)


@page_inlined
def seat_at(desk, n, tables, base, t):
    """Return a seat in topic t, in which the token was not."""
    return Seat(desk.gain[t], n, tables, desk.strength[t], desk.strength[t] * base)


@page_inlined
def weight_of(prior, seat):
    """Return q."""
    return seat.gain * ((seat.n - prior.discount * seat.tables) + seat.backoff)


@page_inlined
def change_seat(population, prior, desk, p, left, closed, closing, old, taken, opened, t):
    """Count a token that moves in all but its word, and multiply the joint by the ratio of factors.

    Args:
        population: the particles.
        prior: the prior.
        desk: what belongs to p.
        p: the particle.
        left: the seat that the token leaves.
        closed: whether its table closes.
        closing: the probability of that.
        old: the topic of ``left``.
        taken: the seat that it takes.
        opened: whether it opens a table.
        t: the topic of ``taken``.
    """
    before = left.gain * joint_factor_with(
        prior, left.n, left.tables, left.backoff, closed, closing
    )
    after = taken.gain * joint_factor(prior, taken.n, taken.tables, taken.backoff, opened)
    times(population.joint, population.joint_exponent, np.uint64(p), after / before)
    # Without branches, which the processor could not predict.
    population.tables[np.uint64(p)] += np.int64(opened) - np.int64(closed)
    _leave(desk, left, old, closed)
    _join(prior, desk, t, opened)


@page_inlined
def _leave(desk, left, t, closed):
    """Count a token that leaves a seat in topic t, with its table if ``closed``."""
    desk.totals[t] -= 1
    desk.counts[t] -= 1
    desk.topic_tables[t] -= np.int64(closed)
    put(desk.gain, t, left.gain)
    put(desk.strength, t, left.strength)


@page_inlined
def _join(prior, desk, t, opened):
    """Count a token that joins topic t, with a new table if ``opened``."""
    desk.totals[t] += 1
    desk.counts[t] += 1
    desk.topic_tables[t] += np.int64(opened)
    put(desk.gain, t, (prior.alpha[t] + desk.counts[t]) / (desk.a + desk.totals[t]))
    put(desk.strength, t, desk.a + prior.discount * desk.topic_tables[t])
