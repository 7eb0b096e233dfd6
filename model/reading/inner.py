r"""Read the records of a JSON file, and those within records: of arrays, mails and conversations.

If a file is one object that is mostly one array of objects, ``{"data": [...]}``, the items are the
records; so the messages of one chat are records, too.

A record that holds a list of turns, and no text of its own, is a conversation, in the form of chat
exports and of training data: ``messages``, ``conversations``, ``turns``, ... with a ``content``,
``text`` or ``value`` each, or the ``mapping`` of ChatGPT. ``--chats`` says whether it becomes one
document or one for each turn. What the system, a tool or the developer says is left out, because it
is the same in many conversations.

>>> turns = [{"role": "user", "content": "Tea?"}, {"role": "assistant", "content": ["Yes."]}]
>>> for _, record in documents_of({"id": 7, "messages": turns}, "a.jsonl:1", ReadSettings()):
...     print(record)
{'id': 7, 'text': 'Tea?\n\nYes.'}
>>> settings = ReadSettings(chats="turn")
>>> for place, record in documents_of({"id": 7, "messages": turns}, "a.jsonl:1", settings):
...     print(place, record["id"], record["author"], record["text"])
a.jsonl:1 turn 1 7/1 user Tea?
a.jsonl:1 turn 2 7/2 assistant Yes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.reading.found_forms import listed
from beam_topics.model.reading.lines import cut_lines, read_json
from beam_topics.model.reading.parsing import (
    WRONG_TYPE,
    Placed,
    Table,
    dead_letter,
    parse_object,
    place_id,
)
from beam_topics.model.reading.paths import Record, value_of, values_of
from beam_topics.model.reading.plain_records import found_by, json_reader
from beam_topics.model.reading.settings import ReadSettings

# The characters of a text that say whether it is a mail.
_BEGINNING = 10_000
# The lines that begin a mail: one header or several, one of them of these names.
_HEADERS = re.compile(r"(?:[A-Za-z][A-Za-z-]*:[^\n]*\n(?:[ \t]+[^\n]*\n)*){3,}")
_OF_MAIL = re.compile(r"^(?:message-id|date|from|received):", re.MULTILINE | re.IGNORECASE)
_TURNS = ("messages", "conversations", "conversation", "turns", "chat_messages", "dialogue")
_CONTENT = ("text", "content", "value", "message", "body", "utterance", "parts")
_AUTHORS = ("author", "role", "from", "sender", "speaker", "user", "name")
_TIMES = ("timestamp", "create_time", "created_at", "date", "time", "ts")
_IDS = ("id", "uuid", "conversation_id", "message_id")
_UNSAID = ("system", "tool", "developer", "function")
# Contents are nested in three levels at most.
_DEEPEST = 5


def inner_records(
    items: Iterable[Placed | DeadLetter], path: str | None
) -> Iterator[Placed | DeadLetter]:
    """Yield the elements of an array within records, or the records where there is no path.

    A text at the end of the path is read as a mail.

    Args:
        items: Places and records, and dead letters, which stay.
        path: Where the array is, for example ``chats.list[].messages``.
    """
    for item in items:
        if path is None or isinstance(item, DeadLetter):
            yield item
            continue
        place, record = item
        arrays = [one for one in values_of(record, path.removesuffix("[]")) if one is not None]
        each = (one if isinstance(one, (list, str)) else [None] for one in arrays)
        inner = [one for array in each for one in ([array] if isinstance(array, str) else array)]
        detail = f"the record has no array of objects {path!r} (--records); it has {listed(record)}"
        if not arrays:
            yield dead_letter(place, WRONG_TYPE, detail, record)
        for number, one in enumerate(inner, 1):
            where = f"{place} record {number}"
            if isinstance(one, dict):
                yield where, one
            elif isinstance(one, str) and is_mail(one):
                yield from _mail(one, where)
            else:
                yield dead_letter(where, WRONG_TYPE, detail, record)


def is_mail(text: str) -> bool:
    """Return whether a text begins with the headers of a mail."""
    begin = _HEADERS.match(text.lstrip()[:_BEGINNING].replace("\r", ""))
    return begin is not None and len(set(map(str.lower, _OF_MAIL.findall(begin[0])))) > 1


def _mail(text: str, place: str) -> Iterator[Placed | DeadLetter]:
    # Imported here: most runs read no mails.
    from beam_topics.model.reading.mails import MailFile

    data = text.lstrip().encode("utf-8", "surrogateescape")
    for item in MailFile([data], place, len(data)).records():
        yield item if isinstance(item, DeadLetter) else (place, item[1])


class JsonFile(Table):
    """An open JSON file: a record in each line, or one array, or one object that holds an array.

    Args:
        chunks: The bytes in UTF-8. They may raise DamagedDataError.
        name: The name of the file.
        settings: How it is read.
        line: The number of the first line, where each line is a record; None to find out.
    """

    def __init__(
        self, chunks: Iterable[bytes], name: str, settings: ReadSettings, line: int | None = None
    ) -> None:
        self._chunks, self._name, self._settings, self._line = chunks, name, settings, line

    def found(self, settings: ReadSettings) -> Iterator[Placed | Document | DeadLetter]:
        return found_by(json_reader(settings), self.items(), self.records_of)

    def items(self) -> Iterator[tuple[str, bytes] | DeadLetter]:
        # A record that holds records may be the whole file.
        is_whole = self._settings.records is not None
        most = sys.maxsize if is_whole else self._settings.parse.max_document_bytes
        if self._line is not None:
            return cut_lines(self._chunks, self._name, most, self._line)
        return read_json(self._chunks, self._name, most)

    def records_of(self, place: str, line: bytes) -> Iterator[Placed | DeadLetter]:
        """Yield the records of a line, an item or an object."""
        path = self._settings.records
        record = parse_object(line, place)
        if isinstance(record, DeadLetter):
            yield record
        elif path is not None:
            for one in inner_records([(place, record)], path):
                if isinstance(one, DeadLetter):
                    yield one
                else:
                    yield from documents_of(one[1], one[0], self._settings)
        elif _has_text(record, self._settings):
            yield place, record
        elif place.startswith(f"{self._name} object ") and (items := _most_of(record, line)):
            for number, inner in enumerate(items, 1):
                yield from documents_of(inner, f"{place} item {number}", self._settings)
        else:
            yield from documents_of(record, place, self._settings)


def _has_text(record: Record, settings: ReadSettings) -> bool:
    return any(isinstance(value_of(record, name), str) for name in settings.parse.fields.texts)


def _most_of(record: Record, line: bytes) -> list[Record] | None:
    """Return the objects of the one array that is most of an object."""
    found = [
        value
        for value in record.values()
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
    ]
    is_most = len(found) == 1 and 2 * len(json.dumps(found[0])) > len(line)
    return found[0] if is_most else None


def documents_of(record: Record, place: str, settings: ReadSettings) -> Iterator[Placed]:
    """Yield (place, record) of each document in a record.

    A record with a text, or without turns, is one itself. Contents in pieces are joined.
    """
    turns = None if _has_text(record, settings) else _turns_of(record)
    if turns is None:
        yield place, {**record, **_joined_pieces(record)}
        return
    name = _first(record, _IDS) or place_id(place)
    if settings.chats == "turn":
        for number, turn in enumerate(turns, 1):
            if not _is_unsaid(turn):
                yield f"{place} turn {number}", _turn(turn, name, number)
        return
    own = _own(record)
    said = [text for turn in turns if not _is_unsaid(turn) and (text := _said(turn))]
    title = record.get("title")
    texts = [title, *said] if isinstance(title, str) else said
    yield place, {**own, **_facts(record, turns[:1], name), "text": "\n\n".join(texts)}


def _turn(turn: Any, conversation: object, number: int) -> Record:
    fields = turn if isinstance(turn, dict) else {}
    found = _facts(fields, [], _first(fields, _IDS) or f"{conversation}/{number}")
    found |= {"text": _said(turn), "author": _author(fields), "conversation": str(conversation)}
    return {**_own(fields), **found}


def _own(record: Record) -> dict[str, Any]:
    """Return the plain fields of a record, without those of its text."""
    return {
        field: value
        for field, value in record.items()
        if not isinstance(value, (list, dict)) and field not in _CONTENT
    }


def _facts(record: Record, turns: Sequence[Any], name: object) -> dict[str, Any]:
    """Return the id and the time of a record, which may be that of a turn."""
    times = (_first(one, _TIMES) for one in (record, *turns) if isinstance(one, dict))
    time = next((time for time in times if time is not None), None)
    return {"id": name} if time is None else {"id": name, "timestamp": time}


def _turns_of(record: Record) -> list[Any] | None:
    """Return the turns of a conversation in their order; None if it is none."""
    mapping = record.get("mapping")
    if isinstance(mapping, dict):
        return _branch(mapping, record.get("current_node"))
    for field in _TURNS:
        turns = record.get(field)
        if isinstance(turns, list) and turns and all(map(_is_turn, turns)):
            return turns
    return None


def _branch(mapping: Mapping[str, Any], node: object) -> list[Any]:
    """Return the messages from the root of ChatGPT's tree to a node; all of them without one."""
    nodes = {key: one for key, one in mapping.items() if isinstance(one, dict)}
    path = []
    while isinstance(node, str) and node in nodes:
        path.append(nodes.pop(node))
        node = path[-1].get("parent")
    messages = (one.get("message") for one in (reversed(path) if path else nodes.values()))
    return [message for message in messages if isinstance(message, dict)]


def _is_turn(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, dict) and any(field in value for field in _CONTENT)
    )


def _is_unsaid(turn: Any) -> bool:
    return isinstance(turn, dict) and _author(turn) in _UNSAID


def _author(turn: Record) -> str | None:
    author = next((turn[field] for field in _AUTHORS if turn.get(field)), None)
    if isinstance(author, dict):
        author = author.get("role") or author.get("name")
    return author if isinstance(author, str) else None


def _first(record: Record, fields: Sequence[str]) -> str | int | float | None:
    values = (record.get(field) for field in fields)
    return next(
        (
            value
            for value in values
            if isinstance(value, (str, int, float)) and not isinstance(value, bool)
        ),
        None,
    )


def _joined_pieces(record: Record) -> dict[str, str]:
    """Return the fields of a record that hold a text in pieces, each as one text."""
    return {
        field: text
        for field in _CONTENT
        if isinstance(record.get(field), list) and (text := _said(record[field]))
    }


def _said(value: Any, depth: int = 0) -> str:
    """Return the text of a turn, which may be in pieces."""
    if isinstance(value, str):
        return value
    if depth < _DEEPEST and isinstance(value, list):
        return " ".join(filter(None, (_said(one, depth + 1) for one in value)))
    if depth < _DEEPEST and isinstance(value, dict):
        texts = (_said(value[field], depth + 1) for field in _CONTENT if field in value)
        return next(filter(None, texts), "")
    return ""
