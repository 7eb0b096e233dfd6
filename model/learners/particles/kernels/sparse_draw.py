"""Draw a topic where words are in parts, in the time of the parts that have tokens.

For one particle's ``gain`` ((alpha_t + n_td) / (a + n_t)) and ``strength`` (a + d k_t), and one
word's counts n and tables k, the weights are those of
:mod:`beam_topics.model.learners.particles.kernels.draw` in two sums:

    q[t] = gain[t] * (n[t] - d k[t]) + base * (gain[t] * strength[t])

The first sum, the word's, has terms only in the parts of eight topics in which the word has tokens.
They are read in their places. The second one, that of the smoothing, has terms in all topics, but
no word changes it. It is kept in a tree: the sums of blocks of eight topics, of spans of sixteen
blocks, and of all spans. One row of ``sums`` holds the blocks, then the spans, then the total. A
change of one topic adds its block, its span and the total up again from their parts. So the sums
are a function of the gains and strengths alone, whatever the order of changes, and they do not
drift.

A token that moves is counted in its topic ``old``. Its weight there, without the token, is
``q_old``. Neither sum changes for this: the word's sum leaves the old topic out, and what the
smoothing has in it is subtracted where the smoothing is read. Most tokens stay, so q_old comes
first.

The order of operations, which the twin in the tests repeats, is:

1. Eight numbers are added as ((x0 + x4) + (x2 + x6)) + ((x1 + x5) + (x3 + x7)). A block is the sum
   of its eight products, a span the sum of its blocks 0 to 7 plus that of 8 to 15, and the total
   adds eight spans at a time, from 0.0.
2. The weights of the word's parts go to lanes, and their sums to prefixes, as in steps 1 and 2 of
   :mod:`beam_topics.model.learners.particles.kernels.draw`, with the parts that have tokens in
   place of all blocks, and 0.0 for the old topic. mass = pre[7].
3. rest = sums[-1] - gain[old] * strength[old]; total = (mass + q_old) + base * rest; x = u * total.
   Without an old topic, q_old and what is subtracted are 0.0.
4. If x < q_old, the topic is the old one. Otherwise r = x - q_old.
5. If r < mass, lane, part and topic are found as in steps 3 and 4 there, with r in place of x.
6. Otherwise r = (r - mass) / base. Spans are passed one after the other while r is at least their
   sum, which is then subtracted from r; then blocks of the span, then topics of the block. The
   sums of the old topic's span and block are those without its term, and its own term is 0.0.

A sum grows only at a term above 0, and r is at least 0, so the term found is above 0. Rounding can
leave r above all terms of a lane, of a block, of a span or of all of them. Then the last term above
0 is taken, or the old topic where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.types.containers import Tuple
from numba.extending import intrinsic

from beam_topics.model.kernels.jit import inlined, page_inlined, page_kernel
from beam_topics.model.learners.particles.kernels.draw import (
    DOUBLE,
    DOUBLES,
    I32,
    INT,
    LANES,
    ZERO,
    arrays,
    at,
    counts_at,
    integers_at,
    loop,
    prefixes_of,
    splat,
    with_lane,
)
from beam_topics.model.learners.particles.kernels.parts import PART

# Blocks of a span.
SPAN = 16


@inlined
def blocks_of(tp):
    """Return how many blocks ``tp`` padded topics have, in whole spans."""
    return (tp // PART + SPAN - 1) // SPAN * SPAN


@inlined
def sums_length(tp):
    """Return the length of a row of sums: blocks in whole spans, spans by eights, total."""
    return blocks_of(tp) + (blocks_of(tp) // SPAN + PART - 1) // PART * PART + 1


@page_inlined
def _eight(values, first):
    """Add up eight numbers."""
    j = np.uint64(first)
    even = (values[j] + values[j + np.uint64(4)]) + (
        values[j + np.uint64(2)] + values[j + np.uint64(6)]
    )
    odd = (values[j + np.uint64(1)] + values[j + np.uint64(5)]) + (
        values[j + np.uint64(3)] + values[j + np.uint64(7)]
    )
    return even + odd


@page_inlined
def _smoothing(gain, strength, t):
    return gain[np.uint64(t)] * strength[np.uint64(t)]


@page_inlined
def _add_block(sums, gain, strength, block):
    """Add up the smoothing of eight topics."""
    t = block * PART
    even = (_smoothing(gain, strength, t) + _smoothing(gain, strength, t + 4)) + (
        _smoothing(gain, strength, t + 2) + _smoothing(gain, strength, t + 6)
    )
    odd = (_smoothing(gain, strength, t + 1) + _smoothing(gain, strength, t + 5)) + (
        _smoothing(gain, strength, t + 3) + _smoothing(gain, strength, t + 7)
    )
    sums[np.uint64(block)] = even + odd


@page_inlined
def _add_span(sums, blocks, span):
    """Add up the blocks of a span."""
    first = span * SPAN
    sums[np.uint64(blocks + span)] = _eight(sums, first) + _eight(sums, first + PART)


@page_inlined
def _add_total(sums, blocks):
    """Add up the spans."""
    found = 0.0
    for place in range(blocks, len(sums) - 1, PART):
        found += _eight(sums, place)
    sums[len(sums) - 1] = found


@page_kernel
def add_up(sums, gain, strength):
    """Add up all sums of a particle."""
    blocks = blocks_of(len(gain))
    for block in range(len(gain) // PART):
        _add_block(sums, gain, strength, block)
    for span in range(blocks // SPAN):
        _add_span(sums, blocks, span)
    _add_total(sums, blocks)


@page_inlined
def add_up_again(sums, gain, strength, t):
    """Add up the sums that topic t is in."""
    blocks = blocks_of(len(gain))
    _add_block(sums, gain, strength, t // PART)
    _add_span(sums, blocks, t // PART // SPAN)
    _add_total(sums, blocks)


@page_inlined
def add_up_both(sums, gain, strength, s, t):
    """Add up the sums that topics s and t are in."""
    blocks, first, second = blocks_of(len(gain)), np.int64(s) // PART, np.int64(t) // PART
    _add_block(sums, gain, strength, first)
    if second != first:
        _add_block(sums, gain, strength, second)
    _add_span(sums, blocks, first // SPAN)
    if second // SPAN != first // SPAN:
        _add_span(sums, blocks, second // SPAN)
    _add_total(sums, blocks)


@page_inlined
def weigh_parts(scratch, gain, rows, length, found, discount, old):
    """Do step 2, and return mass and the word's tables in all topics.

    Args:
        scratch: float64, takes the sums of the lanes.
        gain: float64[Tp].
        rows: int32 or int64, the rows in which the parts are.
        length: the length of a row.
        found: the parts (:func:`~beam_topics.model.learners.particles.kernels.parts.find_parts`).
        discount: d.
        old: the topic that is left out, or -1.
    """
    if length > PART:
        mass, tables = _weigh_tables(scratch, gain, rows, length, found, discount, old)
    else:
        mass, tables = _weigh_counts(scratch, gain, rows, length, found, discount, old)
    return mass, tables


@page_inlined
def pick_in_parts(sums, scratch, gain, strength, found, mass, base, old, q_old, u):
    """Do steps 3 to 6 after :func:`weigh_parts`, and return (t, total).

    Args:
        sums: float64, the sums of this gain and strength.
        scratch: float64, the sums of the lanes.
        gain: float64[Tp].
        strength: float64[Tp].
        found: the word's parts.
        mass: the word's weight.
        base: B(w).
        old: the topic in which the token is counted, or -1.
        q_old: its weight without the token; 0.0 without an old topic.
        u: a uniform.
    """
    taken = 0.0
    if old >= 0:
        taken = _smoothing(gain, strength, old)
    total = (mass + q_old) + base * (sums[len(sums) - 1] - taken)
    x = u * total
    if x < q_old:
        t = old
    elif x - q_old < mass:
        t = _pick_own(scratch, found, x - q_old)
    else:
        t = _pick_smoothing(sums, gain, strength, old, taken, ((x - q_old) - mass) / base)
    return t, total


@page_inlined
def _pick_own(scratch, found, r):
    """Return the topic of the word's parts at which their weight exceeds r."""
    count = found[0]
    pre, lane = LANES * (count + 1), 0
    for k in range(LANES - 1):
        lane += scratch[np.uint64(pre + k)] <= r
    r -= scratch[np.uint64(pre + lane - 1)]
    c = 0
    for k in range(count):
        c += scratch[np.uint64(LANES * k + lane)] <= r
    if c == count:
        c -= 1
        while c and scratch[LANES * c + lane] == scratch[LANES * (c - 1) + lane]:
            c -= 1
    return found[np.uint64(1 + 2 * c)] * PART + lane


@page_kernel
def _pick_smoothing(sums, gain, strength, old, taken, r):
    """Return the topic at which the smoothing exceeds r."""
    blocks = blocks_of(len(gain))
    block = old // PART if old >= 0 else -1
    span = block // SPAN if old >= 0 else -1
    place, r = _pass(sums, blocks, len(sums) - 1, blocks + span, taken, r)
    first = (place - blocks) * SPAN
    place, r = _pass(sums, first, first + SPAN, block, taken, r)
    found = max(old, 0)
    for t in range(place * PART, place * PART + PART):
        weight = gain[t] * strength[t]
        if weight > 0.0 and t != old:
            found = t
            if r < weight:
                break
            r -= weight
    return found


@page_inlined
def _pass(sums, first, stop, old, taken, r):
    """Return the place of the sum that r lies in, and what is left of r there.

    The sum at ``old`` is that without ``taken``.
    """
    found = first
    for place in range(first, stop):
        value = sums[place]
        if place == old:
            value -= taken
        if value > 0.0:
            found = place
            if r < value:
                break
            r -= value
    return found, r


def _emit_parts(
    b: Any, scratch: Any, gain: Any, found: Any, old: Any, part: Any, tables: Any
) -> Any:
    """Emit step 2; ``part(place)`` returns the weights without gain and the tables of a part."""
    count = b.load(found)

    def step(j: Any, total: Any, tables: Any) -> list[Any]:
        entry = b.gep(found, [b.lshr(j, INT(2))], inbounds=True)
        first = b.shl(b.load(b.gep(entry, [INT(1)], inbounds=True)), INT(3))
        weight, more = part(b.load(b.gep(entry, [INT(2)], inbounds=True)))
        q = b.fmul(b.load(at(b, gain, first, DOUBLES), align=8), weight)
        total = b.fadd(total, with_lane(b, q, b.sub(old, first), DOUBLE(0.0)))
        b.store(total, at(b, scratch, j, DOUBLES), align=8)
        return [total, b.add(tables, more)]

    end = b.shl(count, INT(3))
    total, tables = loop(b, "parts", INT(0), end, [ZERO, tables], step)
    prefixes = prefixes_of(b, total)
    pre = b.gep(scratch, [b.add(end, INT(LANES))], inbounds=True)
    b.store(DOUBLE(0.0), b.gep(pre, [INT(-1)], inbounds=True))
    b.store(prefixes, at(b, pre, INT(0), DOUBLES), align=8)
    return b.extract_element(prefixes, I32(LANES - 1)), tables


def _added(b: Any, x: Any) -> Any:
    """Return the sum of eight whole numbers."""
    lanes = [b.extract_element(x, I32(lane)) for lane in range(LANES)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [b.add(lanes[k], lanes[k + half]) for k in range(half)]
    return lanes[0] if lanes[0].type == INT else b.sext(lanes[0], INT)


def _weigher(has_tables: bool) -> Any:
    """Return the intrinsic for rows with or without tables behind their counts."""

    @intrinsic
    def weigh(
        typing,
        scratch,
        gain,
        rows,
        length,
        found,
        discount,
        old,
    ):
        def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
            into, gains, row, places = (
                each.data for each in arrays(context, b, sig, args, 0, 1, 2, 4)
            )
            discounts = splat(b, args[5])
            none = ir.Constant(ir.VectorType(row.type.pointee, LANES), None)

            def part(place: Any) -> Any:
                begin = b.mul(place, args[3])
                counts = counts_at(b, row, begin)
                if not has_tables:
                    return counts, none
                tables = integers_at(b, row, b.add(begin, INT(PART)))
                off = b.fmul(discounts, b.sitofp(tables, DOUBLES))
                return b.fsub(counts, off), tables

            mass, tables = _emit_parts(b, into, gains, places, args[6], part, none)
            return context.make_tuple(b, sig.return_type, [mass, _added(b, tables)])

        given = scratch, gain, rows, types.int64, found, types.float64, types.int64
        return Tuple((types.float64, types.int64))(*given), codegen

    return weigh


_weigh_tables, _weigh_counts = _weigher(True), _weigher(False)
