"""Draw a topic in proportion to its weight, with the same bits on every machine.

For one particle's ``gain`` (float64[Tp]: (alpha_t + n_td) / (a + n_t), one per topic) and one
word's count row (int32 or int64[Tp]):

    q[t] = gain[t] * (row[t] + share)            the weight of every topic
    t    drawn with probability q[t] / sum(q)    by one uniform u in [0, 1)

The topics are laid out in blocks of eight: topic t is lane t % 8 of block t // 8. :func:`padded`
gives the padded length Tp; the pads must have gain 0. One <8 x double> holds one block, and this
module writes the machine code for it with llvmlite. Numba's own loops store q and read it back with
another width before they sum it, and that wait took most of the time (62 ns a visit against 39 at T
= 50; ``docs/lessons.md``). LLVM lowers <8 x double> for any CPU, and the lanes are the same
on each, hence the bits too. No fast-math flag is set, so LLVM neither reorders a sum nor contracts
a product into an FMA.

The order of additions, which the twin in the tests repeats, is:

1. Each lane sums its topics block after block: cum[8b+l] = cum[8(b-1)+l] + q[8b+l], from 0.0; s[l]
   is the last of them.
2. The eight lane sums become prefixes by a fixed tree, with + only inside the brackets:
   s01 = s0+s1, s23 = s2+s3, s45 = s4+s5, s67 = s6+s7, h = s01+s23;
   pre = s0, s01, s01+s2, h, h+s4, h+s45, h+(s45+s6), h+(s45+s67); total = pre[7].
3. x = u * total; lane = how many of pre[0..6] are <= x; r = x - pre[lane-1] (x - 0.0 for lane 0).
4. block = how many cum[8b+lane] are <= r; t = 8 * block + lane.

Every prefix in this tree is at least the one before it, after rounding too, and equal to it where
the lane is zero; the same holds for the cum of a lane. Hence the topic found has cum > r >= the cum
before, that is q[t] > 0. Only for u close to 1 rounding can leave no cum above r. Then the last
topic with gain > 0 is taken; its q is positive because shares are.

Machine code for eight numbers at a time, written with llvmlite.

Numba's own loops store a vector and read it back with another width. LLVM lowers <8 x double> for
any CPU, and the lanes are the same on each. No fast-math flag is set, so LLVM neither reorders a
sum nor contracts a product into an FMA.

``b`` is the builder throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from beam_topics.model.kernels.jit import inlined, kernel, page_inlined

LANES = 8

DOUBLE, INT, I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
DOUBLES, INTS = ir.VectorType(DOUBLE, LANES), ir.VectorType(INT, LANES)
I32S, BITS = ir.VectorType(I32, LANES), ir.VectorType(ir.IntType(1), LANES)
ZERO = ir.Constant(DOUBLES, None)
_Z = LANES  # in a shuffle of (sums, zeros): this lane is 0.0


def shuffle(b: Any, x: Any, lanes: list[int]) -> Any:
    """Return lanes of x; lane 8 and above are zero."""
    return b.shuffle_vector(x, ir.Constant(x.type, None), ir.Constant(I32S, lanes))


def splat(b: Any, scalar: Any) -> Any:
    """Return a vector with the scalar in each lane."""
    vector = ir.VectorType(scalar.type, LANES)
    return shuffle(
        b, b.insert_element(ir.Constant(vector, ir.Undefined), scalar, I32(0)), [0] * LANES
    )


def prefixes_of(b: Any, s: Any) -> Any:
    """Return the sums of lanes 0 to l in the order that :mod:`.draw` gives.

    The shuffle between halves is the last one; adding 0.0 changes no bit.
    """
    s = b.fadd(s, shuffle(b, s, [_Z, 0, _Z, 2, _Z, 4, _Z, 6]))
    s = b.fadd(s, shuffle(b, s, [_Z, _Z, 1, 1, _Z, _Z, 5, 5]))
    return b.fadd(s, shuffle(b, s, [_Z, _Z, _Z, _Z, 3, 3, 3, 3]))


def at(b: Any, base: Any, j: Any, vector: Any) -> Any:
    """Return the address of entry j as that of a vector."""
    return b.bitcast(b.gep(base, [j], inbounds=True), vector.as_pointer())


def with_lane(b: Any, x: Any, lane: Any, value: Any) -> Any:
    """Return x with ``value`` in a lane; no lane is changed where there is none of that number."""
    here = b.icmp_signed("==", splat(b, lane), ir.Constant(INTS, list(range(LANES))))
    return b.select(here, splat(b, value), x)


def loop(
    b: Any,
    name: str,
    first: Any,
    end: Any,
    start: Sequence[Any],
    step: Callable[..., Sequence[Any]],
) -> Any:
    """Emit: do values = step(j, *values) for j from `first` by 8 while j < end, at least once."""
    before, body, after = b.block, b.append_basic_block(name), b.append_basic_block(name + ".end")
    b.branch(body)
    b.position_at_end(body)
    values = (first, *start)
    now = [b.phi(value.type) for value in values]
    then = (b.add(now[0], INT(LANES)), *step(*now))
    for phi, value, value_then in zip(now, values, then, strict=True):
        phi.add_incoming(value, before)
        phi.add_incoming(value_then, body)
    b.cbranch(b.icmp_signed("<", then[0], end), body, after)
    b.position_at_end(after)
    return then[1:]


def integers_at(b: Any, row: Any, j: Any) -> Any:
    """Return eight whole numbers from entry j on."""
    counts = ir.VectorType(row.type.pointee, LANES)
    return b.load(at(b, row, j, counts), align=row.type.pointee.width // 8)


def counts_at(b: Any, row: Any, j: Any) -> Any:
    """Return eight counts from entry j on as doubles."""
    return b.sitofp(integers_at(b, row, j), DOUBLES)


def arrays(context: Any, b: Any, sig: Any, args: Any, *places: int) -> list[Any]:
    """Return the arrays among the arguments of an intrinsic."""
    return [make_array(sig.args[k])(context, b, args[k]) for k in places]


_SPARE = 24  # room for eight zeros before cum, and for a zero and the eight prefixes behind it
_LINE = 64  # bytes of a cache line

_F, _N = types.float64, types.intp


def padded(topics: int) -> int:
    """Return Tp, the padded length of gain, row and similar arrays for ``topics`` topics."""
    return -(-topics // LANES) * LANES


@kernel
def aligned(length):
    """Return float64[length] of zeros that begins on a cache line.

    Otherwise half of the vector loads and stores would cross a line.
    """
    raw = np.zeros(length + LANES)
    first = (-raw.ctypes.data) % _LINE // LANES
    return raw[first : first + length]


@kernel
def new_scratch(tp):
    """Return a buffer for rows of padded length ``tp``."""
    return aligned(tp + _SPARE)


@inlined
def draw(scratch, gain, row, share, u):
    """Draw the topic of a token that is not counted yet, and return (t, total)."""
    total = _weigh(scratch, gain, row, share)
    return _pick(scratch, gain, u), total


@page_inlined
def draw_without(scratch, gain, row, share, old, q_old, u):
    """Draw the topic of a token that is counted in topic ``old``.

    ``q_old`` replaces q[old]: the weight of the old topic without the token. Moves use it.
    """
    total = _weigh_without(scratch, gain, row, share, old, q_old)
    return old if _stays(scratch, len(gain), old, u * total) else _pick(scratch, gain, u)


@inlined
def draw_discounted(scratch, gain, row, discount, strength, base, u):
    """Draw a topic where there are tables, and return (t, total).

    q[t] = gain[t] * ((row[t] - discount * row[Tp + t]) + strength[t] * base). A row holds tables
    behind its counts (:mod:`beam_topics.model.learners.particles.kernels.table_counts`).
    """
    total = _weigh_discounted(scratch, gain, row, discount, strength, base, -1, 0.0)
    return _pick(scratch, gain, u), total


@page_inlined
def draw_discounted_without(scratch, gain, row, discount, strength, base, old, q_old, u):
    """Draw a topic as :func:`draw_discounted` does, with ``q_old`` in place of q[old]."""
    total = _weigh_discounted(scratch, gain, row, discount, strength, base, old, q_old)
    return old if _stays(scratch, len(gain), old, u * total) else _pick(scratch, gain, u)


@page_inlined
def _stays(scratch, tp, old, x):
    """Return whether steps 3 and 4 find topic ``old``, which most moves do.

    Prefixes and the cum of a lane ascend, so x and r are compared with two of each, which are known
    early. The search needs what it has found so far.
    """
    lane, cum = np.uint64(old % LANES), np.uint64(LANES + old)
    pre = np.uint64(2 * LANES + tp) + lane
    below = scratch[pre - np.uint64(1)]
    r = x - below
    return (
        (below <= x)
        & (x < scratch[pre])
        & (scratch[cum - np.uint64(LANES)] <= r)
        & (r < scratch[cum])
    )


def _sums(b: Any, scratch: Any, tp: Any) -> Any:
    """Return the addresses of cum and pre.

    cum[-8] to cum[-1] and pre[7] are 0.0, and pre[8 + l], on a 64-byte line, is the prefix up to
    lane l.
    """
    cum = b.gep(scratch, [INT(LANES)], inbounds=True)
    return cum, b.gep(cum, [tp], inbounds=True)


def _emit_weigh(
    b: Any,
    tp: Any,
    scratch: Any,
    gain: Any,
    weight: Callable[[Any], Any],
    old: Any = None,
    q_old: Any = None,
) -> Any:
    """Emit steps 1 and 2; `weight(j)` returns the factor of gain in the block at j."""
    cum, pre = _sums(b, scratch, tp)

    def step(j: Any, total: Any) -> list[Any]:
        q = b.fmul(b.load(at(b, gain, j, DOUBLES), align=8), weight(j))
        if old is not None:
            # In the register: a store to q[old] would make the next vector load wait for it.
            q = with_lane(b, q, b.sub(old, j), q_old)
        total = b.fadd(total, q)
        b.store(total, at(b, cum, j, DOUBLES), align=8)
        return [total]

    prefixes = prefixes_of(b, *loop(b, "weigh", INT(0), tp, [ZERO], step))
    b.store(DOUBLE(0.0), b.gep(pre, [INT(LANES - 1)], inbounds=True))
    b.store(prefixes, at(b, pre, INT(LANES), DOUBLES), align=8)
    return b.extract_element(prefixes, I32(LANES - 1))


def _emit_pick(b: Any, tp: Any, scratch: Any, gain: Any, u: Any) -> Any:
    """Emit steps 3 and 4."""
    cum, pre = _sums(b, scratch, tp)
    prefixes = b.load(at(b, pre, INT(LANES), DOUBLES), align=8)
    x = b.fmul(u, b.extract_element(prefixes, I32(LANES - 1)))
    below = b.and_(
        b.fcmp_ordered("<=", prefixes, splat(b, x)), ir.Constant(BITS, [1] * (LANES - 1) + [0])
    )
    lane = b.zext(b.ctpop(b.bitcast(below, ir.IntType(LANES))), INT)
    r = b.fsub(x, b.load(b.gep(pre, [b.add(lane, INT(LANES - 1))], inbounds=True)))

    def step(j: Any, t: Any) -> list[Any]:
        passed = b.fcmp_ordered("<=", b.load(b.gep(cum, [j], inbounds=True)), r)
        return [b.add(t, b.shl(b.zext(passed, INT), INT(3)))]

    (t,) = loop(b, "count", lane, tp, [lane], step)

    # Rounding left nothing above r: search from the end for the last q > 0.
    found, back, drawn = b.block, b.append_basic_block("back"), b.append_basic_block("drawn")
    b.cbranch(b.icmp_signed("<", t, tp), drawn, back)
    b.position_at_end(back)
    last = b.phi(INT)
    last.add_incoming(tp, found)
    before_last = b.sub(last, INT(1))
    last.add_incoming(before_last, back)
    positive = b.fcmp_ordered(">", b.load(b.gep(gain, [before_last], inbounds=True)), DOUBLE(0.0))
    b.cbranch(b.or_(positive, b.icmp_signed("==", before_last, INT(0))), drawn, back)
    b.position_at_end(drawn)
    topic = b.phi(INT)
    topic.add_incoming(t, found)
    topic.add_incoming(before_last, back)
    # By way of 32 bits LLVM knows that t >= 0 and drops numba's test for negative indices.
    return b.zext(b.trunc(topic, I32), INT)


def _check(scratch: Any, gain: Any, row: Any) -> None:
    for name, array, allowed in (
        ("scratch", scratch, (_F,)),
        ("gain", gain, (_F,)),
        ("row", row, (types.int32, types.int64)),
    ):
        if not (
            isinstance(array, types.Array)
            and array.dtype in allowed
            and array.ndim == 1
            and array.layout == "C"
        ):
            raise TypingError(f"{name} must be a contiguous 1-d array of {allowed[0]}, not {array}")


@intrinsic
def _weigh(typing, scratch, gain, row, share):
    _check(scratch, gain, row)

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        q, g, n = arrays(context, b, sig, args, 0, 1, 2)
        shares = splat(b, args[3])
        tp = b.extract_value(g.shape, 0)
        return _emit_weigh(b, tp, q.data, g.data, lambda j: b.fadd(counts_at(b, n.data, j), shares))

    return _F(scratch, gain, row, _F), codegen


@intrinsic
def _weigh_without(typing, scratch, gain, row, share, old, q_old):
    _check(scratch, gain, row)

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        q, g, n = arrays(context, b, sig, args, 0, 1, 2)
        shares = splat(b, args[3])
        tp = b.extract_value(g.shape, 0)
        return _emit_weigh(
            b,
            tp,
            q.data,
            g.data,
            lambda j: b.fadd(counts_at(b, n.data, j), shares),
            args[4],
            args[5],
        )

    return _F(scratch, gain, row, _F, _N, _F), codegen


@intrinsic
def _weigh_discounted(typing, scratch, gain, row, discount, strength, base, old, q_old):
    _check(scratch, gain, row)

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        q, g, n, c = arrays(context, b, sig, args, 0, 1, 2, 4)
        discounts, bases, tp = splat(b, args[3]), splat(b, args[5]), b.extract_value(g.shape, 0)

        def weight(j: Any) -> Any:
            counts = counts_at(b, n.data, j)
            off = b.fmul(discounts, counts_at(b, n.data, b.add(j, tp)))
            backoff = b.fmul(b.load(at(b, c.data, j, DOUBLES), align=8), bases)
            return b.fadd(b.fsub(counts, off), backoff)

        return _emit_weigh(b, tp, q.data, g.data, weight, args[6], args[7])

    return _F(scratch, gain, row, _F, strength, _F, _N, _F), codegen


@intrinsic
def put(typing, row, t, value):
    """Write row[t] = value for a row of a padded length, by a store of the block of eight.

    A draw loads blocks, and a load of a block waits for a store of a part of it.
    """

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        (into,) = arrays(context, b, sig, args, 0)
        topic = b.zext(b.trunc(args[1], I32), INT)
        first = b.and_(topic, INT(-LANES))
        place = at(b, into.data, first, DOUBLES)
        block = with_lane(b, b.load(place, align=8), b.sub(topic, first), args[2])
        b.store(block, place, align=8)
        return context.get_dummy_value()

    return types.void(row, _N, _F), codegen


@intrinsic
def _pick(typing, scratch, gain, u):
    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        sums, g = arrays(context, b, sig, args, 0, 1)
        return _emit_pick(b, b.extract_value(g.shape, 0), sums.data, g.data, args[2])

    return _N(scratch, gain, _F), codegen
