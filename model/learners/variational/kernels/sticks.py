"""Truncation-ordered sets (Zhai and Boyd-Graber 2013): for each topic an order of words.

Topic k has ``size[k]`` entries in its order. Entry t is word ``words[k, t]``. It breaks the share
b_t ~ Beta(1 + use[k, t], rest[k, t]) off the rest of the stick. These parameters are nu1 and nu2 of
the paper. ``position[w, k]`` is t, or -1 where the word is not in the topic's set. Kernels that
take ``first`` and ``last`` work on that slice of the topics, so that slices run in threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.special import SMALLEST, exp_digamma


class Sticks(NamedTuple):
    """The arrays of the module's docstring, with room for C entries in each topic.

    Attributes:
        words: int32[K, C].
        use, rest: float64[K, C].
        size: int64[K].
        position: int32[W, K].
    """

    words: npt.NDArray[np.int32]
    use: npt.NDArray[np.float64]
    rest: npt.NDArray[np.float64]
    size: npt.NDArray[np.int64]
    position: npt.NDArray[np.int32]


class StickUpdate(NamedTuple):
    """The step of a minibatch.

    Attributes:
        scale: expected count per drawn topic, D / (|S| sweeps).
        step: the step size epsilon.
        concentration: alpha^beta.
        entry: the ``rest`` that a new word begins with.
    """

    scale: float
    step: float
    concentration: float
    entry: float


@inlined
def _break_off(weight, left, size):
    """Multiply weight[t] by left[0] ... left[t-1]; return the product of all ``left``."""
    remaining = 1.0
    for t in range(size):
        weight[t] = max(weight[t] * remaining, SMALLEST)
        remaining = max(remaining * left[t], SMALLEST)
    return remaining


@kernel
def expected_logs(first, last, sticks, weight, remaining):
    """Set weight[k, t] = exp E[log beta_kt] and remaining[k] = exp of the sum of E[log(1 - b)].

    These are eq. 5, with the sums up to t - 1, and eq. 6.
    """
    left = np.empty(sticks.use.shape[1])
    for k in range(first, last):
        size = sticks.size[k]
        use, rest, own = sticks.use[k], sticks.rest[k], weight[k]
        for t in range(size):
            whole = 1.0 / exp_digamma(1.0 + use[t] + rest[t])
            own[t] = exp_digamma(1.0 + use[t]) * whole
            left[t] = exp_digamma(rest[t]) * whole
        remaining[k] = _break_off(own, left, size)


@kernel
def means(first, last, sticks, weight, remaining):
    """Set weight[k, t] = E[beta_kt] and remaining[k] = E[rest of the stick]; their sum is 1."""
    left = np.empty(sticks.use.shape[1])
    for k in range(first, last):
        size = sticks.size[k]
        use, rest, own = sticks.use[k], sticks.rest[k], weight[k]
        for t in range(size):
            whole = 1.0 / (1.0 + use[t] + rest[t])
            own[t] = (1.0 + use[t]) * whole
            left[t] = rest[t] * whole
        remaining[k] = _break_off(own, left, size)


@kernel
def look_up(rows, sticks, weight, outside, out):
    """Set out[v, k] to the weight of word rows[v] in topic k.

    It is outside[v, k] where the word is not in the topic's set.
    """
    known = sticks.position.shape[0]
    for v in range(rows.shape[0]):
        w = rows[v]
        for k in range(out.shape[1]):
            t = sticks.position[w, k] if w < known else -1
            out[v, k] = weight[k, t] if t >= 0 else max(outside[v, k], SMALLEST)


@kernel
def count_new(rows, counts, sticks):
    """Return for each topic how many of the drawn words it does not have yet, int64[K]."""
    new = np.zeros(counts.shape[1], np.int64)
    for v in range(rows.shape[0]):
        for k in range(counts.shape[1]):
            if counts[v, k] > 0 and sticks.position[rows[v], k] < 0:
                new[k] += 1
    return new


@kernel
def learn(first, last, rows, counts, update, sticks, sums):
    """Append new words in the order of ``rows``, then make one step of eq. 8 and 9.

    Args:
        first: the first topic of the slice.
        last: the end of the slice.
        rows: int64[V], distinct words in order of first use.
        counts: int32[V, K], how often each word had each topic.
        update: :class:`StickUpdate`.
        sticks: :class:`Sticks`, with room for the new words.
        sums: float64[K, 2]; sums[k] becomes the sums of ``use`` and of ``rest``.
    """
    use, rest, size, position = sticks.use, sticks.rest, sticks.size, sticks.position
    gain = np.zeros(use.shape[1])
    for k in range(first, last):
        for v in range(rows.shape[0]):
            if counts[v, k] > 0:
                w = rows[v]
                if position[w, k] < 0:
                    t = size[k]
                    sticks.words[k, t], use[k, t], rest[k, t] = w, 0.0, update.entry
                    position[w, k] = t
                    size[k] = t + 1
                gain[position[w, k]] = update.scale * counts[v, k]
        later, sum_use, sum_rest = 0.0, 0.0, 0.0
        for t in range(size[k] - 1, -1, -1):
            use[k, t] += update.step * (gain[t] - use[k, t])
            rest[k, t] += update.step * (update.concentration + later - rest[k, t])
            later += gain[t]
            sum_use += use[k, t]
            sum_rest += rest[k, t]
            gain[t] = 0.0
        sums[k, 0], sums[k, 1] = sum_use, sum_rest
