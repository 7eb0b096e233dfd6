"""Encode records as files for others: mixtures and documents as Avro, records as JSON lines.

Each function turns a batch of records into the bytes of a file. It sorts them first, so the bytes
depend on the set of records alone. A file is named after its content (:func:`content_name`), so
writing the same batch twice changes nothing. The batches of a large file follow each other
(:func:`continued`).

>>> content_name([b"two", b"one"]) == content_name([b"one", b"two"])
True
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import fastavro
import msgspec

from beam_topics.model.documents.document import Document
from beam_topics.model.inference.mixtures import MixtureBlock, TopicMixture
from beam_topics.model.stored import wire
from beam_topics.model.times import to_iso

NAME_CHARACTERS = 20
# How Avro begins, and the size of the marker behind its header and behind each of its blocks.
_AVRO, MARKER_BYTES = b"Obj\x01", 16
# The fields that identify a mixture: an id may be used again at another time.
ROW_KEY = ("key", "id", "timestamp", "model_version")

_TIME = {"type": "long", "logicalType": "timestamp-micros"}

# It takes an eighth of the time of the module json, for each row that is written.
_ENCODER = msgspec.json.Encoder(order="deterministic")

# Topics with smaller shares are left out, except the largest one.
LEAST_SHARE = 0.001
# Decimals of a share. Draws leave a share uncertain by some hundredths.
_DECIMALS = 6

_SHARE = {
    "type": "record",
    "name": "TopicShare",
    "fields": [
        {"name": "topic", "type": "long"},
        {"name": "share", "type": "double"},
        {"name": "name", "type": ["null", "string"], "default": None},
    ],
}


def _schema(name: str, **types: Any) -> Any:
    """Return the schema of a record, by the types of its fields."""
    fields = [{"name": field, "type": kind} for field, kind in types.items()]
    return fastavro.parse_schema(
        {"type": "record", "name": name, "namespace": "beam_topics", "fields": fields}
    )


MIXTURE_SCHEMA = _schema(
    "TopicMixture",
    key="string",
    id="string",
    timestamp=_TIME,
    model_version="string",
    method="string",
    topic=["null", "long"],
    topics={"type": "array", "items": _SHARE},
    none=["null", "double"],
    words_known="long",
    tokens="long",
)
DOCUMENT_SCHEMA = _schema(
    "Document", id="string", timestamp=_TIME, text="string", label=["null", "string"], key="string"
)


def content_name(records: Iterable[bytes]) -> str:
    """Return the name of a set of records: hexadecimal digits of their digest.

    It does not depend on the release of a compressor.
    """
    return wire.digest(*sorted(records)).hex()[:NAME_CHARACTERS]


def joined_name(names: Sequence[str]) -> str:
    """Return the name of batches that follow each other in a file, by their names in this order."""
    return (
        names[0]
        if len(names) == 1
        else wire.digest(*map(str.encode, names)).hex()[:NAME_CHARACTERS]
    )


def continued(data: bytes, marker: bytes) -> bytes:
    """Return what to append to a file, so that it goes on with the rows of another file.

    JSON lines stay as they are. Avro loses its header, and its blocks get the marker of the file. A
    marker is a digest of all rows, so no row has it.

    Args:
        data: The bytes of the other file, with at least one row.
        marker: The last :data:`MARKER_BYTES` bytes of the file.
    """
    if not data.startswith(_AVRO):
        return data
    own = data[-MARKER_BYTES:]
    return data.partition(own)[2].replace(own, marker)


def mixture_fields(mixture: TopicMixture) -> dict[str, Any]:
    """Return a mixture as named plain values.

    ``topics`` are the topics of the document, the largest first, each with its id as ``topic`` and
    its ``share``; with names they are the groups and parts of the catalogue without hidden ones,
    and have a ``name``. ``topic`` is the id of the first one, or None for a document without a
    topic. ``none`` is the probability that no topic explains the document: 1 without a known word,
    else None where it was not computed.
    """
    shown = mixture.shown()
    found = shown.largest(mixture.proportions, least=LEAST_SHARE)
    return _fields(mixture, shown.ids, found)


def _fields(
    mixture: TopicMixture, ids: Sequence[int], found: Sequence[tuple[int, float]]
) -> dict[str, Any]:
    """Return the values of a mixture, given the ids of its groups and the largest groups."""
    topics: list[dict[str, Any]] = [
        {"topic": ids[at], "share": round(share, _DECIMALS)} for at, share in found
    ]
    if mixture.names:
        for one, (at, _) in zip(topics, found, strict=True):
            one["name"] = mixture.names[at]
    none = mixture.none if mixture.words_known else 1.0
    return {
        "key": mixture.key,
        "id": mixture.id,
        "timestamp": mixture.timestamp,
        "model_version": mixture.model_version,
        "method": mixture.method,
        "topic": topics[0]["topic"] if topics else None,
        "topics": topics,
        "none": None if none is None else round(none, _DECIMALS),
        "words_known": mixture.words_known,
        "tokens": mixture.tokens,
    }


def _block_fields(block: MixtureBlock) -> Iterator[dict[str, Any]]:
    """Yield :func:`mixture_fields` of the mixtures of a block."""
    shown = block.shown()
    rows = shown.largest_rows(block.proportions, LEAST_SHARE)
    for mixture, found in zip(block.mixtures(), rows, strict=True):
        yield _fields(mixture, shown.ids, found)


def mixture_to_json(mixture: TopicMixture) -> bytes:
    """Return a mixture as JSON on one line, with its time in ISO 8601."""
    return _json(mixture_fields(mixture))


def _json(fields: dict[str, Any]) -> bytes:
    return _ENCODER.encode(fields | {"timestamp": to_iso(fields["timestamp"])})


def row_key(mixture: TopicMixture) -> bytes:
    """Return the JSON list of the values of ``ROW_KEY``, as :func:`mixture_to_json` writes them."""
    return wire.canonical_json(
        [mixture.key, mixture.id, to_iso(mixture.timestamp), mixture.model_version]
    ).encode()


def mixtures_to_json_lines(records: Sequence[bytes]) -> bytes:
    """Return JSON lines for bytes of mixtures or of blocks of them, with times in ISO 8601."""
    return b"".join(_json(fields) + b"\n" for fields in _sorted_fields(records))


def mixtures_to_avro(records: Sequence[bytes]) -> bytes:
    """Return an Avro file for bytes of mixtures or of blocks of them."""
    return _avro(MIXTURE_SCHEMA, _sorted_fields(records), wire.digest(*sorted(records)))


def _sorted_fields(records: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return the values of TopicMixture or MixtureBlock bytes by key, time and id."""
    rows = chain.from_iterable(map(_fields_in, sorted(records)))
    return sorted(rows, key=itemgetter("key", "timestamp", "id"))


def _fields_in(record: bytes) -> Iterable[dict[str, Any]]:
    if record.startswith(MixtureBlock.MAGIC):
        return _block_fields(MixtureBlock.from_bytes(record))
    return [mixture_fields(TopicMixture.from_bytes(record))]


def record_count(record: bytes) -> int:
    """Return the number of mixtures of MixtureBlock bytes; 1 for any other record."""
    if not record.startswith(MixtureBlock.MAGIC):
        return 1
    return len(wire.header_of(MixtureBlock.MAGIC, record)["ids"])


def documents_to_avro(records: Sequence[bytes]) -> bytes:
    """Return an Avro file for Document bytes in the order of learning.

    That is by time, id, and place in the source, which itself is not in the file.
    """
    documents = sorted(
        map(Document.from_bytes, sorted(records)),
        key=lambda document: (document.timestamp, document.id, document.arrived),
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
    fastavro.writer(out, schema, rows, codec="deflate", sync_marker=digest[:MARKER_BYTES])
    return out.getvalue()
