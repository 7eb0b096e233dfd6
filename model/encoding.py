"""Encode records as files for others: mixtures and documents as Avro, records as JSON lines.

Each function turns a batch of records into the bytes of a file. It sorts them first, so the bytes
depend on the set of records alone. A file is named after its content (:func:`content_name`), so
writing the same batch twice changes nothing.

>>> content_name([b"two", b"one"]) == content_name([b"one", b"two"])
True
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import fastavro

from model import wire
from model.inference.mixture_blocks import MixtureBlock, mixtures_of
from model.mixture_lines import ids_of, largest_topics, mixture_lines
from model.records import Document, TopicMixture
from model.times import to_iso

NAME_CHARACTERS = 20
# The fields that identify a mixture: an id may be used again at another time.
ROW_KEY = ("key", "id", "timestamp", "model_version")

_TIME = {"type": "long", "logicalType": "timestamp-micros"}

_MIXTURE_FIELDS = [
    {"name": "key", "type": "string"},
    {"name": "id", "type": "string"},
    {"name": "timestamp", "type": _TIME},
    {"name": "model_version", "type": "string"},
    {"name": "method", "type": "string"},
    {"name": "proportions", "type": {"type": "array", "items": "double"}},
    {"name": "top_topics", "type": {"type": "array", "items": "int"}},
    {"name": "words_known", "type": "long"},
    {"name": "tokens", "type": "long"},
]


def _mixture_schema(*others: dict[str, Any]) -> Any:
    fields = [*_MIXTURE_FIELDS, *others]
    named = {"type": "record", "name": "TopicMixture", "namespace": "beam_topics"}
    return fastavro.parse_schema({**named, "fields": fields})


MIXTURE_SCHEMA = _mixture_schema()
# Fields of --none_share and --topic_names. The mixtures of the prior have none of them.
_OTHER_FIELDS = (
    {"name": "none", "type": ["null", "double"], "default": None},
    {"name": "topic_names", "type": {"type": "array", "items": "string"}, "default": []},
    {"name": "top_shares", "type": {"type": "array", "items": "double"}, "default": []},
)

DOCUMENT_SCHEMA = fastavro.parse_schema(
    {
        "type": "record",
        "name": "Document",
        "namespace": "beam_topics",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "timestamp", "type": _TIME},
            {"name": "text", "type": "string"},
            {"name": "label", "type": ["null", "string"]},
            {"name": "key", "type": "string"},
        ],
    }
)


def content_name(records: Iterable[bytes]) -> str:
    """Return the name of a set of records: hexadecimal digits of their digest.

    It does not depend on the release of a compressor.
    """
    return wire.digest(*sorted(records)).hex()[:NAME_CHARACTERS]


def mixture_fields(mixture: TopicMixture, top_topics: int) -> dict[str, Any]:
    """Return a mixture as named plain values.

    Args:
        mixture: The mixture.
        top_topics: The number of largest topics whose ids are named, in descending order, ties by
            place. The id of a topic modulo T is its place in ``proportions``. With names they are
            the largest groups and parts of the catalogue, without hidden ones; the id of a part is
            below 0.
    """
    (largest,), ids = largest_topics([mixture], top_topics), ids_of(mixture)
    others: dict[str, Any] = {} if mixture.none is None else {"none": mixture.none}
    if mixture.names:
        others["topic_names"] = [mixture.names[group] for group, _ in largest]
        others["top_shares"] = [share for _, share in largest]
    return others | {
        "key": mixture.key,
        "id": mixture.id,
        "timestamp": mixture.timestamp,
        "model_version": mixture.model_version,
        "method": mixture.method,
        "proportions": mixture.proportions.tolist(),
        "top_topics": [ids[group] for group, _ in largest],
        "words_known": mixture.words_known,
        "tokens": mixture.tokens,
    }


def mixture_to_json(mixture: TopicMixture, top_topics: int) -> bytes:
    """Return a mixture as JSON on one line, with its time in ISO 8601."""
    (line,) = mixture_lines([mixture], top_topics)
    return line.encode()


def row_key(mixture: TopicMixture) -> bytes:
    """Return the JSON list of the values of ``ROW_KEY``, as :func:`mixture_to_json` writes them."""
    return wire.canonical_json(
        [mixture.key, mixture.id, to_iso(mixture.timestamp), mixture.model_version]
    ).encode()


def mixtures_to_json_lines(records: Sequence[bytes], top_topics: int = 3) -> bytes:
    """Return JSON lines for bytes of mixtures or of blocks of them, with times in ISO 8601."""
    lines = mixture_lines(_sorted_mixtures(records), top_topics)
    return "".join(f"{line}\n" for line in lines).encode()


def mixtures_to_avro(records: Sequence[bytes], top_topics: int = 3) -> bytes:
    """Return an Avro file for bytes of mixtures or of blocks of them."""
    rows = [mixture_fields(mixture, top_topics) for mixture in _sorted_mixtures(records)]
    others = [item for item in _OTHER_FIELDS if any(item["name"] in row for row in rows)]
    schema = _mixture_schema(*others) if others else MIXTURE_SCHEMA
    return _avro(schema, rows, wire.digest(*sorted(records)))


def _sorted_mixtures(records: Sequence[bytes]) -> list[TopicMixture]:
    """Return the mixtures of TopicMixture or MixtureBlock bytes by key, time and id."""
    mixtures = chain.from_iterable(map(_mixtures_of, sorted(records)))
    return sorted(mixtures, key=lambda mixture: (mixture.key, mixture.timestamp, mixture.id))


def _mixtures_of(record: bytes) -> list[TopicMixture]:
    is_block = record.startswith(MixtureBlock.MAGIC)
    return mixtures_of(record) if is_block else [TopicMixture.from_bytes(record)]


def mixture_count(record: bytes) -> int:
    """Return the number of mixtures of TopicMixture or MixtureBlock bytes."""
    if not record.startswith(MixtureBlock.MAGIC):
        return 1
    return len(wire.header_of(MixtureBlock.MAGIC, record)["ids"])


def documents_to_avro(records: Sequence[bytes]) -> bytes:
    """Return an Avro file for Document bytes in the order of learning: (time, id, bytes)."""
    documents = sorted(
        map(Document.from_bytes, sorted(records)),
        key=lambda document: (document.timestamp, document.id),
    )
    rows = [
        {"id": d.id, "timestamp": d.timestamp, "text": d.text, "label": d.label, "key": d.key}
        for d in documents
    ]
    return _avro(DOCUMENT_SCHEMA, rows, wire.digest(*sorted(records)))


def json_lines(records: Sequence[bytes]) -> bytes:
    """Return one record per line, for dead letters, which are JSON already."""
    return b"".join(record + b"\n" for record in sorted(records))


def _avro(schema: Any, rows: list[dict[str, Any]], digest: bytes) -> bytes:
    """Return deflated Avro; the sync marker, usually random, comes from the content."""
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec="deflate", sync_marker=digest[:16])
    return out.getvalue()
