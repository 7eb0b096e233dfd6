"""Which rows of a shared table differ in content: the canonical form that checkpoints and digests are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import kernel
from model.kernels.sharing import row_of


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
