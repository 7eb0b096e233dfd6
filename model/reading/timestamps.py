"""Read the time of a record: ISO 8601 text, or a number in the unit of ``--timestamp_unit``.

The unit ``year`` means the first moment of the year in UTC. All others count since 1970.

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

A number of seconds that looks like a year is refused too. It would be in the first hour of 1970:

>>> read_time(2013, "s")
Traceback (most recent call last):
    ...
model.reading.timestamps.UnitError: it looks like a year; as seconds it is 1970-01-01T00:33:33 \
(--timestamp_unit=year)
>>> read_time(2013, "year") == read_time("2013-01-01", "s")
True
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import Literal

from model.times import MICROSECONDS_PER_SECOND, parse_time, to_iso

TimestampUnit = Literal["s", "ms", "us", "ns", "year"]

# Microseconds in one unit that counts since 1970, from the longest unit to the shortest.
UNITS: dict[str, Fraction] = {
    "s": Fraction(MICROSECONDS_PER_SECOND),
    "ms": Fraction(1000),
    "us": Fraction(1),
    "ns": Fraction(1, 1000),
}
NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
# Numbers of seconds that count as years.
_YEARS = range(1400, 2200)
_ALL_YEARS = range(1, 10_000)

# A number from this many seconds on (the year 5138) counts as a number in another unit. The same
# number of milliseconds is in 1973.
_TOO_LARGE = 10**11 * MICROSECONDS_PER_SECOND
# The same in each unit. A comparison of whole numbers takes a tenth of one of fractions.
_LEAST_TOO_LARGE = {name: int(_TOO_LARGE / length) for name, length in UNITS.items()}
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
        UnitError: The number does not fit ``unit``, and another unit fits.
        TimeRangeError: The year is outside 1 to 9999.
        ValueError: The value is not a time.
    """
    number = _number(value)
    if number is None:
        return parse_time(value)
    if declared is not None:
        return parse_time(number, declared)
    if unit == "year":
        return _first_moment(number)
    _check_size(number, unit)
    return parse_time(number, UNITS[unit])


def accepted_forms(unit: TimestampUnit) -> str:
    """Return the forms that a time may have, for a message."""
    number = "a year" if unit == "year" else f"the {NAMES[unit]} since 1970"
    return (
        f"ISO 8601 text is wanted, as 2001-01-31 or 2001-01-31T23:59:00Z, or {number} as a number"
        " (--timestamp_unit)"
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


def _first_moment(year: int | float) -> int:
    """Return the first moment of a year in UTC."""
    if year in _ALL_YEARS:
        return parse_time(date(int(year), 1, 1))
    _suggest_smaller(year, "a year", list(UNITS))
    raise ValueError("a year is a whole number from 1 to 9999")


def _check_size(number: int | float, unit: TimestampUnit) -> None:
    if unit == "s" and number in _YEARS:
        moment = to_iso(parse_time(number))[:19]
        raise UnitError(f"it looks like a year; as seconds it is {moment} (--timestamp_unit=year)")
    if number == number and abs(number) >= _LEAST_TOO_LARGE[unit]:
        smaller = [name for name, length in UNITS.items() if length < UNITS[unit]]
        _suggest_smaller(number, f"a number of {NAMES[unit]}", smaller)


def _suggest_smaller(number: int | float, wanted: str, units: Sequence[str]) -> None:
    """Raise UnitError if a number that is too large fits one of the units."""
    if not abs(number) >= _ALL_YEARS.stop:
        return
    for name in units:
        if abs(number) < _LEAST_TOO_LARGE[name]:
            day = to_iso(parse_time(number, UNITS[name]))[:10]
            raise UnitError(
                f"too large for {wanted}; as {NAMES[name]} it is {day} (--timestamp_unit={name})"
            )
