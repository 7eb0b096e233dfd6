"""Packed rows of counts for SparseLDA.

An entry is one integer, ``count << bits | topic``. The entries of a row descend. This order is a
function of the counts, so a row has the same bits however it was reached. A row has room for whole
blocks of entries (:mod:`beam_topics.model.inference.kernels.row_sums`). Entries behind its end have
no tokens. A row without room is moved behind all other rows.
:class:`~beam_topics.model.papers.kernels.records.PackedRows` describes the arrays.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.inference.kernels.row_sums import padded_length
from beam_topics.model.kernels.jit import inlined, kernel


@inlined
def find_entry(entries, begin, length, mask, topic):
    """Return the index of a topic's entry in a row; begin + length where the row has none."""
    at = begin
    while at < begin + length and (entries[at] & mask) != topic:
        at += 1
    return at


@inlined
def remove_token(rows, v, topic):
    """Remove one token of a topic from the row of word ``v``, which has the topic."""
    entries, lengths, begin = rows.entries, rows.lengths, rows.begins[v]
    one, mask = 1 << rows.bits, (1 << rows.bits) - 1
    at = find_entry(entries, begin, lengths[v], mask, topic)
    entry, end = entries[at] - one, begin + lengths[v]
    while at + 1 < end and entries[at + 1] > entry:
        entries[at] = entries[at + 1]
        at += 1
    entries[at] = entry
    # An entry without tokens is smaller than all others. So it is the last one now.
    if entry < one:
        lengths[v] -= 1


@inlined
def add_token(rows, v, topic):
    """Add one token of a topic to the row of word ``v``; the row may not have the topic yet."""
    entries, lengths, begin = rows.entries, rows.lengths, rows.begins[v]
    one, mask = 1 << rows.bits, (1 << rows.bits) - 1
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
def copy_rows(begins, entries, lengths, new_begins, size):
    """Return a new array of ``size`` entries with the rows at ``new_begins``."""
    made = np.zeros(size, entries.dtype)
    for v in range(lengths.shape[0]):
        begin, into = begins[v], new_begins[v]
        made[into : into + lengths[v]] = entries[begin : begin + lengths[v]]
    return made


@inlined
def grow_row(rows, v):
    """Move a full row behind all others, with room for one more entry.

    The entries behind all rows are 0.

    Returns:
        Whether there was space for it. Nothing changes where there was none.
    """
    capacity, begin, into = padded_length(rows.lengths[v] + 1), rows.begins[v], rows.end_of_rows[0]
    if into + capacity > rows.entries.shape[0]:
        return False
    for at in range(rows.lengths[v]):
        rows.entries[into + at] = rows.entries[begin + at]
    rows.begins[v], rows.capacities[v] = into, capacity
    rows.end_of_rows[0] += capacity
    return True
