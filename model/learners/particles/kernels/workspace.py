"""What a kernel has at hand while it draws the topics of one document: its counts, and what q is
made of.

``gain`` holds (alpha_t + n_td) / (a + n_t); it changes in two topics at a move, so q is one product
a topic (notation: as in :mod:`model.learners.particles.kernels.particles`). A document's counts are
taken onto the workspace from the table and put back when they have changed.

Kernels go through the tokens in the outer loop and through a tile of 16 particles in the inner one.
A token's draw needs the gain that the token before it wrote; the draws of several particles wait
for nothing of each other, so the processor works at them side by side. The order changes no result,
since every draw has a name. Sixteen particles' arrays fit into the first cache. (Where particles
meet after every token there is one workspace for all of them:
:mod:`model.learners.particles.kernels.token_filter`.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import inlined, kernel, page_inlined
from model.kernels.random import SEATS, fill_uniforms
from model.learners.particles.kernels.draw import aligned, new_scratch
from model.learners.particles.kernels.particles import PAGE
from model.learners.particles.kernels.shared_rows import own_row, row_of
from model.learners.particles.kernels.table_counts import SAMPLED

TILE = 16


class Workspace(NamedTuple):
    """What a kernel works with while it goes through a tile of particles; i is a particle's place
    in the tile.

    gain, strength: float64[16, Tp], strength being a + d k_t. counts: int32[16, Tp], n_td.
    uniforms, seats: float64[16, 32] and float64[16, 64], a draw for each token's topic, and two for
    its tables. row, place: int64[16], where the token's word and, for moves, the page's topics are.
    changed: int64[16], how often the counts changed since they were taken. scratch: for draws.
    """

    scratch: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    strength: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int32]
    uniforms: npt.NDArray[np.float64]
    table_uniforms: npt.NDArray[np.float64]
    row: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    changed: npt.NDArray[np.int64]


@kernel
def new_workspace(tp: Any, size: Any) -> Any:
    """Arrays for padded topics ``tp`` and ``size`` particles, a tile or all; what the vector
    loads read lies on cache lines.
    """
    return Workspace(
        new_scratch(tp),
        aligned(size * tp).reshape((size, tp)),
        aligned(size * tp).reshape((size, tp)),
        np.zeros((size, tp), np.int32),
        np.zeros((size, PAGE)),
        np.zeros((size, 2 * PAGE)),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
    )


@page_inlined
def take_counts(
    population: Any, workspace: Any, slot: Any, begun: Any, low: Any, high: Any
) -> None:
    """A document's counts onto the workspace; zeros where it has not ``begun``, since its row
    still has those of the slot's last document.
    """
    for p in range(low, high):
        row = row_of(population.documents, p, slot)
        workspace.changed[p - low] = 0
        for t in range(workspace.counts.shape[1]):
            workspace.counts[p - low, t] = population.documents.rows[row, t] if begun else 0


@page_inlined
def put_counts_back(
    population: Any, workspace: Any, slot: Any, low: Any, high: Any, thread: Any
) -> None:
    """And back, where they changed."""
    for p in range(low, high):
        if workspace.changed[p - low]:
            row = own_row(population.documents, p, slot, population.generation[p], thread, False)
            for t in range(workspace.counts.shape[1]):
                population.documents.rows[row, t] = workspace.counts[p - low, t]


@page_inlined
def start_gain(workspace: Any, population: Any, prior: Any, low: Any, high: Any) -> None:
    """gain and strength of particles low..high-1 from the counts on the workspace."""
    for p in range(low, high):
        i = p - low
        for t in range(len(prior.alpha)):
            workspace.gain[i, t] = (prior.alpha[t] + workspace.counts[i, t]) / (
                population.concentration[p, 0] + population.totals[p, t]
            )
            workspace.strength[i, t] = (
                population.concentration[p, 0] + prior.discount * population.topic_tables[p, t]
            )


@page_inlined
def name_draws(
    workspace: Any,
    population: Any,
    prior: Any,
    draws: Any,
    number: Any,
    count: Any,
    low: Any,
    high: Any,
) -> None:
    """The uniforms of particles low..high-1 for the draws number..number + count - 1."""
    for p in range(low, high):
        fill_uniforms(
            workspace.uniforms[p - low],
            count,
            number,
            draws.key0,
            draws.key1,
            population.identity[p],
            draws.sequence,
            draws.purpose,
        )
        if prior.tables == SAMPLED:
            purpose = draws.purpose + SEATS
            fill_uniforms(
                workspace.table_uniforms[p - low],
                2 * count,
                2 * number,
                draws.key0,
                draws.key1,
                population.identity[p],
                draws.sequence,
                purpose,
            )


@inlined
def recount(
    population: Any, prior: Any, workspace: Any, p: Any, i: Any, t: Any, step: Any, tables: Any
) -> None:
    """A token joined (step 1) or left (-1) topic t, and so did as many ``tables``: the counts,
    and what is computed from them.
    """
    population.totals[p, t] += step
    workspace.counts[i, t] += step
    workspace.changed[i] += 1
    workspace.gain[i, t] = (prior.alpha[t] + workspace.counts[i, t]) / (
        population.concentration[p, 0] + population.totals[p, t]
    )
    if tables:
        population.topic_tables[p, t] += step
        population.tables[p] += step
        workspace.strength[i, t] = (
            population.concentration[p, 0] + prior.discount * population.topic_tables[p, t]
        )
