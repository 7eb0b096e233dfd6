"""What a kernel has at hand while it draws the topics of one document: its counts, and what q is made of.

``gain`` holds (alpha_t + n_td) / (a + n_t); it changes in two topics at a move, so q is one product a topic (notation: as in
:mod:`model.kernels.particles`). A document's counts are taken onto the desk from the table and put back when they have changed.

Kernels go through the tokens in the outer loop and through a tile of 16 particles in the inner one. A token's draw needs the gain that the
token before it wrote; the draws of several particles wait for nothing of each other, so the processor works at them side by side.
The order changes no result, since every draw has a name. Sixteen particles' arrays fit into the first cache. (Where particles meet after
every token there is one desk for all of them: :mod:`model.kernels.filter`.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.draw import aligned, new_scratch
from model.kernels.jit import inlined, kernel, page_inlined
from model.kernels.particles import PAGE
from model.kernels.random import SEATS, fill_uniforms
from model.kernels.seating import SAMPLED
from model.kernels.tables import own_row, row_of

TILE = 16


class Desk(NamedTuple):
    """What a kernel works with while it goes through a tile of particles; i is a particle's place in the tile.

    gain, strength: float64[16, Tp], strength being a + d k_t. counts: int32[16, Tp], n_td.
    uniforms, seats: float64[16, 32] and float64[16, 64], a draw for each token's topic, and two for its tables.
    row, place: int64[16], where the token's word and, for moves, the page's topics are. changed: int64[16], how often the counts
    changed since they were taken. scratch: for draws.
    """

    scratch: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    strength: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int32]
    uniforms: npt.NDArray[np.float64]
    seats: npt.NDArray[np.float64]
    row: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    changed: npt.NDArray[np.int64]


@kernel
def new_desk(tp: Any, size: Any) -> Any:
    """Arrays for padded topics ``tp`` and ``size`` particles, a tile or all; what the vector loads read lies on cache lines."""
    return Desk(
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
def take_counts(cloud: Any, desk: Any, slot: Any, begun: Any, low: Any, high: Any) -> None:
    """A document's counts onto the desk; zeros where it has not ``begun``, since its row still has those of the slot's last document."""
    for p in range(low, high):
        row = row_of(cloud.documents, p, slot)
        desk.changed[p - low] = 0
        for t in range(desk.counts.shape[1]):
            desk.counts[p - low, t] = cloud.documents.rows[row, t] if begun else 0


@page_inlined
def put_counts_back(cloud: Any, desk: Any, slot: Any, low: Any, high: Any, thread: Any) -> None:
    """And back, where they changed."""
    for p in range(low, high):
        if desk.changed[p - low]:
            row = own_row(cloud.documents, p, slot, cloud.generation[p], thread, False)
            for t in range(desk.counts.shape[1]):
                cloud.documents.rows[row, t] = desk.counts[p - low, t]


@page_inlined
def start_gain(desk: Any, cloud: Any, prior: Any, low: Any, high: Any) -> None:
    """gain and strength of particles low..high-1 from the counts on the desk."""
    for p in range(low, high):
        i = p - low
        for t in range(len(prior.alpha)):
            desk.gain[i, t] = (prior.alpha[t] + desk.counts[i, t]) / (cloud.concentration[p, 0] + cloud.totals[p, t])
            desk.strength[i, t] = cloud.concentration[p, 0] + prior.discount * cloud.kinds[p, t]


@page_inlined
def name_draws(desk: Any, cloud: Any, prior: Any, draws: Any, number: Any, count: Any, low: Any, high: Any) -> None:
    """The uniforms of particles low..high-1 for the draws number..number + count - 1."""
    for p in range(low, high):
        fill_uniforms(desk.uniforms[p - low], count, number, draws.key0, draws.key1, cloud.identity[p], draws.sequence, draws.purpose)
        if prior.tables == SAMPLED:
            purpose = draws.purpose + SEATS
            fill_uniforms(desk.seats[p - low], 2 * count, 2 * number, draws.key0, draws.key1, cloud.identity[p], draws.sequence, purpose)


@inlined
def recount(cloud: Any, prior: Any, desk: Any, p: Any, i: Any, t: Any, step: Any, tables: Any) -> None:
    """A token joined (step 1) or left (-1) topic t, and so did as many ``tables``: the counts, and what is computed from them."""
    cloud.totals[p, t] += step
    desk.counts[i, t] += step
    desk.changed[i] += 1
    desk.gain[i, t] = (prior.alpha[t] + desk.counts[i, t]) / (cloud.concentration[p, 0] + cloud.totals[p, t])
    if tables:
        cloud.kinds[p, t] += step
        cloud.tables[p] += step
        desk.strength[i, t] = cloud.concentration[p, 0] + prior.discount * cloud.kinds[p, t]
