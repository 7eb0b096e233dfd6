"""Read the time of a record: ISO 8601 text, or a number in the unit of ``--timestamp_unit``.

A number may also be text, as every number in a CSV file is. Eight digits alone are a date in the
basic form of ISO 8601:

>>> read_time("20010131", "s") == read_time("2001-01-31", "s")
True
>>> read_time(980899200, "s") == read_time("980899200000", "ms")
True

A number that is far too large for its unit is refused with the unit that it seems to have:

>>> read_time(980899200000, "s")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
model.reading.timestamps.UnitError: too large for a number of seconds; as milliseconds it is ...
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

from model.times import MICROSECONDS_PER_SECOND, parse_time, to_iso

TimestampUnit = Literal["s", "ms", "us", "ns"]

# Microseconds in one unit, from the longest unit to the shortest.
UNITS: dict[str, Fraction] = {
    "s": Fraction(MICROSECONDS_PER_SECOND),
    "ms": Fraction(1000),
    "us": Fraction(1),
    "ns": Fraction(1, 1000),
}
NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}

# A number from this many seconds on (the year 5138) counts as a number in another unit. The same
# number of milliseconds is in 1973.
_TOO_LARGE = 10**11 * MICROSECONDS_PER_SECOND
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?")
_MOST_DIGITS = 40
_BASIC_DATE = re.compile(r"[0-9]{8}")


class UnitError(ValueError):
    """A number that seems to be a time in another unit than the one that is set."""


def read_time(value: object, unit: TimestampUnit, declared: Fraction | None = None) -> int:
    """Return a time as microseconds since 1970.

    Args:
        value: ISO 8601 text, a number, a number as text, a datetime or a date.
        unit: The unit of a number.
        declared: The unit of a number in microseconds, if the schema of the file says it. It takes
            precedence over ``unit``.

    Raises:
        UnitError: The number is too large for ``unit``, and another unit fits.
        TimeRangeError: The year is outside 1 to 9999.
        ValueError: The value is not a time.
    """
    number = _number(value)
    if number is None:
        return parse_time(value)
    if declared is None:
        _check_size(number, unit)
    return parse_time(number, UNITS[unit] if declared is None else declared)


def accepted_forms(unit: TimestampUnit) -> str:
    """Return the forms that a time may have, for a message."""
    seconds = NAMES[unit]
    return (
        f"ISO 8601 text is wanted, as 2001-01-31 or 2001-01-31T23:59:00Z, or the {seconds} since"
        " 1970 as a number (--timestamp_unit)"
    )


def _number(value: object) -> int | float | None:
    """Return the number that a value or its text is; None for anything else.

    Python's parser of ISO 8601 must not see digits alone: it takes ``1210010101234`` for a day of
    the year 1210 and 12:34.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if (
        not isinstance(value, str)
        or not _NUMBER.fullmatch(text := value.strip())
        or _BASIC_DATE.fullmatch(text)
    ):
        return None
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number of so many digits is not a time")
    return float(text) if "." in text else int(text)


def _check_size(number: int | float, unit: TimestampUnit) -> None:
    if number != number or abs(number) * UNITS[unit] < _TOO_LARGE:
        return
    for name, length in UNITS.items():
        if length < UNITS[unit] and abs(number) * length < _TOO_LARGE:
            day = to_iso(parse_time(number, length))[:10]
            raise UnitError(
                f"too large for a number of {NAMES[unit]}; as {NAMES[name]} it is {day}"
                f" (--timestamp_unit={name})"
            )
