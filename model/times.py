"""Times: microseconds since 1970-01-01 UTC inside, ISO 8601 for people and files.

>>> parse_time("1790-01-08") == parse_time("1790-01-08T00:00:00Z")
True
>>> to_iso(parse_time(86400))
'1970-01-02T00:00:00.000000Z'
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

# The units of a length of time, in microseconds.
DURATION_UNITS = {
    "w": 604_800_000_000,
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "min": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}

_NAIVE_EPOCH = datetime(1970, 1, 1)
EPOCH = _NAIVE_EPOCH.replace(tzinfo=UTC)
MICROSECONDS_PER_SECOND = 1_000_000

_TICK = timedelta(microseconds=1)

# The years that ISO 8601 writes with four digits. Beam's range is thirty times as wide.
MIN_TIME = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // _TICK
MAX_TIME = (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - EPOCH) // _TICK


class TimeRangeError(ValueError):
    """A well-formed time outside the years 1 to 9999."""


def parse_time(value: object, unit: Fraction = Fraction(MICROSECONDS_PER_SECOND)) -> int:
    """Return a time as microseconds since 1970-01-01 UTC.

    Args:
        value: ISO 8601 text (UTC if it names no zone), a number of units since 1970, a datetime or
            a date. What is finer than a microsecond is rounded down.
        unit: The unit of a number in microseconds; seconds by default.

    Raises:
        TimeRangeError: The year is outside 1 to 9999.
        ValueError: The value is not a time.
    """
    if isinstance(value, str):
        micros = _from_datetime(_from_text(value))
    elif isinstance(value, datetime):
        micros = _from_datetime(value)
    elif isinstance(value, date):
        micros = _from_datetime(datetime(value.year, value.month, value.day, tzinfo=UTC))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        micros = _from_number(value, unit)
    else:
        raise ValueError(f"a {type(value).__name__} is not a time")
    if not MIN_TIME <= micros <= MAX_TIME:
        raise TimeRangeError("the year is not one of 1 to 9999")
    return micros


def _from_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError(f"it is not ISO 8601: {error}") from error


def _from_datetime(moment: datetime) -> int:
    """Convert exactly, without ``astimezone``, which overflows at both ends of the calendar."""
    passed = moment - (_NAIVE_EPOCH if moment.tzinfo is None else EPOCH)
    return (passed.days * 86_400 + passed.seconds) * MICROSECONDS_PER_SECOND + passed.microseconds


def _from_number(value: int | float, unit: Fraction) -> int:
    if isinstance(value, int):
        return value * unit.numerator // unit.denominator
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number of seconds")
    # A double holds a present-day time in seconds to a quarter of a microsecond, so the nearest
    # microsecond is the one that was written. Whole numbers take half of the time of fractions.
    above, below = value.as_integer_ratio()
    above, below = above * unit.numerator, below * unit.denominator
    return (2 * above + below) // (2 * below)


def duration_text(micros: int) -> str:
    """Return the shortest spelling of a length of time, as options take it.

    >>> duration_text(90_000_000)
    '1min30s'
    """
    parts = []
    for unit, size in DURATION_UNITS.items():
        count, micros = divmod(micros, size)
        parts += [f"{count}{unit}"] * (count > 0)
    return "".join(parts)


def to_iso(micros: int) -> str:
    """Return ISO 8601 in UTC with microseconds, also for a time after the year 9999."""
    # Imported here and below, because the options of a program are listed without NumPy.
    import numpy as np

    return f"{np.datetime64(micros, 'us')}Z"


def to_compact_iso(micros: int) -> str:
    """Return the basic form of ISO 8601 to the second, which is safe in file names.

    For example ``19700102T000000Z``.
    """
    return to_iso(micros)[:-8].replace("-", "").replace(":", "") + "Z"
