"""Copy output files without some documents: mixtures, trends, stories, events and dead letters.

What a row is follows from its fields. A mixture leaves, as does a story whose name is the id;
trends, other stories and events stay without the ids; and a dead letter leaves if its record has an
id. Of a record that can be read as JSON only whole values count, and of any other text what stands
between two characters that are no part of a word.

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
from typing import Any, BinaryIO

import fastavro

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import wire


class Erased:
    """Documents that are erased.

    Args:
        ids: Their ids; at least one.

    Attributes:
        ids: These.
        found: Those that were found anywhere.
    """

    def __init__(self, ids: Collection[str]) -> None:
        self.ids, self.found = frozenset(ids), set[str]()

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
        if "model_version" in row and self.holds(row.get("id")):
            return None
        if self.holds(row.get("story")):
            return None
        found = dict(row)
        if isinstance(stories := row.get("stories"), list):
            found["stories"] = [one for one in stories if not self.holds(one.get("story"))]
        if isinstance(typical := row.get("typical"), list):
            found["typical"] = [one for one in typical if not self.holds(one.get("id"))]
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


def _values(record: Any) -> Iterator[str]:
    """Yield the texts and numbers of a record, as ids are made of them."""
    if isinstance(record, dict | list):
        for one in record.values() if isinstance(record, dict) else record:
            yield from _values(one)
    else:
        yield str(record)


def copy_without(source: BinaryIO, target: BinaryIO | None, name: str, erased: Erased) -> int:
    """Copy a file without documents, row by row.

    Args:
        source: The bytes of the file: Avro, or JSON lines.
        target: Takes the copy; None counts only.
        name: The name of the file, for messages.
        erased: The documents.

    Returns:
        How many rows left or changed.

    Raises:
        DamagedDataError: The file cannot be read.
    """
    try:
        copy = _copy_avro if name.endswith(".avro") else _copy_lines
        return copy(source, target, erased)
    except (ValueError, EOFError, KeyError, IndexError, AttributeError) as error:
        raise DamagedDataError(
            f"{name} cannot be read as an output of beam-topics: {error}. Restore it from a copy,"
            " or remove it."
        ) from error


def _copy_lines(source: BinaryIO, target: BinaryIO | None, erased: Erased) -> int:
    changed = 0
    for line in source:
        row = json.loads(line)
        rest = erased.rest(row)
        changed += rest != row
        if target and rest is not None:
            # Lines that stay keep their bytes.
            same = rest == row
            target.write(line if same else wire.canonical_json(rest).encode() + b"\n")
    return changed


def _copy_avro(source: BinaryIO, target: BinaryIO | None, erased: Erased) -> int:
    reader, changed = fastavro.reader(source), 0

    def rows() -> Iterator[dict[str, Any]]:
        nonlocal changed
        for row in reader:
            rest = erased.rest(row)
            changed += rest != row
            if rest is not None:
                yield rest

    if target is None:
        for _ in rows():
            pass
    else:
        # The marker is a digest of all rows.
        marker = wire.digest(reader._header["sync"])[:16]
        schema = reader.writer_schema
        fastavro.writer(target, schema, rows(), codec="deflate", sync_marker=marker)
    return changed
