"""Read the records within records: the elements of an array, or a mail in a field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.found_forms import listed
from beam_topics.model.reading.parsing import WRONG_TYPE, dead_letter
from beam_topics.model.reading.paths import values_of

# The characters of a text that say whether it is a mail.
_BEGINNING = 10_000
# The lines that begin a mail: one header or several, one of them of these names.
_HEADERS = re.compile(r"(?:[A-Za-z][A-Za-z-]*:[^\n]*\n(?:[ \t]+[^\n]*\n)*){3,}")
_OF_MAIL = re.compile(r"^(?:message-id|date|from|received):", re.MULTILINE | re.IGNORECASE)


def inner_records(
    items: Iterable[tuple[str, Mapping[str, Any]] | DeadLetter], path: str | None
) -> Iterator[tuple[str, Mapping[str, Any]] | DeadLetter]:
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


def _mail(text: str, place: str) -> Iterator[tuple[str, Mapping[str, Any]] | DeadLetter]:
    # Imported here: most runs read no mails.
    from beam_topics.model.reading.mails import MailFile

    data = text.lstrip().encode("utf-8", "surrogateescape")
    for item in MailFile([data], place, len(data)).records():
        yield item if isinstance(item, DeadLetter) else (place, item[1])
