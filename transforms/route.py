"""Documents whose key has no model become dead letters, and the others pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apache_beam as beam

from beam_topics.model.documents.block import Block, key_and_count
from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.refused import UNKNOWN_KEY
from beam_topics.transforms.read import Documents, documents_of
from beam_topics.transforms.shared import Refusals


def without_model(data: bytes, keys: Sequence[str]) -> list[DeadLetter]:
    """Return the dead letters of the documents of a block whose key has no model."""
    block = Block.from_bytes(data)
    known = ", ".join(map(repr, keys[:5])) + (", ..." if len(keys) > 5 else "")
    detail = f"this run has no model for the key {block.key!r}, but for {known}"
    rows = range(len(block))
    return [block.dead_letter(row, "routing", UNKNOWN_KEY, detail) for row in rows]


class _Route(beam.DoFn):
    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = dict.fromkeys(keys)
        self._refusals = Refusals((UNKNOWN_KEY,))

    def process(self, element: bytes) -> Iterator[Any]:
        if key_and_count(element)[0] in self._keys:
            yield element
        else:
            yield from map(self._refusals.refuse, without_model(element, list(self._keys)))


class Route(beam.PTransform):
    """Keep the documents of some keys; gives :class:`beam_topics.transforms.read.Documents`.

    Args:
        keys: The keys that have a model.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        super().__init__()
        self._keys = tuple(keys)

    def expand(self, documents: beam.PCollection) -> Documents:
        return documents_of(documents, "Route", _Route(self._keys))
