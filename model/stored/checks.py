"""Check stored values before a kernel uses them.

A digest proves that bytes are the bytes that were named. It does not prove that they are a valid
state, because whoever writes the bytes can write the digest. Kernels do not test indices, so every
loader checks its values with the functions of this module. Their errors say what was found and what
is allowed.

>>> within("topics", np.array([0, 4]), 0, 3)  # doctest: +NORMALIZE_WHITESPACE
Traceback (most recent call last):
    ...
beam_topics.model.errors.DamagedDataError: topics: found 4, allowed is 0 to 2. The data are
damaged; restore them from a copy.
"""

from __future__ import annotations

import json
import math
import re
import sys
import types
from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, NamedTuple, NoReturn, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from beam_topics.model.errors import DamagedDataError

# The largest count that is stored. Sums and products of a few of them fit int64, and float64 holds
# each exactly.
LARGEST = 2**52
# The largest measure that is stored: products of two of them are still finite.
HUGE = 2.0**400
LATEST_TIME = 2**62
_MOST_DEPTH = 32
_MOST_SHOWN = 60
_INT64 = 2**63
# Types of which every value is allowed.
_PLAIN = frozenset({str, bool, types.NoneType})

Array = npt.NDArray[Any]


def refuse(name: str, found: object, allowed: str) -> NoReturn:
    """Raise DamagedDataError.

    Args:
        name: What was read.
        found: What it is.
        allowed: What is allowed, as a phrase.

    Raises:
        DamagedDataError: Always.
    """
    shown = str(found)
    if len(shown) > _MOST_SHOWN:
        shown = shown[: _MOST_SHOWN - 3] + "..."
    raise DamagedDataError(
        f"{name}: found {shown}, allowed is {allowed}. The data are damaged; restore them from a"
        " copy."
    )


def known_form(name: str, found: int, known: int) -> None:
    """Refuse a stored form of another version than the one that this release reads."""
    if found < known:
        remedy = "An older release wrote it: use that release, or start with an empty model store."
    else:
        remedy = "A later release wrote it: use that release."
    if found != known:
        raise DamagedDataError(
            f"{name} has form {found}, and this release reads form {known}. {remedy}"
        )


def within(name: str, values: Array, low: int, high: int) -> None:
    """Refuse whole numbers below ``low``, or at or above ``high``."""
    if not values.size:
        return
    least, most = int(np.minimum.reduce(values, None)), int(np.maximum.reduce(values, None))
    if least < low or most >= high:
        refuse(
            name,
            least if least < low else most,
            f"{low} to {high - 1}" if high > low else "no number",
        )


def measures(name: str, values: Array, low: float = 0.0, high: float = HUGE) -> None:
    """Refuse floats that are not finite, below ``low``, or above ``high``."""
    # A minimum of values with a NaN is NaN, for which no comparison holds.
    if values.size and not (values.min() >= low and values.max() <= high):
        wrong = values[~((values >= low) & (values <= high))]
        refuse(name, wrong.flat[0], f"a number from {low:g} to {high:g}")


def ascending(name: str, values: Array, strictly: bool = False) -> None:
    """Refuse values that do not ascend.

    Args:
        name: What was read.
        values: The values.
        strictly: Whether equal neighbours are refused too.
    """
    wrong = values[1:] <= values[:-1] if strictly else values[1:] < values[:-1]
    if wrong.any():
        at = int(wrong.argmax())
        refuse(name, f"{values[at + 1]} after {values[at]}", "an ascending order")


def span(name: str, values: Sequence[int]) -> None:
    """Refuse what is neither empty nor a first and a last time in microseconds."""
    if values:
        sized(name, values, 2)
        last = whole(name, values[1], -LATEST_TIME, LATEST_TIME)
        whole(name, values[0], -LATEST_TIME, last + 1)


def sized(name: str, values: Collection[Any] | Array, length: int) -> None:
    """Refuse a collection whose length is not ``length``."""
    if len(values) != length:
        refuse(name, f"{len(values)} values", f"{length}")


def shaped(name: str, values: Array, rows: int, columns: int) -> Array:
    """Return flat values as ``rows`` rows of ``columns``; refuse another number of values."""
    sized(name, values, rows * columns)
    return values.reshape(rows, columns)


def offsets(name: str, values: Array, parts: int, end: int) -> None:
    """Refuse offsets that do not cut ``end`` values into ``parts`` parts."""
    sized(name, values, parts + 1)
    if values[0] != 0 or values[-1] != end:
        refuse(name, f"{values[0]} to {values[-1]}", f"0 to {end}")
    ascending(name, values)


def rows_ascending(name: str, values: Array) -> None:
    """Refuse rows that do not ascend strictly in the order of their first difference."""
    less = np.zeros(max(len(values) - 1, 0), bool)
    # From the last column to the first: an earlier one decides before a later one.
    for column in values.T[::-1]:
        less = (column[:-1] < column[1:]) | ((column[:-1] == column[1:]) & less)
    if not less.all():
        wrong = int(np.argmin(less))
        refuse(name, f"row {wrong + 1} after row {wrong}", "distinct rows in ascending order")


def distinct(name: str, values: Sequence[str]) -> None:
    """Refuse repeated values."""
    if len(set(values)) != len(values):
        refuse(name, f"{len(values) - len(set(values))} repeated values", "distinct values")


def equal(name: str, found: object, wanted: object) -> None:
    """Refuse every value other than ``wanted``."""
    if found != wanted:
        refuse(name, found, str(wanted))


def whole(name: str, value: object, low: int = 0, high: int = LARGEST + 1) -> int:
    """Return a whole number with low <= value < high; refuse every other value."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value < high:
        refuse(name, repr(value), f"a whole number from {low} to {high - 1}")
    return value


def topic_ids(name: str, values: Sequence[object], places: int) -> None:
    """Refuse ids that are not one for each place, each different; none at all is allowed."""
    if values:
        sized(name, values, places)
        sized(f"different {name}", {whole(name, value) for value in values}, places)


def number(name: str, value: object, low: float, high: float) -> float:
    """Return a finite number from ``low`` to ``high``; refuse every other value."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
        refuse(name, repr(value), f"a number from {low:g} to {high:g}")
    return float(value)


def hexadecimal(name: str, value: object) -> str:
    """Return a string of 64 lowercase hexadecimal digits; refuse every other value.

    Such a string is safe in a path.
    """
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        refuse(name, repr(value), "64 lowercase hexadecimal digits")
    return value


def of_type(name: str, value: Any, hint: Any) -> Any:
    """Return a value of a type that :func:`fits` knows; refuse every other value."""
    if not fits(value, hint):
        refuse(name, repr(value), f"a value of type {_spelled(hint)}")
    return value


def field(header: dict[str, Any], name: str) -> Any:
    """Return a field that must be present."""
    if name not in header:
        refuse(f"field {name}", "nothing", "a value")
    return header[name]


def parse_json(data: bytes, name: str) -> Any:
    """Parse JSON from an untrusted source: UTF-8, finite numbers, at most 32 levels deep.

    Raises:
        DamagedDataError: The data are something else.
    """
    try:
        value = _DECODER.decode(data.decode())
        # An escape can spell half of a surrogate pair, which UTF-8 cannot encode.
        if b"\\u" in data:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        what = (
            "it is nested too deeply"
            if isinstance(error, RecursionError)
            else str(error)[:_MOST_SHOWN]
        )
        raise DamagedDataError(
            f"{name} is not JSON that can be read: {what}. Restore it from a copy."
        ) from error
    if is_deeper(value, data.count(b"[") + data.count(b"{"), _MOST_DEPTH):
        refuse(name, f"more than {_MOST_DEPTH} levels of JSON", f"{_MOST_DEPTH}")
    return value


def is_deeper(value: object, brackets: int, most: int) -> bool:
    """Return whether parsed JSON has more than ``most`` levels.

    Args:
        value: The parsed JSON.
        brackets: The number of opening brackets in its text. Fewer than ``most`` cannot be nested
            deeper, which saves the search.
        most: The number of levels that are allowed.
    """
    return brackets > most and _depth(value, most) > most


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")


def _finite_float(text: str) -> float:
    # A number with an exponent too large would be infinite.
    return value if math.isfinite(value := float(text)) else _no_constant(text)


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite_float)


def _depth(value: object, most: int) -> int:
    """Return the nesting depth of containers, counted no further than necessary."""
    level, depth = [value], 0
    while level and depth <= most:
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
        depth += 1
    return depth


def record(
    kind: Any, values: object, name: str, apart: Collection[str] = (), ignore_unknown: bool = False
) -> dict[str, Any]:
    """Return the fields of a dataclass in parsed JSON, and check their types.

    A field that is absent has the default that the class declares. ``docs/formats.md`` has the rule
    for unknown fields.

    Args:
        kind: The dataclass. Fields with ``init=False`` are not stored.
        values: The parsed JSON.
        name: The name of the record, for messages.
        apart: Fields of the class that are stored elsewhere.
        ignore_unknown: Whether fields that the class does not have are ignored or refused.

    Returns:
        The arguments for ``kind``. Lists have become tuples where it declares tuples.

    Raises:
        DamagedDataError: A field is missing, unknown, or of another type.
    """
    if not isinstance(values, dict):
        refuse(name, type(values).__name__, "an object with fields")
    declared, found = _declared(kind), {}
    for field_name, item in declared.items():
        if field_name in apart:
            continue
        if field_name not in values:
            if item.required:
                raise DamagedDataError(
                    f"{name} was written by another release, or is damaged: it has no field"
                    f" {field_name!r}."
                )
            continue
        value = values[field_name]
        if not item.fits(value):
            refuse(f"field {field_name} of {name}", repr(value), f"a value of type {item.spelled}")
        found[field_name] = tuple(value) if item.is_tuple else value
    if not ignore_unknown and (
        unknown := [one for one in values if one not in declared or one in apart]
    ):
        raise DamagedDataError(
            f"{name} was written by another release: it has a field {min(unknown)!r}, which this"
            " one does not know."
        )
    return found


class _Field(NamedTuple):
    """How a field is stored.

    Attributes:
        required: Whether the field must be present.
        fits: A test for its values.
        spelled: The name of its type.
        is_tuple: Whether it is a tuple.
    """

    required: bool
    fits: Callable[[object], bool]
    spelled: str
    is_tuple: bool


@cache
def _declared(kind: Any) -> dict[str, _Field]:
    """Return the stored fields of a dataclass by name."""
    found, hints = {}, get_type_hints(kind)
    for item in fields(kind):
        if item.init:
            hint = hints[item.name]
            required = item.default is MISSING and item.default_factory is MISSING
            is_tuple = get_origin(hint) is tuple
            found[item.name] = _Field(required, _test_of(hint), _spelled(hint), is_tuple)
    return found


def _spelled(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


def fits(value: object, hint: Any) -> bool:
    """Return whether a parsed value is of a declared type.

    Types are int within 64 bits, finite float, str, bool, None, and containers of these.
    """
    return _test_of(hint)(value)


@cache
def _test_of(hint: Any) -> Callable[[object], bool]:
    """Compile a type to a test, because minibatches hold thousands of values."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: True
    if origin in (Union, types.UnionType):
        if _PLAIN.issuperset(inner):
            return lambda value: type(value) in inner
        tests = [_test_of(one) for one in inner]
        return lambda value: any(test(value) for test in tests)
    if origin in (list, tuple):
        members = _members(inner[0])
        return lambda value: type(value) is list and members(value)
    if origin is dict:
        keys, values = _members(inner[0]), _members(inner[1])
        return lambda value: isinstance(value, dict) and keys(value) and values(value.values())
    if hint is float:
        # JSON has one kind of number.
        return lambda value: type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]
    if hint is int:
        return lambda value: type(value) is int and -_INT64 <= value < _INT64
    return lambda value: type(value) is hint


def _members(hint: Any) -> Callable[[Collection[object]], bool]:
    """Return a test of all values of a container."""
    of_several = get_origin(hint) in (Union, types.UnionType)
    test, plain = _test_of(hint), frozenset(get_args(hint) if of_several else [hint])
    if plain <= _PLAIN:
        return lambda values: plain.issuperset(map(type, values))
    return lambda values: all(map(test, values))
