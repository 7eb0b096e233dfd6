"""Which documents a model store has learned, so that a growing file is learned once.

A document is known by its id and the window of its time, as ids are unique in a window. Where ids
are places (``--id_from=place``), which other files reuse, it is known by its time and words. Each
checkpoint of island 0 has a segment next to it: the hashes of the documents since the checkpoint
before it, and the digest of that one. Where documents come from a log, the segment also has their
offsets and the windows in which they were learned. :func:`known_up_to` follows these digests, so
documents that a rollback discarded are not known.

>>> first = Segment("", np.array([7, 9], np.uint64))
>>> Segment.from_bytes(first.to_bytes()).hashes.tolist()
[7, 9]
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beam_topics.model.arrays import LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.cuts import Cuts, Hashes
from beam_topics.model.documents.minibatch import Ranges, joined, offsets_in
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.stored import checks, wire

# The time, the id and the words of a document.
Facts = tuple[int, str, Iterable[str]]
# The end of a window, how many of the documents that follow each other were learned in it, and the
# end of the newest window that had documents then.
Windows = list[list[int]]
# The newest documents that are known; eight bytes each are held in memory.
MOST_KNOWN = 1 << 24
_HASH_BYTES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The documents between two checkpoints.

    Attributes:
        before: The digest of the checkpoint before, "" for none.
        hashes: uint64, the hash of each document; 0 for those that were erased.
        offsets: Which offsets of logs were learned up to the checkpoint, or are in the dead
            letters; empty where this is not known.
        windows: The windows of the documents, in their order; empty without offsets.
    """

    before: str
    hashes: Hashes
    offsets: Ranges = field(default_factory=dict)
    windows: Windows = field(default_factory=list)

    MAGIC = b"BTK1"

    def to_bytes(self) -> bytes:
        hashes = wire.array_to_bytes(self.hashes, "<u8")
        header: dict[str, Any] = {"before": self.before}
        header |= {"offsets": self.offsets} if self.offsets else {}
        header |= {"windows": self.windows} if self.windows else {}
        seal = _seal(self.before, hashes, self.offsets, self.windows)
        return wire.pack(self.MAGIC, header, hashes, seal)

    @classmethod
    def from_bytes(cls, data: bytes) -> Segment:
        """Read the bytes that :meth:`to_bytes` wrote.

        Raises:
            DamagedDataError: The bytes are something else.
        """
        header, (hashes, seal) = wire.unpack(cls.MAGIC, data, 2)
        facts = checks.record(cls, header, "known documents", apart=("hashes",))
        if facts["before"]:
            checks.hexadecimal("field before of known documents", facts["before"])
        of_log = offsets_in(header, "known documents"), facts.get("windows", [])
        if seal != _seal(facts["before"], hashes, *of_log):
            raise DamagedDataError("known documents do not have the content they were written with")
        found = cls(hashes=wire.array_from_bytes(hashes, "<u8"), **facts)
        found._check_windows()
        return found

    def _check_windows(self) -> None:
        if any(
            len(one) != 3 or one[1] < 1 or max(map(abs, one)) > checks.LARGEST
            for one in self.windows
        ):
            allowed = "ends, numbers above 0, and ends"
            checks.refuse("windows of known documents", repr(self.windows[:3]), allowed)
        counted = sum(count for _, count, _ in self.windows)
        if self.windows and counted != len(self.hashes):
            checks.refuse("windows of known documents", counted, f"{len(self.hashes)} documents")

    @property
    def ends(self) -> LongArray:
        """int64, the end of the window of each document; empty where they are not recorded."""
        ends, counts, _ = np.array(self.windows, np.int64).reshape(-1, 3).T
        return np.repeat(ends, counts)


def _seal(before: str, hashes: bytes, offsets: Ranges, windows: Windows) -> bytes:
    more = [wire.canonical_json(found).encode() for found in (offsets, windows) if found]
    return wire.digest(before.encode(), hashes, *more)


def windows_of(minibatches: Iterable[tuple[int, int, int]]) -> Windows:
    """Return the windows of minibatches that follow each other, several of one window together.

    Args:
        minibatches: The end of each one's window, the number of its documents, and the reach of its
            link.
    """
    found: Windows = []
    for end, documents, reach in minibatches:
        if not found or found[-1][0] != end:
            found.append([end, 0, reach])
        found[-1][1:] = found[-1][1] + documents, max(found[-1][2], reach)
    return found


def facts_in(blocks: Iterable[Block]) -> Iterator[Facts]:
    """Yield the facts by which each document of blocks may be known."""
    for block in blocks:
        for row, time in enumerate(block.timestamps.tolist()):
            yield time, block.ids[row], block.words_of(row)


def hashes_of(facts: Iterable[Facts], id_from: str, windows: SequenceSettings) -> Hashes:
    """Return the hashes by which documents are known, uint64.

    Args:
        facts: The time, the id and the words of each document.
        id_from: ``field``, or ``place`` where ids are the places of records.
        windows: The settings of windows.
    """
    if id_from == "field":
        return hashes_in((windows.window_number(time), name) for time, name, _ in facts)
    return hashes_in((time, "\n".join(words)) for time, _, words in facts)


def hashes_in(pairs: Iterable[tuple[int, str]]) -> Hashes:
    """Return the hashes of windows and ids by which documents are known, uint64."""
    found = b"".join(
        hashlib.blake2b(f"{when} {what}".encode(), digest_size=_HASH_BYTES).digest()
        for when, what in pairs
    )
    return np.frombuffer(found, "<u8").astype(np.uint64)


def known_up_to(store: ModelStore, key: str, digest: str) -> Hashes:
    """Return the hashes of the documents that were learned up to a checkpoint, at most.

    Args:
        store: The model store.
        key: The model key.
        digest: The digest of the checkpoint of island 0.

    Raises:
        DamagedDataError: A segment is damaged.
    """
    parts, count = [np.zeros(0, np.uint64)], 0
    for segment in segments_up_to(store, key, digest):
        parts.append(segment.hashes)
        count += len(segment.hashes)
        if count >= MOST_KNOWN:
            break
    return np.concatenate(parts)


def segments_up_to(store: ModelStore, key: str, digest: str) -> Iterator[Segment]:
    """Yield what was learned up to a checkpoint of island 0, the newest first, as far as is known.

    Raises:
        DamagedDataError: A segment is damaged.
    """
    while digest and (data := store.get_known(key, digest)) is not None:
        segment = Segment.from_bytes(data)
        yield segment
        digest = segment.before


def offsets_after(
    store: ModelStore, key: str, before: str, learned: Sequence[Ranges] | None
) -> Ranges:
    """Return which offsets of logs were learned up to a new checkpoint; none if not all are known.

    They are known where they were from the first checkpoint on.

    Args:
        store: The model store.
        key: The model key.
        before: The digest of the checkpoint before, "" for none.
        learned: The offsets of each minibatch since then, as far as it came from a log; None if
            they are not known.
    """
    earlier = offsets_up_to(store, key, before)
    if learned is None or not (earlier if before else all(learned)):
        return {}
    return joined(earlier, *learned)


def offsets_up_to(store: ModelStore, key: str, digest: str) -> Ranges:
    """Return which offsets of logs were learned up to a checkpoint of island 0; none if unknown.

    Raises:
        DamagedDataError: What is known is damaged.
    """
    data = store.get_known(key, digest) if digest else None
    return Segment.from_bytes(data).offsets if data is not None else {}


def cuts_after(options: LearnOptions, key: str, sequence: int, closed: int | None) -> Cuts | None:
    """Return the windows of the versions after a minibatch, which a restored job repeats.

    Args:
        options: The options of the run.
        key: The model key.
        sequence: The number of the last minibatch of the state to which the runner restored it.
        closed: The end of the last window that was closed there; None before the first.

    Returns:
        The windows that were not closed; None if there are no such versions, or no record of all
        that was learned for them.

    Raises:
        DamagedDataError: What is known is damaged.
    """
    windows, segments = options.sequence, segments_after(options.opened(), key, sequence)
    if not segments or not all(segment.windows for segment in segments):
        return None
    hashes = np.concatenate([segment.hashes for segment in segments])
    ends = np.concatenate([segment.ends for segment in segments])
    after = windows.window_end(int(ends.max()))
    reaches = (reach for segment in segments for _, _, reach in segment.windows)
    # An erased document does not come again.
    is_open = hashes > 0 if closed is None else (hashes > 0) & (ends > closed)
    hashes, ends = hashes[is_open], ends[is_open]
    order = np.lexsort((ends, hashes))
    if not len(order):
        return None
    return Cuts(
        hashes[order],
        ends[order],
        after,
        max(after, *reaches),
        lambda block: hashes_of(facts_in([block]), options.id_from, windows),
    )


def segments_after(store: ModelStore, key: str, sequence: int) -> list[Segment]:
    """Return what was learned from a minibatch on, or from one before it, to the newest version.

    Returns:
        The segments, the newest first; none without such a version, or where one is missing.

    Raises:
        DamagedDataError: A segment is damaged.
    """
    newest, found = store.latest(key), list[Segment]()
    if newest is None or newest.sequence <= sequence:
        return found
    entries = {one.digest: one for one in store.checkpoints(key) if not one.island}
    digest = next((name for name, one in entries.items() if one.chain == newest.chain), "")
    for segment in segments_up_to(store, key, digest):
        found.append(segment)
        before = entries.get(segment.before)
        if not segment.before or (before and before.sequence <= sequence):
            return found
        if before is None:
            break
    return []
