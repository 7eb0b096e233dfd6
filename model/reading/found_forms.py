"""Find the form of times by their values, whatever the name of the field and its language.

>>> find_form("Datum", ["31.01.2001 12:00", "1.2.2001 9:30"]).forms
('%d.%m.%Y %H:%M',)

The forms of a text follow from its parts. What a sample proves decides between them:

1. A form is possible if it reads at least 90 % of the values.
2. A form that reads all values that another one reads, and more, is preferred: a day above 12
   proves which number is the day.
3. If forms give different times, and only one of them puts the records in order of time, ascending
   or descending, it is the form. This needs six or more different times.
4. A year of two digits is first or last where the times then lie within a fifth of the span that
   they have otherwise. This needs six different times, too.
5. Otherwise all of them are returned, and the user has to say which is meant.

>>> find_form("date", ["1/2/2001", "2/1/2001"]).forms
('%d/%m/%Y', '%m/%d/%Y')

Numbers are decided by their size, for all values together. They are years if nine of ten look like
years. Small numbers are times only in a field that has the name of a time.

>>> find_form("created", [0, 1200, 1800, 2400]).forms
('s',)
>>> find_form("words", [0, 1200, 1800, 2400]) is None
True

:func:`missing` says which fields a record lacks, and which it has:

>>> missing("the record", {"text": "Name it with --text_field."}, ["id", "headline"])
"the record has no field 'text'; it has 'id', 'headline'. Name it with --text_field."
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from shlex import quote

from beam_topics.model.reading.time_forms import (
    OFFSET,
    UNITS,
    ZONES_OF,
    is_year,
    month_of,
    number_of,
    read_time,
)
from beam_topics.model.times import to_iso

# The share of the values that a form has to read.
MOST = 0.9
# The least number of different times whose order proves a form: one in 360 random orders of six is
# an order of time.
_PROOF = 6
# The most values whose parts are looked at for a form.
_LOOKED_AT = 100
_MOST_CHARACTERS = 80

_TIME_NAME = re.compile(
    "(?<!candi)date|time|created|published|updated|posted|datum|zeit|fecha|heure|hora|tarih|"
    "дата|время|日|時|时|(^|_)(at|on|ts)$",
    re.IGNORECASE,
)
_YEAR_NAME = re.compile(r"((^|[^a-z])year|jahr|ann[ée]e|año|ano|anno|год|年)$", re.IGNORECASE)
# Names that small numbers need: a runtime and an update_count hold no times.
_CERTAIN_NAME = re.compile(
    r"(.*_)?(timestamp|datetime|date|time|ts|epoch|created|published|updated|posted)"
    r"([_ ]?(at|on|utc|time|date|ts|s|ms|us|ns))?",
    re.IGNORECASE,
)
# Names of numbers that may be the days of a spreadsheet, of 1980 to 2100.
_DAY_NAME = re.compile("(^|[^a-z])(date|datum|fecha|data|tarih|day|created|дата)|日", re.IGNORECASE)
_SERIALS = (29_221, 73_416)
# Names of numbers that are not times, whatever their size.
_OTHER_NAME = re.compile("(id|count|number|nr|phone|zip|price|size|views|score)$", re.IGNORECASE)
# What numbers mean where the name says nothing: times of the years 1980 to 2100.
_USUAL = tuple(read_time(year, "year") for year in (1980, 2101))

_TIME = re.compile(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?")
_OFFSET = re.compile(OFFSET, re.IGNORECASE)
_PART = re.compile(r"[0-9]+|[ap]\.?m\.?(?![^\W\d_])|[^\W\d_]+\.?|\s+|.", re.IGNORECASE)
_ORDINAL = re.compile("st|nd|rd|th", re.IGNORECASE)
_ZONES = re.compile("Z|UTC?|GMT|[ECMP][SD]T|(?:W|C|E|M)E(?:S?T)|MES?Z|MSK|[JK]ST")
# Words and signs that stand between the parts of a time.
_BETWEEN = frozenset(
    ("t", "at", "um", "uhr", "de", "del", "of", "the", "à", "le", "г", "года", *"年月日년월일")
)
# Days of the week in the languages of the months. Others are not parts of a time.
_WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday "
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag "
    "lundi mardi mercredi jeudi vendredi samedi dimanche "
    "lunes martes miércoles jueves viernes sábado domingo "
    "lunedì martedì mercoledì giovedì venerdì sabato domenica "
    "segunda terça quarta quinta sexta maandag dinsdag woensdag donderdag vrijdag zaterdag "
    "zondag "
    "понедельник вторник среда четверг пятница суббота воскресенье"
)
_DIGITS = re.compile("[0-9]+")
# Words of periods that no form has.
_PERIODS = {"spring", "summer", "autumn", "fall", "winter", "week", "quarter", "term", "kw", "fy"}
# What is left where times are not meant.
ORDER = ("--time_from=order",)
_CLOCKS = ("%H:%M", "%H:%M:%S")
_COMPACT = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}

Possible = dict[str, list[int | None]]


@dataclass(frozen=True, slots=True)
class FoundForm:
    """The forms that the values of a field have.

    Attributes:
        forms: Values of ``--timestamp_format``, the most likely first. Several forms read the
            values as different times, and the sample does not say which is meant.
        read: How many values the first of them reads.
        of: How many values are not empty.
        example: The first value that it does not read; "" if there is none.
        named: Whether the field has the name of a time, which helps to choose between fields.
        also: Other options that may be meant. Where there are some, the user has to say.
    """

    forms: tuple[str, ...]
    read: int
    of: int
    example: str
    named: bool
    also: tuple[str, ...] = ()


def has_time_name(name: str) -> bool:
    """Return whether a field has the name of a time."""
    return bool(_TIME_NAME.search(name) or _YEAR_NAME.search(name))


def find_form(name: str, values: Sequence[object]) -> FoundForm | None:
    """Return the forms of the values of a field; None if they are not times."""
    filled = [value for value in values if value is not None and str(value).strip()]
    named = has_time_name(name)
    possible: Possible = {
        form: [_time(value, form) for value in filled] for form in _candidates(name, filled)
    }
    needed = MOST * max(len(filled), 1)
    possible = {form: times for form, times in possible.items() if _read(times) >= needed}
    forms = _proved(_preferred(possible))
    if not forms:
        return None
    unread = [value for value, time in zip(filled, possible[forms[0]], strict=True) if time is None]
    example = str(unread[0])[:_MOST_CHARACTERS] if unread else ""
    also = ORDER if _may_be_none(forms[0], filled) else ()
    return FoundForm(tuple(forms), len(filled) - len(unread), len(filled), example, named, also)


def _may_be_none(form: str, values: Sequence[object]) -> bool:
    """Return whether values of a form may be times without a year, or numbers."""
    if form == "excel":
        return True
    numbers = (int(found) for value in values for found in _DIGITS.findall(str(value)))
    return "%y" in form and "%d" not in form and all(1 <= number <= 31 for number in numbers)


def looks_like_times(values: Sequence[object]) -> bool:
    """Return whether most values are years or names of months with parts of times, if any form."""
    texts = [str(value) for value in values if isinstance(value, (str, int))]
    if not texts or all(_number(text) is not None for text in texts):
        return False
    return sum(map(_has_parts_of_times, texts)) >= MOST * len(texts)


def _has_parts_of_times(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text)
    months = any(map(month_of, words))
    known = (len(word) == 1 or _part(word, (), True) or word.lower() in _PERIODS for word in words)
    has_year = re.search(r"(?<![0-9])(19|20)[0-9]{2}(?![0-9])", text) is not None
    short = len(text) <= _MOST_CHARACTERS // 2 and re.search("[0-9]", text) is not None
    return short and (months or has_year) and all(known)


def advice(value: object, zone: str = "UTC") -> str:
    """Return the forms that read a value that was refused, with the times; "" if there is none."""
    found: dict[int, str] = {}
    for form in _forms_of_one(value):
        if (time := _time(value, form, zone)) is not None:
            found.setdefault(time, form)
    shown = {form: to_iso(time)[:19].replace("T00:00:00", "") for time, form in found.items()}
    return ", or ".join(
        f"--timestamp_format={quote(form)} reads it as {time}" for form, time in shown.items()
    )


def _forms_of_one(value: object) -> Iterator[str]:
    number = _number(value)
    if number is not None and is_year(number):
        yield from ("year", "s")
    elif number is not None and (unit := _unit([number])) and _usual(number * UNITS[unit]):
        yield unit
    else:
        yield from ("iso", "rfc2822", "quarter", "year")
    yield from _forms_of_text(value)


def _candidates(name: str, values: Sequence[object]) -> Iterator[str]:
    """Yield the forms that the values may have, the most likely first."""
    numbers = [number for value in values if (number := _number(value)) is not None]
    if values and len(numbers) >= MOST * len(values):
        yield from _forms_of_numbers(name, values, numbers)
        return
    yield from ("iso", "quarter", "year")
    step = max(len(values) // _LOOKED_AT, 1)
    texts = dict.fromkeys(form for value in values[::step] for form in _forms_of_text(value))
    if any("%a" in form or "%A" in form for form in texts):
        yield "rfc2822"
    yield from texts


def _forms_of_numbers(
    name: str, values: Sequence[object], numbers: Sequence[int | float]
) -> Iterator[str]:
    digits = {len(str(value).strip()) for value in values}
    for length, form in _COMPACT.items():
        days = (_time(value, form) for value in values) if length in digits else ()
        if sum(time is not None and _usual(time) for time in days) >= MOST * len(values):
            yield "iso" if length == 8 and isinstance(values[0], str) else form
            return
    certain = _CERTAIN_NAME.fullmatch(name) is not None
    if _OTHER_NAME.search(name) and not certain:
        return
    years = sum(map(is_year, numbers)) >= MOST * len(numbers)
    if years and (certain or _YEAR_NAME.search(name) or all(1800 <= n <= 2100 for n in numbers)):
        yield "year"
        return
    serials = sum(_SERIALS[0] <= number < _SERIALS[1] for number in numbers)
    if serials >= MOST * len(numbers) and _DAY_NAME.search(name):
        yield "excel"
    unit = _unit(numbers)
    if unit is not None and (
        certain or sum(_usual(n * UNITS[unit]) for n in numbers) >= MOST * len(numbers)
    ):
        yield unit


def _number(value: object) -> int | float | None:
    try:
        number = number_of(value)
    except ValueError:
        return None
    return None if number is None or not abs(number) < 10**30 else number


def _unit(numbers: Sequence[int | float]) -> str | None:
    """Return the longest unit that fits the size of nearly all numbers."""
    for unit in UNITS:
        times = [_time(number, unit) for number in numbers]
        if _read(times) >= MOST * len(times):
            return unit
    return None


def _usual(time: Fraction | float) -> bool:
    """Return whether a time is in a year in which most documents are."""
    return _USUAL[0] <= time < _USUAL[1]


def _time(value: object, form: str, zone: str = "UTC") -> int | None:
    try:
        return read_time(value, form, zone)
    except ValueError:
        return None


def _read(times: Sequence[int | None]) -> int:
    return len(times) - times.count(None)


def _preferred(possible: Possible) -> Possible:
    """Leave out forms that read the same times as one before, or only some of those of another."""
    found: Possible = {}
    for form, times in possible.items():
        if times not in found.values() and not any(
            _read(more) > _read(times)
            and all(b is not None for a, b in zip(times, more, strict=True) if a is not None)
            for more in possible.values()
        ):
            found[form] = times
    return found


def _proved(possible: Possible) -> list[str]:
    """Return the forms that are left by the order of the records and by the span of their times."""
    known = {form: [time for time in times if time is not None] for form, times in possible.items()}
    if not all(len(set(times)) >= _PROOF for times in known.values()):
        return list(possible)
    ordered = [form for form, times in known.items() if _is_ordered(times)]
    if len(ordered) == 1:
        return ordered
    spans = {form: max(times) - min(times) for form, times in known.items()}
    first = {form: span for form, span in spans.items() if form.startswith("%y")}
    last = {form: span for form, span in spans.items() if form not in first}
    for some, others in ((first, last), (last, first)):
        if some and others and 5 * min(some.values()) < min(others.values()):
            return list(some)
    return list(possible)


def _is_ordered(times: Sequence[int]) -> bool:
    steps = list(pairwise(times))
    return all(a <= b for a, b in steps) or all(a >= b for a, b in steps)


def _forms_of_text(value: object) -> Iterator[str]:
    """Yield the forms of ``strptime`` that the parts of a text allow, the most likely first."""
    if not isinstance(value, (str, int)) or _number_too_long(value):
        return
    parts = _parts(str(value).strip())
    numbers = [at for at, part in enumerate(parts) if part == "n"]
    for roles in _roles(parts, numbers):
        for at, role in zip(numbers, roles, strict=True):
            parts[at] = role
        form = "".join(parts)
        yield form.replace("%H", "%I") if "%p" in parts else form


def _number_too_long(value: str | int) -> bool:
    if isinstance(value, str):
        return len(value) > _MOST_CHARACTERS
    return isinstance(value, bool) or not 0 <= value < 10**15


def _roles(parts: Sequence[str], numbers: Sequence[int]) -> Sequence[Sequence[str]]:
    """Return what the numbers of one or two digits may be, the most likely first."""
    if any(parts.count(part) > 1 for part in parts if part.startswith("%")):
        return ()
    if any(part in parts for part in _COMPACT.values()):
        return () if numbers or "%Y" in parts else ((),)
    month = "%b" in parts or "%B" in parts
    if "%Y" not in parts:
        if month:
            bare = not any(part in parts for part in (*_CLOCKS, "%a", "%A"))
            return {2: (("%d", "%y"),), 1: (("%y",),) * bare}.get(len(numbers), ())
        if len(numbers) != 3:
            return ()
        orders = [tuple(order.split()) for order in ("%d %m %y", "%m %d %y", "%y %m %d")]
    elif month or len(numbers) < 2:
        return {0: ((),) if month else (), 1: (("%d",) if month else ("%m",),)}.get(
            len(numbers), ()
        )
    elif len(numbers) > 2:
        return ()
    elif parts.index("%Y") < numbers[0]:
        return (("%m", "%d"),)
    else:
        orders = [("%d", "%m"), ("%m", "%d")]
    # Nobody writes a month first with points, and half days go with it mostly.
    if parts[numbers[0] + 1] == ".":
        return [order for order in orders if order[0] != "%m"]
    return sorted(orders, key=lambda order: order[0] != "%m") if "%p" in parts else orders


def _parts(text: str) -> list[str]:
    """Return the parts of the form of a text, with ``n`` for a number; [] if it is not a time."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        clock = next((part for part in reversed(parts) if part != " "), "") in (*_CLOCKS, "%p")
        if found := _TIME.match(text, at):
            part = _CLOCKS[found[0].count(":") - 1]
        elif clock and (found := _OFFSET.match(text, at)):
            part = "%z"
        else:
            found = _PART.match(text, at)
            assert found is not None, "the last part is any sign"
            part = _part(found[0], parts, clock)
        if not part:
            return []
        # An ordinal is part of its number; a second name of a month makes the first one a weekday.
        if part in ("%b", "%B") and (before := {"%b", "%B"} & set(parts)):
            parts[parts.index(min(before))] = "%a"
        if part != "ordinal":
            parts.append(part)
        at = found.end()
    return parts


def _part(text: str, before: Sequence[str], clock: bool) -> str:
    """Return the part of a form that a number, a word or a sign is; "" if it is in no time."""
    if text.isascii() and text.isdigit():
        return "n" if len(text) <= 2 else {4: "%Y", **_COMPACT}.get(len(text), "")
    if text.isspace():
        return " "
    if not text[0].isalpha():
        return text.replace("%", "%%")
    if before[-1:] == ["n"] and _ORDINAL.fullmatch(text):
        return "ordinal"
    if clock and text[0] in "aApP" and text[-1] in "mM." and len(text) <= 4:
        return "%p"
    if clock and text in ZONES_OF:
        return text
    if clock and _ZONES.fullmatch(text):
        return "%Z"
    word = text.lower().rstrip(".")
    short = text.endswith(".") or len(word) <= 3
    if month_of(text):
        return "%b" if short else "%B"
    if len(word) > 1 and any(day.startswith(word) for day in _WEEKDAYS.split()):
        return "%a" if short else "%A"
    return text if word in _BETWEEN else ""


_MOST_FIELDS = 12
_MOST_SHOWN = 40
ID_NAME = re.compile(r"(?i:(^|[^a-z])(id|uid|uuid|guid|doi|url|uri|key|number|no)$)|[a-z]I[dD]$")


def missing(what: str, lacking: Mapping[str, str], names: Iterable[str]) -> str:
    """Return what is missing, what is there, and the options that name it."""
    remedies = " ".join(dict.fromkeys(lacking.values()))
    return (
        f"{what} has no field {listed(lacking)}; it has {listed(names) or 'no fields'}. {remedies}"
    )


def listed(names: Iterable[str]) -> str:
    """Return names in quotes, separated by commas; only the first ones of many."""
    each = [repr(str(name)[:_MOST_SHOWN]) for name in names]
    return ", ".join(each[:_MOST_FIELDS]) + (
        f" and {len(each) - _MOST_FIELDS} more" if len(each) > _MOST_FIELDS else ""
    )
