r"""Read a file of text whose lines are documents, or hold the messages of a chat.

With ``--columns=id,label,text`` the words that begin a line are fields, as MALLET writes them.

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
from html import unescape
from typing import Any

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.lines import cut_lines
from beam_topics.model.reading.parsing import BAD_ROW, Table, dead_letter, place_id
from beam_topics.model.reading.settings import ReadSettings

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
    where it has a date, ``timestamp``. Arguments are as of JsonFile, and whether it is a chat.
    """

    def __init__(
        self, chunks: Iterable[bytes], name: str, settings: ReadSettings, *, is_chat: bool = False
    ) -> None:
        self._most = settings.parse.max_document_bytes
        self._lines = cut_lines(chunks, name, self._most)
        self._columns, self._is_chat = settings.columns, is_chat

    def records(self) -> Iterator[tuple[str, dict[str, Any]] | DeadLetter]:
        """Yield (place, record) in the order of the file, and dead letters."""
        return self._messages() if self._is_chat else map(self._line, self._lines)

    def _line(self, item: Any) -> Any:
        if isinstance(item, DeadLetter):
            return item
        text = item[1].decode("utf-8", "surrogateescape").strip()
        if not self._columns:
            return item[0], {"id": place_id(item[0]), "text": text}
        words = text.split(None, len(self._columns) - 1)
        return item[0], dict(zip(self._columns, words, strict=False))

    def _messages(self) -> Iterator[tuple[str, dict[str, Any]] | DeadLetter]:
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


_DOC = re.compile(r'<doc\b(?P<own>(?:\s+\w+="[^"\n]*")*)\s*>\s*')
_OWN = re.compile(r'(\w+)="([^"]*)"')


class DocFile(Table):
    """A file whose documents stand between lines ``<doc id="1" title="Tea">`` and ``</doc>``.

    Their fields are ``text`` and what the line names. Arguments are as of JsonFile, and the bytes
    of the largest document.
    """

    def __init__(self, chunks: Iterable[bytes], name: str, max_bytes: int) -> None:
        self._lines, self._most = cut_lines(chunks, name, max_bytes), max_bytes

    def records(self) -> Iterator[tuple[str, dict[str, Any]] | DeadLetter]:
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


# Lines that are documents are so many and so different; of one file alone fewer are enough.
_LEAST_LINES, _FEWEST_LINES, _DIFFERENT, _MOST_CLASSES = 20, 3, 0.8, 50
# The share of the lines of a chat that begin a message; texts may have several lines.
_LEAST_MESSAGES = 0.1
_FASTTEXT = "__label__"


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
