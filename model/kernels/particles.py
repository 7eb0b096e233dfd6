"""What a particle is. :mod:`model.kernels.arrivals` draws topics for a document that arrives, :mod:`model.kernels.moves` draws them again.

Notation: p a particle, w a word, t a topic (z in the papers), n_wt how often w has topic t, n_t = sum over w of n_wt, n_td the same
within document d, k_t the number of distinct words in topic t. A token's conditional probability is (DESIGN section 8, minimal path)

    q_t = (alpha_t + n_td) * (n_wt - discount * [n_wt > 0] + (a + discount * k_t) * B(w)) / (a + n_t)

and P(token | past) = sum_t q_t / (sum_t alpha_t + tokens of d so far). With discount 0 this is LDA with B(w) = 1/W, a = W beta.
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
from model.kernels.jit import inlined, kernel, page_kernel
from model.kernels.random import fill_uniforms
from model.kernels.sharing import Table

PAGE = 32

TILE = 16

_SMALL = 2.0**-400
_LARGE = 2.0**400


class Prior(NamedTuple):
    """alpha: float64[Tp], 0 in the pads. base: float64[words], B(w). a, discount: of the topics over words."""

    alpha: npt.NDArray[np.float64]
    alpha_sum: float
    base: npt.NDArray[np.float64]
    a: float
    discount: float


class Cloud(NamedTuple):
    """All particles of an island. ``totals``: int64[P, Tp], n_t. ``kinds``: int64[P, Tp], k_t where there is a discount, else 0.

    ``words``: rows of n_wt by word; ``documents``: rows of n_td by slot; ``topics``: rows of 32 topics by page.
    ``weight`` and ``joint``: float64[P] mantissas beside int64[P] exponents. ``generation``: int64[P], see :mod:`sharing`.
    ``identity``: int64[P], the particles' numbers in the whole learner (they differ between islands).
    """

    words: Table
    documents: Table
    topics: Table
    totals: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]
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

    gain, strength: float64[16, Tp], strength being a + discount * k_t. counts: int32[16, Tp], n_td. uniforms: float64[16, 32].
    place, moved: int64[16], for moves: where the page's topics are, and how many tokens changed theirs. scratch: for draws.
    """

    scratch: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    strength: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int32]
    uniforms: npt.NDArray[np.float64]
    place: npt.NDArray[np.int64]
    moved: npt.NDArray[np.int64]


@kernel
def new_desk(tp: Any) -> Any:
    """Arrays for padded topics ``tp``; what the vector loads read lies on cache lines."""
    return Desk(
        new_scratch(tp),
        aligned(TILE * tp).reshape((TILE, tp)),
        aligned(TILE * tp).reshape((TILE, tp)),
        np.zeros((TILE, tp), np.int32),
        np.zeros((TILE, PAGE)),
        np.zeros(TILE, np.int64),
        np.zeros(TILE, np.int64),
    )


@page_kernel
def start_gain(desk: Any, cloud: Any, prior: Any, low: Any, high: Any) -> None:
    """gain and strength of particles low..high-1 from the counts on the desk."""
    for p in range(low, high):
        i = p - low
        for t in range(len(prior.alpha)):
            desk.gain[i, t] = (prior.alpha[t] + desk.counts[i, t]) / (prior.a + cloud.totals[p, t])
            desk.strength[i, t] = prior.a + prior.discount * cloud.kinds[p, t]


@page_kernel
def name_draws(desk: Any, cloud: Any, draws: Any, number: Any, count: Any, low: Any, high: Any) -> None:
    """The uniforms number..number + count - 1 of particles low..high-1."""
    for p in range(low, high):
        fill_uniforms(desk.uniforms[p - low], count, number, draws.key0, draws.key1, cloud.identity[p], draws.sequence, draws.purpose)


@inlined
def word_weight(prior: Any, n: Any, strength: Any, base: Any) -> Any:
    """What multiplies gain in q for a word that has n tokens in the topic; strength is a + discount * k_t, and a without a discount."""
    if prior.discount > 0.0:
        return (n - (prior.discount if n > 0 else 0.0)) + strength * base
    return n + prior.a * base


@inlined
def recount(cloud: Any, prior: Any, desk: Any, p: Any, i: Any, t: Any, step: Any, kinds: Any) -> None:
    """A token joined (step 1) or left (-1) topic t, and so did as many ``kinds`` of words: the counts, and what is computed from them."""
    cloud.totals[p, t] += step
    desk.counts[i, t] += step
    desk.gain[i, t] = (prior.alpha[t] + desk.counts[i, t]) / (prior.a + cloud.totals[p, t])
    if prior.discount > 0.0:
        cloud.kinds[p, t] += step * np.int64(kinds)
        desk.strength[i, t] = prior.a + prior.discount * cloud.kinds[p, t]
