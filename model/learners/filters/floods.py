"""Filters that leave documents out, and floods of what they leave out.

Documents are counted in blocks of at least :data:`BLOCK`. A flood is reported, as an event, with
the first block of which at least :data:`FLOOD_SHARE` is left out.

The filter that keeps the first of several near copies of a document.

It compares each document of a minibatch with the last documents that were kept, or with
``--duplicates=drop`` with the last ones that came, by MinHash signatures of bounded size
(:mod:`beam_topics.model.learners.filters.kernels.signatures`), and leaves out those that are near
copies.

Documents of fewer than :data:`SMALLEST` distinct words are neither compared nor remembered,
because short texts are often equal by chance.

The filter that keeps at most a share of the documents from one source.

The sources of the last N documents that were kept are remembered, as hashes of 64 bits. A document
is kept if its source has fewer than ceil(share (n + 1)) of the n remembered ones, n <= N. So no
source ever has more than its share of the last N documents, rounded up. A document without a source
is always kept, and is one of the n.

If there are fewer sources than 1 / share, all of them reach the bound, and nothing more is learned
until others come. An event reports the flood.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.learners.base import LearnerSettings
from beam_topics.model.learners.filters.kernels.signatures import (
    ENTRIES,
    Memory,
    find_copies,
    hash_words,
    is_copy,
    new_memory,
    restore,
    saved,
    sign,
)
from beam_topics.model.learners.filters.settings import CopySettings, Drop
from beam_topics.model.publishing.events import DOCUMENT_IDS, FLOOD, Event
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.stored import checks, wire

BLOCK = 100
FLOOD_SHARE = 0.25

BoolArray = npt.NDArray[np.bool_]


@dataclass
class Flood:
    """What was left out of the block that is being counted.

    Attributes:
        came: documents of the block.
        left: those that were left out.
        ids: the first of these.
        told: whether the last complete block was of a flood.
    """

    came: int = 0
    left: int = 0
    ids: list[str] = field(default_factory=list)
    told: bool = False

    def count(self, minibatch: Minibatch, left_out: BoolArray, by: str) -> tuple[Event, ...]:
        """Count a minibatch, and return the event of a flood that begins."""
        self.came += len(minibatch)
        self.left += int(left_out.sum())
        self.ids += [minibatch.ids[d] for d in np.flatnonzero(left_out)[:DOCUMENT_IDS]]
        del self.ids[DOCUMENT_IDS:]
        if self.came < BLOCK:
            return ()
        share, begins = self.left / self.came, not self.told
        is_flood = share >= FLOOD_SHARE
        event = Event(FLOOD, self.left, by=by, figures={"share": share}, ids=list(self.ids))
        self.came, self.left, self.ids, self.told = 0, 0, [], is_flood
        return (event,) if is_flood and begins else ()

    @classmethod
    def from_json(cls, values: object) -> Flood:
        """Read a flood from its fields.

        Raises:
            DamagedDataError: a field is missing or impossible.
        """
        found = cls(**checks.record(cls, values, "a flood"))
        checks.whole("came of a flood", found.came)
        checks.whole("left of a flood", found.left, 0, found.came + 1)
        checks.whole("ids of a flood", len(found.ids), 0, DOCUMENT_IDS + 1)
        return found


class LeavingOut(ABC):
    """A filter that leaves documents out.

    Attributes:
        flood: what was left out of the block that is being counted.
        events: the flood that the last minibatch reported, if any.
    """

    counter: ClassVar[str]
    flood: Flood
    events: tuple[Event, ...] = ()

    @abstractmethod
    def left_out(self, minibatch: Minibatch) -> BoolArray:
        """Return whether each document is left out, bool[D], and remember the others."""

    def take(self, minibatch: Minibatch) -> Minibatch:
        left_out = self.left_out(minibatch)
        self.events = self.flood.count(minibatch, left_out, self.counter)
        return without(minibatch, left_out)

    def forget(self) -> None:
        self.flood.ids = []

    def published(self, snapshot: Snapshot) -> Snapshot:
        return snapshot


def without(minibatch: Minibatch, left_out: BoolArray) -> Minibatch:
    """Return the minibatch without some of its documents."""
    if not left_out.any():
        return minibatch
    return minibatch.take(np.flatnonzero(~left_out))


SMALLEST = 8
# Signatures of 256 bytes each.
REMEMBERED = 10_000
_COPIES_STATE = b"BTC2"


@dataclass
class NearCopies(LeavingOut):
    """The filter that leaves near copies out, with the signatures of what it compares with.

    Attributes:
        settings: what a near copy is.
        memory: the signatures.
    """

    counter: ClassVar[str] = "near_copies"

    settings: CopySettings
    memory: Memory
    flood: Flood = field(default_factory=Flood)

    @classmethod
    def new(cls, settings: LearnerSettings) -> Self:
        assert isinstance(settings.duplicates, CopySettings)
        return cls(settings.duplicates, new_memory(REMEMBERED))

    def left_out(self, minibatch: Minibatch) -> BoolArray:
        hashes = hash_words(minibatch.words.text, len(minibatch.words))
        tokens, offsets = minibatch.tokens.astype(np.int32), minibatch.offsets.astype(np.int64)
        bounds = pairwise(offsets.tolist())
        distinct = [len(np.unique(tokens[begin:end])) for begin, end in bounds]
        comparable = np.array(distinct, np.int64) >= SMALLEST
        least = int(np.ceil(self.settings.duplicate_similarity * ENTRIES))
        signatures = sign(hashes, tokens, offsets)
        if isinstance(self.settings, Drop):
            return _copies_of_all(self.memory, signatures, comparable, least)
        found: BoolArray = find_copies(self.memory, signatures, comparable, least)
        return found

    def forget(self) -> None:
        super().forget()
        self.memory = new_memory(REMEMBERED)

    def to_bytes(self) -> bytes:
        signatures = wire.array_to_bytes(saved(self.memory), "<u4")
        header = {"signatures": int(self.memory.seen[0]), "flood": asdict(self.flood)}
        return wire.pack(_COPIES_STATE, header, signatures)

    @classmethod
    def from_bytes(cls, settings: LearnerSettings, data: bytes) -> Self:
        header, (blob,) = wire.unpack(_COPIES_STATE, data, 1)
        found = cls.new(settings)
        count = checks.whole("signatures of a state", checks.field(header, "signatures"))
        signatures = wire.array_from_bytes(blob, "<u4")
        checks.sized("signatures of a state", signatures, min(count, REMEMBERED) * ENTRIES)
        restore(found.memory, signatures.reshape(-1, ENTRIES), count)
        found.flood = Flood.from_json(checks.field(header, "flood"))
        return found

    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.memory)


def _copies_of_all(memory: Memory, signatures: Any, comparable: BoolArray, least: int) -> BoolArray:
    """Return what :func:`find_copies` does, and remember copies, too."""
    copies = np.zeros(len(signatures), np.bool_)
    for d in np.flatnonzero(comparable).tolist():
        copies[d] = is_copy(memory, signatures[d], least)
        restore(memory, signatures[d : d + 1], int(memory.seen[0]) + 1)
    return copies


# A share is one of this many documents, those learned last.
SHARE_OF = 1_000
_SHARE_STATE = b"BTS2"
_NONE = 0


@dataclass
class Sources(LeavingOut):
    """The filter, with the sources of the last documents that were kept.

    Attributes:
        most: N.
        share: the largest share of one source.
        last: their hashes; 0 for none.
        counts: how often each hash is in ``last``.
    """

    counter: ClassVar[str] = "over_share"

    most: int
    share: float
    last: deque[int] = field(default_factory=deque)
    counts: Counter[int] = field(default_factory=Counter)
    flood: Flood = field(default_factory=Flood)

    @classmethod
    def new(cls, settings: LearnerSettings) -> Self:
        return cls(SHARE_OF, settings.max_source_share)

    def left_out(self, minibatch: Minibatch) -> BoolArray:
        hashes = [hash_of(source) for source in minibatch.sources or [None] * len(minibatch)]
        return np.array([not self.takes(source) for source in hashes], np.bool_)

    def takes(self, source: int) -> bool:
        """Return whether a document of a source is kept, and remember it if so."""
        bound = math.ceil(self.share * min(len(self.last) + 1, self.most))
        if source != _NONE and self.counts[source] >= bound:
            return False
        if len(self.last) == self.most:
            self._forget(self.last.popleft())
        self.last.append(source)
        self.counts[source] += 1
        return True

    def _forget(self, source: int) -> None:
        self.counts[source] -= 1
        if not self.counts[source]:
            del self.counts[source]

    def to_bytes(self) -> bytes:
        last = wire.array_to_bytes(np.array(self.last, np.uint64), "<u8")
        return wire.pack(_SHARE_STATE, {"flood": asdict(self.flood)}, last)

    @classmethod
    def from_bytes(cls, settings: LearnerSettings, data: bytes) -> Self:
        header, (blob,) = wire.unpack(_SHARE_STATE, data, 1)
        found, last = cls.new(settings), wire.array_from_bytes(blob, "<u8").tolist()
        checks.whole("sources of a state", len(last), 0, found.most + 1)
        found.last, found.counts = deque(last), Counter(last)
        found.flood = Flood.from_json(checks.field(header, "flood"))
        return found

    def nbytes(self) -> int:
        # An entry of a deque and its number, and an entry of a dictionary for each source.
        return 40 * len(self.last) + 100 * len(self.counts)


def hash_of(source: str | None) -> int:
    """Return 64 bits of a source's digest; 0 for none."""
    return _NONE if source is None else int.from_bytes(wire.digest(source.encode())[:8], "little")
