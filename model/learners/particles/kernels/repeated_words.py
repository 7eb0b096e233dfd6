"""Copies of the counts of words that occur several times in a document.

The first pass draws all tokens of a document before it writes any. A word that comes again must see
the counts that its earlier tokens make, so it is copied at its first token. A copy is a whole row;
or the parts of the word one after the other, with a list of them as
:func:`model.learners.particles.kernels.parts.find_parts` makes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel, page_inlined, page_kernel
from model.learners.particles.kernels.particles import tables_of
from model.learners.particles.kernels.parts import PART, find_parts, found_length, in_parts
from model.learners.particles.kernels.table_counts import update_counts


class RepeatedWords(NamedTuple):
    """The copies of the words of a document; the words are numbered by their first tokens.

    Attributes:
        rows: int32 or int64[words, particles, L], whole rows, or the parts.
        parts: int64[words, particles, n], the lists of the parts.
    """

    rows: npt.NDArray[Any]
    parts: npt.NDArray[np.int64]


@kernel
def new_repeated_words(count: Any, particles: Any, words: Any, tp: Any) -> Any:
    """Return room for the copies of ``count`` words; ``words`` is the table of words."""
    length, listed = words.rows.shape[1], 0
    if in_parts(words, tp):
        length, listed = length * (tp // PART + 1), found_length(tp)
    shape = (max(count, 1), particles)
    return RepeatedWords(
        np.empty((*shape, length), words.rows.dtype), np.empty((*shape, listed), np.int64)
    )


@page_inlined
def copy_word(words: Any, p: Any, w: Any, place: Any, tp: Any, own: Any, parts: Any) -> None:
    """Copy a word of particle p; ``place`` is its row where it is not in parts.

    ``own`` and ``parts`` are the rows and the list of the copy.
    """
    if in_parts(words, tp):
        find_parts(words, p, w, tp, parts)
        _copy_parts(words.rows, own, parts)
    else:
        for j in range(len(own)):
            own[j] = words.rows[place, j]


@page_kernel
def _copy_parts(rows: Any, own: Any, parts: Any) -> None:
    """Copy the parts of a list, which then has their places in the copy."""
    length = rows.shape[1]
    for c in range(parts[0]):
        for j in range(length):
            own[c * length + j] = rows[parts[2 + 2 * c], j]
        parts[2 + 2 * c] = c


@page_kernel
def _part_in_copy(length: Any, own: Any, parts: Any, t: Any) -> Any:
    """Return where the counts of t's part begin in a copy; a part that is missing is added."""
    part, count = t // PART, parts[0]
    c = count
    while c > 0 and parts[2 * c - 1] > part:
        c -= 1
    if c > 0 and parts[2 * c - 1] == part:
        return parts[2 * c] * length
    for place in range(2 * count, 2 * c, -1):
        parts[place + 2] = parts[place]
    parts[0], parts[2 * c + 1], parts[2 * c + 2] = count + 1, part, count
    for j in range(length):
        own[count * length + j] = 0
    return count * length


@page_inlined
def counts_in_copy(words: Any, prior: Any, own: Any, parts: Any, t: Any) -> Any:
    """Return (n_wt, t_wt) of a copy."""
    length = words.rows.shape[1]
    if in_parts(words, len(prior.alpha)):
        begin = _part_in_copy(length, own, parts, t) + t % PART
        n, tables = np.int64(own[begin]), np.int64(own[begin + PART]) if length > PART else 0
    else:
        n, tables = np.int64(own[t]), tables_of(prior, own, t)
    return n, tables


@page_inlined
def count_in_copy(words: Any, tp: Any, own: Any, parts: Any, t: Any, opened: Any) -> None:
    """Count a token that joins topic t of a copy, and a table if it opened one."""
    if in_parts(words, tp):
        begin = _part_in_copy(words.rows.shape[1], own, parts, t) + t % PART
        own[begin] += 1
        if opened:
            own[begin + PART] += 1
    else:
        update_counts(own, tp, t, 1, opened)
