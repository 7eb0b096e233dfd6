"""Truncation-ordered sets: growth, sorting and truncation.

:mod:`model.learners.variational.kernels.sticks` has the arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model.learners.variational.kernels.sticks import Sticks
from model.records import FloatArray, IntArray, LongArray

Mask = npt.NDArray[np.bool_]


def empty_positions(words: int, topics: int) -> IntArray:
    """Return int32[words, topics] of -1: no topic has the words."""
    return np.full((words, topics), -1, np.int32)


def used_entries(sticks: Sticks) -> Mask:
    """Return which entries are in use, bool[K, C]."""
    used: Mask = np.arange(sticks.use.shape[1]) < sticks.size[:, None]
    return used


def resize(sticks: Sticks, entries_each: int, words: int) -> Sticks:
    """Return the sticks with room for so many entries in each topic and so many words."""
    topics, room = sticks.use.shape
    if words > len(sticks.position):
        grown = empty_positions(max(words, len(sticks.position) * 3 // 2), topics)
        grown[: len(sticks.position)] = sticks.position
        sticks = sticks._replace(position=grown)
    if entries_each > room:
        more = max(entries_each, room * 3 // 2) - room
        parts: list[Any] = [
            np.pad(part, ((0, 0), (0, more))) for part in (sticks.words, sticks.use, sticks.rest)
        ]
        sticks = sticks._replace(words=parts[0], use=parts[1], rest=parts[2])
    return sticks


def write_positions(sticks: Sticks) -> None:
    """Write the positions of all entries."""
    sticks.position[:] = -1
    for k, size in enumerate(sticks.size):
        sticks.position[sticks.words[k, :size], k] = np.arange(size)


def truncate(sticks: Sticks, base: FloatArray, words: int, truncation: int, max_words: int) -> Mask:
    """Sort each topic's words by rank score, and keep the best.

    Each topic keeps its first ``truncation`` words. Of these, the ``max_words`` stay that all
    topics together use most. Positions are wrong until :func:`renumber`.

    Args:
        sticks: the sets, changed in place.
        base: float64, G0 of the words.
        words: the number of words.
        truncation: T.
        max_words: the maximum number of words of all topics.

    Returns:
        bool[words], which words some topic still has.
    """
    for k, size in enumerate(sticks.size):
        rank = base[sticks.words[k, :size]] * sticks.use[k, :size]
        _keep_entries(sticks, k, np.argsort(-rank, kind="stable")[:truncation])
    used = used_entries(sticks)
    numbers, use = sticks.words[used], sticks.use[used]
    kept = np.bincount(numbers, minlength=words) > 0
    if np.count_nonzero(kept) > max_words:
        together = np.where(kept, np.bincount(numbers, use, minlength=words), -1.0)
        kept = np.zeros(words, bool)
        kept[np.argsort(-together, kind="stable")[:max_words]] = True
        for k, size in enumerate(sticks.size):
            _keep_entries(sticks, k, np.flatnonzero(kept[sticks.words[k, :size]]))
    return kept


def renumber(sticks: Sticks, kept: Mask) -> Sticks:
    """Return the same sets where only the kept words have numbers, in their order."""
    if not kept.all():
        sticks.words[:] = np.where(used_entries(sticks), (np.cumsum(kept) - 1)[sticks.words], 0)
        sticks = sticks._replace(position=empty_positions(int(kept.sum()), len(sticks.size)))
    write_positions(sticks)
    return sticks


def _keep_entries(sticks: Sticks, k: int, order: LongArray) -> None:
    """Keep these entries of topic k, in this order."""
    for part in (sticks.words, sticks.use, sticks.rest):
        part[k, : len(order)] = part[k, order]
    sticks.size[k] = len(order)
