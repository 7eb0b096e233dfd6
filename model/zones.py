"""Times that clocks of a zone show, and windows of its days; in microseconds like all times.

>>> noon = 43_200_000_000
>>> to_utc(noon, "Asia/Tokyo") / 3_600_000_000
3.0
>>> shown(to_utc(noon, "Asia/Tokyo"), "Asia/Tokyo") == noon
True

Windows are aligned to 1970-01-01. Those of a day, or of any number of whole days, begin and end at
midnight of the zone, so a day of a change of clocks has 23 or 25 hours. Shorter windows are the
same in all zones.

>>> day = 24 * 3_600_000_000
>>> start = window_start(window_number(noon, day, "Asia/Tokyo"), day, "Asia/Tokyo")
>>> shown(start, "Asia/Tokyo") % day
0
"""

from __future__ import annotations

from datetime import UTC, timedelta, tzinfo
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

from model.errors import OptionError
from model.times import DURATION_UNITS, EPOCH, MAX_TIME, MIN_TIME

_TICK = timedelta(microseconds=1)
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
