"""Which rows of a shared table differ in content: the canonical form that checkpoints and digests are made of.

What can be counted again is not kept: :func:`count_documents`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import kernel
from model.kernels.particles import GONE, PAGE
from model.kernels.tables import own_row, row_of


@kernel
def distinct_rows(table: Any, logical: Any, live: Any) -> Any:
    """For each logical row: who has which of its distinct contents, in the order of the first particle that has each.

    logical: int64[n]. live: int64[n], how many of a row's entries count. Returns (which: int64[n, P], the physical rows of
    the distinct contents one after the other: int64[total], how many each logical row has: int64[n]).
    """
    particles = len(table.line)
    which = np.zeros((len(logical), particles), np.int64)
    counts = np.zeros(len(logical), np.int64)
    rows = np.empty(max(16, 2 * len(logical)), np.int64)
    total = 0
    for n in range(len(logical)):
        first = total
        for p in range(particles):
            row = np.int64(row_of(table, p, logical[n]))
            found = -1
            for k in range(first, total):
                if rows[k] == row or _same(table.rows, rows[k], row, live[n]):
                    found = k
                    break
            if found < 0:
                if total == len(rows):
                    rows = np.concatenate((rows, np.empty(len(rows), np.int64)))
                rows[total] = row
                found = total
                total += 1
            which[n, p] = found - first
        counts[n] = total - first
    return which, rows[:total], counts


@kernel
def _same(rows: Any, one: Any, other: Any, live: Any) -> Any:
    same = 0
    while same < live and rows[one, same] == rows[other, same]:
        same += 1
    return same == live


@kernel
def count_documents(cloud: Any, pages: Any, slots: Any) -> None:
    """Fill the documents' counts of every particle from the topics of their tokens; there must be room for a row of each."""
    documents, topics = cloud.documents, cloud.topics
    for p in range(len(cloud.weight)):
        for slot in slots:
            row = own_row(documents, p, slot, cloud.generation[p], 0, False)
            documents.rows[row, :] = 0
            page = pages.first[slot]
            for start in range(0, pages.length[slot], PAGE):
                place = row_of(topics, p, page)
                for k in range(min(PAGE, pages.length[slot] - start)):
                    if pages.words[page, k] != GONE:
                        documents.rows[row, topics.rows[place, k]] += 1
                page = pages.following[page]
