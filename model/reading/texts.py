r"""Read a file as one document: its text, with its path as the id.

The time is a date in the path, where there is one:

>>> [date_in(path) for path in ("2024-03-01 Tea.txt", "log_20240301_1530.txt", "2024/03/tea.md")]
['2024-03-01', '2024-03-01T15:30', '2024-03-01']
>>> [date_in(path) for path in ("01.03.2024.txt", "1796-Washington.txt", "letter_2024.txt")]
['2024-03-01', '1796-01-01', None]
>>> date_in("year=2024/month=3/day=01/part-0")
'2024-03-01'
>>> date_of_file("dt=2024-03-01/x_20240417.csv", "x_20240417.csv")
'2024-03-01'

The time at which a file was changed says in most folders when it was copied. So it is a field only
where it is asked for, with ``--timestamp_field=modified``, and only for files of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.files import path_within
from beam_topics.model.reading.lines import BYTE_ORDER_MARK, HEAD
from beam_topics.model.reading.parsing import DAMAGED, TOO_LARGE, Table, dead_letter, too_large
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.reading.time_forms import read_time

MODIFIED = "modified"
_YEAR = r"(?P<year>1[0-9]{3}|20[0-9]{2})"
_MONTH, _DAY = r"(?P<month>0[1-9]|1[0-2])", r"(?P<day>0[1-9]|[12][0-9]|3[01])"
_HOUR = (
    r"(?:[T_ -]{1,3}(?P<hour>[01][0-9]|2[0-3])[-:.h_]?(?P<minute>[0-5][0-9])"
    r"(?:[-:.m_]?[0-5][0-9]s?)?)?"
)
_DATES = [
    re.compile(form)
    for form in (
        rf"(?<!\d){_YEAR}(?P<mark>[-_./]?){_MONTH}(?P=mark){_DAY}{_HOUR}(?!\d)",
        rf"(?<!\d){_DAY}\.{_MONTH}\.{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}[-_./]{_MONTH}(?![-_.]?\d)",
        rf"(?:^|/){_YEAR}(?=/|[-_ ]+[^\W\d])",
    )
]

# The folders of tools that write a part of a table for each value of some columns.
_KEYED = re.compile(
    r"(?:^|/)(?:year|yyyy|y)=(?P<year>[0-9]{4})(?:/(?:month|mm|m)=(?P<month>[0-9]{1,2})"
    r"(?:/(?:day|dd|d)=(?P<day>[0-9]{1,2})(?:/(?:hour|hh|h)=(?P<hour>[0-9]{1,2}))?)?)?(?=/|$)",
    re.IGNORECASE,
)


def date_in(path: str) -> str | None:
    """Return the date in a path in ISO 8601, with hour and minute where they follow it.

    Folders such as ``year=2024/month=03/day=01`` come first. Otherwise it is a year, month and day,
    also without marks; a day, month and year with points; a year and a month; or a year that is a
    folder, or begins a name that goes on with a letter.
    """
    for found in _KEYED.finditer(path):
        year, *others = found.groups()
        month, day, hour = (part and part.zfill(2) for part in others)
        try:
            return datetime.fromisoformat(
                f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}"
            ).isoformat()[: 16 if hour else 10]
        except ValueError:
            continue
    for form in _DATES:
        for found in form.finditer(path):
            parts = found.groupdict()
            day = f"{parts['year']}-{parts.get('month') or '01'}-{parts.get('day') or '01'}"
            clock = f"T{parts['hour']}:{parts['minute']}" if parts.get("hour") else ""
            try:
                datetime.fromisoformat(day)
            except ValueError:
                continue
            return day + clock
    return None


def keyed_date(name: str) -> str | None:
    """Return the date in the folders ``key=value`` of a path, wherever they are."""
    return date_in(unquote("/".join(part for part in name.split("/")[:-1] if "=" in part)))


def date_of_file(name: str, path: str) -> str | None:
    """Return the date of a file, as :func:`date_in`.

    Args:
        name: Its name, with all folders.
        path: Its path within the folder that is read.
    """
    return keyed_date(name) or date_in(path)


def time_of_path(name: str, folder: str, settings: ReadSettings) -> int | None:
    """Return the time that the path of a file says, in microseconds; None without one."""
    day = date_of_file(name, path_within(folder, name))
    return None if day is None else read_time(day, zone=settings.parse.time_zone)


class TextFile(Table):
    """A file that is one document, with the fields ``id``, ``text`` and ``timestamp``."""

    def __init__(
        self, chunks: Iterable[bytes], name: str, path: str, settings: ReadSettings
    ) -> None:
        self._chunks, self._name, self._path, self._settings = chunks, name, path, settings

    def records(self) -> Iterator[tuple[str, dict[str, Any]] | DeadLetter]:
        """Yield the document, or a dead letter for a file that is damaged or too large."""
        parse, data, size = self._settings.parse, bytearray(), 0
        try:
            for chunk in self._chunks:
                size += len(chunk)
                data += chunk if size <= parse.max_document_bytes else chunk[: HEAD - len(data)]
        except DamagedDataError as error:
            yield dead_letter(self._path, DAMAGED, str(error), bytes(data))
            return
        if size > parse.max_document_bytes:
            yield dead_letter(
                self._path, TOO_LARGE, too_large(size, parse.max_document_bytes), bytes(data[:HEAD])
            )
            return
        text = data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "surrogateescape")
        record = {"id": self._path, "timestamp": date_of_file(self._name, self._path), "text": text}
        if parse.fields.timestamp == MODIFIED and Path(self._name).is_file():
            changed = Path(self._name).stat().st_mtime
            record[MODIFIED] = datetime.fromtimestamp(changed, UTC).isoformat()
        yield self._path, record
