"""Sums over the rows of sparse counts, in machine code.

Gibbs sampling of sparse counts spends its time in the sum of a word's row times the topics'
coefficients. :func:`packed_sum` is the sum of coef[topic] * count over the entries of a packed row
(:mod:`beam_topics.model.papers.kernels.sparse_lda`). :func:`pair_sum` is the same sum for topics
and counts in two arrays. Both take eight entries at a time, in code written with llvmlite as in
:mod:`beam_topics.model.learners.engine.kernels.draw`. Numba widens each entry to 64 bits, and
then LLVM vectorises neither the shift nor the conversion.

So rows begin at multiples of eight and have room for whole blocks. An entry past the end of a row
must have a topic that exists and no tokens. The order of additions is fixed: entry i goes to lane
i % 8, block after block; then lanes k and k + 4, k and k + 2, k and k + 1 are added.

A row is seldom in the first cache. :func:`prefetch` requests the row of a token that comes soon. It
changes no result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from beam_topics.model.kernels.jit import inlined

LANES = 8

_DOUBLE, _INT, _I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_BYTES = ir.IntType(8).as_pointer()
_DOUBLES = ir.VectorType(_DOUBLE, LANES)
# Of llvm.prefetch: to read, for all caches, of data.
_READ, _NEAR, _DATA = 0, 3, 1


@inlined
def padded_length(entries):
    """Return a number of entries rounded up to whole blocks."""
    return (entries + (LANES - 1)) // LANES * LANES


def _data(context: Any, b: Any, sig: Any, args: Any, place: int) -> Any:
    return make_array(sig.args[place])(context, b, args[place]).data


def _bytes(kind: Any) -> int:
    return 8 if kind == _DOUBLE else int(kind.width) // 8


def _vector(b: Any, data: Any, j: Any) -> Any:
    kind = ir.VectorType(data.type.pointee, LANES)
    return b.load(
        b.bitcast(b.gep(data, [j], inbounds=True), kind.as_pointer()),
        align=_bytes(data.type.pointee),
    )


def _splat(b: Any, scalar: Any) -> Any:
    vector = ir.VectorType(scalar.type, LANES)
    first = b.insert_element(ir.Constant(vector, ir.Undefined), scalar, _I32(0))
    return b.shuffle_vector(
        first,
        ir.Constant(vector, ir.Undefined),
        ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES),
    )


def _gathered(b: Any, coef: Any, topics: Any) -> Any:
    """Return coef of eight topics, one load each. A gather instruction is not faster."""
    found = ir.Constant(_DOUBLES, ir.Undefined)
    for lane in range(LANES):
        topic = b.extract_element(topics, _I32(lane))
        topic = topic if topic.type == _INT else b.zext(topic, _INT)
        found = b.insert_element(found, b.load(b.gep(coef, [topic], inbounds=True)), _I32(lane))
    return found


def _emit(
    b: Any,
    coef: Any,
    begin: Any,
    end: Any,
    block: Callable[[Any], tuple[Any, Any]],
    products: Any = None,
) -> Any:
    """Emit the sum over begin to end - 1, of one block at least.

    Args:
        b: the builder.
        coef: pointer to the coefficients.
        begin: the first entry.
        end: the end of the entries.
        block: ``block(j)`` returns eight topics and eight counts from entry j on.
        products: where given, entry i of the row is also written to products[i].
    """
    before, body = b.block, b.append_basic_block("entries")
    after = b.append_basic_block("entries.end")
    b.branch(body)
    b.position_at_end(body)
    j, total = b.phi(_INT), b.phi(_DOUBLES)
    topics, counts = block(j)
    product = b.fmul(_gathered(b, coef, topics), counts)
    if products is not None:
        place = b.gep(products, [b.sub(j, begin)], inbounds=True)
        b.store(product, b.bitcast(place, _DOUBLES.as_pointer()), align=8)
    total_then, then = b.fadd(total, product), b.add(j, _INT(LANES))
    for phi, start, value in ((j, begin, then), (total, ir.Constant(_DOUBLES, None), total_then)):
        phi.add_incoming(start, before)
        phi.add_incoming(value, body)
    b.cbranch(b.icmp_signed("<", then, end), body, after)
    b.position_at_end(after)
    lanes = [b.extract_element(total_then, _I32(lane)) for lane in range(LANES)]
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [b.fadd(lanes[k], lanes[k + half]) for k in range(half)]
    return lanes[0]


@intrinsic
def packed_sum(typing, coef, rows, begin, end, bits):
    """Return the sum of coef[entry & mask] * (entry >> bits) over rows[begin:end].

    coef is float64[T]. rows is int32 or int64, and ``begin`` < len(rows).
    """

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        weights, data = _data(context, b, sig, args, 0), _data(context, b, sig, args, 1)
        kind = data.type.pointee
        shift = args[4] if kind == _INT else b.trunc(args[4], kind)
        shifts, masks = _splat(b, shift), _splat(b, b.sub(b.shl(kind(1), shift), kind(1)))

        def block(j: Any) -> tuple[Any, Any]:
            entries = _vector(b, data, j)
            return b.and_(entries, masks), b.sitofp(b.lshr(entries, shifts), _DOUBLES)

        return _emit(b, weights, args[2], args[3], block)

    return types.float64(coef, rows, types.int64, types.int64, types.int64), codegen


@intrinsic
def pair_sum(typing, coef, topics, counts, begin, end):
    """Return the sum of coef[topics[i]] * counts[i] over begin to end - 1.

    coef is float64[T], topics is int32 and counts is float64.
    """

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        weights, numbers, values = (_data(context, b, sig, args, place) for place in range(3))
        return _emit(
            b, weights, args[3], args[4], lambda j: (_vector(b, numbers, j), _vector(b, values, j))
        )

    return types.float64(coef, topics, counts, types.int64, types.int64), codegen


@intrinsic
def pair_products(typing, coef, topics, counts, begin, end, products):
    """Return :func:`pair_sum`, and set products[i - begin] = coef[topics[i]] * counts[i].

    ``products`` is float64. It is written up to the end of the last block.
    """

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        weights, numbers, values, into = (
            _data(context, b, sig, args, place) for place in (0, 1, 2, 5)
        )
        return _emit(
            b,
            weights,
            args[3],
            args[4],
            lambda j: (_vector(b, numbers, j), _vector(b, values, j)),
            into,
        )

    return types.float64(coef, topics, counts, types.int64, types.int64, products), codegen


@intrinsic
def prefetch(typing, array, at):
    """Prefetch the cache line of array[at], which may lie outside."""

    def codegen(context: Any, b: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_BYTES, _I32, _I32, _I32])
        name = "llvm.prefetch.p0i8"
        function = b.module.globals.get(name) or ir.Function(b.module, kind, name)
        address = b.bitcast(b.gep(_data(context, b, sig, args, 0), [args[1]]), _BYTES)
        b.call(function, [address, _I32(_READ), _I32(_NEAR), _I32(_DATA)])
        return context.get_dummy_value()

    return types.none(array, types.int64), codegen
