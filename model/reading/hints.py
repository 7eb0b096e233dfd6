"""Say in dead letters which fields a record lacks, which it has, and which may be meant.

>>> record = {"id": 1, "headline": "A ship came in", "date": "2001-01-31"}
>>> print(missing("the record", {"text": text_remedy}, record, record))
the record has no field 'text'; it has 'id', 'headline', 'date'. Is it --text_field=headline?
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from shlex import quote
from typing import Any

from model.reading.found_forms import find_form

_MOST_FIELDS = 12
_MOST_CHARACTERS = 40
NO_IDS = "Records without ids: --id_from=place."

_ID_NAME = re.compile(r"(?i:(^|[^a-z])(id|uid|uuid|guid|doi|url|uri|key|number|no)$)|[a-z]I[dD]$")

Record = Mapping[str, Any]
Remedy = Callable[[Record], str]


def missing(what: str, lacking: Mapping[str, Remedy], names: Iterable[str], record: Record) -> str:
    """Return what is missing, what is there, and the options that would name it.

    Args:
        what: "the record", or "the file".
        lacking: The fields that are missing, each with the function that gives its remedy.
        names: The names of the fields that are there.
        record: An example of them.
    """
    remedies = " ".join(remedy(record) for remedy in lacking.values())
    return (
        f"{what} has no field {listed(lacking)}; it has {listed(names) or 'no fields'}. {remedies}"
    )


def why_not_json(text: str, error: ValueError) -> str:
    """Return the message of ``json`` for a text, with a remedy for an object of several lines."""
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
    """Return the option for a record without a text."""
    return _named("--text_field", likely_text(record))


def time_remedy(record: Record) -> str:
    """Return the options for a record without a time."""
    name, form = likely_time(record) or (None, "iso")
    remedy = _named("--timestamp_field", name)
    if form not in ("iso", "s"):
        remedy = f"{remedy[:-1]} --timestamp_format={quote(form)}?"
    return f"{remedy} Files without times: --time_from=order."


def id_remedy(record: Record) -> str:
    """Return the options for a record without an id."""
    return f"{_named('--id_field', likely_id(record))} {NO_IDS}"


def key_remedy(_: Record) -> str:
    """Return the option for a record without a key."""
    return _named("--key_field", None)


def _named(option: str, found: str | None) -> str:
    return (
        f"Name the field with {option}."
        if found is None
        else f"Is it {option}={found[:_MOST_CHARACTERS]}?"
    )


def listed(names: Iterable[str]) -> str:
    """Return names in quotes, separated by commas; only the first ones of many."""
    each = [repr(str(name)[:_MOST_CHARACTERS]) for name in names]
    return ", ".join(each[:_MOST_FIELDS]) + (
        f" and {len(each) - _MOST_FIELDS} more" if len(each) > _MOST_FIELDS else ""
    )


def likely_text(record: Record) -> str | None:
    """Return the field with the longest text that contains a space."""
    texts = {
        name: len(value)
        for name, value in record.items()
        if isinstance(value, str) and " " in value.strip()
    }
    return max(texts, key=lambda name: texts[name], default=None)


def likely_time(record: Record) -> tuple[str, str] | None:
    """Return the field that holds a time, and its form; first of those with the name of one."""
    found = {
        str(name): form for name, value in record.items() if (form := find_form(str(name), [value]))
    }
    best = min(found, key=lambda name: not found[name].named, default=None)
    return None if best is None else (best, found[best].forms[0])


def likely_id(record: Record) -> str | None:
    """Return the first field that has the name of an id and holds text or a whole number."""
    return next(
        (name for name, value in record.items() if _ID_NAME.search(str(name)) and _is_short(value)),
        None,
    )


def is_id_name(name: str) -> bool:
    """Return whether a field has the name of an id."""
    return _ID_NAME.search(name) is not None


def _is_short(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""
