r"""What a dead letter says of fields that are missing: the fields that the record has, and those
that may be meant.

>>> record = {"id": 1, "headline": "A ship came in", "date": "2001-01-31"}
>>> missing("the record", {"timestamp": time_remedy, "text": text_remedy}, record, record)
"the record has no field 'timestamp', 'text'; it has 'id', 'headline', 'date'. Is it
--timestamp_field=date? \ Files without times: --time_from=order. Is it --text_field=headline?"
"""

from __future__ import annotations

import json
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
Remedy = Callable[[Record], str]


def missing(what: str, lacking: Mapping[str, Remedy], names: Iterable[str], record: Record) -> str:
    """What is missing, what is there, and the options that would name it.

    Args:
        what: "the record", or "the file".
        lacking: the fields that are missing, each with what gives its remedy.
        names: of the fields that are there.
        record: an example of them.
    """
    remedies = " ".join(remedy(record) for remedy in lacking.values())
    return (
        f"{what} has no field {listed(lacking)}; it has {listed(names) or 'no fields'}. {remedies}"
    )


def why_not_json(text: str, error: ValueError) -> str:
    """What ``json`` says of a text; of an object that goes on in the next line, what to do about
    it.
    """
    bare = text.strip()
    if (
        bare.startswith("{")
        and isinstance(error, json.JSONDecodeError)
        and error.pos >= len(text.rstrip())
    ):
        remedy = (
            "Write each object on one line, for example with: jq -c . FILE. Or make one array of"
            " them."
        )
        return f"a JSON object begins here and does not end in this line. {remedy}"
    return f"it is not JSON: {error}"


def text_remedy(record: Record) -> str:
    """The option for a record without a text."""
    return _named("--text_field", likely_text(record))


def time_remedy(record: Record) -> str:
    """The option for a record without a time."""
    return (
        f"{_named('--timestamp_field', likely_time(record))} Files without times:"
        " --time_from=order."
    )


def id_remedy(record: Record) -> str:
    """The option for a record without an id."""
    return f"{_named('--id_field', likely_id(record))} {NO_IDS}"


def key_remedy(_: Record) -> str:
    """The option for a record without a key."""
    return _named("--key_field", None)


def _named(option: str, found: str | None) -> str:
    return (
        f"Name the field with {option}."
        if found is None
        else f"Is it {option}={found[:_MOST_CHARACTERS]}?"
    )


def listed(names: Iterable[str]) -> str:
    """Names in quotes, with commas; the first ones of many."""
    each = [repr(str(name)[:_MOST_CHARACTERS]) for name in names]
    return ", ".join(each[:_MOST_FIELDS]) + (
        f" and {len(each) - _MOST_FIELDS} more" if len(each) > _MOST_FIELDS else ""
    )


def likely_text(record: Record) -> str | None:
    """The field with the longest text; a text has a space in it."""
    texts = {
        name: len(value)
        for name, value in record.items()
        if isinstance(value, str) and " " in value.strip()
    }
    return max(texts, key=lambda name: texts[name], default=None)


def likely_time(record: Record) -> str | None:
    """The first field that is named like a time and holds one, or holds a date as text."""
    return next((name for name, value in record.items() if _is_time(str(name), value)), None)


def likely_id(record: Record) -> str | None:
    """The first field that is named like an id and holds text or a whole number."""
    return next(
        (name for name, value in record.items() if _ID_NAME.search(str(name)) and _is_short(value)),
        None,
    )


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
