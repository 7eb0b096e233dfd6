"""Draw a topic where words are in parts, in the time of the parts that have tokens.

For one particle's ``gain`` ((alpha_t + n_td) / (a + n_t)) and ``strength`` (a + d k_t), and one
word's counts n and tables k, the weights are those of
:mod:`model.learners.particles.kernels.draw` in two sums:

    q[t] = gain[t] * (n[t] - d k[t]) + base * (gain[t] * strength[t])

The first sum, the word's, has terms only in the parts of eight topics in which the word has tokens.
The second one, that of the smoothing, has terms in all topics, but no word changes it. It is kept
in a tree: the sums of blocks of eight topics, of spans of sixteen blocks, and of all spans. One row
of ``sums`` holds the blocks, then the spans, then the total. A change of one topic adds its block,
its span and the total up again from their parts. So the sums are a function of the gains and
strengths alone, whatever the order of changes, and they do not drift.

The order of operations, which the twin in the tests repeats, is:

1. A block, a span, the total and the word's weight in a part are each added up from 0.0, term by
   term, in the order of topics. So are the marks: mark[c] is the weight of parts 0 to c of the
   word, mass the last mark, and total = mass + base * sums[-1].
2. x = u * total. If x < mass, the part is the first c with mark[c] > x, and r = x - mark[c-1] (x
   for c = 0). The topic is the first one in the part at which the sum of weights from 0.0 is
   above r.
3. Otherwise r = (x - mass) / base. Spans are passed one after the other while r is at least their
   sum, which is then subtracted from r; then blocks of the span, then topics of the block.

A sum grows only at a term above 0, and r is at least 0, so the term found is above 0. Rounding can
leave r above all terms of a part, of a block, of a span or of all of them. Then the last term above
0 is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import inlined, page_kernel
from model.learners.particles.kernels.parts import PART, list_length

# Blocks of a span.
SPAN = 16


@inlined
def spans_of(tp: Any) -> Any:
    """Return how many spans ``tp`` padded topics have."""
    return (tp // PART + SPAN - 1) // SPAN


@inlined
def sums_length(tp: Any) -> Any:
    """Return the length of a row of sums: blocks, spans, total."""
    return tp // PART + spans_of(tp) + 1


@page_kernel
def _add_block(sums: Any, gain: Any, strength: Any, block: Any) -> None:
    """Add up the smoothing of eight topics."""
    found = 0.0
    for t in range(block * PART, (block + 1) * PART):
        found += gain[np.uint64(t)] * strength[np.uint64(t)]
    sums[block] = found


@page_kernel
def _add_span(sums: Any, blocks: Any, span: Any) -> None:
    """Add up the blocks of a span."""
    found = 0.0
    for block in range(span * SPAN, min((span + 1) * SPAN, blocks)):
        found += sums[block]
    sums[blocks + span] = found


@page_kernel
def _add_total(sums: Any, blocks: Any) -> None:
    """Add up the spans."""
    found = 0.0
    for place in range(blocks, len(sums) - 1):
        found += sums[place]
    sums[len(sums) - 1] = found


@page_kernel
def add_up(sums: Any, gain: Any, strength: Any) -> None:
    """Add up all sums of a particle."""
    blocks = len(gain) // PART
    for block in range(blocks):
        _add_block(sums, gain, strength, block)
    for span in range(spans_of(len(gain))):
        _add_span(sums, blocks, span)
    _add_total(sums, blocks)


@page_kernel
def add_up_again(sums: Any, gain: Any, strength: Any, t: Any) -> None:
    """Add up the sums that topic t is in."""
    blocks = len(gain) // PART
    _add_block(sums, gain, strength, t // PART)
    _add_span(sums, blocks, t // PART // SPAN)
    _add_total(sums, blocks)


@page_kernel
def draw_in_parts(
    sums: Any,
    marks: Any,
    gain: Any,
    strength: Any,
    row: Any,
    discount: Any,
    base: Any,
    u: Any,
) -> Any:
    """Draw the topic of a token that is not counted, and return (t, total).

    Args:
        sums: float64, the sums of this gain and strength.
        marks: float64, a buffer with room for every part.
        gain: float64[Tp].
        strength: float64[Tp].
        row: a buffer of :func:`~model.learners.particles.kernels.parts.gather`, whose parts are
            noted in ascending order, each once.
        discount: d.
        base: B(w).
        u: a uniform.
    """
    tp = len(gain)
    end = len(row) - list_length(tp)
    mass = 0.0
    for c in range(row[end]):
        weight, first = 0.0, PART * np.int64(row[np.uint64(end + 1 + c)])
        for t in range(first, first + PART):
            weight += gain[np.uint64(t)] * _own(row, discount, tp, t)
        mass += weight
        marks[c] = mass
    total = mass + base * sums[len(sums) - 1]
    x = u * total
    if x < mass:
        c = 0
        while marks[c] <= x:
            c += 1
        r = x - marks[c - 1] if c else x
        return _pick_own(gain, row, discount, PART * np.int64(row[end + 1 + c]), r), total
    return _pick_smoothing(sums, gain, strength, (x - mass) / base), total


@inlined
def _own(row: Any, discount: Any, tp: Any, t: Any) -> Any:
    """Return n - d k of a topic; without a discount a row need not have tables."""
    if discount > 0.0:
        return float(row[np.uint64(t)]) - discount * float(row[np.uint64(tp + t)])
    return float(row[np.uint64(t)])


@page_kernel
def _pick_own(gain: Any, row: Any, discount: Any, first: Any, r: Any) -> Any:
    """Return the topic of a part at which the word's weight exceeds r."""
    found, so_far = first, 0.0
    for t in range(first, first + PART):
        weight = gain[t] * _own(row, discount, len(gain), t)
        so_far += weight
        if weight > 0.0:
            found = t
            if so_far > r:
                break
    return found


@page_kernel
def _pick_smoothing(sums: Any, gain: Any, strength: Any, r: Any) -> Any:
    """Return the topic at which the smoothing exceeds r."""
    blocks = len(gain) // PART
    place, r = _pass(sums, blocks, len(sums) - 1, r)
    first = (place - blocks) * SPAN
    block, r = _pass(sums, first, min(first + SPAN, blocks), r)
    found = block * PART
    for t in range(block * PART, (block + 1) * PART):
        weight = gain[t] * strength[t]
        if weight > 0.0:
            found = t
            if r < weight:
                break
            r -= weight
    return found


@page_kernel
def _pass(sums: Any, first: Any, stop: Any, r: Any) -> Any:
    """Return the place of the sum that r lies in, and what is left of r there."""
    found = first
    for place in range(first, stop):
        if sums[place] > 0.0:
            found = place
            if r < sums[place]:
                break
            r -= sums[place]
    return found, r
