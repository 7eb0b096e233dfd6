"""Rows of a model in descending order of their counts, as the sparse sampler takes them.

Equal counts stay in ascending order of the topics. Only the rows of words that documents use are
sorted: a model of many keys has few documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import inlined, kernel

# Up to this many entries a row is sorted by insertion, and above it by merging. Both are stable.
FEW = 32


@inlined
def _insert(topics: Any, counts: Any, begin: Any, end: Any) -> None:
    """Sort the entries from ``begin`` to ``end`` in place, by insertion."""
    for at in range(begin + 1, end):
        topic, count, to = topics[at], counts[at], at
        while to > begin and counts[to - 1] < count:
            topics[to], counts[to] = topics[to - 1], counts[to - 1]
            to -= 1
        topics[to], counts[to] = topic, count


@kernel
def sorted_rows(rows: Any, offsets: Any, topics: Any, counts: Any) -> Any:
    """Return the distinct rows of words, in the order of their first use, each sorted.

    Args:
        rows: int64[N], rows of the model, any number of times.
        offsets: int64[W + 1], where each row of the model begins.
        topics: int32[nnz], ascending within a row.
        counts: float64[nnz].

    Returns:
        int64[N], the place of each of ``rows`` in the result; int64[V + 1], offsets; the topics;
        the counts.
    """
    place_of, used = np.full(offsets.shape[0] - 1, -1, np.int32), np.empty(rows.shape[0], np.int64)
    places, begins = np.empty(rows.shape[0], np.int64), np.zeros(rows.shape[0] + 1, np.int64)
    v_count = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if place_of[row] < 0:
            place_of[row], used[v_count] = v_count, row
            begins[v_count + 1] = begins[v_count] + offsets[row + 1] - offsets[row]
            v_count += 1
        places[i] = place_of[row]
    own_topics = np.empty(begins[v_count], topics.dtype)
    own_counts = np.empty(begins[v_count], counts.dtype)
    for v in range(v_count):
        source, begin, end = offsets[used[v]], begins[v], begins[v + 1]
        for k in range(end - begin):
            own_topics[begin + k], own_counts[begin + k] = topics[source + k], counts[source + k]
        if end - begin <= FEW:
            _insert(own_topics, own_counts, begin, end)
        else:
            order = np.argsort(-own_counts[begin:end], kind="mergesort")
            own_topics[begin:end] = own_topics[begin:end][order]
            own_counts[begin:end] = own_counts[begin:end][order]
    return places, begins[: v_count + 1].copy(), own_topics, own_counts
