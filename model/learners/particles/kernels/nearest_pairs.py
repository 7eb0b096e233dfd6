"""The pair of topics that loses the least, while topics absorb each other one after another.

``losses`` is symmetric. For each topic x that has tokens, nearest[x] is the topic y > x with the
least losses[x, y], the first of equals; -1 where there is none. After an absorption only the rows
that it concerns are searched again, so many absorptions take little more time than one search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import kernel


@kernel
def nearest_topics(losses: Any, live: Any, joins: Any) -> Any:
    """Return nearest as int64[T].

    Args:
        losses: float64[T, T].
        live: bool[T], the topics that have tokens.
        joins: bool[T], those of them that another topic may absorb, or that may absorb it, as the
            second one of a pair.
    """
    nearest = np.full(len(losses), -1)
    for x in range(len(losses)):
        if live[x]:
            nearest[x] = _nearest(losses, joins, x)
    return nearest


@kernel
def _nearest(losses: Any, joins: Any, x: Any) -> Any:
    found = -1
    for y in range(x + 1, len(losses)):
        if joins[y] and (found < 0 or losses[x, y] < losses[x, found]):
            found = y
    return found


@kernel
def update_nearest(losses: Any, live: Any, joins: Any, nearest: Any, new: Any) -> None:
    """Search again after ``new`` absorbed a topic: the losses of ``new`` are others.

    Args:
        losses: as in :func:`nearest_topics`.
        live: likewise, without the topic that was absorbed.
        joins: likewise.
        nearest: int64[T], is changed.
        new: the topic that absorbed another.
    """
    for x in range(len(losses)):
        y = nearest[x]
        if not live[x]:
            nearest[x] = -1
        elif x == new or y == new or (y >= 0 and not joins[y]):
            nearest[x] = _nearest(losses, joins, x)
        elif x < new and joins[new]:
            less = y < 0 or losses[x, new] < losses[x, y]
            if less or (losses[x, new] == losses[x, y] and new < y):
                nearest[x] = new


@kernel
def nearest_pair(losses: Any, nearest: Any) -> Any:
    """Return the pair (x, y) with the least loss, the first of equals; (-1, -1) where none is."""
    found = -1
    for x in range(len(losses)):
        y = nearest[x]
        if y >= 0 and (found < 0 or losses[x, y] < losses[found, nearest[found]]):
            found = x
    return found, (nearest[found] if found >= 0 else -1)
