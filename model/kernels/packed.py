"""Rows of counts for SparseLDA: one whole number an entry, ``count << bits | topic``, in descending order.

The order is a function of the counts, so a row has the same bits however it was reached. ``lengths[v]`` is how many entries word v's
row has,
from ``begin`` on; there is room behind them for as many as it can come to have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import inlined


@inlined
def place(own: Any, begin: Any, length: Any, mask: Any, topic: Any) -> Any:
    """Where a row has a topic; begin + length where it has not."""
    at = begin
    while at < begin + length and (own[at] & mask) != topic:
        at += 1
    return at


@inlined
def held_sum(coef: Any, topics: Any, counts: Any, begin: Any, end: Any) -> Any:
    """Sum of coef times count over a held row, in four lanes: entry i is in lane i % 4."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = begin + ((end - begin) & ~3)
    for at in range(begin, whole, 4):
        a += coef[np.uintp(topics[at])] * counts[at]
        b += coef[np.uintp(topics[at + 1])] * counts[at + 1]
        c += coef[np.uintp(topics[at + 2])] * counts[at + 2]
        d += coef[np.uintp(topics[at + 3])] * counts[at + 3]
    if whole < end:
        a += coef[np.uintp(topics[whole])] * counts[whole]
    if whole + 1 < end:
        b += coef[np.uintp(topics[whole + 1])] * counts[whole + 1]
    if whole + 2 < end:
        c += coef[np.uintp(topics[whole + 2])] * counts[whole + 2]
    return (a + b) + (c + d)


@inlined
def own_sum(coef: Any, own: Any, begin: Any, end: Any, mask: Any, bits: Any) -> Any:
    """The same over a packed row."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = begin + ((end - begin) & ~3)
    for at in range(begin, whole, 4):
        a += coef[np.uintp(own[at] & mask)] * (own[at] >> bits)
        b += coef[np.uintp(own[at + 1] & mask)] * (own[at + 1] >> bits)
        c += coef[np.uintp(own[at + 2] & mask)] * (own[at + 2] >> bits)
        d += coef[np.uintp(own[at + 3] & mask)] * (own[at + 3] >> bits)
    if whole < end:
        a += coef[np.uintp(own[whole] & mask)] * (own[whole] >> bits)
    if whole + 1 < end:
        b += coef[np.uintp(own[whole + 1] & mask)] * (own[whole + 1] >> bits)
    if whole + 2 < end:
        c += coef[np.uintp(own[whole + 2] & mask)] * (own[whole + 2] >> bits)
    return (a + b) + (c + d)


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
