"""Draw the topics of some documents: the work of one shard in one epoch.

Token i of document d is word w. Given all other tokens, its topic z_i is t with probability

    P(z_i = t) ~ (alpha_t + n_td) (n_wt + a G_w) / (n_t + a)

where n_wt, n_t and n_td count the other tokens of word w in topic t, of topic t, and of topic t in
d. In an epoch a shard sees n_wt and n_t as they were when the epoch began, plus its own changes.

Layout. ``rows`` has T8 counts for each word: the T topics, padded to a multiple of eight. Pads have
alpha = 0 and no mass. All shards only read ``rows``. A shard copies the row of a word where it
first meets the word, to pool[slot[w]], and then works on the copy; slot[w] = -1 before. With

    share_t = 1 / (n_t + a),    coef_t = (alpha_t + n_td) share_t

a draw is one pass over coef_t (n_wt + a G_w), eight topics at a time, which also sums each lane.
Then a lane is found by counting the prefix sums of lanes that are at most x, and a topic of that
lane in the same way. Neither has a branch, because the processor could not guess it. Masses are
float32; their products and sums have one order, which the twin in the tests repeats.

Named uniforms by Philox take 2 to 3 ns of a visit of 80 ns at T = 50.

Machine code for eight topics at a time is written with llvmlite. LLVM lowers <8 x float> for any
CPU, and no fast-math flag is set. So each lane adds its products in the order of the topics, and
the bits do not depend on the width of a machine's registers. ``b`` is the builder throughout.

:func:`merge` adds the changes of all shards to the counts,

    n_wt += sum over shards of (the shard's copy of n_wt - n_wt).

These are integers, so neither the order of shards nor the split of words into ranges changes a bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from beam_topics.model.kernels.jit import kernel, page_inlined, page_kernel
from beam_topics.model.kernels.random import EPOCH_TOPIC, fill_uniforms
from beam_topics.model.kernels.special import ln

LANES = 8

_FLOAT, _INT, _I32 = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_FLOATS, _I32S = ir.VectorType(_FLOAT, LANES), ir.VectorType(_I32, LANES)
_BYTES = ir.IntType(8).as_pointer()
# Numbers of 4 bytes in a line of the cache, and lines that are asked for.
_LINE, _LINES = 16, 4
# The topic of a token that has none yet.
NONE = 65535

_F = np.float32
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)


def _data(context: Any, b: Any, kind: Any, array: Any) -> Any:
    """Return the pointer to an array's first number."""
    return make_array(kind)(context, b, array).data


def _vector(b: Any, data: Any, index: Any, kind: Any) -> Any:
    """Return the pointer to eight numbers from an index on."""
    return b.bitcast(b.gep(data, [index]), kind.as_pointer())


def _splat(b: Any, scalar: Any) -> Any:
    """Return a vector with the scalar in each lane."""
    one = b.insert_element(ir.Constant(_FLOATS, ir.Undefined), scalar, ir.Constant(_I32, 0))
    return b.shuffle_vector(one, one, ir.Constant(_I32S, [0] * LANES))


@intrinsic
def lane_masses(typing, coef, row, share, mass, lane, length):
    """Set mass[t] = coef[t] * (row[t] + share), and lane[l] = mass[l] + mass[l + 8] + ...

    Args:
        typing: numba's.
        coef: float32[T8].
        row: int32[T8].
        share: float32.
        mass: float32[T8], written.
        lane: float32[8], written.
        length: T8, a multiple of 8.
    """

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        kinds = signature.args
        coefs, counts, masses, lanes = (_data(context, b, kinds[k], args[k]) for k in (0, 1, 3, 4))
        base, zero = _splat(b, args[2]), ir.Constant(_INT, 0)
        before = b.block
        loop, after = b.append_basic_block(), b.append_basic_block()
        b.branch(loop)
        b.position_at_end(loop)
        t, total = b.phi(_INT), b.phi(_FLOATS)
        count = b.sitofp(b.load(_vector(b, counts, t, _I32S), align=4), _FLOATS)
        found = b.fmul(b.load(_vector(b, coefs, t, _FLOATS), align=4), b.fadd(count, base))
        b.store(found, _vector(b, masses, t, _FLOATS), align=4)
        following, added = b.add(t, ir.Constant(_INT, LANES)), b.fadd(total, found)
        t.add_incoming(zero, before)
        t.add_incoming(following, loop)
        total.add_incoming(ir.Constant(_FLOATS, [0.0] * LANES), before)
        total.add_incoming(added, loop)
        b.cbranch(b.icmp_signed("<", following, args[5]), loop, after)
        b.position_at_end(after)
        b.store(added, _vector(b, lanes, zero, _FLOATS), align=4)
        return context.get_dummy_value()

    return types.void(coef, row, share, mass, lane, types.int64), codegen


@intrinsic
def prefetch(typing, array, place):
    """Ask for the first lines of the cache from array[place] on; numbers have 4 bytes."""

    def codegen(context: Any, b: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _I32, _I32, _I32])
        fetch = b.module.declare_intrinsic("llvm.prefetch", [_BYTES], kind)
        data = _data(context, b, signature.args[0], args[0])
        for line in range(0, _LINE * _LINES, _LINE):
            at = b.gep(data, [b.add(args[1], ir.Constant(_INT, line))])
            # To read, to be kept, data.
            b.call(fetch, [b.bitcast(at, _BYTES), _I32(0), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


class Documents(NamedTuple):
    """The tokens of all documents in reach.

    Attributes:
        words: int32[N], the word of each token.
        offsets: int64[D + 1], where documents begin.
        z: uint16[N], the topic of each token, or :data:`NONE`; the shard writes its documents'.
    """

    words: Any
    offsets: Any
    z: Any


class Topics(NamedTuple):
    """What is frozen in an epoch.

    Attributes:
        rows: int32[W, T8], n_wt.
        totals: int64[T8], n_t.
        shares: float32[W], a G_w.
        alpha: float32[T8].
        a: float64.
    """

    rows: Any
    totals: Any
    shares: Any
    alpha: Any
    a: Any


class Shard(NamedTuple):
    """What a shard changes.

    Attributes:
        slot: int32[W], the place of a word's copy, or -1.
        pool: int32[W, T8], the copies.
        totals: int64[T8], n_t with the shard's changes.
    """

    slot: Any
    pool: Any
    totals: Any


class Scratch(NamedTuple):
    """Where a shard computes; of float32 but the uniforms, which are float64.

    Attributes:
        in_document: [T8], n_td.
        share: [T8].
        coef: [T8].
        mass: [T8], the mass of each topic.
        lane: [8], prefix sums of lanes.
        uniforms: [tokens of the longest document].
    """

    in_document: Any
    share: Any
    coef: Any
    mass: Any
    lane: Any
    uniforms: Any


@page_inlined
def _begin_shard(topics, shard, scratch):
    """Set n_t and the shares; return the sum of alpha."""
    whole = 0.0
    for t in range(topics.alpha.shape[0]):
        shard.totals[t] = topics.totals[t]
        scratch.share[t] = _ZERO
        if topics.alpha[t] > _ZERO:
            scratch.share[t] = _ONE / _F(topics.totals[t] + topics.a)
        whole += topics.alpha[t]
    return whole


@page_inlined
def _begin_document(z, begin, end, alpha, scratch):
    """Count the topics of a document, and set the coefs."""
    for t in range(alpha.shape[0]):
        scratch.in_document[t] = _ZERO
    for i in range(begin, end):
        if z[i] != NONE:
            scratch.in_document[z[i]] += _ONE
    for t in range(alpha.shape[0]):
        scratch.coef[t] = (alpha[t] + scratch.in_document[t]) * scratch.share[t]


@page_inlined
def _copy_row(row, pool, place):
    for t in range(row.shape[0]):
        pool[place, t] = row[t]


@page_inlined
def _count(t, change, row, totals, scratch):
    """Count one token more or less of a topic."""
    row[t] += change
    totals[t] += change
    scratch.in_document[t] += _F(change)


@page_inlined
def _set_coef(t, a, alpha, totals, scratch):
    scratch.share[t] = _ONE / _F(totals[t] + a)
    scratch.coef[t] = (alpha[t] + scratch.in_document[t]) * scratch.share[t]


@page_inlined
def _prefix(lane):
    """Replace the sums of lanes by prefix sums; return the last."""
    total = _ZERO
    for k in range(LANES):
        total += lane[k]
        lane[k] = total
    return total


@page_inlined
def _choose(x, mass, lane):
    """Return the topic at x, 0 <= x <= the sum of all masses, lane by lane."""
    t = 0
    for k in range(LANES - 1):
        t += x >= lane[k]
    if t > 0:
        x -= lane[t - 1]
    below = _ZERO
    for j in range(t, mass.shape[0] - LANES, LANES):
        below += mass[j]
        t += LANES * (x >= below)
    # Rounding at the upper end can lead to a topic without mass.
    while t > 0 and mass[t] == _ZERO:
        t -= 1
    return t


@page_kernel
def draw(
    documents: Documents,
    topics: Topics,
    shard: Shard,
    scratch: Scratch,
    chosen: Any,
    key0: Any,
    key1: Any,
    epoch: Any,
) -> Any:
    """Draw z of the tokens of some documents once, one after the other.

    Args:
        documents: the documents in reach; z changes.
        topics: what is frozen.
        shard: slot[w] is -1 for all words when the epoch begins.
        scratch: where to compute.
        chosen: int64[n], the numbers of the shard's documents, in the order of the draws.
        key0: names the draws.
        key1: names the draws.
        epoch: names the draws.

    Returns:
        ln P(words | the past) of the tokens that had no topic, float64.
    """
    words, offsets, z = documents
    coef, mass, lane, alpha, a = scratch.coef, scratch.mass, scratch.lane, topics.alpha, topics.a
    width, copies, fit = alpha.shape[0], 0, 0.0
    whole = _begin_shard(topics, shard, scratch)
    for d in chosen:
        begin, end = offsets[d], offsets[d + 1]
        fill_uniforms(scratch.uniforms, end - begin, 0, key0, key1, d, epoch, EPOCH_TOPIC)
        _begin_document(z, begin, end, alpha, scratch)
        for i in range(begin, end):
            if i + 2 < end and shard.slot[words[i + 2]] >= 0:
                prefetch(shard.pool, np.int64(shard.slot[words[i + 2]]) * width)
            w, old = words[i], np.int64(z[i])
            if shard.slot[w] < 0:
                shard.slot[w] = copies
                _copy_row(topics.rows[w], shard.pool, copies)
                copies += 1
            row = shard.pool[shard.slot[w]]
            if old != NONE:
                _count(old, -1, row, shard.totals, scratch)
                _set_coef(old, a, alpha, shard.totals, scratch)
            lane_masses(coef, row, topics.shares[w], mass, lane, width)
            total = _prefix(lane)
            if old == NONE:
                fit += ln(total / (whole + (i - begin)))
            new = _choose(_F(scratch.uniforms[i - begin]) * total, mass, lane)
            _count(new, 1, row, shard.totals, scratch)
            # A branch for a topic that stays would cost more than its coef.
            _set_coef(new, a, alpha, shard.totals, scratch)
            z[i] = new
    return fit


@kernel
def merge(first, last, rows, slots, pools):
    """Add the changes of the words first..last-1, and forget the copies.

    Args:
        first: the first word.
        last: the word after the last one.
        rows: int32[W, T8], n_wt, changed.
        slots: int32[S, W], the place of each shard's copy; -1 afterwards.
        pools: int32[S, W, T8], the copies.
    """
    change = np.zeros(rows.shape[1], np.int32)
    for w in range(first, last):
        touched = False
        for s in range(slots.shape[0]):
            place = slots[s, w]
            if place >= 0:
                slots[s, w], touched = -1, True
                for t in range(len(change)):
                    change[t] += pools[s, place, t] - rows[w, t]
        if touched:
            for t in range(len(change)):
                rows[w, t] += change[t]
                change[t] = 0
