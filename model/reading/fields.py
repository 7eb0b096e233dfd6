"""Find which fields of records hold the text, the time and the id, where this is clear.

A field is taken only where no other one may be meant. Otherwise the choice is named with its
candidates, and the user has to make it.

>>> records = [{"headline": "A ship came in", "date": "2001-01-31"}] * 3
>>> guess(records, FieldNames()).options
{'text_field': 'headline', 'timestamp_field': 'date', 'id_from': 'place'}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, get_args

from model.dead_letters import DeadLetter
from model.reading import hints
from model.reading.files import records
from model.reading.settings import FieldNames, ReadSettings
from model.reading.timestamps import TimestampUnit

Records = Sequence[Mapping[str, Any]]

# A field is the text without doubt if its texts are so many times as long as those of any other.
_CLEARLY_LONGER = 3.0
# The share of the records that have a field, and in which it reads as a time.
_MOST = 0.9


@dataclass
class Guess:
    """What records seem to be.

    Attributes:
        options: options of the command line with their values, those that differ from the defaults.
        unclear: for ``text`` or ``timestamp``, the fields that may be meant.
        unread: where no field holds times, those that seem to hold times of another form, each with
            a value.
    """

    options: dict[str, str] = field(default_factory=dict)
    unclear: dict[str, list[str]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def sample_records(
    stream: BinaryIO, name: str, settings: ReadSettings, most: int, folder: str = ""
) -> list[Mapping[str, Any]]:
    """Return the first records of a file with all of their fields.

    What cannot be read is left out.

    Args:
        stream: the bytes as they are stored.
        name: the name of the file.
        settings: how the file is read.
        most: the number of records.
        folder: the folder that is read.
    """
    items = records(stream, name, settings, folder)
    return list(islice((item[1] for item in items if not isinstance(item, DeadLetter)), most))


def guess(records: Records, names: FieldNames) -> Guess:
    """Return the options that the records seem to need.

    Args:
        records: some records.
        names: the names that fields have by default; a field of such a name needs no option.
    """
    found = Guess()
    _guess_text(records, names.text, found)
    _guess_time(records, names.timestamp, found)
    _guess_id(records, names.id, found)
    return found


def _guess_text(records: Records, default: str, found: Guess) -> None:
    if _share(records, default) >= _MOST:
        return
    sizes = {
        name: sum(len(record[name]) for record in records if isinstance(record.get(name), str))
        for name in _names(records)
        if any(isinstance(record.get(name), str) and " " in record[name].strip()
               for record in records)
    }  # fmt: skip
    times = {*_times(records), *_unread_times(records)}
    ranked = sorted((name for name in sizes if name not in times), key=lambda name: -sizes[name])
    if len(ranked) == 1 or (
        len(ranked) > 1 and sizes[ranked[0]] >= _CLEARLY_LONGER * sizes[ranked[1]]
    ):
        found.options["text_field"] = ranked[0]
    else:
        found.unclear["text"] = ranked


def _guess_time(records: Records, default: str, found: Guess) -> None:
    times = _times(records)
    values = [record[default] for record in records if record.get(default) not in (None, "")]
    if default in times:
        chosen = default
    elif values and _unit(default, values) is None:
        # It is no time: the run says so of each record.
        return
    elif len(times) > 1:
        found.unclear["timestamp"] = list(times)
        return
    elif times:
        chosen = next(iter(times))
    else:
        found.options["time_from"] = "order"
        found.unread = _unread_times(records)
        return
    if chosen != default:
        found.options["timestamp_field"] = chosen
    if times[chosen] != "s":
        found.options["timestamp_unit"] = times[chosen]


def _guess_id(records: Records, default: str, found: Guess) -> None:
    if _share(records, default) >= _MOST:
        return
    found.options["id_from"] = "place"


def _times(records: Records) -> dict[str, str]:
    """Return the fields that hold times, each with its unit."""
    found = {}
    for name in _names(records):
        values = [record[name] for record in records if record.get(name) not in (None, "")]
        if len(values) >= _MOST * len(records) and (unit := _unit(name, values)):
            found[name] = unit
    return found


def _unread_times(records: Records) -> dict[str, str]:
    """Return the fields with the name and the look of a time in most records, and a value of each.

    Text with a digit looks like a time, for example 31/12/2020.
    """
    found = {}
    for name in _names(records):
        values = [record[name] for record in records if hints.may_be_time(name, record.get(name))]
        if len(values) >= _MOST * len(records):
            found[name] = str(values[0])
    return found


def _unit(name: str, values: Sequence[Any]) -> str | None:
    """Return the unit in which all values of a field read as times; None for no time."""
    if all(hints.looks_like_year(name, value) for value in values):
        return "year"
    for unit in get_args(TimestampUnit):
        if unit != "year" and all(hints.looks_like_time(name, value, unit) for value in values):
            return str(unit)
    return None


def _share(records: Records, name: str) -> float:
    return sum(record.get(name) not in (None, "") for record in records) / max(len(records), 1)


def _names(records: Records) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record))
