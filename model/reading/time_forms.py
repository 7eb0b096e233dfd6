"""Read the time of a record in the form that ``--timestamp_format`` names, and find that form.

A form is a name, or the directives of ``strptime``:

=============  =====================================================================================
``iso``        ISO 8601 text, or the seconds since 1970 as a number; the default
``s``          the seconds since 1970, as a number or as text; likewise ``ms``, ``us`` and ``ns``
``year``       a year, which means its first moment
``excel``      the days since 1899-12-30, as spreadsheets store them
``rfc2822``    the date of a mail or of HTTP: ``Wed, 01 Nov 2023 10:00:00 GMT``
``%d/%m/%Y``   or any other form of the directives in ``DIRECTIVES``
=============  =====================================================================================

>>> read_time("31/01/2001 12:00", "%d/%m/%Y %H:%M") == read_time("2001-01-31T12:00Z")
True
>>> read_time("31 janvier 2001", "%d %B %Y") == read_time("20010131")
True

A time without a zone is one of ``--time_zone``. Of an hour that a clock shows twice, it is the
first; in an hour that a clock leaves out, it is what the clock would show without the change.

>>> read_time("2001-01-31", zone="Asia/Tokyo") == read_time("2001-01-30T15:00Z")
True

A value of another form is refused. :mod:`beam_topics.model.reading.found_forms` finds the form of a
field by its values, and the forms that read a value that was refused.

>>> read_time("31/01/2001")
Traceback (most recent call last):
    ...
ValueError: it is not ISO 8601
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from fractions import Fraction
from functools import cache, lru_cache
from operator import itemgetter

from beam_topics.model.errors import OptionError
from beam_topics.model.times import (
    DURATION_UNITS,
    EPOCH,
    MAX_TIME,
    MICROSECONDS_PER_SECOND,
    MIN_TIME,
    TimeRangeError,
    from_datetime,
    parse_time,
    to_utc,
)

# Microseconds in one unit that counts since 1970, from the longest unit to the shortest.
UNITS: dict[str, Fraction] = {
    "s": Fraction(MICROSECONDS_PER_SECOND),
    "ms": Fraction(1000),
    "us": Fraction(1),
    "ns": Fraction(1, 1000),
}
_UNIT_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
NAMES = ("iso", *UNITS, "year", "quarter", "excel", "buddhist", "rfc2822")

# A number from this many seconds on (the year 5138) counts as a number in another unit. The same
# number of milliseconds is in 1973. Whole numbers compare in a tenth of the time of fractions.
_TOO_LARGE = {name: int(10**11 * UNITS["s"] / length) for name, length in UNITS.items()}
# A spreadsheet writes long numbers with an exponent.
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?|[0-9]\.[0-9]+E\+[0-9]{2}")
_QUARTER = re.compile(
    r"(?P<year>[0-9]{4})[ _/.-]*Q(?P<n>[1-4])|Q(?P<first>[1-4])[ _/.-]*(?P<last>[0-9]{4})", re.I
)
_SEASON = re.compile(r"([0-9]{4})[/\u2013-]([0-9]{2}|[0-9]{4})")
_BUDDHIST_YEARS = 543
_MOST_DIGITS = 40
_MOST_CHARACTERS = 80
_MONTH = re.compile("[0-9]{4}-[0-9]{2}")
_DAY = DURATION_UNITS["d"]
_FIRST_DAY = EPOCH.toordinal()
_NO_CLOCK = "a time of day is one of 00:00:00 to 23:59:59"

_WORD = r"[^\W\d_]+\.?"
# An offset, after which the name of the zone may follow, or a name.
OFFSET = r"(?:GMT|UTC)?[+-][0-9]{2}:?[0-9]{2}(?:\s*\([^()]*\)|(?-i:\s[A-Z]{3,5}))?"
_ZONE = f"{OFFSET}|[A-Z]{{1,4}}"
_PARTS = "YmdHMSfpzyB"
# The pattern of each directive. A name of a month or of a day may be whole or short. A day may have
# the ending of an ordinal, and seconds may have a fraction.
DIRECTIVES = {
    "Y": "(?P<Y>[0-9]{4})",
    "y": "(?P<y>[0-9]{2})",
    "m": "(?P<m>[0-9]{1,2})",
    "B": f"(?P<B>{_WORD})",
    "d": "(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?",
    "A": _WORD,
    "H": "(?P<H>[0-9]{1,2})",
    "I": "(?P<H>[0-9]{1,2})",
    "M": "(?P<M>[0-9]{2})",
    "S": "(?P<S>[0-9]{2}(?:[.,][0-9]+)?)",
    "f": "(?P<f>[0-9]+)",
    "p": r"(?P<p>[ap]\.?m\.?)",
    "z": f"(?P<z>{_ZONE})",
    "%": "%",
}
DIRECTIVES |= {"b": DIRECTIVES["B"], "a": DIRECTIVES["A"], "Z": DIRECTIVES["z"]}
_RFC2822 = (
    rf"(?:{_WORD},\s*)?{DIRECTIVES['d']}\s+{DIRECTIVES['B']}\s+{DIRECTIVES['Y']}\s+"
    rf"{DIRECTIVES['H']}:{DIRECTIVES['M']}(?::{DIRECTIVES['S']})?(?:\s*{DIRECTIVES['z']})?"
)
# The months in English, German, French, Spanish, Italian, Portuguese, Dutch and Russian.
_MONTHS = (
    "january januar jänner janvier enero gennaio janeiro januari январь января",
    "february februar février fevrier febrero febbraio fevereiro februari февраль февраля",
    "march märz maerz mars marzo março marco maart mrt март марта",
    "april avril abril aprile апрель апреля",
    "may mai mayo maggio maio mei май мая",
    "june juni juin junio giugno junho июнь июня",
    "july juli juillet julio luglio julho июль июля",
    "august août aout agosto augustus август августа",
    "september septembre septiembre settembre setembro сентябрь сентября",
    "october oktober octobre octubre ottobre outubro октябрь октября",
    "november novembre noviembre novembro ноябрь ноября",
    "december dezember décembre decembre diciembre dicembre dezembro декабрь декабря",
)
# RFC 2822 gives the zones of North America these meanings.
_HOURS = {"Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5}
_HOURS |= {"MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
# Names with one meaning elsewhere, and those with several, which are asked for.
_HOURS |= {"WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2, "EEST": 3}
_HOURS |= {"MSK": 3, "JST": 9, "KST": 9}
ZONES_OF = {
    "IST": ("Asia/Kolkata", "Asia/Jerusalem", "Europe/Dublin"),
    "BST": ("Europe/London", "Asia/Dhaka"),
}


def read_time(
    value: object, form: str = "iso", zone: str = "UTC", declared: Fraction | None = None
) -> int:
    """Return a time as microseconds since 1970.

    Args:
        value: A text, a number, a datetime or a date.
        form: A name of ``NAMES``, or a form of ``strptime``.
        zone: The IANA name of the zone of a time that names none.
        declared: The unit of a number in microseconds, if the schema of the file says it. It takes
            precedence over ``form``.

    Raises:
        TimeRangeError: The year is outside 1 to 9999, or a number is too large for its unit.
        ValueError: The value is not a time of this form.
    """
    if type(value) is not str and isinstance(value, Mapping) and set(value) == {"$date"}:
        # MongoDB writes ISO 8601, or milliseconds.
        inner = value["$date"]
        number = inner.get("$numberLong") if isinstance(inner, Mapping) else inner
        value, form = number, "ms" if number_of(number) is not None else "iso"
    if declared is not None and isinstance(value, (int, float)):
        return parse_time(value, declared)
    micros = _reader(form, zone)(value)
    if not MIN_TIME <= micros <= MAX_TIME:
        raise TimeRangeError("the year is not one of 1 to 9999")
    return micros


def check_form(form: str) -> None:
    """Refuse what is neither a name nor a form of ``strptime`` with a year.

    Raises:
        OptionError: The form cannot be read.
    """
    if form in NAMES:
        return
    used = re.findall("%(.?)", form)
    allowed = f"one of {', '.join(NAMES)}, or a form of strptime such as '%d/%m/%Y %H:%M'"
    unknown = [f"%{each}" for each in used if each not in DIRECTIVES]
    kinds = [{"y": "Y", "b": "m", "B": "m", "I": "H"}.get(each, each) for each in used]
    if not used:
        remedy = "Correct the spelling."
    elif unknown:
        known = " ".join(f"%{each}" for each in sorted(DIRECTIVES))
        remedy = f"There is no {unknown[0]} here; known are {known}."
    elif "Y" not in kinds:
        remedy = "A time needs its year: %Y, or %y of two digits."
    elif "d" in kinds and "m" not in kinds:
        remedy = "A day needs its month: %m, or %b for its name."
    elif ("I" in used) != ("p" in used):
        remedy = "Hours of a half day are %I together with %p."
    elif len(set(kinds) - {"%"}) < len([each for each in kinds if each != "%"]):
        remedy = "Give each part once."
    else:
        return
    raise OptionError("--timestamp_format", form, allowed, remedy)


def accepted(form: str) -> str:
    """Return what a form reads, for a message."""
    allowed = {
        "iso": "ISO 8601 text, as 2001-01-31 or 2001-01-31T23:59:00Z, or the seconds since 1970 as"
        " a number",
        "year": "a year from 1 to 9999, or two years that follow, as 2001/02",
        "quarter": "a quarter such as 2001Q1 or Q1 2001",
        "excel": "the days since 1899-12-30 as a number",
        "buddhist": "ISO 8601 text with a year of the Buddhist calendar, as 2544-01-31",
        "rfc2822": "a date such as Wed, 31 Jan 2001 23:59:00 GMT",
        **{unit: f"the {name} since 1970 as a number" for unit, name in _UNIT_NAMES.items()},
    }
    return f"allowed is {allowed.get(form, form)} (--timestamp_format)"


@cache
def _reader(form: str, zone: str) -> Callable[[object], int]:
    """Return the function that reads a form; it does not check the range of the years."""
    if form == "iso":
        return _iso_reader(zone)
    if form in UNITS:
        return _number_reader(lambda number: since_1970(number, form), zone)
    if form == "year":
        years = _number_reader(lambda number: to_utc(_first_moment(number), zone), zone)
        return lambda value: years(_begin(value))
    if form == "quarter":
        return lambda value: to_utc(_quarter(value), zone)
    if form == "buddhist":
        iso = _iso_reader(zone)
        return lambda value: iso(_gregorian(value))
    if form == "excel":
        return _number_reader(lambda number: to_utc(_serial(number), zone), zone)
    return _text_reader(form, zone)


def _iso_reader(zone: str) -> Callable[[object], int]:
    def read(value: object) -> int:
        # A time with hyphens is not a number, and most times have them.
        hyphens = isinstance(value, str) and value[4:5] == "-"
        if not hyphens and (number := number_of(value, dates=True)) is not None:
            if is_year(number):
                raise ValueError("it looks like a year, and may be a number of seconds")
            return since_1970(number, "s")
        if not isinstance(value, str):
            return _of_date(value, zone)
        text = value.strip()
        if len(text) > _MOST_CHARACTERS:
            raise ValueError("it is not ISO 8601")
        try:
            is_month = len(text) == len("2001-01") and _MONTH.fullmatch(text)
            found = datetime.fromisoformat(f"{text}-01" if is_month else text)
        except ValueError as error:
            detail = "" if "isoformat" in str(error) else f": {error}"
            raise ValueError(f"it is not ISO 8601{detail}") from error
        micros = from_datetime(found)
        return micros if found.tzinfo else to_utc(micros, zone)

    return read


def _number_reader(read_number: Callable[[int | float], int], zone: str) -> Callable[[object], int]:
    def read(value: object) -> int:
        number = number_of(value)
        if number is not None:
            return read_number(number)
        if isinstance(value, str):
            raise ValueError("it is not a number")
        return _of_date(value, zone)

    return read


def _of_date(value: object, zone: str) -> int:
    """Return the time of a datetime, or the first moment of a date."""
    if not isinstance(value, date):
        raise ValueError(f"a {type(value).__name__} is not a time")
    micros = parse_time(value)
    return micros if isinstance(value, datetime) and value.tzinfo else to_utc(micros, zone)


def _text_reader(form: str, zone: str) -> Callable[[object], int]:
    """Return the function that reads a form of ``strptime``.

    It takes a fifth of the time of ``datetime.strptime``, and reads names whatever the locale.
    """
    pattern = re.compile(_RFC2822 if form == "rfc2822" else _pattern(form), re.IGNORECASE)
    groups = pattern.groupindex
    # The group of each part; the last one, which is None, where the form does not have it.
    pick = itemgetter(*(groups.get(part, 0) - 1 for part in _PARTS))
    matched = pattern.fullmatch

    def read(value: object) -> int:
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            return _of_date(value, zone)
        found = matched(str(value).strip())
        if found is None:
            raise ValueError(f"it is not {form}")
        year, month, day, hour, minute, second, fraction, half, offset, short, name = pick(
            (*found.groups(), None)
        )
        micros = _day(year, short, month, name, day)
        if hour is not None or minute is not None:
            micros += _clock(hour, minute, half)
        if second is not None:
            if (whole := int(second[:2])) > 59:
                raise ValueError(_NO_CLOCK)
            micros += whole * MICROSECONDS_PER_SECOND + _micros(second[3:])
        if fraction is not None:
            micros += _micros(fraction)
        if offset is not None:
            return micros - _offset(offset)
        return to_utc(micros, zone)

    return read


def _pattern(form: str) -> str:
    """Return the regular expression of a form of ``strptime``."""
    parts = re.findall(r"%.|\s+|[^%\s]+", form.strip())
    plain = (r"\s+" if part.isspace() else re.escape(part) for part in parts)
    each = zip(parts, plain, strict=True)
    return "".join(DIRECTIVES[part[1]] if part[0] == "%" else other for part, other in each)


@lru_cache(2**14)
def _day(
    year: str | None, short: str | None, month: str | None, name: str | None, day: str | None
) -> int:
    """Return the first moment of a day, of a month or of a year."""
    if year is None:
        assert short is not None, "a form has a year"
        # As strptime and POSIX have it.
        number = int(short) + (1900 if int(short) >= 69 else 2000)
    else:
        number = int(year)
    if name is not None and not (month := str(month_of(name))) != "0":
        raise ValueError(f"{name!r} is not the name of a month")
    try:
        found = date(number, int(month or 1), int(day or 1))
    except ValueError as error:
        raise ValueError(f"there is no such day: {error}") from error
    return (found.toordinal() - _FIRST_DAY) * _DAY


@lru_cache(2**14)
def _clock(hour: str | None, minute: str | None, half: str | None) -> int:
    hours, minutes = int(hour or 0), int(minute or 0)
    if half is not None:
        if not 1 <= hours <= 12:
            raise ValueError("an hour of a half day is one of 1 to 12")
        hours = hours % 12 + 12 * (half[0] in "pP")
    if hours > 23 or minutes > 59:
        raise ValueError(_NO_CLOCK)
    return (hours * 60 + minutes) * 60 * MICROSECONDS_PER_SECOND


def _micros(fraction: str) -> int:
    """Return the microseconds of the digits after the point; what is finer is left out."""
    return int(fraction[:6].ljust(6, "0"))


@lru_cache(2**10)
def _offset(text: str) -> int:
    """Return how far a zone is ahead of UTC, of +01:00, GMT+0100 (CET) or the name of a zone."""
    zone = text.upper()
    found = re.match("(?:GMT|UTC)?([+-])([0-9]{2}):?([0-9]{2})", zone)
    if found is None:
        if zone not in _HOURS:
            raise ValueError(f"the zone {zone!r} has no agreed meaning; +01:00 has")
        return _HOURS[zone] * DURATION_UNITS["h"]
    sign, hours, minutes = found.groups()
    if int(hours) > 23 or int(minutes) > 59:
        raise ValueError(f"{zone!r} is not an offset from UTC")
    return int(f"{sign}1") * (int(hours) * DURATION_UNITS["h"] + int(minutes) * 60_000_000)


def month_of(name: str) -> int:
    """Return the number of a month by its name or the beginning of it; 0 for another word."""
    return _months().get(name.lower().rstrip("."), 0)


@cache
def _months() -> dict[str, int]:
    """Return the months of all beginnings of at least three letters; 0 if it may be two months."""
    found: dict[str, int] = {}
    for number, names in enumerate(_MONTHS, start=1):
        for start in {name[:end] for name in names.split() for end in range(3, len(name) + 1)}:
            found[start] = 0 if start in found else number
    return found


def number_of(value: object, dates: bool = False) -> int | float | None:
    """Return the number that a value or its text is; None for anything else.

    Python's parser of ISO 8601 must not see digits alone: it takes ``1210010101234`` for a day of
    the year 1210 and 12:34. Eight digits alone are a date.

    Args:
        value: The value.
        dates: Whether a text of eight digits is a date rather than a number.
    """
    if isinstance(value, (int, float)):
        return None if isinstance(value, bool) else value
    if not isinstance(value, str) or not _NUMBER.fullmatch(text := value.strip()):
        return None
    if dates and len(text) == 8 and text.isdigit():
        return None
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number of so many digits is not a time")
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def is_year(number: int | float) -> bool:
    """Return whether a number is a year if nothing else says what it is."""
    return 1400 <= number < 2200 and number == int(number)


def since_1970(number: int | float, unit: str) -> int:
    """Return the time of a number of units.

    Raises:
        TimeRangeError: The number is too large for its unit.
    """
    if abs(number) >= _TOO_LARGE[unit]:
        raise TimeRangeError(f"too large for a number of {_UNIT_NAMES[unit]}")
    return parse_time(number, UNITS[unit])


def _first_moment(year: int | float) -> int:
    """Return the first moment of a year."""
    if not (1 <= year <= 9999 and year == int(year)):
        raise ValueError("a year is a whole number from 1 to 9999")
    return (date(int(year), 1, 1).toordinal() - _FIRST_DAY) * _DAY


def _begin(value: object) -> object:
    """Return the first one of two years that follow, such as 2001/02; another value as it is."""
    found = _SEASON.fullmatch(value.strip()) if isinstance(value, str) else None
    is_next = found is not None and str(int(found[1]) + 1).endswith(found[2])
    return found[1] if found is not None and is_next else value


def _gregorian(value: object) -> str:
    """Return a date of the Buddhist calendar with its year of the Gregorian one."""
    text = str(value).strip()
    if re.match("[0-9]{4}-", text) is None or (year := int(text[:4]) - _BUDDHIST_YEARS) < 1:
        raise ValueError("it is not a date with a year of the Buddhist calendar")
    return f"{year:04}{text[4:]}"


def _quarter(value: object) -> int:
    """Return the first moment of a quarter of a year."""
    found = _QUARTER.fullmatch(str(value).strip())
    if found is None:
        raise ValueError("it is not a quarter")
    month = 3 * int(found["n"] or found["first"]) - 2
    return (date(int(found["year"] or found["last"]), month, 1).toordinal() - _FIRST_DAY) * _DAY


def _serial(number: int | float) -> int:
    """Return the time of a number of days since 1899-12-30, to the millisecond."""
    if not 61 <= number < 2_958_466:
        # Excel counts a 29 February 1900, so dates before it are one day off in other programs.
        raise ValueError("a date of a spreadsheet is a number from 61 (1900-03-01) to 2958465")
    start = date(1899, 12, 30).toordinal() - _FIRST_DAY
    return start * _DAY + round(number * (_DAY // 1000)) * 1000
