"""Tables of the Chinese restaurant: does a token that joins a topic open a table, does one that
leaves close its own?

The hierarchical prior lets topics share words: a token of word w in topic z sits at one of t_wz
tables that serve w there, and each table is itself a token of w for the distribution B that all
topics share (Teh 2006; DESIGN section 8). With n tokens at t tables, discount d, strength s = a + d
k_z and B = B(w), the next token

    joins a table with weight n - d t,   opens one with weight s B.

How the tokens are spread over the tables need not be kept. Given (n, t) a seating has a probability
in proportion to the product of its tables' (1 - d)(2 - d)...(size - 1 - d), whose sum over seatings
is the generalised Stirling number S(n, t) = S(n-1, t-1) + (n - 1 - d t) S(n-1, t). The last token,
and so any token, sits alone with probability

    V(n, t) = S(n-1, t-1) / S(n, t),

so a token that leaves closes its table with probability V(n, t), and what remains is again spread
as S(n-1, .) says. The pair (n, t) is thus all of the state, and the moves are those of a sampler
that keeps every table's size (Blunsom et al. 2009), with the sizes summed out.

With R(n, t) = S(n, t-1) / S(n, t):  V(n, t) = R(n-1, t) / (R(n-1, t) + n - 1 - d t), and R follows
from its own previous row, positive throughout. :func:`closing_table` holds V for n <= 2048 and t <=
512; beyond, sixteen values an octave up to n = 65,536, and between them n V is interpolated; beyond
that n V, and V / (t - 1) for more tables, are taken to stay as they are.
tests/model/learners/particles/kernels/test_table_counts.py measures what that costs.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import inlined, kernel

# The kinds of Prior.tables: topics do not share words; one table a word and topic; tables are
# drawn.
NONE, MINIMAL, SAMPLED = range(3)

EXACT, MOST_TABLES = 2048, 512
_STEPS, _OCTAVES = 16, 5


class Closing(NamedTuple):
    """V. ``exact``: float64[2049, 513], by n and t. ``beyond``: float64[81, 513], n V at n =
    2048 (1 + k % 16 / 16) 2^(k // 16).
    """

    exact: npt.NDArray[np.float64]
    beyond: npt.NDArray[np.float64]


@lru_cache(maxsize=16)
def closing_table(discount: float, tables: int) -> Closing:
    """V for a discount; without sampled tables nobody asks, and nothing is computed."""
    if tables != SAMPLED:
        return Closing(np.zeros((1, 1)), np.zeros((1, 1)))
    exact, beyond = (
        np.zeros((EXACT + 1, MOST_TABLES + 1)),
        np.zeros((_STEPS * _OCTAVES + 1, MOST_TABLES + 1)),
    )
    _fill(exact, beyond, discount)
    return Closing(exact, beyond)


@kernel
def _fill(exact: Any, beyond: Any, discount: Any) -> None:
    """Row by row over n; ``ratios[t]`` is R(n - 1, t), 0 where S(n - 1, t - 1) is 0 and infinite
    where S(n - 1, t) is.
    """
    most = exact.shape[1] - 1
    ratios, values = np.full(most + 1, np.inf), np.zeros(most + 1)
    ratios[0] = 0.0
    place = 0
    for n in range(1, EXACT * 2**_OCTAVES + 1):
        for t in range(1, min(n, most) + 1):
            # Alone where it is the only one, or where all are.
            values[t] = 1.0 if t == n else ratios[t] / (ratios[t] + (n - 1 - discount * t))
        if n <= EXACT:
            exact[n, :] = values
        if n == EXACT * (_STEPS + place % _STEPS) * 2 ** (place // _STEPS) // _STEPS:
            beyond[place, :] = n * values
            place += 1
        for t in range(min(n, most), 0, -1):
            # S(n, t - 1) / S(n, t), both through what they have of S(n - 1, t - 1).
            ratios[t] = (
                0.0 if t == 1 else (ratios[t - 1] + (n - 1 - discount * (t - 1))) * values[t]
            )


@inlined
def alone(closing: Any, n: Any, t: Any) -> Any:
    """V(n, t) for 1 <= t <= n."""
    tables = min(t, MOST_TABLES)
    if t >= n:
        # Exact for any number of tables: otherwise there could come to be more tables than tokens.
        value = 1.0
    elif n <= EXACT:
        value = closing.exact[n, tables]
    else:
        fraction, exponent = math.frexp(np.float64(n) / (2.0 * EXACT))
        place: Any = min((exponent + (2.0 * fraction - 1.0)) * _STEPS, 1.0 * _STEPS * _OCTAVES)
        low: Any = min(np.int64(place), _STEPS * _OCTAVES - 1)
        part = place - low
        value = (
            (1.0 - part) * closing.beyond[low, tables] + part * closing.beyond[low + 1, tables]
        ) / n
    if n > t > tables:
        value *= (t - 1.0) / (tables - 1.0)
    return min(value, 1.0)


@inlined
def closes_table(prior: Any, n: Any, t: Any, u: Any) -> Any:
    """Whether a token closes its table as it leaves a topic with ``n`` tokens of its word,
    itself counted, at ``t`` tables.
    """
    if prior.tables == SAMPLED:
        return u < alone(prior.closing, n, t)
    return prior.tables == MINIMAL and n == 1


@inlined
def opens_table(prior: Any, n: Any, t: Any, back: Any, u: Any) -> Any:
    """Whether a token opens a table as it joins ``n`` others at ``t`` tables; ``back``: s B(w)."""
    if prior.tables == SAMPLED:
        return u * ((n - prior.discount * t) + back) < back
    return prior.tables == MINIMAL and n == 0


@inlined
def joint_factor(prior: Any, n: Any, t: Any, back: Any, opened: Any) -> Any:
    """What such a token multiplies the joint probability by, beside the gain of its topic.

    With sampled tables the joint is that of topics and numbers of tables, so S(n + 1, .) / S(n, .)
    is in it.
    """
    if prior.tables != SAMPLED:
        return (n - prior.discount * t) + back
    if opened:
        return back / alone(prior.closing, n + 1, t + 1)
    return (n - prior.discount * t) / (1.0 - alone(prior.closing, n + 1, t))


@inlined
def update_counts(row: Any, tp: Any, t: Any, step: Any, tables: Any) -> None:
    """A token joins (step 1) or leaves (-1) topic t in its word's row, and with it a table if
    ``tables``.
    """
    row[t] += step
    if tables:
        row[tp + t] += step
        row[2 * tp] += step
