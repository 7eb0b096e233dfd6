"""A snapshot as a file of columns, ``<root>/<key>/snapshots/<digest>``.

A candidate is written once. A version refers to the file of its candidate, and its manifest has the
permutation that gives the topics their published ids (``topic_order``, :class:`ModelFile`). So a
version has one file, whichever topics it took over from its parent.

The file is a binary record (:mod:`beam_topics.model.stored.wire`), ``BTz4``. Its header has the
plain fields. Its blobs are packed columns (:mod:`beam_topics.model.stored.wire`): the words, the
base of each word, the number of entries of each word, the topics and counts of the entries, alpha,
the strengths of the topics, and the character model. The topics of a word ascend, and each is
stored as the difference from the one before it.

The digest that names a file covers the header and the contents of the columns, and not the packed
bytes, which depend on the version of a library. So equal snapshots have equal names on every
machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.publishing.succession import reorder
from beam_topics.model.stored import checks, wire
from beam_topics.model.stored.wire import Array, Column, Content, pack_columns, unpack_columns
from beam_topics.model.words.character_model import StoredCharacters
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.word_list import WordList

MAGIC = b"BTz4"
# The digest covers this name of the contents, which are the same in every packing.
_CONTENTS = MAGIC[:3] + b"3"
# Kernels divide by sums and by products of these values. A shared distribution may give a word less
# than the 2^-500 that any string has.
_SMALLEST, _SMALLEST_BASE = 2.0**-500, 2.0**-600
_ROUNDING = 1e-6
_COLUMNS = 8


@dataclass(frozen=True)
class Facts:
    """The header of a snapshot.

    Attributes:
        text: The bytes of the words.
        words: The number of words.
        entries: The number of counts.
        topics: The number of topics.
        characters: The bytes of the character model.
        joins_phrases: Whether phrases are joined; a header without the field does not.
    """

    key: str
    sequence: int
    event_time: int
    fingerprint: str
    unseen: float
    text: int
    words: int
    entries: int
    topics: int
    characters: int
    buckets: int
    tokeniser: dict[str, Any]
    joins_phrases: bool = False

    def lengths(self) -> tuple[int, ...]:
        """Return the number of values of each column."""
        words, entries = self.words, self.entries
        sizes = (self.text, words, words, entries, entries, self.topics, self.topics)
        return (*sizes, self.characters)


class SnapshotFile(NamedTuple):
    """The bytes of a snapshot's file, and the SHA-256 of its contents, hex, which names it."""

    digest: str
    data: bytes


def snapshot_to_file(snapshot: Snapshot) -> SnapshotFile:
    """Return the file of a snapshot."""
    characters, words = snapshot.prior.characters, snapshot.words
    text = WordList.of(words).text.tobytes()
    spelling = characters.to_bytes() if characters else b""
    header = {
        "key": snapshot.key,
        "sequence": snapshot.sequence,
        "event_time": snapshot.event_time,
        "fingerprint": snapshot.fingerprint,
        "unseen": snapshot.prior.unseen,
        "text": len(text),
        "words": len(snapshot.words),
        "entries": len(snapshot.counts),
        "topics": snapshot.topic_count,
        "characters": len(spelling),
        "buckets": snapshot.buckets,
        "tokeniser": snapshot.tokeniser.to_json(),
        **({"joins_phrases": True} if snapshot.joins_phrases else {}),
    }
    columns = (
        Column.of_bytes(text),
        Column.of(snapshot.prior.base),
        Column.of(np.diff(snapshot.offsets)),
        Column.of(_steps(snapshot.topics, snapshot.offsets)),
        Column.of(snapshot.counts, repeats=True),
        Column.of(snapshot.alpha),
        Column.of(snapshot.prior.strength),
        Column.of_bytes(spelling),
    )
    digest = _digest(header, [column.content for column in columns])
    return SnapshotFile(digest, wire.pack(MAGIC, header, *pack_columns(columns)))


def snapshot_from_bytes(data: bytes, name: str = "the snapshot", digest: str = "") -> Snapshot:
    """Read the bytes of the file of a snapshot.

    Args:
        data: The bytes of the file.
        name: The name of the file, for messages.
        digest: The digest that the contents must have, hex; "" for any.

    Raises:
        DamagedDataError: The bytes are not a snapshot of the form that this release reads, or do
            not have the digest.
    """
    header, packed = wire.unpack(MAGIC, data, _COLUMNS)
    facts = Facts(**checks.record(Facts, header, name))
    for field in ("text", "words", "entries", "characters"):
        checks.whole(f"{field} of {name}", getattr(facts, field))
    checks.whole(f"topics of {name}", facts.topics, 1)
    contents = unpack_columns(name, packed, facts.lengths())
    if digest and _digest(header, contents) != digest:
        raise DamagedDataError(
            f"{name} is damaged: its {len(data)} bytes do not have the digest {digest}; restore it"
            " from a copy"
        )
    return _assemble(facts, contents, name)


def has_digest(data: bytes, digest: str) -> bool:
    """Return whether bytes are the file of a snapshot with this digest."""
    with suppress(DamagedDataError):
        return bool(snapshot_from_bytes(data, digest=digest))
    return False


def _digest(header: dict[str, Any], contents: Sequence[Content]) -> str:
    parts = [(_CONTENTS,), (wire.canonical_json(header).encode(),)]
    return wire.digest_of_pieces([*parts, *(content.pieces for content in contents)]).hex()


def _steps(topics: IntArray, offsets: LongArray) -> IntArray:
    """Return the first topic of each word, and for the others the difference from the one before.

    The topics of a word ascend, so there is no negative one.
    """
    steps = np.diff(topics, prepend=topics[:1])
    first = offsets[:-1][np.diff(offsets) > 0]
    steps[first] = topics[first]
    return steps


def _topics(steps: Array, first: LongArray) -> Array:
    """Return the topics of which :func:`_steps` made steps, in the narrowest type for the sums."""
    narrow = len(steps) * int(steps.max(initial=0)) < 2**31
    found: Array = steps.astype(np.int32 if narrow else np.int64)
    if len(first):
        # The first topic of a word becomes its difference from the last one of the word before.
        found[first[1:]] -= np.add.reduceat(found, first)[:-1]
    return np.cumsum(found, out=found)


def _assemble(facts: Facts, contents: Sequence[Content], name: str) -> Snapshot:
    """Check every field and return the snapshot."""
    text, spelling = contents[0].body, contents[-1].body
    base, lengths, steps, counts, alpha, strength = (one.values for one in contents[1:-1])
    words = WordList.from_bytes(text)
    checks.equal(f"words of {name}", len(words), facts.words)
    checks.whole(f"sequence of {name}", facts.sequence)
    for field, values in (("alpha", alpha), ("strength", strength)):
        checks.measures(f"{field} of {name}", values, _SMALLEST)
    checks.measures(f"base of {name}", base, _SMALLEST_BASE, 1.0 + _ROUNDING)
    checks.number(f"unseen of {name}", facts.unseen, 0.0, 1.0 + _ROUNDING)
    checks.measures(f"counts of {name}", counts)
    checks.whole(f"buckets of {name}", facts.buckets, 0, facts.words + 1)
    offsets = np.zeros(facts.words + 1, np.int64)
    np.cumsum(_whole(lengths, f"entries of the words of {name}"), out=offsets[1:])
    checks.equal(f"entries of the words of {name}", int(offsets[-1]), facts.entries)
    # The first entries of the words that have some.
    first = offsets[:-1][lengths > 0]
    topics = _topics(_whole(steps, f"topics of {name}"), first)
    checks.within(f"topics of {name}", topics, 0, facts.topics)
    # A later step of a word that is 0: its topics do not ascend.
    if np.count_nonzero(steps == 0) > np.count_nonzero(steps[first] == 0):
        owners = np.repeat(np.arange(facts.words), np.diff(offsets))
        apart = owners * facts.topics + topics
        checks.ascending(f"topics of a word of {name}", apart, strictly=True)
    return Snapshot(
        key=facts.key,
        sequence=facts.sequence,
        event_time=facts.event_time,
        fingerprint=facts.fingerprint,
        alpha=alpha.astype(np.float64),
        prior=TopicWordPrior(
            strength.astype(np.float64),
            base.astype(np.float64),
            facts.unseen,
            StoredCharacters(spelling, name) if spelling else None,
        ),
        words=words,
        offsets=offsets,
        topics=topics.astype(np.int32, copy=False),
        counts=counts.astype(np.float64),
        tokeniser=TokeniserSettings.from_json(facts.tokeniser, f"the tokeniser of {name}"),
        buckets=facts.buckets,
        joins_phrases=facts.joins_phrases,
    )


def _whole(values: Array, name: str) -> Array:
    """Refuse a column of floats where whole numbers are wanted."""
    if values.dtype.kind == "f":
        checks.refuse(name, "floats", "whole numbers")
    return values


class ModelFile(NamedTuple):
    """What a reader of a model needs of its manifest.

    Attributes:
        snapshot: The digest of the snapshot, hex.
        topic_order: The topics of the snapshot in the order of the published ids; empty where they
            have these ids already.
        topic_ids: The id of the topic in each place; empty where it is the number of the place.
    """

    snapshot: str
    topic_order: tuple[int, ...] = ()
    topic_ids: tuple[int, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> ModelFile:
        """Return that of a version."""
        return cls(manifest.snapshot, tuple(manifest.topic_order), tuple(manifest.topic_ids))

    def published(self, snapshot: Snapshot, version: str) -> Snapshot:
        """Return the model of a candidate with the topic ids of its version.

        Raises:
            DamagedDataError: The manifest orders or names another number of topics.
        """
        for name in ("topic_order", "topic_ids"):
            if found := getattr(self, name):
                checks.sized(f"field {name} of version {version}", found, snapshot.topic_count)
        return reorder(snapshot, self.topic_order) if self.topic_order else snapshot


class ChosenModel(NamedTuple):
    """What is kept of a manifest. A whole one is larger, and there may be thousands."""

    key: str
    version: str
    file: ModelFile
    tokeniser: TokeniserSettings

    @classmethod
    def of(cls, manifest: Manifest) -> ChosenModel:
        """Return what is kept of a manifest."""
        return cls(manifest.key, manifest.version, ModelFile.of(manifest), manifest.tokeniser)
