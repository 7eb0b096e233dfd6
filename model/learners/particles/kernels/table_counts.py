"""Table counts of the Chinese restaurant franchise: which tokens open and close tables.

The hierarchical prior makes topics share words. Each token of word w in topic z belongs to one of
t_wz tables, and each table is itself a token of w for the distribution B that all topics share (Teh
2006). With n tokens at t tables, discount d, strength s = a + d k_z and B = B(w), the next token

    joins a table with weight n - d t,   opens a table with weight s B.

The sizes of the tables need not be stored. Given (n, t), a partition of the tokens has a
probability in proportion to the product of (1 - d)(2 - d)...(size - 1 - d) over its tables. The sum
over the partitions is the generalised Stirling number

    S(n, t) = S(n-1, t-1) + (n - 1 - d t) S(n-1, t).

The last token, and so any token, has a table of its own with probability

    V(n, t) = S(n-1, t-1) / S(n, t).

A token that leaves therefore closes its table with probability V(n, t), and the remaining partition
is again distributed as S(n-1, .) says. So the pair (n, t) is the whole state, and the moves are
those of a sampler that stores every table's size (Blunsom et al. 2009) with the sizes summed out.

With R(n, t) = S(n, t-1) / S(n, t), V(n, t) = R(n-1, t) / (R(n-1, t) + n - 1 - d t). R follows from
its previous row, and all terms are positive. :func:`closing_probabilities` tabulates V for n <=
2048 and t <= 512. Beyond, it holds sixteen values per octave up to n = 65,536, between which n V is
interpolated. Beyond that, n V is constant in n, and V / (t - 1) is constant in t.
tests/model/learners/particles/kernels/test_table_counts.py measures the error.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel, page_kernel

# Prior.tables: topics do not share words; one table for each word and topic; tables are drawn.
NONE, MINIMAL, SAMPLED = range(3)

EXACT, MOST_TABLES = 2048, 512
_STEPS, _OCTAVES = 16, 5


class ClosingProbabilities(NamedTuple):
    """V.

    Most pairs that are asked for have few tables, so values of one t stand side by side.

    Attributes:
        exact: float64[513, 2049], V by t and n.
        beyond: float64[513, 81], n V at n = 2048 (1 + k % 16 / 16) 2^(k // 16), by t and k.
    """

    exact: npt.NDArray[np.float64]
    beyond: npt.NDArray[np.float64]


@lru_cache(maxsize=16)
def closing_probabilities(discount: float, tables: int) -> ClosingProbabilities:
    """Return V for a discount; empty tables where ``tables`` is not SAMPLED."""
    if tables != SAMPLED:
        return ClosingProbabilities(np.zeros((1, 1)), np.zeros((1, 1)))
    exact, beyond = (
        np.zeros((EXACT + 1, MOST_TABLES + 1)),
        np.zeros((_STEPS * _OCTAVES + 1, MOST_TABLES + 1)),
    )
    _fill(exact, beyond, discount)
    return ClosingProbabilities(np.ascontiguousarray(exact.T), np.ascontiguousarray(beyond.T))


@kernel
def _fill(exact, beyond, discount):
    """Fill both tables by n and t, row by row.

    ``ratios[t]`` is R(n - 1, t): 0 where S(n - 1, t - 1) is 0, and infinite where S(n - 1, t) is 0.
    """
    most = exact.shape[1] - 1
    ratios, values = np.full(most + 1, np.inf), np.zeros(most + 1)
    ratios[0] = 0.0
    place = 0
    for n in range(1, EXACT * 2**_OCTAVES + 1):
        for t in range(1, min(n, most) + 1):
            # 1 for a single token, and where every token has a table.
            values[t] = 1.0 if t == n else ratios[t] / (ratios[t] + (n - 1 - discount * t))
        if n <= EXACT:
            exact[n, :] = values
        if n == EXACT * (_STEPS + place % _STEPS) * 2 ** (place // _STEPS) // _STEPS:
            beyond[place, :] = n * values
            place += 1
        for t in range(min(n, most), 0, -1):
            # S(n, t - 1) / S(n, t), both in terms of S(n - 1, t - 1).
            ratios[t] = (
                0.0 if t == 1 else (ratios[t - 1] + (n - 1 - discount * (t - 1))) * values[t]
            )


@inlined
def closing_probability(closing, n, t):
    """Return V(n, t) for 1 <= t <= n."""
    # Most pairs are in the table; unsigned, since numba tests whether signed indices are negative.
    if n <= EXACT and t <= MOST_TABLES:
        return closing.exact[np.uint64(t), np.uint64(n)]
    return _interpolated(closing, n, t)


@page_kernel
def _interpolated(closing, n, t):
    """Return V(n, t) where the table has no such pair."""
    tables = min(t, MOST_TABLES)
    if t >= n:
        # Exact for any number of tables; otherwise tables could outnumber tokens.
        value = 1.0
    elif n <= EXACT:
        value = closing.exact[tables, n]
    else:
        fraction, exponent = math.frexp(np.float64(n) / (2.0 * EXACT))
        place: Any = min((exponent + (2.0 * fraction - 1.0)) * _STEPS, 1.0 * _STEPS * _OCTAVES)
        low: Any = min(np.int64(place), _STEPS * _OCTAVES - 1)
        part = place - low
        value = (
            (1.0 - part) * closing.beyond[tables, low] + part * closing.beyond[tables, low + 1]
        ) / n
    if n > t > tables:
        value *= (t - 1.0) / (tables - 1.0)
    return min(value, 1.0)


@inlined
def probability_to_close(prior, n, t):
    """Return the probability that a token closes its table when it leaves a topic.

    ``n`` tokens of its word, itself included, are in the topic at ``t`` tables.
    """
    if prior.tables == SAMPLED:
        return closing_probability(prior.closing, n, t)
    return 1.0 if prior.tables == MINIMAL and n == 1 else 0.0


@inlined
def closes_table(prior, n, t, u):
    """Return whether a token closes its table when it leaves a topic; ``u`` is a uniform."""
    return u < probability_to_close(prior, n, t)


@inlined
def opens_table(prior, n, t, backoff, u):
    """Return whether a token opens a table when it joins ``n`` others at ``t`` tables.

    ``backoff`` is s B(w). ``u`` is a uniform.
    """
    if prior.tables == SAMPLED:
        return u * ((n - prior.discount * t) + backoff) < backoff
    return prior.tables == MINIMAL and n == 0


@inlined
def joint_factor(prior, n, tables, backoff, opened):
    """Return the factor of the joint probability for such a token, beside the gain of its topic.

    With sampled tables the joint is that of topics and numbers of tables, so the factor includes
    S(n + 1, .) / S(n, .).
    """
    closing = probability_to_close(prior, n + 1, tables + opened)
    return joint_factor_with(prior, n, tables, backoff, opened, closing)


@inlined
def joint_factor_with(prior, n, tables, backoff, opened, closing):
    """Return :func:`joint_factor`; ``closing`` is the probability that the token closes a table."""
    if prior.tables != SAMPLED:
        return (n - prior.discount * tables) + backoff
    # Without branches, which the processor could not predict.
    joins, stays = n - prior.discount * tables, 1.0 - closing
    return (backoff if opened else joins) / (closing if opened else stays)


@inlined
def update_counts(row, tp, t, step, tables):
    """Count a token that joins (step 1) or leaves (-1) topic t in its word's row.

    ``tables`` says whether a table comes or goes with it.
    """
    row[t] += step
    if tables:
        row[tp + t] += step
        row[2 * tp] += step
