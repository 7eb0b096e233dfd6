"""Copy output files without some documents: mixtures, trends, stories, events and dead letters.

What a row is follows from its fields. A mixture leaves, and a story that has the document's name;
trends and events stay without the ids; and a dead letter leaves if its record has an id. Of a
record that can be read as JSON only whole values count, and of any other text what stands between
two characters that are no part of a word.

>>> erased = Erased(["b"])
>>> erased.rest({"id": "b", "model_version": "1"}) is None
True
>>> erased.rest({"topic": 3, "typical": [{"id": "a"}, {"id": "b"}]})
{'topic': 3, 'typical': [{'id': 'a'}]}
>>> sorted(erased.found)
['b']
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO
from typing import Any, BinaryIO

import fastavro

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import wire
from beam_topics.model.times import parse_time


class Erased:
    """Documents that are erased.

    Args:
        lines: The id of each, with a tab and its time where this is known; at least one.

    Attributes:
        places: Ids with times in microseconds, or None.
        ids: The ids.
        found: Those that were found anywhere.
    """

    def __init__(self, lines: Collection[str]) -> None:
        self.places = tuple(dict.fromkeys(map(_place, lines)))
        self.ids, self.found = frozenset(name for name, _ in self.places), set[str]()

    def holds(self, id: object) -> bool:
        """Return whether a document is erased, and note that it was found."""
        if id not in self.ids:
            return False
        self.found.add(str(id))
        return True

    def others(self, ids: Collection[str]) -> list[str]:
        """Return those of some ids that stay."""
        return [one for one in ids if not self.holds(one)]

    def rest(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return what stays of a row; None where nothing does."""
        if "record" in row and "reason" in row:
            return None if self._is_named(row) else dict(row)
        # A story has the name of its first document.
        if ("model_version" in row and self.holds(row.get("id"))) or self.holds(row.get("story")):
            return None
        found = dict(row)
        for field, name in (("typical", "id"), ("stories", "story")):
            if isinstance(some := row.get(field), list):
                found[field] = [one for one in some if not self.holds(one.get(name))]
        if isinstance(named := row.get("document_ids"), list):
            found["document_ids"] = self.others(named)
        return found

    def _is_named(self, letter: Mapping[str, Any]) -> bool:
        record = str(letter["record"])
        try:
            values = set(_values(json.loads(record)))
        except (ValueError, RecursionError):
            text = f"{record}\n{letter.get('detail')}"
            near = (one for one in self.ids if one in text)
            values = {one for one in near if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)}
        found = values & self.ids
        self.found |= found
        return bool(found)


def _place(line: str) -> tuple[str, int | None]:
    """Return the id and the time of a line; without a time, all of it is the id."""
    name, tab, time = line.rpartition("\t")
    try:
        return (name, parse_time(time)) if tab else (line, None)
    except ValueError:
        return line, None


def _values(record: Any) -> Iterator[str]:
    """Yield the texts and numbers of a record, as ids are made of them."""
    if isinstance(record, dict | list):
        for one in record.values() if isinstance(record, dict) else record:
            yield from _values(one)
    else:
        yield str(record)


def copied_without(source: BinaryIO, name: str, erased: Erased) -> tuple[bytes, int]:
    """Copy a file without documents, row by row.

    Args:
        source: The bytes of the file: Avro, or JSON lines.
        name: The name of the file, for messages.
        erased: The documents.

    Returns:
        The copy, and how many rows left or changed.

    Raises:
        DamagedDataError: The file cannot be read.
    """
    try:
        return (_avro if name.endswith(".avro") else _lines)(source, erased)
    except (ValueError, EOFError, KeyError, IndexError, AttributeError) as error:
        raise DamagedDataError(
            f"{name} cannot be read as an output of beam-topics: {error}. Restore it from a copy,"
            " or remove it."
        ) from error


def _lines(source: BinaryIO, erased: Erased) -> tuple[bytes, int]:
    found, changed = [], 0
    for line in source:
        row = json.loads(line)
        if (rest := erased.rest(row)) == row:
            # Lines that stay keep their bytes.
            found.append(line)
            continue
        changed += 1
        found += [] if rest is None else [wire.canonical_json(rest).encode() + b"\n"]
    return b"".join(found), changed


def _avro(source: BinaryIO, erased: Erased) -> tuple[bytes, int]:
    reader, target = fastavro.reader(source), BytesIO()
    rows = list(reader)
    rest = [erased.rest(row) for row in rows]
    staying = [row for row in rest if row is not None]
    # The marker is a digest of all rows.
    marker = wire.digest(reader._header["sync"])[:16]
    fastavro.writer(target, reader.writer_schema, staying, codec="deflate", sync_marker=marker)
    return target.getvalue(), sum(one != row for one, row in zip(rest, rows, strict=True))
