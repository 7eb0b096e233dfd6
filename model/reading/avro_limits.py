r"""Limit the values of an Avro record before fastavro decodes it.

fastavro recurses in C and trusts every count that it reads. A few bytes can exhaust the stack, the
memory or the time of a process: a type that contains itself, an array of 2**40 nulls, forty types
of which each contains the one before twice. :func:`shape_of` computes upper bounds on what a record
of a schema may hold. If they exceed the limits, :func:`measure` walks over the bytes of each record
without recursion, and refuses a record that exceeds a limit.

>>> shape = shape_of({"type": "array", "items": "null"})
>>> measure(b"\x04\0", 0, shape)
2
>>> measure(b"\x80\x80\x80\x01\0", 0, shape)
Traceback (most recent call last):
    ...
model.reading.codecs.LimitError: a record holds more than 100 values without bytes
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from model.errors import DamagedDataError
from model.reading.codecs import LimitError

# Limits on one record: the nesting of its values, their number, and the number of those that take
# no bytes.
NESTING = 100
VALUES = 1_000_000
EMPTY_VALUES = 100
# The limit on the nesting of the JSON of a schema. A record within a record takes four levels.
SCHEMA_NESTING = 128

_VARINT_BYTES = 10
# The bytes of a value; None if the value itself says it.
_PRIMITIVES = {
    "null": 0,
    "boolean": 1,
    "float": 4,
    "double": 8,
    "int": None,
    "long": None,
    "bytes": None,
    "string": None,
}


@dataclass(eq=False)
class Shape:
    """A type of a schema.

    Attributes:
        kind: A primitive type, or ``record``, ``array``, ``map``, ``union``, ``enum`` or ``fixed``.
        size: The bytes of a value, if all values have the same size and no parts.
        parts: The types of the fields of a record, of the branches of a union, or of the items of
            an array or a map.
        is_bounded: Whether ``values``, ``empty_values`` and ``height`` are upper bounds for one
            value of this type. False for arrays, maps, types that contain themselves, and types
            that contain one of those.
        values: The number of values in one value.
        empty_values: The number of those that take no bytes.
        height: The depth of their nesting.
    """

    kind: str
    size: int | None = None
    parts: list[Shape] = field(default_factory=list)
    is_bounded: bool = False
    values: int = 1
    empty_values: int = 0
    height: int = 1

    @property
    def needs_measuring(self) -> bool:
        """Return whether a value of this type may exceed a limit."""
        return (
            not self.is_bounded
            or self.values > VALUES
            or self.empty_values > EMPTY_VALUES
            or self.height > NESTING
        )

    def bound(self) -> Shape:
        """Compute the bounds from those of the parts, and return the shape.

        The parts are complete unless this type contains itself.
        """
        self.is_bounded = self.kind not in ("array", "map") and all(
            part.is_bounded for part in self.parts
        )
        if not self.parts:
            self.empty_values = int(self.size == 0)
            return self
        combine = max if self.kind == "union" else sum
        self.values = 1 + combine(part.values for part in self.parts)
        self.empty_values = combine(
            0 if self.announces(part) else part.empty_values for part in self.parts
        )
        self.height = 1 + max(part.height for part in self.parts)
        return self

    def announces(self, part: Shape) -> bool:
        """Return whether a byte stands for a part that takes none.

        It is the index of a union, or the key of a map.
        """
        return part.size == 0 and self.kind in ("union", "map")


def check_nesting(schema: Any) -> None:
    """Check that no value of a JSON document is nested deeper than ``SCHEMA_NESTING``.

    Recursion over the document is then safe.

    Raises:
        LimitError: A value is nested deeper.
    """
    level = [schema]
    for _ in range(SCHEMA_NESTING):
        level = [inner for value in level for inner in _children(value)]
        if not level:
            return
    raise LimitError(f"its schema is nested deeper than {SCHEMA_NESTING} levels of JSON")


def _children(value: Any) -> list[Any]:
    return (
        list(value.values())
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else []
    )


def shape_of(schema: Any, names: dict[str, Shape] | None = None) -> Shape:
    """Return the shape of a schema that fastavro has parsed.

    Args:
        schema: The schema.
        names: The named types that come before it.

    Raises:
        DamagedDataError: A type is unknown, or a size is not a whole number of 0 or more.
    """
    names = {} if names is None else names
    if isinstance(schema, list):
        return Shape("union", parts=[shape_of(branch, names) for branch in schema]).bound()
    if isinstance(schema, dict):
        return _complex(schema, names)
    if schema in _PRIMITIVES:
        return Shape(schema, _PRIMITIVES[schema]).bound()
    return names[schema]


def _complex(schema: dict[str, Any], names: dict[str, Shape]) -> Shape:
    kind = schema["type"]
    if kind in _PRIMITIVES:
        return shape_of(kind)
    if kind == "array":
        return Shape(kind, parts=[shape_of(schema["items"], names)]).bound()
    if kind == "map":
        return Shape(kind, parts=[shape_of(schema["values"], names)]).bound()
    if kind == "enum":
        names[schema["name"]] = Shape(kind).bound()
    elif kind == "fixed":
        size = schema["size"]
        if type(size) is not int or size < 0:
            raise DamagedDataError(f"its schema has a fixed type of {size!r} bytes")
        names[schema["name"]] = Shape(kind, size).bound()
    elif kind in ("record", "error"):
        # The shape has its name before its fields are read, because they may contain it.
        shape = names[schema["name"]] = Shape("record", size=None if schema["fields"] else 0)
        shape.parts = [shape_of(inner["type"], names) for inner in schema["fields"]]
        shape.bound()
    else:
        raise DamagedDataError(f"its schema has a type {kind!r}, which Avro does not have")
    return names[schema["name"]]


def measure(data: bytes, start: int, shape: Shape) -> int:
    """Walk over one value and return the byte behind it.

    Args:
        data: An unpacked block.
        start: The first byte of the value.
        shape: The type of the value.

    Raises:
        LimitError: It holds more values, or deeper nested ones, than the limits allow.
        DamagedDataError: Its bytes do not fit its type.
    """
    walk = _Walk(data, start)
    levels: list[Iterator[Shape]] = [iter((shape,))]
    while levels:
        inner = next(levels[-1], None)
        if inner is None:
            levels.pop()
            continue
        if len(levels) > NESTING:
            raise LimitError(f"the values of a record are nested deeper than {NESTING} levels")
        levels.append(walk.enter(inner))
    return walk.position


class _Walk:
    """A position in an unpacked block, and what was counted up to it."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self.position = start
        self._values = 0
        self._empty = 0

    def enter(self, shape: Shape) -> Iterator[Shape]:
        """Count a value and return its parts, which are to be entered next.

        A value without parts is skipped.
        """
        if shape.kind in ("array", "map"):
            self._count(1)
            return self._items(shape)
        if shape.size is not None:
            self._skip_values(1, shape.size)
            return iter(())
        self._count(1)
        if shape.kind == "record":
            return iter(shape.parts)
        number = self._long()
        if shape.kind == "union":
            if not 0 <= number < len(shape.parts):
                raise DamagedDataError(f"a union of {len(shape.parts)} types has no type {number}")
            return self._announced(shape, shape.parts[number])
        if shape.kind in ("bytes", "string"):
            self._skip(number)
        return iter(())

    def _items(self, shape: Shape) -> Iterator[Shape]:
        """Yield the items of an array or a map, block by block."""
        (item,) = shape.parts
        while count := self._long():
            if count < 0:
                # Then the block's size in bytes follows.
                count = -count
                self._long()
            if shape.kind == "array" and item.size is not None:
                self._skip_values(count, item.size)
                continue
            for _ in range(count):
                if shape.kind == "map":
                    self._skip(self._long())
                yield from self._announced(shape, item)

    def _announced(self, shape: Shape, part: Shape) -> Iterator[Shape]:
        """Return a part that is to be entered, or none if a byte that was read stands for it."""
        if shape.announces(part):
            self._count(1)
            return iter(())
        return iter((part,))

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > VALUES:
            raise LimitError(f"a record holds more than {VALUES} values")

    def _skip_values(self, count: int, size: int) -> None:
        self._empty += count * (size == 0)
        if self._empty > EMPTY_VALUES:
            raise LimitError(f"a record holds more than {EMPTY_VALUES} values without bytes")
        self._count(count)
        self._skip(count * size)

    def _skip(self, size: int) -> None:
        if not 0 <= size <= len(self._data) - self.position:
            raise DamagedDataError("a value is longer than its block")
        self.position += size

    def _long(self) -> int:
        number, self.position = read_long(self._data, self.position)
        return number


def read_long(data: bytes, start: int) -> tuple[int, int]:
    """Read a long of Avro: seven bits per byte, lowest first, zigzag.

    Returns:
        The number, and the byte behind it.

    Raises:
        DamagedDataError: The data end within the number, or it has more than 64 bits.
    """
    value = 0
    for at, byte in enumerate(data[start : start + _VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * at
        if byte < 0x80 and value < 2**64:
            return (value >> 1) ^ -(value & 1), start + at + 1
    raise DamagedDataError("a number ends too late or not at all")
