"""Read the entries of a feed, RSS or Atom of any version, damaged or not, in a process with limits.

The fields of a record are ``id`` (that of the entry, or else its link), ``timestamp`` (when it was
published, or else updated), ``text`` (the title, and the content or else the summary, without
tags), ``title``, ``link``, ``author`` and ``feed`` (the title of the feed). Fields that an entry
does not have are missing.

feedparser holds the whole file and reads on after damage. Only
:mod:`beam_topics.model.reading.child`, which has limits, imports this module.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from typing import Any, BinaryIO

import feedparser

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.avro import Item
from beam_topics.model.times import MICROSECONDS_PER_SECOND, to_iso
from beam_topics.model.words.cleaning import without_html


class FeedTable:
    """An open feed.

    Attributes:
        names: The names of the fields.
        units: Empty, because times are text.

    Args:
        stream: The bytes.
        name: The name of the file, for places such as ``name entry 17``.

    Raises:
        DamagedDataError: It is not a feed.
    """

    names = ("id", "timestamp", "text", "title", "link", "author", "feed")

    def __init__(self, stream: BinaryIO, name: str) -> None:
        # A stream, because feedparser fetches a text that is an address.
        found = feedparser.parse(stream, resolve_relative_uris=False, sanitize_html=False)
        if not found.version:
            raise DamagedDataError("this is no feed of RSS or Atom")
        self.units: dict[str, str] = {}
        self._name, self._entries, self._title = name, found.entries, found.feed.get("title")

    def blocks(self) -> Iterator[tuple[int, int, Iterator[Item]]]:
        """Yield (1, 0, items), all entries."""
        yield 1, 0, self._items()

    def _items(self) -> Iterator[Item]:
        for number, entry in enumerate(self._entries, 1):
            place = f"{self._name} entry {number}"
            try:
                record = {**_record(entry), "feed": self._title}
            except (ValueError, OverflowError) as error:
                yield place, "the entry cannot be read", error
            else:
                yield place, {name: value for name, value in record.items() if value}


def _record(entry: Any) -> dict[str, Any]:
    time = entry.get("published_parsed") or entry.get("updated_parsed")
    body = "\n\n".join(one.value for one in entry.get("content", ())) or entry.get("summary", "")
    texts = (entry.get("title", ""), body)
    return {
        "id": entry.get("id") or entry.get("link"),
        "timestamp": time and to_iso(calendar.timegm(time) * MICROSECONDS_PER_SECOND),
        "text": "\n\n".join(filter(None, (without_html(text).strip() for text in texts))),
        "title": entry.get("title"),
        "link": entry.get("link"),
        "author": entry.get("author"),
    }
