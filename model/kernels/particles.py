"""What a particle is. :mod:`model.kernels.arrivals` draws topics for a document that arrives, :mod:`model.kernels.moves` draws them again.

Notation: p a particle, w a word, t a topic (z in the papers), n_wt how often w has topic t, n_t = sum over w of n_wt, n_td the same
within document d; t_wt the tables of w in topic t (:mod:`model.kernels.seating`), k_t = sum over w of t_wt, m_w = sum over t of t_wt,
M = sum over w of m_w. A token's conditional probability is (DESIGN section 8)

    q_t = (alpha_t + n_td) * (n_wt - d * t_wt + (a + d * k_t) * B(w)) / (a + n_t)

and P(token | past) = sum_t q_t / (sum_t alpha_t + tokens of d so far). Where topics do not share words there are no tables, d = 0 and
B = G, a given distribution: with G = 1/W and a = W beta this is LDA. Where they do, B(w) = (m_w + a_0 G(w)) / (M + a_0).
``gain`` holds (alpha_t + n_td) / (a + n_t); it changes in two topics at a move, so q is one product a topic.

Each particle's joint probability P(w, z) and its weight are scaled products (:mod:`model.scaled`): no logarithm is taken.

Tokens live in pages of 32: ``page_words[page]`` is common to all particles, the topics are rows of the table ``topics``.

Kernels go through the tokens in the outer loop and through a tile of 16 particles in the inner one. A token's draw needs the gain that the
token before it wrote; the draws of several particles wait for nothing of each other, so the processor works at them side by side.
The order changes no result, since every draw has a name. Sixteen particles' arrays fit into the first cache.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.draw import aligned, new_scratch
from model.kernels.jit import inlined, kernel, page_inlined
from model.kernels.random import SEATS, fill_uniforms
from model.kernels.seating import NONE, SAMPLED, Closing
from model.kernels.sharing import Table
from model.kernels.tables import Rows, own_row, row_of

PAGE = 32

# In a page, in place of a word that has left the vocabulary: its token counts nowhere and is not drawn again.
GONE = -1

TILE = 16

_SMALL = 2.0**-400
_LARGE = 2.0**400


class Prior(NamedTuple):
    """alpha: float64[Tp], 0 in the pads. base: float64[words], G(w). a, a_0: what particles begin with. discount: d.

    tables: one of the kinds of :mod:`model.kernels.seating`, and closing: its V.
    """

    alpha: npt.NDArray[np.float64]
    alpha_sum: float
    base: npt.NDArray[np.float64]
    a: float
    base_a: float
    discount: float
    tables: int
    closing: Closing


class Cloud(NamedTuple):
    """All particles of an island. ``totals``: int64[P, Tp], n_t. ``kinds``: int64[P, Tp], k_t; ``tables``: int64[P], M.

    ``concentration``: float64[P, 2], a and a_0.
    ``words``: rows by word of n_wt, and where there are tables n_wt in the first Tp places, t_wt in the next, then m_w.
    ``documents``: rows of n_td by slot; ``topics``: rows of 32 topics by page.
    ``weight`` and ``joint``: float64[P] mantissas beside int64[P] exponents. ``generation``: int64[P], see :mod:`sharing`.
    ``identity``: int64[P], the particles' numbers in the whole learner (they differ between islands).
    """

    words: Table
    documents: Rows
    topics: Rows
    totals: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]
    tables: npt.NDArray[np.int64]
    concentration: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    weight_exponent: npt.NDArray[np.int64]
    joint: npt.NDArray[np.float64]
    joint_exponent: npt.NDArray[np.int64]
    generation: npt.NDArray[np.int64]
    identity: npt.NDArray[np.int64]


class Pages(NamedTuple):
    """The tokens of the documents in the history. ``words``: int32[pages, 32]. ``following``: int32[pages], -1 at a document's end.

    ``first``: int32[slots], a document's first page. ``length``: int64[slots], in tokens.
    """

    words: npt.NDArray[np.int32]
    following: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    length: npt.NDArray[np.int64]


class Draws(NamedTuple):
    """Where the uniforms of a call come from; see :mod:`model.kernels.random`."""

    key0: int
    key1: int
    sequence: int
    purpose: int


@inlined
def times(mantissa: Any, exponent: Any, p: Any, factor: Any) -> None:
    """(mantissa, exponent)[p] *= factor, kept well inside the range of a float64 by exact powers of two."""
    value = mantissa[p] * factor
    if value < _SMALL or value > _LARGE:
        value, shift = math.frexp(value)
        exponent[p] += shift
    mantissa[p] = value


@inlined
def normalise(mantissa: Any, exponent: Any, p: Any) -> None:
    """The one normal form: 0.5 <= mantissa < 1."""
    mantissa[p], shift = math.frexp(mantissa[p])
    exponent[p] += shift


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
def base_of(cloud: Any, prior: Any, p: Any, row: Any, w: Any, closed: Any) -> Any:
    """B(w), when ``closed`` of the word's tables are left out."""
    if prior.tables == NONE:
        return prior.base[w]
    a_0 = cloud.concentration[p, 1]
    return (row[2 * len(prior.alpha)] - closed + a_0 * prior.base[w]) / (cloud.tables[p] - closed + a_0)


@inlined
def tables_of(prior: Any, row: Any, t: Any) -> Any:
    """t_wt, and 0 where there are no tables."""
    return np.int64(row[len(prior.alpha) + t]) if prior.tables != NONE else 0


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
