"""Times: microseconds since 1970-01-01 UTC inside, ISO 8601 for people and files.

>>> parse_time("1790-01-08") == parse_time("1790-01-08T00:00:00Z")
True
>>> to_iso(parse_time(86400))
'1970-01-02T00:00:00.000000Z'

Clocks of a zone show other times, which are in microseconds like all times:

>>> noon = 43_200_000_000
>>> to_utc(noon, "Asia/Tokyo") / 3_600_000_000
3.0
>>> shown(to_utc(noon, "Asia/Tokyo"), "Asia/Tokyo") == noon
True

Windows are aligned to 1970-01-01. Those of a day, or of any number of whole days, begin and end at
midnight of the zone, so a day on which clocks change has 23 or 25 hours. Shorter windows are the
same in all zones.

>>> day = 24 * 3_600_000_000
>>> start = window_start(window_number(noon, day, "Asia/Tokyo"), day, "Asia/Tokyo")
>>> shown(start, "Asia/Tokyo") % day
0
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, tzinfo
from fractions import Fraction
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

from beam_topics.model.errors import OptionError

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
        micros = from_datetime(_from_text(value))
    elif isinstance(value, datetime):
        micros = from_datetime(value)
    elif isinstance(value, date):
        micros = from_datetime(datetime(value.year, value.month, value.day, tzinfo=UTC))
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


def from_datetime(moment: datetime) -> int:
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


_DAY = DURATION_UNITS["d"]


def check_zone(name: str) -> None:
    """Refuse what is not the name of a zone. Raises OptionError."""
    try:
        _zone(name)
    except (KeyError, ValueError, OSError) as error:
        allowed = "the IANA name of a time zone, such as UTC, Europe/Berlin or America/New_York"
        raise OptionError("--time_zone", name, allowed, "Correct the spelling.") from error


def to_utc(local: int, zone: str) -> int:
    """Return the time at which the clocks of a zone show what those of UTC show at ``local``.

    Of an hour that the clocks show twice it is the first. In an hour that they leave out it is what
    they would show without the change.
    """
    if zone == "UTC" or not MIN_TIME <= local <= MAX_TIME - _DAY:
        return local
    day = local // _DAY
    ahead = _ahead(day, zone)
    # No zone changes its clocks there and back within a day.
    if _ahead(day + 1, zone) != ahead:
        ahead = _ahead_at(local, zone)
    return local - ahead


def shown(time: int, zone: str) -> int:
    """Return what the clocks of a zone show, as the time at which those of UTC show the same."""
    if zone == "UTC" or not MIN_TIME + _DAY <= time <= MAX_TIME - _DAY:
        return time
    moment = (EPOCH + timedelta(microseconds=time)).astimezone(_zone(zone))
    return time + (moment.utcoffset() or timedelta(0)) // _TICK


def window_number(time: int, length: int, zone: str = "UTC") -> int:
    """Return the number of the window that holds a time; the first one of 1970 has 0."""
    return (time if length % _DAY else shown(time, zone)) // length


def window_start(number: int, length: int, zone: str = "UTC") -> int:
    """Return the first moment of a window."""
    start = number * length
    return start if length % _DAY else to_utc(start, zone)


@cache
def _zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)


@lru_cache(2**14)
def _ahead(day: int, zone: str) -> int:
    return _ahead_at(day * _DAY, zone)


def _ahead_at(local: int, zone: str) -> int:
    moment = EPOCH.replace(tzinfo=_zone(zone)) + timedelta(microseconds=local)
    return (moment.utcoffset() or timedelta(0)) // _TICK
