"""Rows of counts for SparseLDA: one whole number an entry, ``count << bits | topic``, in descending
order.

The order is a function of the counts, so a row has the same bits however it was reached.
``lengths[v]`` is how many entries word v's row has, from ``begin`` on, ``rooms[v]`` how many it has
room for, in whole blocks (:mod:`model.gibbs.kernels.row_sums`), where no entry has tokens. A row
that is full moves behind all others, of which ``end_of_rows`` is the end: int64[1].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.gibbs.kernels.row_sums import padded_length
from model.kernels.jit import inlined, kernel


@inlined
def find_entry(entries: Any, begin: Any, length: Any, mask: Any, topic: Any) -> Any:
    """Where a row has a topic; begin + length where it has not."""
    at = begin
    while at < begin + length and (entries[at] & mask) != topic:
        at += 1
    return at


@inlined
def remove_token(entries: Any, begin: Any, lengths: Any, v: Any, bits: Any, topic: Any) -> None:
    """One token fewer of a topic that the row has."""
    one, mask = 1 << bits, (1 << bits) - 1
    at = find_entry(entries, begin, lengths[v], mask, topic)
    entry, end = entries[at] - one, begin + lengths[v]
    while at + 1 < end and entries[at + 1] > entry:
        entries[at] = entries[at + 1]
        at += 1
    entries[at] = entry
    # An entry without tokens is smaller than all others, so it has come to the end.
    if entry < one:
        lengths[v] -= 1


@inlined
def add_token(entries: Any, begin: Any, lengths: Any, v: Any, bits: Any, topic: Any) -> None:
    """One token more of a topic, which may be new to the row."""
    one, mask = 1 << bits, (1 << bits) - 1
    at = find_entry(entries, begin, lengths[v], mask, topic)
    entry = topic + one
    if at < begin + lengths[v]:
        entry = entries[at] + one
    else:
        lengths[v] += 1
    while at > begin and entries[at - 1] < entry:
        entries[at] = entries[at - 1]
        at -= 1
    entries[at] = entry


@kernel
def copy_rows(begins: Any, entries: Any, lengths: Any, new_begins: Any, size: Any) -> Any:
    """The rows at other places in a new array of so many entries."""
    made = np.zeros(size, entries.dtype)
    for v in range(lengths.shape[0]):
        made[new_begins[v] : new_begins[v] + lengths[v]] = entries[
            begins[v] : begins[v] + lengths[v]
        ]
    return made


@inlined
def grow_row(
    begins: Any, entries: Any, lengths: Any, capacities: Any, end_of_rows: Any, v: Any
) -> Any:
    """Whether a row that was full has room for one more: it moves behind all others, where
    entries are 0, if there is a place.
    """
    capacity, begin, into = padded_length(lengths[v] + 1), begins[v], end_of_rows[0]
    if into + capacity > entries.shape[0]:
        return False
    for at in range(lengths[v]):
        entries[into + at] = entries[begin + at]
    begins[v], capacities[v] = into, capacity
    end_of_rows[0] += capacity
    return True
