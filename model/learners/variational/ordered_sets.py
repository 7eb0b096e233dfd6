"""Truncation-ordered sets: room for more words, a new order, words that leave
(:mod:`model.learners.variational.kernels.sticks` does the arithmetic).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model.learners.variational.kernels.sticks import Sticks
from model.records import FloatArray, IntArray, LongArray

Mask = npt.NDArray[np.bool_]


def empty_positions(words: int, topics: int) -> IntArray:
    """int32[words, topics] of -1: no topic has the words."""
    return np.full((words, topics), -1, np.int32)


def used_entries(sticks: Sticks) -> Mask:
    """bool[K, C]: which places are in use."""
    used: Mask = np.arange(sticks.use.shape[1]) < sticks.size[:, None]
    return used


def resize(sticks: Sticks, entries_each: int, words: int) -> Sticks:
    """The sticks with room for so many entries in a topic and so many words."""
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
    """Each topic's words by rank score, the first ``truncation`` of them; then the ``max_words``
    that all topics together use most.

    base: float64, G0 of the words. Returns bool[words]: which of them some topic still has.
        Positions are wrong until :func:`renumber`.
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
    """The same sets when only these words have numbers, in their order."""
    if not kept.all():
        sticks.words[:] = np.where(used_entries(sticks), (np.cumsum(kept) - 1)[sticks.words], 0)
        sticks = sticks._replace(position=empty_positions(int(kept.sum()), len(sticks.size)))
    write_positions(sticks)
    return sticks


def _keep_entries(sticks: Sticks, k: int, order: LongArray) -> None:
    """Topic k keeps these of its entries, in this order."""
    for part in (sticks.words, sticks.use, sticks.rest):
        part[k, : len(order)] = part[k, order]
    sticks.size[k] = len(order)
