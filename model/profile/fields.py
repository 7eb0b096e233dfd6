"""Find what each field of records holds, and which fields are the text, the time and the id.

Fields are recognised by their values, because names come in all languages. A field is chosen only
if no other one can be meant; otherwise a :class:`Question` names the options that decide.

>>> records = [{"headline": f"Ship {n} came in", "Datum": f"2001-01-{n}"} for n in range(10, 20)]
>>> found = roles_of(fields_of(records, {}), records, FieldNames(), set())
>>> found.options
{'text_field': 'headline', 'timestamp_field': 'Datum', 'id_from': 'place'}
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median
from typing import Any

from beam_topics.model.reading.found_forms import (
    ID_NAME,
    ORDER,
    FoundForm,
    find_form,
    has_time_name,
    listed,
    looks_like_times,
)
from beam_topics.model.reading.inner import is_mail
from beam_topics.model.reading.paths import EACH, Record, is_path, paths_of, value_of, values_of
from beam_topics.model.reading.settings import FieldNames
from beam_topics.model.reading.time_forms import UNITS, ZONES_OF, number_of, read_time
from beam_topics.model.settings.options import names_text
from beam_topics.model.times import to_iso

Records = Sequence[Record]

# The share of the records that have a field on which everything depends.
MOST = 0.9
# The records whose values are looked at.
_LOOKED_AT, _VALUES = 1000, 10_000
_SHOWN = 60
# A field is the text without doubt if its texts are this many times as long as those of any other.
_CLEARLY_LONGER = 3.0
# Bounds for a title: its words, its length relative to its text, and the share of shared words.
_TITLE_WORDS, _TITLE_LENGTH, _TITLE_SHARED = 2.5, 0.5, 0.6
# The lowest share of distinct values in texts. Categories have fewer.
_DIFFERENT = 0.2
# The words that texts have at least, on average; names have fewer.
_FEWEST_WORDS = 2.5
_MOST_CHOICES = 3
# The most values of a field of classes.
_MOST_CLASSES = 50
# The time of creation is the earliest one, and others follow within this part of the whole span.
_SOON, _NEARLY_ALL = 0.2, 0.95
# The characters of a time of another form.
_LONGEST_TIME = 40
# Names of the time of the last change.
_CHANGED = re.compile(r"(?i)updat|modifi|chang|edit|last")
# The years of the Buddhist calendar that are of our time.
_BUDDHIST = range(2400, 2700)
# The forms of times that are numbers.
_NUMBERS = {*UNITS, "year", "excel"}
_WORD = re.compile(r"\w+")
# An address, a digest or an id.
_NO_TEXT = re.compile(r"\w+:/*\S+|www\.\S+|(?=.*[0-9])[0-9a-zA-Z_-]{8,}")


@dataclass(frozen=True)
class Field:
    """What a field holds.

    Attributes:
        name: its name.
        type: ``text``, ``words`` (short texts), ``number``, ``time``, or the type of JSON.
        filled: the share of the records that have a value.
        different: the share of the values that are different.
        length: the mean length of its texts in characters; of an array, of all in a record.
        words: the mean number of words of its texts; of a script without spaces, letters.
        example: one of its values.
        form: of a field of times, how they are written.
        unit: of a field of times, their unit in microseconds if the file says it.
        role: what the run uses it for. With a question mark it is a candidate that is not used.
    """

    name: str
    type: str
    filled: float
    different: float
    length: float
    words: float
    example: str
    form: FoundForm | None = None
    unit: Fraction | None = None
    role: str = ""


@dataclass(frozen=True)
class Question:
    """A choice that the user has to make.

    Attributes:
        settles: the names of the options of which any one is an answer.
        text: what is not clear.
        choices: command lines that are answers, the most likely first.
    """

    settles: tuple[str, ...]
    text: str
    choices: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text} Give {' or '.join(self.choices)}." if self.choices else self.text


@dataclass
class Roles:
    """Which fields are what.

    Attributes:
        fields, records: the fields, and the records that they were found in.
        names: the names of fields by the options, or their defaults.
        given: the options that are given, by name.
        roles: the role of each field that has one.
        options: options with their values, those that differ from the defaults.
        questions: what is not clear.
        body: the field with most of the text, also where it is asked for.
    """

    fields: Sequence[Field]
    records: Records
    names: FieldNames
    given: Collection[str]
    roles: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    body: str = ""


# Options that say the same thing in several ways: one that is given settles the others.
SETTLED = {
    "text": ("text_field",),
    "time": ("timestamp_field", "timestamp_format", "time_from"),
    "id": ("id_field", "id_from"),
}


def option(name: str, value: str) -> str:
    """Return an option as a shell takes it."""
    return f"--{name}={shlex.quote(value)}"


def fields_of(
    records: Records, units: Mapping[str, Fraction], also: Iterable[str] = ()
) -> list[Field]:
    """Return what the fields of records hold.

    Args:
        records: some records.
        units: the unit of each field of times whose unit the file says.
        also: paths that are looked at, too, whatever the records have.
    """
    step = -(-len(records) // _LOOKED_AT) or 1
    looked = records[::step]
    names = dict.fromkeys(str(name) for record in looked for name in record)
    paths = [name for name in paths_of(looked) if name not in names]
    paths += [name for name in also if is_path(name) and name not in {*names, *paths}]
    # Of very many paths, texts and times of unusual forms are looked at in all records.
    some = looked[:: 1 + len(paths) * len(looked) // _VALUES]
    inner = [_field(name, some, None) for name in paths]
    again = {
        one.name
        for one in inner
        if len(some) < len(looked)
        and (one.type == "text" or (one.form is not None and one.form.forms != ("iso",)))
    }
    inner = [_field(one.name, looked, None) if one.name in again else one for one in inner]
    return [*(_field(name, looked, units.get(name)) for name in names), *inner]


def _field(name: str, records: Records, unit: Fraction | None) -> Field:
    each = _pieces(records, name) if EACH in name else [[one] for one in _values(records, name)]
    full = [value for values in each for value in values if not _is_empty(value)]
    having = sum(not all(map(_is_empty, values)) for values in each)
    texts = [value if isinstance(value, str) else _written(value) for value in full]
    form = None if unit is not None else find_form(name, full)
    return Field(
        name,
        _type(full, form is not None or unit is not None),
        having / max(len(records), 1),
        len(set(texts)) / max(len(texts), 1),
        sum(map(len, texts)) / max(having, 1),
        sum(map(_words_of, texts)) / max(len(texts), 1),
        " ".join(texts[0].split())[:_SHOWN] if texts else "",
        form,
        unit,
    )


def _values(records: Records, name: str) -> list[Any]:
    return [value_of(record, name) for record in records]


def _pieces(records: Records, name: str) -> list[list[Any]]:
    """Return the values in an array of each record, which are judged one by one."""
    each = [list(values_of(record, name)) for record in records]
    texts = [[one for one in values if isinstance(one, str)] for values in each]
    return texts if any(texts) else each


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _written(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "a long value"


def _type(values: Sequence[object], is_time: bool) -> str:
    if not values:
        return "empty"
    if is_time:
        return "time"
    kind = Counter(type(value) for value in values).most_common(1)[0][0]
    if kind is not str:
        names = {bool: "true or false", int: "number", float: "number", list: "list"}
        return names.get(kind, "object")
    texts = [value for value in values if isinstance(value, str)]
    if sum(map(_is_number, texts)) >= MOST * len(texts):
        return "number"
    return "text" if sum(map(_is_prose, texts)) >= 0.5 * len(texts) else "words"


def _is_number(text: str) -> bool:
    try:
        return number_of(text) is not None
    except ValueError:
        return True


def _is_prose(text: str) -> bool:
    """Return whether a text has several words, or many letters of a script without spaces."""
    bare = text.strip()
    return " " in bare or sum(map(str.isalpha, bare)) >= 12 > sum(map(str.isascii, bare))


def _words_of(text: str) -> int:
    words = text.split()
    return sum(any(map(str.isalpha, one)) if one.isascii() else len(one) for one in words)


def roles_of(
    fields: Sequence[Field], records: Records, names: FieldNames, given: Collection[str]
) -> Roles:
    """Return which fields are the text, the time and the id."""
    found = Roles(fields, records, names, given)
    _find_text(found)
    _find_time(found)
    _find_id(found)
    for one in fields:
        if one.name not in found.roles and (role := _candidate(one, len(records))):
            found.roles[one.name] = role
    return found


def _weight(text: Field) -> float:
    """Return the characters that a field has on average in a record."""
    return text.length * text.filled


def _ask_rivals(found: Roles, texts: Mapping[str, Field], rivals: Sequence[str]) -> Question:
    """Return the question which of several fields is the text."""
    body, records = found.body, found.records
    both = [name for name in texts if name in (body, *rivals)]
    sets = [[body], *([name] for name in rivals), both]
    if _filled(records, both) < MOST and len(texts) > len(both):
        others = [name for name in texts if name not in both]
        sets.append([*both, *sorted(others, key=lambda name: -_weight(texts[name]))])
    # A run that uses less than half of the records fails.
    some = [each for each in sets if _filled(records, each) >= 0.5]
    least = min(texts[name].filled for name in (body, *rivals))
    if least < MOST:
        some.sort(key=lambda each: -_filled(records, each))
    likely = tuple(option("text_field", names_text(each)) for each in some)
    text = f"the text may be in {listed((body, *rivals))}."
    if least < MOST:
        text += f" {1 - least:.0%} of the records lack one of them."
    if not likely and f"{EACH}." not in body:
        likely = (option("text_field", names_text(sets[-1])),)
    return _ask_text(text, (body, *rivals), likely, found.fields)


def _find_text(found: Roles) -> None:
    fields, records, names, given = found.fields, found.records, found.names, found.given
    if {*SETTLED["text"]} & set(given):
        found.roles |= dict.fromkeys(names.texts, "text")
        found.body = names.texts[0]
        return
    texts = {
        one.name: one
        for one in fields
        if one.type == "text" and one.different > _DIFFERENT and one.words >= _FEWEST_WORDS
    }
    default = next((one for one in fields if one.name == names.text), None)
    if default is not None and default.filled >= MOST and default.type in ("text", "words"):
        texts.setdefault(default.name, default)
        body, rivals = default.name, []
    else:
        ranked = sorted(texts, key=lambda name: -_weight(texts[name]))
        if not ranked:
            found.questions.append(_no_text(fields, records))
            return
        body, longest = ranked[0], _weight(texts[ranked[0]])
        rivals = [name for name in ranked[1:] if longest < _CLEARLY_LONGER * _weight(texts[name])]
    found.body = body
    some = [one for one in _values(records[:_LOOKED_AT], body) if isinstance(one, str)]
    if EACH not in body and some and sum(map(is_mail, some)) >= MOST * len(some):
        text = (
            f"the texts of {body!r} are mails, with their headers: each is read as a mail, or not."
        )
        choices = (option("records", body), option("text_field", names_text([body])))
        found.questions.append(Question((*SETTLED["text"], "records"), text, choices))
        return
    titles = [
        name
        for name in texts
        if name != body
        and _within(body).startswith(_within(name))
        and _is_title(texts, name, body, records)
    ]
    rivals = [name for name in rivals if name not in titles]
    chosen = [name for name in texts if name == body or name in titles]
    if rivals:
        found.questions.append(_ask_rivals(found, texts, rivals))
        return
    if f"{EACH}." in body:
        text = f"the text {body!r} is in an array: its elements are documents, or one text."
        likely = (option("text_field", names_text(chosen)),) if _filled(records, [body]) else ()
        found.questions.append(_ask_text(text, (body,), likely, fields))
        return
    found.roles |= dict.fromkeys(chosen, "text")
    if tuple(chosen) != names.texts:
        found.options["text_field"] = names_text(chosen)


def _filled(records: Records, names: Sequence[str]) -> float:
    """Return the share of records whose values of some fields are texts, one at least."""
    values = ([value_of(one, name) for name in names] for one in records)
    full = ([value for value in each if value is not None] for each in values)
    having = sum(bool(each) and all(isinstance(one, str) for one in each) for each in full)
    return having / max(len(records), 1)


def _within(path: str) -> str:
    """Return the record that holds a field: a path, or "" for the outermost one."""
    return path.rpartition(".")[0]


def _ask_text(
    text: str, names: Sequence[str], likely: tuple[str, ...], fields: Sequence[Field]
) -> Question:
    """Return a question for the text, which may be in an array whose elements are the records."""
    arrays = [array for name in names if (array := name.rpartition(f"{EACH}.")[0])]
    times = {_within(one.name) for one in fields if one.type == "time"}
    # Elements with times of their own are documents.
    timed = [array for array in arrays if f"{array}{EACH}" in times]
    each = tuple(option("records", array) for array in (timed or arrays)[:1])
    settles = (*SETTLED["text"], "records") if each else SETTLED["text"]
    return Question(settles, text, each + likely if timed else likely + each)


def _no_text(fields: Sequence[Field], records: Records) -> Question:
    some = [one for one in fields if one.type in ("text", "words")]
    some = [one for one in some if one.type == "text" or not _NO_TEXT.fullmatch(one.example)]
    likely = sorted(some, key=lambda one: -one.words * min(one.different, _DIFFERENT) * one.filled)
    names = listed(dict.fromkeys(str(name) for record in records for name in record))
    what = "no field holds texts for sure (several words, mostly different)"
    choices = [option("text_field", names_text([one.name])) for one in likely[:_MOST_CHOICES]]
    remedy = "" if choices else " Name the text of a record with --text_field."
    text = f"{what}; the records have {names}.{remedy}"
    return Question(SETTLED["text"], text, tuple(choices))


def _is_title(texts: Mapping[str, Field], name: str, body: str, records: Records) -> bool:
    """Return whether a field is a title of the text: short, and of words that texts have."""
    title, text = texts[name], texts[body]
    if title.length > _TITLE_LENGTH * text.length:
        return False
    looked = records[:: -(-len(records) // _LOOKED_AT)]
    titles = [str(one).lower() for one in _values(looked, name) if not _is_empty(one)]
    words = list(map(_WORD.findall, titles))
    known = {word for one in looked for word in _WORD.findall(str(value_of(one, body)).lower())}
    count = sum(map(len, words))
    # The text of a mail holds its subject.
    pairs = zip(_values(looked, name), _values(looked, body), strict=True)
    held = sum(str(title) in str(text) for title, text in pairs)
    if 2 * held > len(looked):
        return False
    return (
        count >= _TITLE_WORDS * len(words)
        and sum(word in known for one in words for word in one) >= _TITLE_SHARED * count
    )


def _find_time(found: Roles) -> None:
    fields, names, given = found.fields, found.names, found.given
    if "time_from" in given:
        return
    times = _nearest([one for one in fields if one.type == "time" and one.filled >= MOST], found)
    chosen = _chosen_time(times, found)
    if chosen is None:
        _without_time(times, found)
        return
    if not {*SETTLED["time"]} & set(given) and (first := _first_version(chosen, fields)):
        names_of = f"the time {chosen.name!r} is that of the last change, and {first!r} that of"
        both = (option("timestamp_field", first), option("timestamp_field", chosen.name))
        found.questions.append(Question(SETTLED["time"], f"{names_of} the first.", both))
        return
    found.roles[chosen.name] = "time"
    if chosen.name != names.timestamp:
        found.options["timestamp_field"] = chosen.name
    if "timestamp_format" in given or chosen.unit is not None:
        return
    if chosen.form is None:
        found.questions.append(_unread(chosen))
    else:
        _find_form(chosen, chosen.form, found)


def _chosen_time(times: Sequence[Field], found: Roles) -> Field | None:
    """Return the field of the time, by its name or by the values; None if there is none."""
    fields, given = found.fields, found.given
    chosen = next((one for one in fields if one.name == found.names.timestamp and one.filled), None)
    if "timestamp_field" in given or chosen in times:
        return chosen
    if times or (chosen is not None and chosen.filled < MOST):
        chosen = _earliest(times, found.records)
    if chosen not in times and isinstance(given, Mapping):
        form = given.get("timestamp_format", "")
        chosen = _of_form(fields, found.records, form) or chosen
    return chosen


def _find_form(chosen: Field, read: FoundForm, found: Roles) -> None:
    """Settle the form of times, or ask for it."""
    form, choices = read.forms[0], [option("timestamp_format", n) for n in read.forms]
    zones = next((ZONES_OF[word] for word in form.split() if word in ZONES_OF), ())
    if zones and "time_zone" not in found.given:
        choices = [f"{one} {option('time_zone', zone)}" for one in choices for zone in zones]
    if form == "iso" and _is_buddhist(chosen, found.records):
        choices = [option("timestamp_format", one) for one in ("buddhist", "iso")]
    if len(choices) > 1 or read.also:
        example = f"the times of the field {chosen.name!r}, for example {chosen.example!r}"
        text = f"{example}, can be read in several ways."
        settles = ("timestamp_format", "time_from")
        found.questions.append(Question(settles, text, (*choices, *read.also)))
    elif form != "iso":
        found.options["timestamp_format"] = form


def _is_buddhist(time: Field, records: Records) -> bool:
    """Return whether the year of most times is one of our time in the Buddhist calendar."""
    times = [one for one in times_of(records[:_LOOKED_AT], time) if one is not None]
    years = [int(to_iso(one)[:4]) for one in times]
    return sum(year in _BUDDHIST for year in years) >= MOST * max(len(years), 1)


def _first_version(chosen: Field, fields: Sequence[Field]) -> str:
    """Return the path of the first time in an array, where another one is that of a change."""
    each = (one for one in fields if one.type == "time" and one.name.count(EACH) == 1)
    inner = next((one.name for one in each if one.filled >= MOST), "")
    return inner.replace(EACH, "[0]") if _CHANGED.search(chosen.name) else ""


def _of_form(fields: Sequence[Field], records: Records, form: str) -> Field | None:
    """Return the one field whose values have a form of times; None if there are several."""
    looked = records[:: -(-len(records) // _LOOKED_AT) or 1]
    read = []
    for one in fields if form else ():
        times = times_of(looked, one, form)
        if len(times) - times.count(None) >= MOST * len(times):
            read.append(one)
    named = [one for one in read if has_time_name(one.name)]
    return (named if len(named) == 1 else read)[0] if 1 in (len(named), len(read)) else None


def _nearest(fields: Sequence[Field], found: Roles) -> list[Field]:
    """Return the fields of the outermost record; else those next to the text, or all."""
    outer = [one for one in fields if not is_path(one.name)]
    inner = [one for one in fields if EACH not in one.name]
    return outer or [one for one in inner if _within(one.name) == _within(found.body)] or inner


def _earliest(times: Sequence[Field], records: Records) -> Field | None:
    """Return the field of the time at which documents were made; None if it is not clear.

    Of several times it is the earliest in all records, if the others follow soon.
    """
    # Ids may look like seconds, so a time that is written as one comes before a bare number.
    plain = [one for one in times if one.form is not None and one.form.forms[0] in _NUMBERS]
    if len(plain) < len(times) and not any(one.form.named for one in plain if one.form):
        times = [one for one in times if one not in plain]
    if len(times) < 2:
        return times[0] if times else None
    looked = records[:: -(-len(records) // _LOOKED_AT)]
    columns = {one.name: times_of(looked, one) for one in times}
    for one in times:
        own = columns[one.name]
        late = [
            [b - a for a, b in zip(own, other, strict=True) if a is not None and b is not None]
            for name, other in columns.items()
            if name != one.name
        ]
        known = sorted(time for time in own if time is not None)
        span = known[-1 - len(known) // 20] - known[len(known) // 20] if known else 0
        if all(_follows(gaps, _SOON * span) for gaps in late):
            return one
    named = [one for one in times if one.form is not None and one.form.named]
    return named[0] if len(named) == 1 else None


def _follows(gaps: Sequence[int], soon: float) -> bool:
    """Return whether nearly all gaps between two times are positive, and most are short."""
    if not gaps:
        return False
    return sum(gap >= 0 for gap in gaps) >= _NEARLY_ALL * len(gaps) and median(gaps) <= soon


def times_of(records: Records, time: Field, form: str = "", zone: str = "UTC") -> list[int | None]:
    """Return the times of records in microseconds; None for those that cannot be read.

    Args:
        records: the records.
        time: the field.
        form: the form of its times; the most likely one if it is empty.
        zone: the zone of times that name none.
    """
    form = form or (time.form.forms[0] if time.form is not None else "iso")

    def read(value: object) -> int | None:
        try:
            return read_time(value, form, zone, time.unit)
        except ValueError:
            return None

    return [read(value) for value in _values(records, time.name)]


def _without_time(times: Sequence[Field], found: Roles) -> None:
    some = times or _nearest([one for one in found.fields if one.type == "time"], found)
    if some:
        what = f"the time may be in {listed(one.name for one in some)}"
        choices = [option("timestamp_field", one.name) for one in some]
        if not times:
            what += f", which {some[0].filled:.0%} of the records have"
            choices += ORDER
        found.questions.append(Question(SETTLED["time"], f"{what}.", tuple(choices)))
        return
    if "timestamp_format" in found.given:
        text = "no field has times of --timestamp_format, or several have. Leave it out."
        found.questions.append(Question(("time_from",), text, ORDER))
        return
    others = [one for one in found.fields if one.name not in found.roles]
    unread = next((one for one in others if _may_be_time(one, found.records)), None)
    if unread is not None:
        found.questions.append(_unread(unread))
    else:
        found.options["time_from"] = "order"


def _may_be_time(one: Field, records: Records) -> bool:
    """Return whether a field has short values with digits, and the name or the parts of times."""
    short = one.type in ("words", "text", "number") and one.length <= _LONGEST_TIME
    if not short or not any(map(str.isdigit, one.example)):
        return False
    values = [
        value for record in records[:_LOOKED_AT] if not _is_empty(value := record.get(one.name))
    ]
    return has_time_name(one.name) or looks_like_times(values)


def _unread(time: Field) -> Question:
    text = (
        f"the field {time.name!r} seems to hold times, and {time.example!r} cannot be read as one."
        " --timestamp_format takes the form of strptime that reads it; the order of the records is"
        " another time."
    )
    return Question(("timestamp_format", "time_from"), text, ORDER)


def _find_id(found: Roles) -> None:
    fields, records, names, given = found.fields, found.records, found.names, found.given
    if "id_from" in given:
        return
    default = next((one for one in fields if one.name == names.id), None)
    if "id_field" in given or (default is not None and default.filled >= MOST):
        found.roles[names.id] = "id"
        return
    within = _within(found.body)
    siblings = [one for one in fields if EACH not in one.name and _within(one.name) == within]
    near = [*(one for one in fields if not is_path(one.name)), *siblings]
    if (own := next((one for one in near if _is_id(one, records)), None)) is not None:
        found.options["id_field"] = own.name
        found.roles[own.name] = "id"
        return
    found.options["id_from"] = "place"


def _is_id(one: Field, records: Records) -> bool:
    """Return whether a field has the name of an id, and another value in each record."""
    if one.type not in ("number", "words") or one.filled < 1 or not ID_NAME.search(one.name):
        return False
    values = _values(records, one.name)
    return len({value for value in values if isinstance(value, (str, int))}) == len(values)


def _candidate(one: Field, records: int) -> str:
    """Return what a field that is not used may be: a label, or an author or other group."""
    count = round(one.different * one.filled * min(records, _LOOKED_AT))
    rare = one.filled < 0.5 or count < 2 or one.different > 0.5
    if one.type not in ("words", "number", "text") or rare:
        return ""
    return "label?" if count <= _MOST_CLASSES else "author?" if one.type != "number" else ""
