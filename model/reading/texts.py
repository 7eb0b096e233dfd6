r"""Read a file of text: as one document, by its lines, or as the messages of a chat.

The id of one document is its path. The time is a date in the path, where there is one:

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

With ``--format=lines`` each line is a document. With ``--columns=id,label,text`` the words that
begin a line are fields, as MALLET writes them.

A message of a chat begins with its time and its author, as WhatsApp and clients of IRC write them;
the lines that follow without a time belong to it. What the program itself says is left out: a line
with a time and no author, ``<Media omitted>``, or what begins with WhatsApp's invisible mark.

>>> message_in("12/31/24, 9:05 PM - Ann: Tea?")
{'time': '12/31/24, 9:05 PM', 'author': 'Ann', 'text': 'Tea?'}
>>> message_in("[21:05] <ann> Tea?")["text"]
'Tea?'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.files import path_within
from beam_topics.model.reading.lines import BYTE_ORDER_MARK, HEAD, cut_lines
from beam_topics.model.reading.parsing import (
    BAD_ROW,
    DAMAGED,
    TOO_LARGE,
    Placed,
    Table,
    dead_letter,
    place_id,
    too_large,
)
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
# The marks of direction that WhatsApp writes, and the spaces within a time.
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\ufeff]")
_BY_PROGRAM = "\u200e"
_SPACES = re.compile("[\u202f\u00a0]")
_DATE = r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}"
_CLOCK = r"[0-9]{1,2}[:.][0-9]{2}(?:[:.][0-9]{2})?(?: ?[AaPp]\.? ?[Mm]\.?)?"
_STAMP = re.compile(rf"\[?(?P<time>(?:{_DATE}(?:,? |T))?{_CLOCK})\]?(?: -)?[ \t]+")
_SAID = re.compile(
    r"(?:<[ @+%&~]?(?P<nick>[^<>\s]+)>|(?P<author>[^:<>\t]{1,60}):|(?P<name>[^\s:<>]{1,60})(?=\t))"
    r"(?:\s+(?P<text>.*)|)$"
)
# What clients of IRC write between messages.
_BETWEEN = ("---", "***")
_OMITTED = re.compile("<[^<>]{1,40}>")
_DOC = re.compile(r'<doc\b(?P<own>(?:\s+\w+="[^"\n]*")*)\s*>\s*')
_OWN = re.compile(r'(\w+)="([^"]*)"')
# The fewest and least varied lines that count as documents; in a single file fewer are enough.
_LEAST_LINES, _FEWEST_LINES, _DIFFERENT, _MOST_CLASSES = 20, 3, 0.8, 50
# The share of the lines of a chat that begin a message; texts may have several lines.
_LEAST_MESSAGES = 0.1
_FASTTEXT = "__label__"


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

    def records(self) -> Iterator[Placed | DeadLetter]:
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


def message_in(line: str) -> dict[str, str] | None:
    """Return the time, the author and the text of the message that begins with a line.

    It is None if the line begins with no time. The author is "" where the program says it.
    """
    plain = _SPACES.sub(" ", _MARKS.sub("", line))
    if (stamp := _STAMP.match(plain)) is None:
        return None
    if (said := _SAID.match(plain, stamp.end())) is None:
        return {"time": stamp["time"], "author": "", "text": ""}
    text, author = said["text"] or "", said["nick"] or said["author"] or said["name"]
    of_program = line.partition(": ")[2].startswith(_BY_PROGRAM) or _OMITTED.fullmatch(text)
    return {"time": stamp["time"], "author": author.strip(), "text": "" if of_program else text}


class LineFile(Table):
    """A file of text with a document in each line, or in each message of a chat.

    A line has ``id`` and ``text``, or the columns; a message ``id``, ``text``, ``author`` and,
    where it has a date, ``timestamp``. Arguments are as of JsonFile.
    """

    def __init__(self, chunks: Iterable[bytes], name: str, settings: ReadSettings) -> None:
        self._most = settings.parse.max_document_bytes
        self._lines = cut_lines(chunks, name, self._most)
        self._columns, self._is_chat = settings.columns, settings.format == "chat"

    def records(self) -> Iterator[Placed | DeadLetter]:
        """Yield (place, record) in the order of the file, and dead letters."""
        return self._messages() if self._is_chat else super().records()

    def items(self) -> Iterator[tuple[str, bytes] | DeadLetter]:
        return self._lines

    def records_of(self, place: str, line: bytes) -> Iterator[Placed]:
        text = line.decode("utf-8", "surrogateescape").strip()
        words = text.split(None, len(self._columns) - 1) if self._columns else []
        named = dict(zip(self._columns, words, strict=False))
        yield place, named if self._columns else {"id": place_id(place), "text": text}

    def _messages(self) -> Iterator[Placed | DeadLetter]:
        held: dict[str, Any] = {}
        place, begun = "", False
        for item in self._lines:
            if isinstance(item, DeadLetter):
                yield item
                continue
            line = item[1].decode("utf-8", "surrogateescape").rstrip("\r")
            found = message_in(line)
            if found is None and not line.startswith(_BETWEEN):
                if held and len(held["text"]) <= self._most:
                    held["text"] += "\n" + line
                elif not begun:
                    detail = "no message with its time and author begins here; --format=lines"
                    yield dead_letter(item[0], BAD_ROW, f"{detail} takes each line", item[1])
                continue
            if held:
                yield place, held
            begun, place, held = True, item[0], {}
            if found is not None and found["author"] and found["text"]:
                held = {"id": place_id(place), "author": found["author"], "text": found["text"]}
                if re.match(_DATE, found["time"]):
                    held["timestamp"] = found["time"]
        if held:
            yield place, held


class DocFile(Table):
    """A file whose documents stand between lines ``<doc id="1" title="Tea">`` and ``</doc>``.

    Their fields are ``text`` and what the line names. Arguments are as of JsonFile, and the bytes
    of the largest document.
    """

    def __init__(self, chunks: Iterable[bytes], name: str, max_bytes: int) -> None:
        self._lines, self._most = cut_lines(chunks, name, max_bytes), max_bytes

    def records(self) -> Iterator[Placed | DeadLetter]:
        """Yield (place, record) in the order of the file, and dead letters."""
        held: list[str] = []
        place, own, size = "", "", 0
        for item in self._lines:
            if isinstance(item, DeadLetter):
                yield item
                continue
            line = item[1].decode("utf-8", "surrogateescape").rstrip("\r")
            if not place and (begin := _DOC.fullmatch(line)):
                place, own, held, size = item[0], begin["own"], [], 0
            elif place and line.strip() == "</doc>":
                fields = {name: unescape(value) for name, value in _OWN.findall(own)}
                text = "\n".join(held)
                yield place, {"id": place_id(place), **fields, "text": text}
                place = ""
            elif place and size <= self._most:
                held.append(line)
                size += len(line) + 1
            elif not place and line.strip():
                detail = 'no <doc id="..."> begins here; --format=lines takes each line'
                yield dead_letter(item[0], BAD_ROW, detail, item[1])
        if place:
            yield dead_letter(place, BAD_ROW, "the <doc> has no end </doc>", own.encode())


def choices_of(texts: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return what the lines at the beginning of files look like, and options; none for one text."""
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    messages = sum(bool(found["author"]) for line in lines if (found := message_in(line)))
    each = ("--format=lines", "--format=txt")
    if lines and _DOC.fullmatch(lines[0]):
        return "the documents of wikiextractor", ("--format=doc", *each)
    if messages >= max(_LEAST_MESSAGES * len(lines), _LEAST_LINES):
        return "the messages of a chat", ("--format=chat", *each)
    fewest = _FEWEST_LINES if len(texts) == 1 else _LEAST_LINES
    worded = sum(any(map(str.isalpha, line)) for line in lines)
    if min(worded, len(set(lines))) < max(_DIFFERENT * len(lines), fewest):
        return "", ()
    if len(lines) < _LEAST_LINES:
        return "documents", each[::-1]
    if all(line.startswith(_FASTTEXT) for line in lines):
        return "lines of a label and a text", ("--format=lines --columns=label,text", *each)
    words = [line.split(None, 2) for line in lines]
    names, classes = ({one[at] for one in words if len(one) == 3} for at in (0, 1))
    if len(names) == len(lines) and len(classes) <= min(_MOST_CLASSES, len(lines) / 5):
        named = "--format=lines --columns=id,label,text"
        return "lines of a name, a label and a text", (named, *each)
    tabs = {line.count("\t") for line in lines}
    if len(tabs) == 1 and tabs != {0}:
        return "rows of a table", ("--format=csv --delimiter=tab", *each)
    return "documents", each
