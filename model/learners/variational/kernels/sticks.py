"""Truncation-ordered sets: for each topic an order of words, and for each of these how much of the
rest of the stick it breaks off.

Topic k has ``size[k]`` entries, in its order: entry t is word ``words[k, t]``, its break b_t ~
Beta(1 + use[k, t], rest[k, t]). In Zhai and Boyd-Graber (2013) these parameters are nu1 and nu2.
``position[w, k]`` is t, or -1 where the word is not in the topic's set. Kernels that take ``first``
and ``last`` work on that slice of the topics, so slices run in threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.expectations import SMALLEST, exp_digamma
from model.kernels.jit import inlined, kernel


class Sticks(NamedTuple):
    """The arrays of the module's docstring, with room: int32[K, C], float64[K, C] twice,
    int64[K], int32[W, K].
    """

    words: npt.NDArray[np.int32]
    use: npt.NDArray[np.float64]
    rest: npt.NDArray[np.float64]
    size: npt.NDArray[np.int64]
    position: npt.NDArray[np.int32]


@inlined
def _break_off(weight: Any, left: Any, size: Any) -> Any:
    """weight[t] *= left[0] ... left[t-1]; returns the product of all."""
    remaining = 1.0
    for t in range(size):
        weight[t] = max(weight[t] * remaining, SMALLEST)
        remaining = max(remaining * left[t], SMALLEST)
    return remaining


@kernel
def expected_logs(first: Any, last: Any, sticks: Any, weight: Any, remaining: Any) -> None:
    """weight[k, t] = exp E[log beta_kt] (eq. 5, the sums up to t - 1); remaining[k] = exp of the
    sum of E[log(1 - b)] (eq. 6).
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
def means(first: Any, last: Any, sticks: Any, weight: Any, remaining: Any) -> None:
    """weight[k, t] = E[beta_kt], remaining[k] = E[what is left of the stick]; together they are
    1.
    """
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
def look_up(rows: Any, sticks: Any, weight: Any, outside: Any, out: Any) -> None:
    """out[v, k] = the weight of word rows[v] in topic k, or outside[v, k] where it is not in the
    topic's set.
    """
    known = sticks.position.shape[0]
    for v in range(rows.shape[0]):
        w = rows[v]
        for k in range(out.shape[1]):
            t = sticks.position[w, k] if w < known else -1
            out[v, k] = weight[k, t] if t >= 0 else max(outside[v, k], SMALLEST)


@kernel
def count_new(rows: Any, counts: Any, sticks: Any) -> Any:
    """int64[K]: how many of the words each topic drew and does not have yet."""
    new = np.zeros(counts.shape[1], np.int64)
    for v in range(rows.shape[0]):
        for k in range(counts.shape[1]):
            if counts[v, k] > 0 and sticks.position[rows[v], k] < 0:
                new[k] += 1
    return new


@kernel
def learn(
    first: Any,
    last: Any,
    rows: Any,
    counts: Any,
    scale: Any,
    step: Any,
    concentration: Any,
    entry: Any,
    sticks: Any,
    sums: Any,
) -> None:
    """New words join at the end, in the order of ``rows``; then one step of eq. 8 and 9; sums[k] =
    the sums of use and of rest.

    rows: int64[V], distinct words in order of first use. counts: int32[V, K]. scale: what a count
    is worth, D / (|S| sweeps). entry: the ``rest`` that a new word begins with.
    """
    use, rest, size, position = sticks.use, sticks.rest, sticks.size, sticks.position
    gain = np.zeros(use.shape[1])
    for k in range(first, last):
        for v in range(rows.shape[0]):
            if counts[v, k] > 0:
                w = rows[v]
                if position[w, k] < 0:
                    t = size[k]
                    sticks.words[k, t], use[k, t], rest[k, t], position[w, k] = w, 0.0, entry, t
                    size[k] = t + 1
                gain[position[w, k]] = scale * counts[v, k]
        later, sum_use, sum_rest = 0.0, 0.0, 0.0
        for t in range(size[k] - 1, -1, -1):
            use[k, t] += step * (gain[t] - use[k, t])
            rest[k, t] += step * (concentration + later - rest[k, t])
            later += gain[t]
            sum_use += use[k, t]
            sum_rest += rest[k, t]
            gain[t] = 0.0
        sums[k, 0], sums[k, 1] = sum_use, sum_rest
