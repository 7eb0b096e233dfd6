"""Machine code for eight topics at a time, written with llvmlite.

LLVM lowers <8 x float> for any CPU, and no fast-math flag is set. So each lane adds its products in
the order of the topics, and the bits do not depend on the width of a machine's registers. ``b`` is
the builder throughout.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

LANES = 8

_FLOAT, _INT, _I32 = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_FLOATS, _I32S = ir.VectorType(_FLOAT, LANES), ir.VectorType(_I32, LANES)
_BYTES = ir.IntType(8).as_pointer()
# Numbers of 4 bytes in a line of the cache, and lines that are asked for.
_LINE, _LINES = 16, 4


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
