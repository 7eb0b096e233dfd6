"""Machine code for eight numbers at a time, written with llvmlite.

Numba's own loops store a vector and read it back with another width. LLVM lowers <8 x double> for
any CPU, and the lanes are the same on each. No fast-math flag is set, so LLVM neither reorders a
sum nor contracts a product into an FMA.

``b`` is the builder throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.np.arrayobj import make_array

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
