"""Draw what topics share: tables, concentrations and the base distribution G, given z.

Topics draw words from Dirichlet distributions with parameters a G_w, and G has the Dirichlet
distribution with parameters a0 G0_w, where G0_w = 1 / W. The n_wt tokens of word w in topic t sit
at m_wt tables (Antoniak 1974): with c = a G_w,

    token i = 0, 1, ..., n_wt - 1 opens a table with probability c / (c + i).

The tables m_w = sum over t of m_wt are tokens of one more restaurant with the parameter a0 G0_w.
They sit at k_w tables of tables. Then (Teh 2006, appendix A)

    a  | n_t, k_t      as below,
    a0 | M, sum of k_w the same for one restaurant with M = sum of m_w tokens,
    G  | m             ~ Dirichlet(m_w + a0 G0_w).

m_wt in O(log n). Trials 1 to 8 are drawn one by one; trial 0 always opens a table. From i = 9 on,
in each octave [i, 2i), candidates come at the rate of its first trial: the gap to the next one has
a geometric distribution with q = c / (c + i). Candidate j opens a table with probability
(c + i) / (c + j). So each trial j succeeds with probability q (c + i) / (c + j) = c / (c + j),
independently of the others: the law is exact.

*Concentrations*. With n_t tokens at k_t tables in restaurant t, and a gamma prior of shape
:data:`SHAPE` and rate :data:`RATE`, an auxiliary variable for each restaurant makes the conditional
distribution of the concentration a gamma distribution:

    x_t ~ Beta(a + 1, n_t - 1),    a ~ Gamma(shape + sum of (k_t - 1), rate - sum of ln x_t).

Gamma variables are made from named uniforms by the method of Marsaglia and Tsang (2000), normal
variables by that of Box and Muller, beta variables from two gamma variables. Uniforms are numbered
from ``index``. Each function returns the next unused number.

Uniforms are named by (key, word or 0, epoch, purpose, index), so ranges of words may be drawn in
any order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import (
    BASE,
    BASE_STRENGTH,
    SHARED_TABLES,
    STRENGTH,
    TABLES,
    pair,
    uniform,
)
from beam_topics.model.kernels.special import ln

# Words are fewer.
MOST = 2**31
# The gamma prior has mean 1,000 and is nearly flat.
SHAPE, RATE = 1.0, 0.001
# The first trial that is not drawn by itself.
_OCTAVES = 9


class Draws(NamedTuple):
    """What all uniforms of an epoch for one purpose share.

    Attributes:
        key0: uint32, the first half of the stream key.
        key1: uint32, the other half.
        sequence: the number of the epoch.
        purpose: one of those of :mod:`beam_topics.model.kernels.random`.
    """

    key0: Any
    key1: Any
    sequence: int
    purpose: int


@kernel
def gamma(shape, draws, thing, index):
    """Draw from Gamma(shape, 1) for shape >= 1, and return (the value, the next index).

    With d = shape - 1/3 and a standard normal x, d (1 + x / sqrt(9 d))^3 has nearly this
    distribution; a rejection step makes it exact.
    """
    d = shape - 1.0 / 3.0
    while True:
        radius = math.sqrt(
            -2.0
            * math.log(
                1.0 - uniform(index, draws.key0, draws.key1, thing, draws.sequence, draws.purpose)
            )
        )
        angle = (
            2.0
            * math.pi
            * uniform(index + 1, draws.key0, draws.key1, thing, draws.sequence, draws.purpose)
        )
        u = 1.0 - uniform(index + 2, draws.key0, draws.key1, thing, draws.sequence, draws.purpose)
        index += 3
        x = radius * math.cos(angle)
        cube = (1.0 + x / math.sqrt(9.0 * d)) ** 3
        if cube > 0.0 and math.log(u) < 0.5 * x * x + d - d * cube + d * math.log(cube):
            return d * cube, index


@kernel
def log_beta(first, second, draws, index):
    """Draw x from Beta(first, second), both >= 1, and return (ln x, the next index)."""
    one, index = gamma(first, draws, 0, index)
    other, index = gamma(second, draws, 0, index)
    return math.log(one / (one + other)), index


@kernel
def draw_concentration(a, tokens, tables, draws):
    """Draw a given int64[T] tokens and tables, n_t and k_t."""
    logs, shape, index = 0.0, SHAPE, 0
    for t in range(len(tokens)):
        if tokens[t] > 1:
            log, index = log_beta(a + 1.0, tokens[t] - 1.0, draws, index)
            logs += log
        # The first table of each topic is certain and carries no information.
        shape += max(tables[t] - 1, 0)
    return gamma(shape, draws, 0, index)[0] / (RATE - logs)


@kernel
def count_tables(n, c, key0, key1, thing, epoch, purpose, block):
    """Draw the tables of n tokens, and return (tables, the next block).

    Args:
        n: int64, the tokens.
        c: float64, the parameter, above 0.
        key0: names the draws.
        key1: names the draws.
        thing: names the draws.
        epoch: names the draws.
        purpose: names the draws.
        block: the number of the first block of two uniforms.
    """
    found, i = np.int64(min(n, 1)), np.int64(1)
    while i < min(n, _OCTAVES):
        first, second = pair(block, key0, key1, thing, epoch, purpose)
        found += first * (c + i) < c
        found += i + 1 < n and second * (c + i + 1) < c
        block, i = block + 1, i + 2
    while i < n:
        octave, bound, rare = min(2 * i, n), c + i, ln(i / (c + i))
        while i < octave:
            first, second = pair(block, key0, key1, thing, epoch, purpose)
            gap, block = ln(1.0 - first) / rare, block + 1
            # The quotient is no number where c is so small that rare is 0.
            i = i + np.int64(gap) if gap < octave - i else octave
            if i < octave:
                found += second * (c + i) < bound
                i += 1
    return found, block


@kernel
def seat(first, last, rows, shares, shared_share, tables, of_topics, key0, key1, epoch):
    """Draw the tables of the words first..last-1.

    Args:
        first: the first word.
        last: the word after the last one.
        rows: int32[W, T8], n_wt.
        shares: float64[W], a G_w.
        shared_share: a0 G0_w, the same for all words.
        tables: int64[W]; m_w is set.
        of_topics: int64[T8]; the tables of these words in each topic are added.
        key0: names the draws.
        key1: names the draws.
        epoch: names the draws.

    Returns:
        The tables of tables of these words, int64.
    """
    opened = 0
    for w in range(first, last):
        block, tables[w] = 0, 0
        for t in range(rows.shape[1]):
            if rows[w, t] > 0:
                n, found = np.int64(rows[w, t]), np.int64(1)
                if n > 1:
                    found, block = count_tables(n, shares[w], key0, key1, w, epoch, TABLES, block)
                tables[w] += found
                of_topics[t] += found
        opened += count_tables(tables[w], shared_share, key0, key1, w, epoch, SHARED_TABLES, 0)[0]
    return opened


@inlined
def _gamma(shape, draws, thing):
    """Draw from Gamma(shape, 1), shape > 0.

    Below 1 it is Gamma(shape + 1) times a uniform to the power 1 / shape.
    """
    if shape >= 1.0:
        return gamma(shape, draws, thing, 0)[0]
    u = 1.0 - uniform(0, draws.key0, draws.key1, thing, draws.sequence, draws.purpose)
    return gamma(shape + 1.0, draws, thing, 1)[0] * math.exp(ln(u) / shape)


@kernel
def draw_base(first, last, tables, shared_share, base, key0, key1, epoch):
    """Set G of the words first..last-1, not normalised; return its sum over them.

    Args:
        first: the first word.
        last: the word after the last one.
        tables: int64[W], m_w.
        shared_share: a0 G0_w.
        base: float64[W], written.
        key0: names the draws.
        key1: names the draws.
        epoch: names the draws.
    """
    total, draws = 0.0, Draws(key0, key1, epoch, BASE)
    for w in range(first, last):
        base[w] = _gamma(tables[w] + shared_share, draws, w)
        total += base[w]
    return total


@kernel
def draw_strengths(a, totals, of_topics, a0, everyone, opened, names):
    """Draw the concentrations; return (a, a0).

    Args:
        a: the former a.
        totals: int64[T], n_t.
        of_topics: int64[T], the tables of each topic.
        a0: the former a0.
        everyone: M, the tables of all words, at least 1.
        opened: the tables of tables.
        names: (key0, key1, epoch).
    """
    key0, key1, epoch = names
    above = Draws(key0, key1, epoch, BASE_STRENGTH)
    counts = np.array([everyone, opened])
    new_a0 = draw_concentration(a0, counts[:1], counts[1:], above)
    return draw_concentration(a, totals, of_topics, Draws(key0, key1, epoch, STRENGTH)), new_a0
