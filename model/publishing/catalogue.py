"""Catalogues: names that people give to topics, and topics that are hidden or merged.

    <root>/<key>/catalogue/<digest>.json    a catalogue; it names its parent
    <root>/<key>/catalogue/LATEST           the newest one

A catalogue is applied to a model and changes nothing in it. Its entries are keyed by the ids of
topics, which are never reused (:mod:`beam_topics.model.publishing.succession`), so it holds for all
versions of a model key, and a topic that takes the place of one that died has no entry.

Files are named by their content and never changed. A rollback writes an earlier catalogue again,
as the newest one.

>>> here = Catalogue().with_entries([3], name="Health").merged([3, 4], into=5)
>>> here.merged([5], into=1).roots(range(6))
[0, 1, 2, 1, 1, 1]

:func:`curves` says how much each topic got over event time. A version's manifest has the tokens
that each topic got since its parent. They are counted as they come, so a sum over versions is what
came in that time. The difference of the totals of two versions is not: learners draw the topics of
past tokens again, and another chain or a change of the stream moves whole topics.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.errors import DamagedDataError, OptionError, StoreConflictError
from beam_topics.model.publishing.blobs import create_named, path_in, read_verified
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.signatures import Signatures
from beam_topics.model.stored import checks
from beam_topics.model.stored.wire import seal, unseal

MOST_NAME = 200
_MOST_DIGITS = 12
_NUMBER = re.compile("0|[1-9][0-9]*")
# The share of the times at each end that decides nothing, and the distance of an outlier from the
# others, as a multiple of their span; of fewer times none is one.
_TRIMMED, _FAR, _LEAST_TIMES = 0.025, 3, 8


@dataclass(frozen=True)
class Entry:
    """What a catalogue says of a topic.

    Attributes:
        name: Its name; "" leaves the name that follows from its words.
        automatic: Whether the name follows from documents or from a namer, so that a new one may
            take its place. A name that a person gave stays.
        hidden: Whether it is left out of lists.
        merged: The topic that it is shown as a part of; None if it is shown itself.
    """

    name: str = ""
    hidden: bool = False
    merged: int | None = None
    automatic: bool = False


@dataclass(frozen=True)
class Catalogue:
    """Entries by the ids of topics. Topics without an entry are shown as they are.

    Attributes:
        parent: The digest of the catalogue before, None for the first.
        entries: The entries. ``merged`` of an entry names a topic that is not merged itself.
    """

    parent: str | None = None
    entries: dict[int, Entry] = field(default_factory=dict)

    def of(self, topic: int) -> Entry:
        """Return the entry of a topic."""
        return self.entries.get(topic, Entry())

    def names(self) -> dict[int, str]:
        """Return the names that people gave, by topic."""
        return {topic: entry.name for topic, entry in self.entries.items() if entry.name}

    def called(self, wanted: Collection[str]) -> set[int]:
        """Return the topics of some ids and names, with those that are merged into them."""
        found = {int(one) for one in wanted if _NUMBER.fullmatch(one)}
        for topic, entry in self.entries.items():
            whole = topic if entry.merged is None else entry.merged
            if str(whole) in wanted or self.of(whole).name in wanted:
                found.add(topic)
        return found

    def with_entries(self, topics: Iterable[int], **fields: Any) -> Catalogue:
        """Return a catalogue in which some fields of some topics have other values.

        Raises:
            OptionError: A name is too long.
        """
        if len(name := fields.get("name", "")) > MOST_NAME:
            allowed = f"a text of at most {MOST_NAME} characters"
            length = f"a text of {len(name)} characters"
            raise OptionError("--topic_name", length, allowed, "Shorten it.")
        changed = {topic: replace(self.of(topic), **fields) for topic in topics}
        return replace(self, entries=self.entries | changed)

    def with_automatic(self, names: Mapping[int, str]) -> Catalogue:
        """Return a catalogue in which topics have these names, unless people named them."""
        found = self
        for topic, name in sorted(names.items()):
            entry = self.of(topic)
            if entry.automatic or not entry.name:
                found = found.with_entries([topic], name=name[:MOST_NAME], automatic=True)
        return found

    def merged(self, topics: Iterable[int], into: int) -> Catalogue:
        """Return a catalogue in which topics are parts of another, with all parts of their own.

        A topic that is merged into itself is taken apart from the one that it was a part of.
        """
        moved = set(topics)
        apart = self.with_entries(moved & {into}, merged=None)
        merged = apart.of(into).merged
        root = into if merged is None else merged
        parts = {z for z, entry in self.entries.items() if entry.merged in moved - {into}}
        return apart.with_entries((moved | parts) - {root}, merged=root)

    def changed(
        self,
        topics: Sequence[int],
        name: str | None = None,
        hidden: bool | None = None,
        into: int | None = None,
    ) -> Catalogue:
        """Return a catalogue in which topics have what is given: a name, whether hidden, a root.

        A name that is given is a person's.

        Raises:
            OptionError: The name is too long.
        """
        given = {"name": name, "hidden": hidden, "automatic": None if name is None else False}
        fields = {field: value for field, value in given.items() if value is not None}
        found = self.with_entries(topics, **fields)
        return found if into is None else found.merged(topics, into)

    def roots(self, topics: Sequence[int]) -> list[int]:
        """Return for each topic the topic that it is shown as.

        Args:
            topics: The ids of a version's topics. A topic that is part of another one, which the
                version does not have, is shown as itself.
        """
        there, found = set(topics), [(z, self.of(z).merged) for z in topics]
        return [z if into is None or into not in there else into for z, into in found]

    def to_bytes(self) -> bytes:
        """Return one sealed line."""
        entries = {str(z): asdict(one) for z, one in self.entries.items() if one != Entry()}
        return seal({"parent": self.parent, "entries": entries})

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "a catalogue") -> Catalogue:
        """Read what :meth:`to_bytes` returned.

        Raises:
            DamagedDataError: The bytes are damaged.
        """
        values = unseal(data, name)
        parent, entries = checks.field(values, "parent"), checks.field(values, "entries")
        if parent is not None:
            checks.hexadecimal(f"field parent of {name}", parent)
        if not isinstance(entries, dict):
            checks.refuse(f"field entries of {name}", type(entries).__name__, "an object")
        found = {}
        for topic, entry in entries.items():
            where = f"topic {topic!r:.20} of {name}"
            short = _NUMBER.fullmatch(topic) and len(topic) <= _MOST_DIGITS
            number = checks.whole(where, int(topic) if short else topic)
            found[number] = Entry(**checks.record(Entry, entry, where, ignore_unknown=True))
        return cls(parent, found)._checked(name)

    def _checked(self, name: str) -> Catalogue:
        for topic, entry in self.entries.items():
            where = f"field merged of topic {topic} of {name}"
            if entry.merged is not None:
                checks.whole(where, entry.merged)
                if entry.merged == topic or self.of(entry.merged).merged is not None:
                    checks.refuse(where, entry.merged, "another topic, which is not merged itself")
        return self


class CatalogueStore:
    """The catalogues under the root of a model store."""

    def __init__(self, root: str, signatures: Signatures | None = None) -> None:
        self.root = root
        self._blobs = blobs_at(root)
        self._signatures = signatures or Signatures(self._blobs, "", "")

    def latest(self, key: str) -> tuple[str | None, Catalogue]:
        """Return the digest of the newest catalogue, and the catalogue; an empty one if none."""
        pointer = self._pointer(key)
        if pointer is None:
            return None, Catalogue()
        name = self._blobs.where(path_in(key, "catalogue/LATEST"))
        digest = checks.hexadecimal(f"field digest of {name}", unseal(pointer, name).get("digest"))
        return digest, self.get(key, digest)

    def get(self, key: str, digest: str) -> Catalogue:
        """Return the catalogue with this digest.

        Raises:
            DamagedDataError: It is missing, or does not have the content that was written.
        """
        checks.hexadecimal("the digest of a catalogue", digest)
        path = path_in(key, f"catalogue/{digest}.json")
        data = read_verified(self._blobs, path, digest)
        return Catalogue.from_bytes(data, self._blobs.where(path))

    def history(self, key: str) -> list[str]:
        """Return the digests of all catalogues, the newest first."""
        digest, catalogue = self.latest(key)
        found: list[str] = []
        while digest is not None:
            if digest in found:
                raise DamagedDataError(f"catalogue {digest} of key {key!r} follows itself")
            found.append(digest)
            digest = catalogue.parent
            if digest is not None:
                catalogue = self.get(key, digest)
        return found

    def put(self, key: str, catalogue: Catalogue) -> str:
        """Write a catalogue as the newest one and return its digest, hex.

        Raises:
            StoreConflictError: Another catalogue was written meanwhile.
            OptionError: The store is signed, and the catalogue would not be.
        """
        self._signatures.check_signs(key)
        pointer = self._pointer(key)
        parent, _ = self.latest(key)
        data = replace(catalogue, parent=parent).to_bytes()
        digest = hashlib.sha256(data).hexdigest()
        create_named(self._blobs, path_in(key, f"catalogue/{digest}.json"), data)
        target = seal({"digest": digest})
        if not self._signatures.move(path_in(key, "catalogue/LATEST"), pointer, target):
            raise StoreConflictError(
                f"the catalogue of key {key!r} in {self.root} was changed meanwhile. Run again."
            )
        return digest

    def _pointer(self, key: str) -> bytes | None:
        return self._signatures.pointer(path_in(key, "catalogue/LATEST"))


def name_topics(store: CatalogueStore, key: str, names: Sequence[str]) -> None:
    """Name the first topics of a model that has no catalogue yet."""
    if store.latest(key)[0] is not None:
        return
    catalogue = Catalogue(entries={z: Entry(name[:MOST_NAME]) for z, name in enumerate(names)})
    # If this conflicts, somebody has just made a catalogue, which stays.
    with suppress(StoreConflictError):
        store.put(key, catalogue)


@dataclass(frozen=True)
class Curves:
    """The share of each topic in the tokens that came, in equal periods of event time.

    Attributes:
        first: the time of the latest document of the first version, in microseconds.
        last: that of the last one.
        shares: float64[periods, T]; NaN in periods without a version that says what came.
    """

    first: int
    last: int
    shares: FloatArray

    def times(self) -> list[int]:
        """Return the middle of each period, in microseconds."""
        count, span = len(self.shares), self.last - self.first
        return [self.first + span * (2 * n + 1) // (2 * count) for n in range(count)]


class Came(NamedTuple):
    """The tokens that came to each topic, float64[T], and to topics that died later."""

    tokens: FloatArray
    elsewhere: float


def came_to(manifest: Manifest, ids: Sequence[int]) -> Came | None:
    """Return what came with a version to the topics of a later one; None if it is not known."""
    if manifest.topic_tokens is None:
        return None
    name = f"field topic_tokens of version {manifest.version}"
    checks.sized(name, manifest.topic_tokens, len(ids))
    tokens = np.array(manifest.topic_tokens, np.float64)
    same = np.array(manifest.ids(len(ids))) == np.array(ids)
    return Came(np.where(same, tokens, 0.0), float(tokens[~same].sum()))


def mass_of(times: Sequence[int]) -> tuple[int, int]:
    """Return the first and the last time of those that are not far from all others.

    >>> mass_of([*range(10, 20), 9000]), mass_of([1, 2, 9000])
    ((10, 19), (1, 9000))
    """
    ordered = sorted(times)
    trimmed = max(1, round(_TRIMMED * len(ordered))) if len(ordered) >= _LEAST_TIMES else 0
    low, high = ordered[trimmed], ordered[-1 - trimmed]
    far = _FAR * (high - low)
    near = [one for one in ordered if not trimmed or low - far <= one <= high + far]
    return near[0], near[-1]


def curves(history: Sequence[Manifest], topics: int, most: int) -> Curves:
    """Return what came to each topic of the last version over event time.

    Args:
        history: one version or more, from the first to the last.
        topics: T.
        most: the largest number of periods. There are no more than versions. A time that is far
            from all others lengthens none of them.

    Raises:
        DamagedDataError: a version has another number of topics.
    """
    first, last = mass_of([manifest.until for manifest in history])
    periods = min(most, len(history))
    came = np.zeros((periods, topics))
    totals = np.zeros((periods, 1))
    for manifest in history:
        if arrived := came_to(manifest, history[-1].ids(topics)):
            at = (manifest.until - first) * periods // max(1, last - first)
            place = min(max(0, at), periods - 1)
            came[place] += arrived.tokens
            totals[place] += arrived.tokens.sum() + arrived.elsewhere
    shares = np.divide(came, totals, out=np.full_like(came, np.nan), where=totals > 0)
    return Curves(first, last, shares)
