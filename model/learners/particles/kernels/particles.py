"""The arrays of a population, and the notation of all kernels of the particle family.

p is a particle, w a word, t a topic (z in the papers). n_wt counts the tokens of w in t, n_t is the
sum of n_wt over w, and n_td counts the tokens of document d in t. t_wt counts the tables of w in t
(:mod:`beam_topics.model.learners.particles.kernels.table_counts`), k_t is the sum of t_wt over w,
m_w the sum of t_wt over t, and M the sum of m_w over w. The conditional probability of a topic is
proportional to

    q_t = (alpha_t + n_td) * (n_wt - d * t_wt + (a + d * k_t) * B(w)) / (a + n_t)

and P(token | past) = sum_t q_t / (sum_t alpha_t + tokens of d so far). Where topics do not share
words there are no tables, d = 0, and B = G is a given distribution; G = 1/W and a = W beta make
this LDA. Where topics share words, B(w) = (m_w + a_0 G(w)) / (M + a_0). A kernel keeps parts of
these terms in a :mod:`workspace <beam_topics.model.learners.particles.kernels.workspace>`.

The joint probability P(w, z) and the weight of a particle are scaled products
(:mod:`beam_topics.model.scaled`), so no logarithm is computed.

Tokens are stored in pages of 32. The words of a page are common to all particles; its topics are a
row of the shared rows ``topics``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined
from beam_topics.model.learners.particles.kernels.copy_on_write import Table
from beam_topics.model.learners.particles.kernels.shared_rows import Rows
from beam_topics.model.learners.particles.kernels.table_counts import NONE, ClosingProbabilities

PAGE = 32

# Replaces a word that has left the vocabulary in a page. Its token is not counted or redrawn.
GONE = -1

_SMALL = 2.0**-400
_LARGE = 2.0**400


class Prior(NamedTuple):
    """The topic-word prior and the topic prior.

    Attributes:
        alpha: float64[Tp], 0 in the pads.
        alpha_sum: the sum of alpha.
        base: float64[words], G(w).
        a: the concentration that particles start with.
        base_a: a_0 that particles start with.
        discount: d.
        tables: how tables are counted: NONE, MINIMAL or SAMPLED.
        closing: V of :mod:`beam_topics.model.learners.particles.kernels.table_counts`.
    """

    alpha: npt.NDArray[np.float64]
    alpha_sum: float
    base: npt.NDArray[np.float64]
    a: float
    base_a: float
    discount: float
    tables: int
    closing: ClosingProbabilities


class Population(NamedTuple):
    """All particles of an island.

    Attributes:
        words: by word, rows of n_wt; where there are tables, n_wt in the first Tp entries, t_wt in
            the next Tp, then m_w.
        topics: by page, rows of 32 topics.
        totals: int64[P, Tp], n_t.
        topic_tables: int64[P, Tp], k_t.
        tables: int64[P], M.
        concentration: float64[P, 2], a and a_0.
        weight: float64[P], the mantissa of ω.
        weight_exponent: int64[P].
        joint: float64[P], the mantissa of P(w, z).
        joint_exponent: int64[P].
        generation: int64[P], see :mod:`beam_topics.model.learners.particles.kernels.copy_on_write`.
        identity: int64[P], the particles' numbers in the whole learner, distinct between islands.
    """

    words: Table
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
    """The tokens of the documents in the history.

    Attributes:
        words: int32[pages, 32], word numbers.
        following: int32[pages], the next page of the document, -1 at its end.
        first: int32[slots], the first page of each document.
        length: int64[slots], tokens of each document.
    """

    words: npt.NDArray[np.int32]
    following: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    length: npt.NDArray[np.int64]


class Draws(NamedTuple):
    """What the uniforms of a call share; see :mod:`beam_topics.model.kernels.random`."""

    key0: int
    key1: int
    sequence: int
    purpose: int


@inlined
def times(mantissa, exponent, p, factor):
    """Multiply (mantissa, exponent)[p] by a factor.

    Exact powers of two keep the mantissa well inside the range of a float64.
    """
    value = mantissa[p] * factor
    if value < _SMALL or value > _LARGE:
        value, shift = math.frexp(value)
        exponent[p] += shift
    mantissa[p] = value


@inlined
def normalise(mantissa, exponent, p):
    """Bring (mantissa, exponent)[p] to the normal form 0.5 <= mantissa < 1."""
    mantissa[p], shift = math.frexp(mantissa[p])
    exponent[p] += shift


@inlined
def page_at(pages, slot, position):
    """Return the page that has token ``position`` of a document."""
    page = pages.first[slot]
    for _ in range(position // PAGE):
        page = pages.following[page]
    return page


@inlined
def base_of(population, prior, p, row, w, closed):
    """Return B(w) without ``closed`` of the word's tables; ``row`` has the word's counts."""
    return base_with(population, prior, p, tables_of_word(prior, row), w, closed)


@inlined
def base_with(population, prior, p, tables, w, closed):
    """Return B(w) of a word with so many tables, without ``closed`` of them."""
    if prior.tables == NONE:
        return prior.base[np.uint64(w)]
    a_0 = population.concentration[np.uint64(p), 1]
    return (tables - closed + a_0 * prior.base[np.uint64(w)]) / (
        population.tables[np.uint64(p)] - closed + a_0
    )


@inlined
def tables_of(prior, row, t):
    """Return t_wt, which is 0 where there are no tables."""
    return np.int64(row[np.uint64(len(prior.alpha) + t)]) if prior.tables != NONE else 0


@inlined
def tables_of_word(prior, row):
    """Return m_w, which is 0 where there are no tables."""
    return np.int64(row[np.uint64(2 * len(prior.alpha))]) if prior.tables != NONE else 0
