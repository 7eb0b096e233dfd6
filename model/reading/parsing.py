"""Parse one raw record as a :class:`Document`, or as a :class:`DeadLetter` that says why not.

The rules apply in this order. The record is UTF-8, JSON and an object. It has an id, a time and a
text, and a key if keys are read. These have the right types. Nothing contains a NUL or half of a
surrogate pair. The text is not blank and not larger than allowed. A whole number is accepted as an
id, a label or a key, as its decimal digits. A text without a single word that the tokeniser keeps
is a document like any other. With ``id_from="place"`` the id is the place of the record.

>>> line = b'{"id": 7, "timestamp": "1790-01-08", "text": "Fellow citizens"}'
>>> parse_line(line, "a.jsonl:1", ParseSettings()).id
'7'
>>> parse_line(b'{"id": 7, "text": "Fellow citizens"}', "a.jsonl:1", ParseSettings()).reason
'missing_timestamp'
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.blobs import escape_key
from beam_topics.model.reading.found_forms import advice, listed, missing
from beam_topics.model.reading.paths import root_of, value_of
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.reading.time_forms import accepted, read_time
from beam_topics.model.stored import checks
from beam_topics.model.times import TimeRangeError, duration_text, to_iso

NOT_JSON = "not_json"
WRONG_TYPE = "wrong_type"
MISSING_ID = "missing_id"
MISSING_TIMESTAMP = "missing_timestamp"
BAD_TIMESTAMP = "bad_timestamp"
TIMESTAMP_RANGE = "timestamp_range"
TIMESTAMP_FORMAT = "timestamp_format"
FUTURE = "future"
MISSING_TEXT = "missing_text"
EMPTY_TEXT = "empty_text"
MISSING_KEY = "missing_key"
BAD_KEY = "bad_key"
TOO_LARGE = "too_large"
INVALID_UTF8 = "invalid_utf8"
NUL = "nul"
DAMAGED = "damaged"
SCHEMA = "schema"
BAD_ROW = "bad_row"

# All reasons that reading gives. Each has a counter, dead_<reason>.
REASONS = (
    NOT_JSON,
    WRONG_TYPE,
    MISSING_ID,
    MISSING_TIMESTAMP,
    BAD_TIMESTAMP,
    TIMESTAMP_RANGE,
    TIMESTAMP_FORMAT,
    FUTURE,
    MISSING_TEXT,
    EMPTY_TEXT,
    MISSING_KEY,
    BAD_KEY,
    TOO_LARGE,
    INVALID_UTF8,
    NUL,
    DAMAGED,
    SCHEMA,
    BAD_ROW,
)

# A number of a place. The name of a file is before a blank, which sorts before all that goes on.
_NUMBER = re.compile(r"(?::|([ /]))(\d+)(?= |$)")
# The deepest nesting of a record.
NESTING = 100

_NO_IDS = "Records without ids: --id_from=place."
_OTHER_ENCODING = "if the file has another encoding, give it, for example --encoding"


# A place and a record.
Placed = tuple[str, Mapping[str, Any]]


class Table:
    """An open file of records.

    Attributes:
        names: The fields that all of its records have; None where they have different ones.
    """

    names: tuple[str, ...] | None = None

    def time_unit(self, field: str) -> Fraction | None:
        """Return the microseconds in one unit of a field, if the schema of the file says it."""
        return None

    def items(self) -> Iterator[tuple[str, Any] | DeadLetter]:
        """Yield (place, item) in the order of the file, and dead letters."""
        raise NotImplementedError

    def records_of(self, place: str, item: Any) -> Iterator[Placed | DeadLetter]:
        """Yield the records of an item; it is one itself where a file has no others."""
        yield place, item

    def records(self) -> Iterator[Placed | DeadLetter]:
        """Yield (place, record) in the order of the file, and dead letters."""
        for item in self.items():
            yield from [item] if isinstance(item, DeadLetter) else self.records_of(*item)

    def found(self, settings: ReadSettings) -> Iterator[Placed | Document | DeadLetter]:
        """Yield what :meth:`records` yields; plain records may be documents already."""
        return self.records()


class _RefusedError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def parse_line(line: bytes, place: str, settings: ParseSettings) -> Document | DeadLetter:
    """Parse a record that is JSON.

    Args:
        line: The bytes of the record.
        place: The place of the record.
        settings: How the record is parsed.
    """
    if len(line) > settings.max_document_bytes:
        return dead_letter(
            place, TOO_LARGE, too_large(len(line), settings.max_document_bytes), line
        )
    record = parse_object(line, place)
    if isinstance(record, DeadLetter):
        return record
    return parse_record(record, place, settings)


def parse_object(line: bytes, place: str) -> Mapping[str, Any] | DeadLetter:
    """Parse a JSON object.

    Args:
        line: The bytes of the record.
        place: The place of the record.
    """
    try:
        return _parsed(line)
    except _RefusedError as refused:
        return dead_letter(place, refused.reason, refused.detail, line)


def parse_record(
    record: Mapping[str, Any],
    place: str,
    settings: ParseSettings,
    time: int | None = None,
    time_unit: Fraction | None = None,
) -> Document | DeadLetter:
    """Parse a record that has fields already, for example from Avro.

    Args:
        record: The fields.
        place: The place of the record.
        settings: How the record is parsed.
        time: A time in microseconds that replaces the time of the record.
        time_unit: The unit of a time that is a number, in microseconds, if the schema of the file
            says it.
    """
    try:
        return _document(record, place, settings, time, time_unit)
    except _RefusedError as refused:
        return dead_letter(place, refused.reason, refused.detail, record)


def not_future(
    item: Document | DeadLetter, line: bytes, place: str, came: int, most: int | None
) -> Document | DeadLetter:
    """Return a document, or a dead letter if its time is too long after that of its message.

    Windows up to the time of such a document would close, and the documents after it be late. The
    time of the message comes from the source, so a replay refuses the same documents.

    Args:
        item: What :func:`parse_line` made of a message.
        line: The bytes of the message.
        place: The place of the message.
        came: The time that the source gives to the message, in microseconds.
        most: How much later the document may be; None allows any time.
    """
    if isinstance(item, DeadLetter) or most is None or item.timestamp - came <= most:
        return item
    detail = (
        f"the document is of {to_iso(item.timestamp)}, and its message of {to_iso(came)}; at most"
        f" {duration_text(most)} between them is allowed (--max_future)"
    )
    return dead_letter(place, FUTURE, detail, line)


def dead_letter(
    place: str, reason: str, detail: str, record: bytes | Mapping[str, Any]
) -> DeadLetter:
    """Return a dead letter with as much of the record as fits.

    Its bytes are valid UTF-8 whatever the record contains.
    """
    size = DeadLetter.RECORD_CHARACTERS
    if isinstance(record, bytes):
        excerpt = record[: 4 * size].decode("utf-8", "backslashreplace")
    else:
        clipped = {
            str(name): value[:size] if isinstance(value, str) else value
            for name, value in record.items()
        }
        excerpt = json.dumps(clipped, ensure_ascii=False, default=repr)
    return DeadLetter(writable(place), reason, writable(detail), writable(excerpt[:size]))


def too_large(size: int, most: int) -> str:
    """Return the detail of TOO_LARGE."""
    return f"{size} bytes; at most {most} are allowed (--max_document_mb)"


def writable(text: str) -> str:
    """Return a text with an escape for each character that UTF-8 does not have."""
    return text.encode("utf-8", "backslashreplace").decode()


def place_id(place: str) -> str:
    """Return the id of a record without one: its place, with numbers that sort as they count.

    Documents of one time are learned in the order of their ids, which is then that of the input.

    >>> place_id("2024/may.jsonl:17"), place_id("a.parquet row group 2 row 1")
    ('2024/may.jsonl 000000017', 'a.parquet row group 000000002 row 000000001')
    """
    return writable(_NUMBER.sub(lambda found: f"{found[1] or ' '}{found[2]:0>9}", place))


_TOO_DEEP = f"the record is nested deeper than {NESTING} levels"


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        encoding = "utf-16" if line.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin-1"
        detail = (
            f"byte {error.start + 1} of the record is not UTF-8: {error.reason};"
            f" {_OTHER_ENCODING}={encoding}"
        )
        raise _RefusedError(INVALID_UTF8, detail) from error
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise _RefusedError(NOT_JSON, _TOO_DEEP) from error
    except ValueError as error:
        raise _RefusedError(NOT_JSON, _why_not_json(text, error)) from error
    # The parser's own limit depends on the stack, and so on the runner.
    if checks.is_deeper(value, text.count("[") + text.count("{"), NESTING):
        raise _RefusedError(NOT_JSON, _TOO_DEEP)
    if not isinstance(value, dict):
        wanted = "an object is wanted: one in each line, or one array of them as the whole file"
        raise _RefusedError(WRONG_TYPE, f"the record is a JSON {type(value).__name__}; {wanted}")
    return value


def _why_not_json(text: str, error: ValueError) -> str:
    """Return the message of ``json`` for a text, with a remedy for an object of several lines."""
    is_cut = isinstance(error, json.JSONDecodeError) and error.pos >= len(text.rstrip())
    if is_cut and text.lstrip().startswith("{"):
        return (
            "a JSON object begins here and does not end in this line. Write each object on one"
            " line, for example with: jq -c . FILE. Or make one array of them."
        )
    return f"it is not JSON: {error}"


def _document(
    record: Mapping[str, Any],
    place: str,
    settings: ParseSettings,
    time: int | None,
    unit: Fraction | None,
) -> Document:
    fields, needed = settings.fields, needed_fields(settings, time is None)
    if lacking := _lacking(fields, [one for one in needed if value_of(record, one) is None]):
        names = [name for name, value in record.items() if value is not None]
        remedies = {field: needed[field][1] for field in lacking}
        raise _RefusedError(needed[lacking[0]][0], missing("the record", remedies, names))
    name = place_id(place) if settings.id_from == "place" else _id(record, fields.id)
    moment = _time(record, settings, unit) if time is None else time
    label, source, group = (
        None if field is None else _short(record, field)
        for field in (fields.label, fields.source, fields.group)
    )
    text, key = _text(record, settings), _key(record, fields)
    return Document(name, moment, text, label, key, source, group)


def _lacking(fields: FieldNames, absent: Sequence[str]) -> list[str]:
    """Return the needed fields that are absent; one of several fields is text enough."""
    enough = not set(fields.texts) <= set(absent)
    return [field for field in absent if not (enough and field in fields.texts)]


@cache
def needed_fields(settings: ParseSettings, with_time: bool) -> dict[str, tuple[str, str]]:
    """Return the fields that a record must have.

    Returns:
        For each field the reason of a dead letter without it, and the remedy.
    """
    fields = settings.fields
    needed: dict[str, tuple[str, str]] = {}
    if settings.id_from == "field":
        needed[fields.id] = MISSING_ID, f"Name the id with --id_field. {_NO_IDS}"
    if with_time:
        remedy = "Name the time with --timestamp_field. Files without times: --time_from=order."
        needed[fields.timestamp] = MISSING_TIMESTAMP, remedy
    needed |= dict.fromkeys(fields.texts, (MISSING_TEXT, "Name the text with --text_field."))
    if fields.key is not None:
        needed[fields.key] = MISSING_KEY, "Name the key with --key_field."
    return needed


def wrong_names(names: tuple[str, ...], settings: ReadSettings) -> str | None:
    """Return what is wrong with the field names of a file and the remedy, or None."""
    needed = needed_fields(settings.parse, settings.time_from == "field")
    if settings.records is not None:
        return None
    absent = [one for one in needed if one not in names and root_of(one) not in names]
    if lacking := _lacking(settings.parse.fields, absent):
        return missing("the file", {one: needed[one][1] for one in lacking}, names)
    if repeated := [
        field for field in (*needed, *settings.parse.fields.optional()) if names.count(field) > 1
    ]:
        return f"the file has more than one field {listed(repeated)}"
    return None


def _id(record: Mapping[str, Any], field: str) -> str:
    if name := _short(record, field):
        return name
    raise _RefusedError(MISSING_ID, f"the field {field!r} is empty. {_NO_IDS}")


def _short(record: Mapping[str, Any], name: str) -> str | None:
    """Return an id, a label or a key: text, or a whole number as text."""
    value = value_of(record, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise _RefusedError(
            WRONG_TYPE,
            f"the field {name!r} is a {type(value).__name__}; text or a whole number is wanted",
        )
    value = str(value)
    _check_characters(name, value)
    return value


def _time(record: Mapping[str, Any], settings: ParseSettings, unit: Fraction | None) -> int:
    field = settings.fields.timestamp
    value = value_of(record, field)
    try:
        return read_time(value, settings.timestamp_format, settings.time_zone, unit)
    except ValueError as error:
        detail = f"the field {field!r} is {_shown(value)}: {error}; "
        if other := advice(value, settings.time_zone):
            raise _RefusedError(TIMESTAMP_FORMAT, detail + other) from error
        reason = TIMESTAMP_RANGE if isinstance(error, TimeRangeError) else BAD_TIMESTAMP
        raise _RefusedError(reason, detail + accepted(settings.timestamp_format)) from error


def _text(record: Mapping[str, Any], settings: ParseSettings) -> str:
    """Return the text of a record: that of its field, or of several fields line by line."""
    name, named, texts = settings.fields.text, settings.fields.texts, []
    for field in named:
        part = value_of(record, field)
        if part is None and len(named) > 1:
            continue
        if not isinstance(part, str):
            raise _RefusedError(
                WRONG_TYPE, f"the field {field!r} is a {type(part).__name__}; text is wanted"
            )
        _check_characters(field, part)
        texts.append(part)
    text = "\n".join(texts)
    size, most = len(text if text.isascii() else text.encode()), settings.max_document_bytes
    if size > most:
        raise _RefusedError(TOO_LARGE, too_large(size, most))
    if not text or text.isspace():
        raise _RefusedError(EMPTY_TEXT, f"the field {name!r} is empty")
    return text


def _key(record: Mapping[str, Any], fields: FieldNames) -> str:
    if fields.key is None:
        return ""
    key = _short(record, fields.key) or ""
    try:
        escape_key(key)
    except OptionError as error:
        raise _RefusedError(BAD_KEY, f"no folder can be named after the key: {error}") from error
    return key


def _check_characters(name: str, text: str) -> None:
    """Refuse NUL and halves of surrogate pairs."""
    if "\0" in text:
        raise _RefusedError(NUL, f"the field {name!r} holds a NUL")
    try:
        _ = text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        # Readers represent a byte that is not UTF-8 by a character of this range.
        remedy = f"; {_OTHER_ENCODING}=latin-1" if "\udc80" <= text[error.start] <= "\udcff" else ""
        detail = (
            f"character {error.start + 1} of the field {name!r} cannot be written as UTF-8{remedy}"
        )
        raise _RefusedError(INVALID_UTF8, detail) from error


def _shown(value: object) -> str:
    """Return a value for a message; an int of thousands of digits has no repr."""
    try:
        return repr(value)[:80]
    except ValueError:
        return "a very long number"
