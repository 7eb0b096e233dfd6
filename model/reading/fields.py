"""Find which fields of records hold the text, the time and the id, where this is clear.

A field is taken only where no other one may be meant. Otherwise the choice is named with its
candidates, and the user has to make it.

>>> records = [{"headline": "A ship came in", "date": "2001-01-31"}] * 3
>>> guess(records, FieldNames()).options
{'text_field': 'headline', 'timestamp_field': 'date', 'id_from': 'place'}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO

from model.dead_letters import DeadLetter
from model.reading.arrays import read_json
from model.reading.avro import MAX_BLOCK, AvroFile
from model.reading.delimited import CsvFile
from model.reading.encodings import to_utf_8
from model.reading.files import format_of
from model.reading.found_forms import FoundForm, find_form
from model.reading.lines import unzipped
from model.reading.settings import FieldNames, ReadSettings

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
        unclear: for ``text`` or ``timestamp``, the fields that may be meant; for ``form``, the
            forms that the times may have.
    """

    options: dict[str, str] = field(default_factory=dict)
    unclear: dict[str, list[str]] = field(default_factory=dict)


def sample_records(
    stream: BinaryIO, name: str, settings: ReadSettings, most: int
) -> list[Mapping[str, Any]]:
    """Return the first records of a file with all of their fields.

    What cannot be read is left out.

    Args:
        stream: the bytes as they are stored.
        name: the name of the file.
        settings: how the file is read.
        most: the number of records.
    """
    return list(islice(_records(stream, name, settings), most))


def _records(stream: BinaryIO, name: str, settings: ReadSettings) -> Iterator[Mapping[str, Any]]:
    kind, most = format_of(name, settings), settings.parse.max_document_bytes
    if kind == "jsonl":
        for item in read_json(to_utf_8(unzipped(stream), settings.encoding), name, most):
            if not isinstance(item, DeadLetter) and (record := _parsed(item[1])) is not None:
                yield record
        return
    if kind == "csv":
        table: Any = CsvFile(to_utf_8(unzipped(stream), settings.encoding), name, most)
    elif kind == "avro":
        table = AvroFile(stream, name, max(MAX_BLOCK, 2 * most))
    else:
        table = _parquet(stream, name)
    for item in table.records() if table.names else ():
        if not isinstance(item, DeadLetter):
            yield item[1]


def _parquet(stream: BinaryIO, name: str) -> Any:
    # Imported here: most runs read no Parquet.
    from model.reading.parquet import ParquetTable

    names = ParquetTable(stream, name, ()).names
    stream.seek(0)
    return ParquetTable(stream, name, names)


def _parsed(line: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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
    times = _times(records)
    ranked = sorted((name for name in sizes if name not in times), key=lambda name: -sizes[name])
    if len(ranked) == 1 or (
        len(ranked) > 1 and sizes[ranked[0]] >= _CLEARLY_LONGER * sizes[ranked[1]]
    ):
        found.options["text_field"] = ranked[0]
    else:
        found.unclear["text"] = ranked


def _guess_time(records: Records, default: str, found: Guess) -> None:
    times = _times(records)
    if default in times:
        chosen = default
    elif _share(records, default) > 0 and default not in times:
        # It is no time: the run says so of each record.
        return
    elif not times:
        found.options["time_from"] = "order"
        return
    else:
        named = [name for name in times if times[name].named] or list(times)
        if len(named) > 1:
            found.unclear["timestamp"] = named
            return
        chosen = named[0]
    if chosen != default:
        found.options["timestamp_field"] = chosen
    forms = times[chosen].forms
    if len(forms) > 1:
        found.unclear["form"] = list(forms)
    elif forms[0] != "iso":
        found.options["timestamp_format"] = forms[0]


def _guess_id(records: Records, default: str, found: Guess) -> None:
    if _share(records, default) >= _MOST:
        return
    found.options["id_from"] = "place"


def _times(records: Records) -> dict[str, FoundForm]:
    """Return the fields that hold times in most records, each with its forms."""
    found = {}
    for name in _names(records):
        form = find_form(str(name), [record.get(name) for record in records])
        if form is not None and form.of >= _MOST * len(records):
            found[name] = form
    return found


def _share(records: Records, name: str) -> float:
    return sum(record.get(name) not in (None, "") for record in records) / max(len(records), 1)


def _names(records: Records) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record))
