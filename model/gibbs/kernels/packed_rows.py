"""Rows of counts for SparseLDA: one whole number an entry, ``count << bits | topic``, in descending
order.

The order is a function of the counts, so a row has the same bits however it was reached.
``lengths[v]`` is how many entries word v's row has, from ``begin`` on, ``rooms[v]`` how many it has
room for, in whole blocks (:mod:`model.gibbs.kernels.row_sums`), where no entry has tokens. A row
that is full moves behind all others, of which ``used`` is the end: int64[1].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.gibbs.kernels.row_sums import whole
from model.kernels.jit import inlined, kernel


@inlined
def place(own: Any, begin: Any, length: Any, mask: Any, topic: Any) -> Any:
    """Where a row has a topic; begin + length where it has not."""
    at = begin
    while at < begin + length and (own[at] & mask) != topic:
        at += 1
    return at


@inlined
def less(own: Any, begin: Any, lengths: Any, v: Any, bits: Any, topic: Any) -> None:
    """One token fewer of a topic that the row has."""
    one, mask = 1 << bits, (1 << bits) - 1
    at = place(own, begin, lengths[v], mask, topic)
    entry, end = own[at] - one, begin + lengths[v]
    while at + 1 < end and own[at + 1] > entry:
        own[at] = own[at + 1]
        at += 1
    own[at] = entry
    # An entry without tokens is smaller than all others, so it has come to the end.
    if entry < one:
        lengths[v] -= 1


@inlined
def more(own: Any, begin: Any, lengths: Any, v: Any, bits: Any, topic: Any) -> None:
    """One token more of a topic, which may be new to the row."""
    one, mask = 1 << bits, (1 << bits) - 1
    at = place(own, begin, lengths[v], mask, topic)
    entry = topic + one
    if at < begin + lengths[v]:
        entry = own[at] + one
    else:
        lengths[v] += 1
    while at > begin and own[at - 1] < entry:
        own[at] = own[at - 1]
        at -= 1
    own[at] = entry


@kernel
def moved(begins: Any, own: Any, lengths: Any, others: Any, size: Any) -> Any:
    """The rows at other places in a new array of so many entries."""
    made = np.zeros(size, own.dtype)
    for v in range(lengths.shape[0]):
        made[others[v] : others[v] + lengths[v]] = own[begins[v] : begins[v] + lengths[v]]
    return made


@inlined
def stretched(begins: Any, own: Any, lengths: Any, rooms: Any, used: Any, v: Any) -> Any:
    """Whether a row that was full has room for one more: it moves behind all others, where
    entries are 0, if there is a place.
    """
    room, begin, into = whole(lengths[v] + 1), begins[v], used[0]
    if into + room > own.shape[0]:
        return False
    for at in range(lengths[v]):
        own[into + at] = own[begin + at]
    begins[v], rooms[v] = into, room
    used[0] += room
    return True
