"""A snapshot as an Avro file, which any Avro tool can read.

One record for each word, ``{"word": "sea", "base": 0.01, "topics": [0, 7], "counts": [12.0, 3.0]}``; everything else is in the
file's metadata under ``beam_topics``, as canonical JSON. Nothing in the file depends on when or where it was written (Avro's
sync marker, usually random, is the content's hash), so equal snapshots have equal bytes and the file's SHA-256 names it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Iterator
from typing import Any

import fastavro
import numpy as np

from model import wire
from model.errors import DamagedDataError
from model.settings import TokeniserSettings
from model.snapshot import Snapshot, TopicWordPrior
from model.words.strings import CharacterModel

VERSION = 2

_FIELD = "beam_topics"
_SCHEMA = fastavro.parse_schema(
    {
        "type": "record",
        "name": "TopicCounts",
        "namespace": "beam_topics",
        "fields": [
            {"name": "word", "type": "string"},
            {"name": "base", "type": "double"},
            {"name": "topics", "type": {"type": "array", "items": "int"}},
            {"name": "counts", "type": {"type": "array", "items": "double"}},
        ],
    }
)


def snapshot_to_bytes(snapshot: Snapshot) -> bytes:
    """The bytes of the file."""
    facts = wire.canonical_json(
        {
            "version": VERSION,
            "key": snapshot.key,
            "sequence": snapshot.sequence,
            "event_time": snapshot.event_time,
            "fingerprint": snapshot.fingerprint,
            "alpha": snapshot.alpha.tolist(),
            "strength": snapshot.prior.strength.tolist(),
            "unseen": snapshot.prior.unseen,
            "characters": _characters_to_text(snapshot.prior.characters),
            "words": len(snapshot.words),
            "buckets": snapshot.buckets,
            "tokeniser": snapshot.tokeniser.to_json(),
        }
    )
    spelled = (snapshot.offsets, "<i8"), (snapshot.topics, "<i4"), (snapshot.counts, "<f8"), (snapshot.prior.base, "<f8")
    arrays = [wire.array_to_bytes(values, dtype) for values, dtype in spelled]
    marker = wire.digest(facts.encode(), wire.canonical_json(snapshot.words).encode(), *arrays)[:16]
    file = io.BytesIO()
    fastavro.writer(file, _SCHEMA, _records(snapshot), codec="null", sync_marker=marker, metadata={_FIELD: facts})
    return file.getvalue()


def snapshot_from_bytes(data: bytes, name: str = "the snapshot") -> Snapshot:
    """The inverse of :func:`snapshot_to_bytes`; ``name`` is what an error calls the file.

    Raises:
        DamagedDataError: the bytes are not a snapshot of a version that this release knows.
    """
    try:
        reader = fastavro.reader(io.BytesIO(data))
        facts = json.loads(reader.metadata[_FIELD])
        if facts["version"] != VERSION:
            raise DamagedDataError(f"{name} has version {facts['version']} of the snapshot's form; this release reads version {VERSION}")
        return _assemble(facts, list(reader))
    except DamagedDataError:
        raise
    # A bad byte shows up in fastavro, or in us, as whatever exception it leads to.
    except Exception as error:
        raise DamagedDataError(f"{name} is not a whole snapshot: {type(error).__name__}: {error}") from error


def snapshot_digest(data: bytes) -> str:
    """SHA-256 of a file's bytes, hex."""
    return hashlib.sha256(data).hexdigest()


def _characters_to_text(characters: CharacterModel | None) -> str:
    return base64.b64encode(characters.to_bytes()).decode() if characters else ""


def _records(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    offsets, topics, counts = snapshot.offsets.tolist(), snapshot.topics.tolist(), snapshot.counts.tolist()
    for word, base, first, last in zip(snapshot.words, snapshot.prior.base.tolist(), offsets[:-1], offsets[1:], strict=True):
        yield {"word": word, "base": base, "topics": topics[first:last], "counts": counts[first:last]}


def _assemble(facts: dict[str, Any], records: list[Any]) -> Snapshot:
    if len(records) != facts["words"]:
        raise ValueError(f"{len(records)} words, but its metadata say {facts['words']}")
    offsets = np.zeros(len(records) + 1, np.int64)
    np.cumsum([len(record["topics"]) for record in records], out=offsets[1:])
    topics = np.array([topic for record in records for topic in record["topics"]], np.int32)
    counts = np.array([count for record in records for count in record["counts"]], np.float64)
    alpha, strength = np.array(facts["alpha"], np.float64), np.array(facts["strength"], np.float64)
    if len(counts) != len(topics) or (len(topics) and not 0 <= topics.min() <= topics.max() < len(alpha)) or len(strength) != len(alpha):
        raise ValueError("its topics and counts do not fit each other")
    return Snapshot(
        key=facts["key"],
        sequence=facts["sequence"],
        event_time=facts["event_time"],
        fingerprint=facts["fingerprint"],
        alpha=alpha,
        prior=TopicWordPrior(
            strength,
            np.array([record["base"] for record in records], np.float64),
            float(facts["unseen"]),
            CharacterModel.from_bytes(base64.b64decode(facts["characters"], validate=True)) if facts["characters"] else None,
        ),
        words=tuple(record["word"] for record in records),
        offsets=offsets,
        topics=topics,
        counts=counts,
        tokeniser=TokeniserSettings.from_json(facts["tokeniser"]),
        buckets=int(facts["buckets"]),
    )
