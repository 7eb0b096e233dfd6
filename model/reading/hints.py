"""What a dead letter says about a field that is missing: the fields that the record has, and the one that may be meant.

>>> missing("text", {"id": 1, "headline": "A ship came in", "date": "2001-01-31"}, text_remedy)
"the field 'text' is missing; the record has 'id', 'headline', 'date'. Is it --text_field=headline?"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from model.reading.timestamps import read_time

_MOST_FIELDS = 12
_MOST_CHARACTERS = 40
NO_IDS = "Records without ids: --id_from=place."

_TIME_NAME = re.compile(r"date|time|created|published|updated|(^|_)(at|on|ts)$", re.IGNORECASE)
_ID_NAME = re.compile(r"(?i:(^|[^a-z])(id|uid|uuid|guid|doi|url|uri|key|number|no)$)|[a-z]I[dD]$")

Record = Mapping[str, Any]


def missing(field: str, record: Record, remedy: Callable[[Record], str]) -> str:
    """What is missing, what is there, and the option that would name it."""
    return f"the field {field!r} is missing; {has(record)}. {remedy(record)}"


def text_remedy(record: Record) -> str:
    """The option for a record without a text."""
    return _named("--text_field", likely_text(record))


def time_remedy(record: Record) -> str:
    """The option for a record without a time."""
    return f"{_named('--timestamp_field', likely_time(record))} Files without times: --time_from=order."


def id_remedy(record: Record) -> str:
    """The option for a record without an id."""
    return f"{_named('--id_field', likely_id(record))} {NO_IDS}"


def key_remedy(_: Record) -> str:
    """The option for a record without a key."""
    return _named("--key_field", None)


def _named(option: str, found: str | None) -> str:
    return f"Name the field with {option}." if found is None else f"Is it {option}={found[:_MOST_CHARACTERS]}?"


def has(record: Record) -> str:
    """The names of the fields that hold something, as many as fit into a message."""
    names = [name for name, value in record.items() if value is not None]
    return f"the record has {listed(names)}" if names else "the record has no fields"


def listed(names: Iterable[str]) -> str:
    """Names in quotes, with commas; the first ones of many."""
    each = [repr(str(name)[:_MOST_CHARACTERS]) for name in names]
    return ", ".join(each[:_MOST_FIELDS]) + (f" and {len(each) - _MOST_FIELDS} more" if len(each) > _MOST_FIELDS else "")


def likely_text(record: Record) -> str | None:
    """The field with the longest text; a text has a space in it."""
    texts = {name: len(value) for name, value in record.items() if isinstance(value, str) and " " in value.strip()}
    return max(texts, key=lambda name: texts[name], default=None)


def likely_time(record: Record) -> str | None:
    """The first field that is named like a time and holds one, or holds a date as text."""
    return next((name for name, value in record.items() if _is_time(str(name), value)), None)


def likely_id(record: Record) -> str | None:
    """The first field that is named like an id and holds text or a whole number."""
    return next((name for name, value in record.items() if _ID_NAME.search(str(name)) and _is_short(value)), None)


def _is_short(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""


def _is_time(name: str, value: object) -> bool:
    if isinstance(value, str) and len(value) > _MOST_CHARACTERS:
        return False
    if not _TIME_NAME.search(name) and not (isinstance(value, str) and "-" in value):
        return False
    try:
        read_time(value, "s")
    except ValueError:
        return False
    return True
