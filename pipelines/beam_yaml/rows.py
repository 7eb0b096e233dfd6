"""Rows of Beam's schemas: documents that come in, and versions, events and mixtures that go out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.utils.timestamp import Timestamp

from model.encoding import mixture_fields
from model.inference.mixture_blocks import MixtureBlock
from model.publishing.manifest import Manifest
from model.times import to_iso


class VersionRow(NamedTuple):
    """A version that was published."""

    key: str
    version: str
    event_time: str
    documents: int
    tokens: int
    words: int


class EventRow(NamedTuple):
    """Something that a stream did; ``record`` is the whole event as JSON (docs/formats.md)."""

    key: str
    version: str
    kind: str
    time: str
    record: str


class TopicShare(NamedTuple):
    """A topic of a document, by its id."""

    topic: int
    share: float


class MixtureRow(NamedTuple):
    """The topics of a document, the largest first; ``topic`` is the first one, or None."""

    key: str
    id: str
    timestamp: str
    model_version: str
    method: str
    topic: int | None
    topics: Sequence[TopicShare]
    none: float | None
    words_known: int
    tokens: int


class DeadLetterRow(NamedTuple):
    """A row that is no document; ``record`` is the whole dead letter as JSON (docs/formats.md)."""

    source: str
    reason: str
    record: str


def line_of_row(row: Any) -> bytes:
    """Return a row as JSON. A value that JSON does not have becomes a text.

    So a document with such a value becomes a dead letter, and no bundle fails.
    """
    values = row if isinstance(row, Mapping) else row._asdict()
    return json.dumps(values, default=_text, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _text(value: Any) -> str:
    """Return a time as ISO 8601, and anything else as Python writes it."""
    return to_iso(value.micros) if isinstance(value, Timestamp) else str(value)


def version_rows(references: beam.PCollection) -> beam.PCollection:
    """Return a row for each version."""
    return references | "Versions" >> beam.Map(_version).with_output_types(VersionRow)


def _version(reference: tuple[bytes, bytes]) -> VersionRow:
    found = Manifest.from_json(reference[1], "a reference to a version")
    counts = found.documents, found.tokens, found.words
    return VersionRow(found.key, found.version, to_iso(found.event_time), *counts)


def event_rows(events: beam.PCollection) -> beam.PCollection:
    """Return a row for each event."""
    return events | "Events" >> beam.Map(_event).with_output_types(EventRow)


def _event(record: bytes) -> EventRow:
    found = json.loads(record)
    named = (found[name] for name in ("key", "version", "kind", "time"))
    return EventRow(*named, record.decode())


def mixture_rows(blocks: beam.PCollection) -> beam.PCollection:
    """Return a row for each document of blocks of mixtures."""
    return blocks | "Mixtures" >> beam.FlatMap(_mixtures).with_output_types(MixtureRow)


def _mixtures(block: bytes) -> Iterable[MixtureRow]:
    for mixture in MixtureBlock.from_bytes(block).mixtures():
        fields = mixture_fields(mixture) | {"timestamp": to_iso(mixture.timestamp)}
        yield MixtureRow(**fields | {"topics": [TopicShare(**one) for one in fields["topics"]]})


def dead_letter_rows(letters: beam.PCollection) -> beam.PCollection:
    """Return a row for each dead letter."""
    return letters | "Refused" >> beam.Map(_letter).with_output_types(DeadLetterRow)


def _letter(record: bytes) -> DeadLetterRow:
    found = json.loads(record)
    return DeadLetterRow(found["source"], found["reason"], record.decode())
