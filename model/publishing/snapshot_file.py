"""A snapshot as an Avro file, which any Avro tool can read.

There is one record for each word, for example ``{"word": "sea", "base": 0.01, "topics": [0, 7],
"counts": [12.0, 3.0]}``. Everything else is canonical JSON in the metadata of the file, under
``beam_topics``. Nothing in the file depends on when or where it was written: Avro's sync marker,
usually random, is a hash of the content. Equal snapshots have equal bytes, and the SHA-256 of the
file names it.
"""

from __future__ import annotations

import base64
import hashlib
import io
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import fastavro
import numpy as np
from fastavro._read_common import HEADER_SCHEMA as _HEADER

from model import checks, wire
from model.errors import DamagedDataError
from model.records import FloatArray, IntArray, LongArray
from model.settings import TokeniserSettings
from model.snapshot import Snapshot, TopicWordPrior
from model.words.character_model import CharacterModel

VERSION = 2
# Kernels divide by sums and by products of these values. A shared distribution may give a word less
# than the 2^-500 that any string has.
_SMALLEST, _SMALLEST_BASE = 2.0**-500, 2.0**-600
_ROUNDING = 1e-6

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


# The schema as it is written in a file: fastavro adds names of its own to a schema that it parsed.
_WRITTEN_SCHEMA = {name: value for name, value in _SCHEMA.items() if not name.startswith("__")}


@dataclass(frozen=True)
class _Facts:
    """The metadata of a snapshot; ``words`` is the number of words."""

    version: int
    key: str
    sequence: int
    event_time: int
    fingerprint: str
    alpha: list[float]
    strength: list[float]
    unseen: float
    characters: str
    words: int
    buckets: int
    tokeniser: dict[str, Any]


def snapshot_to_bytes(snapshot: Snapshot) -> bytes:
    """Return the bytes of the file of a snapshot."""
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
    spelled = (
        (snapshot.offsets, "<i8"),
        (snapshot.topics, "<i4"),
        (snapshot.counts, "<f8"),
        (snapshot.prior.base, "<f8"),
    )
    arrays = [wire.array_to_bytes(values, dtype) for values, dtype in spelled]
    marker = wire.digest(facts.encode(), wire.canonical_json(snapshot.words).encode(), *arrays)[:16]
    file = io.BytesIO()
    fastavro.writer(
        file,
        _SCHEMA,
        _records(snapshot),
        codec="null",
        sync_marker=marker,
        metadata={_FIELD: facts},
    )
    return file.getvalue()


def snapshot_from_bytes(data: bytes, name: str = "the snapshot") -> Snapshot:
    """Read the bytes that :func:`snapshot_to_bytes` wrote.

    Args:
        data: The bytes of the file.
        name: The name of the file, for messages.

    Raises:
        DamagedDataError: The bytes are not a snapshot of a version that this release reads.
    """
    try:
        metadata = fastavro.schemaless_reader(io.BytesIO(data), _HEADER, None)["meta"]
        facts = checks.parse_json(metadata[_FIELD], f"the metadata of {name}")
        _check_version(facts, name)
        # Another schema may be nested without bound, or give millions of records for a few bytes.
        schema = checks.parse_json(metadata["avro.schema"], f"the schema of {name}")
        if schema != _WRITTEN_SCHEMA or metadata.get("avro.codec", b"null") != b"null":
            raise DamagedDataError(
                f"{name} is an Avro file with another schema or codec than a snapshot has"
            )
        entries = _entries(fastavro.reader(io.BytesIO(data)))
    except DamagedDataError:
        raise
    # For damaged bytes fastavro may raise any exception.
    except Exception as error:
        raise DamagedDataError(
            f"{name} is not a whole snapshot: {type(error).__name__}: {error}"
        ) from error
    return _assemble(facts, entries, name)


def _check_version(facts: object, name: str) -> None:
    """Refuse the metadata of another version of the form."""
    found = facts.get("version") if isinstance(facts, dict) else None
    checks.known_form(f"the snapshot {name}", checks.whole(f"version of {name}", found), VERSION)


def snapshot_digest(data: bytes) -> str:
    """Return the SHA-256 of the bytes of a file, hex."""
    return hashlib.sha256(data).hexdigest()


def _characters_to_text(characters: CharacterModel | None) -> str:
    return base64.b64encode(characters.to_bytes()).decode() if characters else ""


def _records(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    offsets, topics, counts = (
        snapshot.offsets.tolist(),
        snapshot.topics.tolist(),
        snapshot.counts.tolist(),
    )
    for word, base, first, last in zip(
        snapshot.words, snapshot.prior.base.tolist(), offsets[:-1], offsets[1:], strict=True
    ):
        yield {
            "word": word,
            "base": base,
            "topics": topics[first:last],
            "counts": counts[first:last],
        }


class _Entries(NamedTuple):
    """The records of a file by column; ``lengths`` has the number of entries of each word."""

    words: list[str]
    base: FloatArray
    lengths: LongArray
    topics: IntArray
    counts: FloatArray


def _entries(records: Iterable[Any]) -> _Entries:
    """Read records column by column, because a record in Python takes many times its bytes."""
    words: list[str] = []
    base, lengths, topics, counts = array("d"), array("q"), array("i"), array("d")
    for record in records:
        if len(record["topics"]) != len(record["counts"]):
            raise ValueError(
                f"word number {len(words)} has {len(record['topics'])} topics and"
                f" {len(record['counts'])} counts"
            )
        words.append(record["word"])
        base.append(record["base"])
        lengths.append(len(record["topics"]))
        topics.extend(record["topics"])
        counts.extend(record["counts"])
    return _Entries(words, *(np.array(column) for column in (base, lengths, topics, counts)))


def _assemble(facts: dict[str, Any], entries: _Entries, name: str) -> Snapshot:
    """Check every field and return the snapshot.

    Raises:
        DamagedDataError: A field is wrong.
    """
    found = _Facts(**checks.record(_Facts, facts, name))
    alpha, strength = np.array(found.alpha, np.float64), np.array(found.strength, np.float64)
    offsets = np.zeros(len(entries.words) + 1, np.int64)
    np.cumsum(entries.lengths, out=offsets[1:])
    checks.whole(f"sequence of {name}", found.sequence)
    checks.equal(f"words of {name}", len(entries.words), found.words)
    checks.whole(f"topics of {name}", len(alpha), 1)
    checks.sized(f"strength of {name}", strength, len(alpha))
    for field, values in (("alpha", alpha), ("strength", strength)):
        checks.measures(f"{field} of {name}", values, _SMALLEST)
    checks.measures(f"base of {name}", entries.base, _SMALLEST_BASE, 1.0 + _ROUNDING)
    checks.number(f"unseen of {name}", found.unseen, 0.0, 1.0 + _ROUNDING)
    checks.measures(f"counts of {name}", entries.counts)
    checks.within(f"topics of {name}", entries.topics, 0, len(alpha))
    # The topics of a word ascend. The offset makes those of the next word larger.
    apart = np.repeat(np.arange(len(entries.words)) * len(alpha), entries.lengths) + entries.topics
    checks.ascending(f"topics of a word of {name}", apart, strictly=True)
    checks.whole(f"buckets of {name}", found.buckets, 0, len(entries.words) + 1)
    if any("\n" in word or not word for word in entries.words):
        raise DamagedDataError(f"{name} has a word that is empty or contains a newline")
    return Snapshot(
        key=found.key,
        sequence=found.sequence,
        event_time=found.event_time,
        fingerprint=found.fingerprint,
        alpha=alpha,
        prior=TopicWordPrior(
            strength, entries.base, found.unseen, _characters_from_text(found.characters, name)
        ),
        words=tuple(entries.words),
        offsets=offsets,
        topics=entries.topics,
        counts=entries.counts,
        tokeniser=TokeniserSettings.from_json(found.tokeniser, f"the tokeniser of {name}"),
        buckets=found.buckets,
    )


def _characters_from_text(text: str, name: str) -> CharacterModel | None:
    try:
        return CharacterModel.from_bytes(base64.b64decode(text, validate=True)) if text else None
    except ValueError as error:
        raise DamagedDataError(f"the character model of {name} is not base64: {error}") from error
