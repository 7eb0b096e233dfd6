"""What a particle is. :mod:`model.learners.particles.kernels.first_pass` draws topics for a
document that arrives, :mod:`model.learners.particles.kernels.rejuvenation` draws them again.

Notation: p a particle, w a word, t a topic (z in the papers), n_wt how often w has topic t, n_t =
sum over w of n_wt, n_td the same within document d; t_wt the tables of w in topic t
(:mod:`model.learners.particles.kernels.table_counts`), k_t = sum over w of t_wt, m_w = sum over t
of t_wt, M = sum over w of m_w. A token's conditional probability is (DESIGN section 8)

    q_t = (alpha_t + n_td) * (n_wt - d * t_wt + (a + d * k_t) * B(w)) / (a + n_t)

and P(token | past) = sum_t q_t / (sum_t alpha_t + tokens of d so far). Where topics do not share
words there are no tables, d = 0 and B = G, a given distribution: with G = 1/W and a = W beta this
is LDA. Where they do, B(w) = (m_w + a_0 G(w)) / (M + a_0). What of this a kernel keeps at hand is
on its :mod:`workspace <model.learners.particles.kernels.workspace>`.

Each particle's joint probability P(w, z) and its weight are scaled products (:mod:`model.scaled`):
no logarithm is taken.

Tokens live in pages of 32: ``page_words[page]`` is common to all particles, the topics are rows of
    the table ``topics``.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import inlined
from model.learners.particles.kernels.copy_on_write import Table
from model.learners.particles.kernels.shared_rows import Rows
from model.learners.particles.kernels.table_counts import NONE, Closing

PAGE = 32

# In a page, in place of a word that has left the vocabulary: its token counts nowhere and is not
# drawn again.
GONE = -1

_SMALL = 2.0**-400
_LARGE = 2.0**400


class Prior(NamedTuple):
    """alpha: float64[Tp], 0 in the pads. base: float64[words], G(w). a, a_0: what particles begin
    with. discount: d.

    tables: one of the kinds of :mod:`model.learners.particles.kernels.table_counts`, and closing:
        its V.
    """

    alpha: npt.NDArray[np.float64]
    alpha_sum: float
    base: npt.NDArray[np.float64]
    a: float
    base_a: float
    discount: float
    tables: int
    closing: Closing


class Population(NamedTuple):
    """All particles of an island. ``totals``: int64[P, Tp], n_t. ``topic_tables``: int64[P, Tp],
    k_t; ``tables``: int64[P], M.

    ``concentration``: float64[P, 2], a and a_0. ``words``: rows by word of n_wt, and where there
    are tables n_wt in the first Tp places, t_wt in the next, then m_w. ``documents``: rows of n_td
    by slot; ``topics``: rows of 32 topics by page. ``weight`` and ``joint``: float64[P] mantissas
    beside int64[P] exponents. ``generation``: int64[P], see :mod:`sharing`. ``identity``: int64[P],
    the particles' numbers in the whole learner (they differ between islands).
    """

    words: Table
    documents: Rows
    topics: Rows
    totals: npt.NDArray[np.int64]
    topic_tables: npt.NDArray[np.int64]
    tables: npt.NDArray[np.int64]
    concentration: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    weight_exponent: npt.NDArray[np.int64]
    joint: npt.NDArray[np.float64]
    joint_exponent: npt.NDArray[np.int64]
    generation: npt.NDArray[np.int64]
    identity: npt.NDArray[np.int64]


class Pages(NamedTuple):
    """The tokens of the documents in the history. ``words``: int32[pages, 32]. ``following``:
    int32[pages], -1 at a document's end.

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
    """(mantissa, exponent)[p] *= factor, kept well inside the range of a float64 by exact powers
    of two.
    """
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


@inlined
def page_at(pages: Any, slot: Any, position: Any) -> Any:
    """The page of a document that has its token ``position``."""
    page = pages.first[slot]
    for _ in range(position // PAGE):
        page = pages.following[page]
    return page


@inlined
def base_of(population: Any, prior: Any, p: Any, row: Any, w: Any, closed: Any) -> Any:
    """B(w), when ``closed`` of the word's tables are left out."""
    if prior.tables == NONE:
        return prior.base[w]
    a_0 = population.concentration[p, 1]
    return (row[2 * len(prior.alpha)] - closed + a_0 * prior.base[w]) / (
        population.tables[p] - closed + a_0
    )


@inlined
def tables_of(prior: Any, row: Any, t: Any) -> Any:
    """t_wt, and 0 where there are no tables."""
    return np.int64(row[len(prior.alpha) + t]) if prior.tables != NONE else 0
