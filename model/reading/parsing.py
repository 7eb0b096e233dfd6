"""One raw record to a :class:`Document`, or to a :class:`DeadLetter` that says why not.

The rules, in the order in which they are tried: the record is UTF-8, JSON and an object; it has an id, a time, a text (and a
key, where keys were asked for) of the right types; nothing holds a NUL or half a surrogate pair; the text is not blank and not
larger than allowed. A whole number is good as an id, a label or a key, as its decimal digits. A text without a single word that
the tokeniser keeps is a document like any other.

>>> parse_line(b'{"id": 7, "timestamp": "1790-01-08", "text": "Fellow citizens"}', "a.jsonl:1", ParseSettings()).id
'7'
>>> parse_line(b'{"id": 7, "text": "Fellow citizens"}', "a.jsonl:1", ParseSettings()).reason
'missing_timestamp'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from model.dead_letters import DeadLetter
from model.errors import OptionError
from model.publishing.blobs import escape_key
from model.records import Document
from model.times import MICROSECONDS_PER_SECOND, TimeRangeError, parse_time

NOT_JSON = "not_json"
WRONG_TYPE = "wrong_type"
MISSING_ID = "missing_id"
MISSING_TIMESTAMP = "missing_timestamp"
BAD_TIMESTAMP = "bad_timestamp"
TIMESTAMP_RANGE = "timestamp_range"
MISSING_TEXT = "missing_text"
EMPTY_TEXT = "empty_text"
MISSING_KEY = "missing_key"
BAD_KEY = "bad_key"
TOO_LARGE = "too_large"
INVALID_UTF8 = "invalid_utf8"
NUL = "nul"
DAMAGED = "damaged"
SCHEMA = "schema"

# All that reading may say; each has a counter, dead_<reason>.
REASONS = (
    NOT_JSON,
    WRONG_TYPE,
    MISSING_ID,
    MISSING_TIMESTAMP,
    BAD_TIMESTAMP,
    TIMESTAMP_RANGE,
    MISSING_TEXT,
    EMPTY_TEXT,
    MISSING_KEY,
    BAD_KEY,
    TOO_LARGE,
    INVALID_UTF8,
    NUL,
    DAMAGED,
    SCHEMA,
)

MEGABYTE = 2**20


@dataclass(frozen=True)
class FieldNames:
    """What the fields are called in the source. ``key`` is None where one model is for all; a source may lack ``label``."""

    id: str = "id"
    timestamp: str = "timestamp"
    text: str = "text"
    label: str = "label"
    key: str | None = None


@dataclass(frozen=True)
class ParseSettings:
    """Field names, and the largest text (and the longest line) in bytes of UTF-8."""

    fields: FieldNames = field(default_factory=FieldNames)
    max_document_bytes: int = 10 * MEGABYTE


class _RefusedError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def parse_line(line: bytes, place: str, settings: ParseSettings, time: int | None = None) -> Document | DeadLetter:
    """A line of a JSON-lines file; ``place`` says where it is. ``time`` (microseconds) stands in for the record's own."""
    if len(line) > settings.max_document_bytes:
        return dead_letter(place, TOO_LARGE, too_large(len(line), settings), line)
    try:
        return _document(_parsed(line), settings, time, Fraction(MICROSECONDS_PER_SECOND))
    except _RefusedError as refused:
        return dead_letter(place, refused.reason, refused.detail, line)


def parse_record(
    record: Mapping[str, Any],
    place: str,
    settings: ParseSettings,
    time: int | None = None,
    time_unit: Fraction = Fraction(MICROSECONDS_PER_SECOND),
) -> Document | DeadLetter:
    """A record that has fields already, from Avro for example; ``time_unit`` (microseconds) is that of a time that is a number."""
    try:
        return _document(record, settings, time, time_unit)
    except _RefusedError as refused:
        return dead_letter(place, refused.reason, refused.detail, record)


def dead_letter(place: str, reason: str, detail: str, record: bytes | Mapping[str, Any]) -> DeadLetter:
    """A dead letter with as much of the record as fits; its bytes are valid UTF-8 whatever the record holds."""
    size = DeadLetter.RECORD_CHARACTERS
    if isinstance(record, bytes):
        excerpt = record[: 4 * size].decode("utf-8", "backslashreplace")
    else:
        clipped = {str(name): value[:size] if isinstance(value, str) else value for name, value in record.items()}
        excerpt = json.dumps(clipped, ensure_ascii=False, default=repr)
    return DeadLetter(_writable(place), reason, _writable(detail), _writable(excerpt[:size]))


def too_large(size: int, settings: ParseSettings) -> str:
    """The detail of TOO_LARGE."""
    return f"{size} bytes; at most {settings.max_document_bytes} are allowed (--max_document_mb)"


def _writable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise _RefusedError(INVALID_UTF8, f"byte {error.start + 1} of the line is not UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise _RefusedError(NOT_JSON, "the line is nested too deeply") from error
    except ValueError as error:
        raise _RefusedError(NOT_JSON, f"the line is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _RefusedError(WRONG_TYPE, f"the line is a JSON {type(value).__name__}; an object is wanted")
    return value


def _document(record: Mapping[str, Any], settings: ParseSettings, time: int | None, unit: Fraction) -> Document:
    fields = settings.fields
    name = _short(record, fields.id)
    if not name:
        raise _RefusedError(MISSING_ID, f"the field {fields.id!r} is missing or empty (--id_field)")
    moment = _time(record, fields, unit) if time is None else time
    label = _short(record, fields.label)
    return Document(name, moment, _text(record, settings), label, _key(record, fields))


def _short(record: Mapping[str, Any], name: str) -> str | None:
    """An id, a label or a key: text, or a whole number as text."""
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise _RefusedError(WRONG_TYPE, f"the field {name!r} is a {type(value).__name__}; text or a whole number is wanted")
    value = str(value)
    _check_characters(name, value)
    return value


def _time(record: Mapping[str, Any], fields: FieldNames, unit: Fraction) -> int:
    value = record.get(fields.timestamp)
    if value is None:
        raise _RefusedError(MISSING_TIMESTAMP, f"the field {fields.timestamp!r} is missing (--timestamp_field, --time_from=order)")
    wanted = "ISO 8601 text, or seconds since 1970 as a number, is wanted"
    try:
        return parse_time(value, unit)
    except TimeRangeError as error:
        raise _RefusedError(TIMESTAMP_RANGE, f"the field {fields.timestamp!r} is {_shown(value)}: {error}; {wanted}") from error
    except ValueError as error:
        raise _RefusedError(BAD_TIMESTAMP, f"the field {fields.timestamp!r} is {_shown(value)}: {error}; {wanted}") from error


def _text(record: Mapping[str, Any], settings: ParseSettings) -> str:
    name = settings.fields.text
    text = record.get(name)
    if text is None:
        raise _RefusedError(MISSING_TEXT, f"the field {name!r} is missing (--text_field)")
    if not isinstance(text, str):
        raise _RefusedError(WRONG_TYPE, f"the field {name!r} is a {type(text).__name__}; text is wanted")
    size = _check_characters(name, text)
    if size > settings.max_document_bytes:
        raise _RefusedError(TOO_LARGE, too_large(size, settings))
    if not text or text.isspace():
        raise _RefusedError(EMPTY_TEXT, f"the field {name!r} is empty")
    return text


def _key(record: Mapping[str, Any], fields: FieldNames) -> str:
    if fields.key is None:
        return ""
    key = _short(record, fields.key)
    if key is None:
        raise _RefusedError(MISSING_KEY, f"the field {fields.key!r} is missing (--key_field)")
    try:
        escape_key(key)
    except OptionError as error:
        raise _RefusedError(BAD_KEY, f"no folder can be named after the key: {error}") from error
    return key


def _check_characters(name: str, text: str) -> int:
    """The size in bytes of UTF-8 of a text that holds neither a NUL nor half a surrogate pair."""
    if "\0" in text:
        raise _RefusedError(NUL, f"the field {name!r} holds a NUL")
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise _RefusedError(INVALID_UTF8, f"character {error.start + 1} of the field {name!r} cannot be written as UTF-8") from error


def _shown(value: object) -> str:
    """A value for a message. An int of thousands of digits has no repr."""
    try:
        return repr(value)[:80]
    except ValueError:
        return "a very long number"
