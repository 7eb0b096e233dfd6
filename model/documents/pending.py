"""A buffer of entries that wait for a time, over an append-only bag that is rarely read.

In the bag state of a runner, adding is cheap, reading costs the whole bag, and only the whole bag
can be removed. A step that read its bag at each timer would take quadratic time. So the bag and a
small :class:`PendingHead` are authoritative, and a :class:`Mirror` in memory holds the same entries
by due time. A mirror may be wrong: a failed bundle undoes its writes to the bag, but not those to
memory. A mirror is therefore used only if its (count, mark, done) are those of the head. The mark
is the sum of a 128-bit hash of every entry. It does not depend on the order of entries, and two
mirrors of equal counts but other entries have other marks.

An entry has one or more due times, and is spent when its last one is at or before ``head.done``.
Its bytes are ``number of due times (4 bytes) | due times (8 bytes each) | payload``, with
little-endian, signed numbers:

>>> bag, mirror, head = ListBag(), Mirror(), PendingHead()
>>> head = add(head, mirror, bag, [20], b"b")
>>> head = add(head, mirror, bag, [10, 20], b"a")
>>> head.due
10
>>> mirror.at(10)
[b'a']
>>> head = spend(head, mirror, bag, 10)
>>> head.due, head.live, matched(head, Mirror(), bag).at(20)
(20, 2, [b'b', b'a'])
"""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks

_COUNT = struct.Struct("<i")
_HEAD = struct.Struct("<qqBqqq")
_MARK_BYTES = 16
PENDING_BYTES = _HEAD.size + _MARK_BYTES
_MARKS = 1 << (8 * _MARK_BYTES)


class Bag(Protocol):
    """The operations of a runner's bag state; ``read`` returns the elements in any order."""

    def read(self) -> Iterable[bytes]: ...

    def add(self, value: bytes) -> None: ...

    def clear(self) -> None: ...


class ListBag:
    """A bag in memory, for use without a runner."""

    def __init__(self, elements: Iterable[bytes] = ()) -> None:
        self.elements = list(elements)

    def read(self) -> list[bytes]:
        return list(self.elements)

    def add(self, value: bytes) -> None:
        self.elements.append(bytes(value))

    def clear(self) -> None:
        self.elements = []


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """What waits in a buffer; two entries of equal bytes are two.

    Attributes:
        dues: Its due times, ascending.
        payload: What waits.
        mark: The hash of its bytes, below 2^128.
    """

    dues: tuple[int, ...]
    payload: bytes
    mark: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        state = hashlib.blake2b(self._due_bytes(), digest_size=_MARK_BYTES)
        state.update(self.payload)
        object.__setattr__(self, "mark", int.from_bytes(state.digest(), "little"))

    def _due_bytes(self) -> bytes:
        return struct.pack(f"<i{len(self.dues)}q", len(self.dues), *self.dues)

    def to_bytes(self) -> bytes:
        return self._due_bytes() + self.payload

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        (count,) = _COUNT.unpack_from(data) if len(data) >= _COUNT.size else (0,)
        end = _COUNT.size + 8 * count
        if count < 1 or len(data) < end:
            checks.refuse("due times of a waiting entry", count, "one or more, of 8 bytes each")
        return cls(struct.unpack_from(f"<{count}q", data, _COUNT.size), data[end:])


@dataclass(frozen=True, slots=True)
class PendingHead:
    """What the bag must contain.

    Attributes:
        live: The number of entries that wait.
        mark: The sum of their hashes.
        stored: The number of elements in the bag, spent ones included.
        due: The earliest due time; None if nothing waits.
        done: Due times up to this one are over.
        size: The bytes of the payloads that wait.
    """

    live: int = 0
    mark: int = 0
    stored: int = 0
    due: int | None = None
    done: int | None = None
    size: int = 0

    def to_bytes(self) -> bytes:
        """Return the head as bytes of a fixed length: it is written for every entry."""
        has = (self.due is not None) + 2 * (self.done is not None)
        numbers = _HEAD.pack(self.live, self.stored, has, self.due or 0, self.done or 0, self.size)
        return numbers + self.mark.to_bytes(_MARK_BYTES, "little")

    @classmethod
    def from_bytes(cls, data: bytes) -> PendingHead:
        """Read the bytes that :meth:`to_bytes` wrote.

        Raises:
            DamagedDataError: The bytes are not a head.
        """
        checks.sized("bytes of a buffer's head", data, PENDING_BYTES)
        live, stored, has, due, done, size = _HEAD.unpack_from(data)
        for name, count in (("waiting", live), ("stored", stored), ("bytes", size)):
            checks.whole(f"{name} of a buffer's head", count)
        checks.whole("marks of a buffer's head", has, 0, 4)
        mark = int.from_bytes(data[_HEAD.size :], "little")
        return cls(live, mark, stored, due if has & 1 else None, done if has & 2 else None, size)


class Mirror:
    """The waiting entries by due time, in memory."""

    def __init__(self) -> None:
        self.count = self.mark = self.size = 0
        self.done: int | None = None
        # Ascending. Those before _first are gone: to remove each one at once would move all others.
        self._dues: list[int] = []
        self._first = 0
        self._entries: dict[int, list[Entry]] = {}

    def matches(self, head: PendingHead) -> bool:
        """Return whether the mirror holds what the head says."""
        # An entry of several due times counts until the last one.
        return (self.count, self.mark, self.done) == (head.live, head.mark, head.done)

    @property
    def dues(self) -> list[int]:
        """The due times, ascending."""
        return self._dues[self._first :]

    @property
    def earliest(self) -> int | None:
        """The earliest due time; None if nothing waits."""
        return self._dues[self._first] if self._first < len(self._dues) else None

    @property
    def latest(self) -> int | None:
        """The latest due time; None if nothing waits."""
        return self._dues[-1] if self._first < len(self._dues) else None

    def at(self, due: int) -> list[bytes]:
        """Return the payloads that are due at exactly this time."""
        return [entry.payload for entry in self.entries_at(due)]

    def entries_at(self, due: int) -> list[Entry]:
        """Return the entries that are due at exactly this time; none where nothing is."""
        return self._entries.get(due, [])

    def due_by(self, time: int) -> list[int]:
        """Return the due times up to ``time``, ascending."""
        return self._dues[self._first : bisect_right(self._dues, time, self._first)]

    def put(self, entry: Entry) -> None:
        """Add an entry, for its due times that are not over."""
        for due in entry.dues:
            if self.done is None or due > self.done:
                if due not in self._entries:
                    insort(self._dues, due, self._first)
                self._entries.setdefault(due, []).append(entry)
        self.count += 1
        self.size += len(entry.payload)
        self.mark = (self.mark + entry.mark) % _MARKS

    def drop(self, time: int) -> None:
        """Remove what is due up to ``time``, and nothing of what is due later again."""
        gone = self.due_by(time)
        for due in gone:
            for entry in self._entries.pop(due):
                if entry.dues[-1] == due:
                    self.count -= 1
                    self.size -= len(entry.payload)
                    self.mark = (self.mark - entry.mark) % _MARKS
        self._first += len(gone)
        self.done = time if self.done is None else max(time, self.done)
        if 2 * self._first >= len(self._dues):
            self._dues, self._first = self.dues, 0

    def clear(self, done: int | None) -> None:
        """Remove everything; due times up to ``done`` are over."""
        self.count, self.mark, self.size, self.done = 0, 0, 0, done
        self._dues, self._first, self._entries = [], 0, {}

    def entries(self) -> Iterable[Entry]:
        """Return what waits, each entry once."""
        return (one for due in self.dues for one in self._entries[due] if one.dues[-1] == due)


def add(
    head: PendingHead, mirror: Mirror, bag: Bag, dues: Sequence[int], payload: bytes
) -> PendingHead:
    """Add an entry to the bag, and to the mirror if the mirror matches; return the new head.

    Args:
        head: What the bag must contain.
        mirror: The mirror.
        bag: The bag.
        dues: The due times of the entry, ascending, at least one.
        payload: What waits.
    """
    if not head.live:
        mirror.clear(head.done)
    entry = Entry(tuple(dues), payload)
    if mirror.matches(head):
        mirror.put(entry)
    else:
        # An empty mirror matches no head with entries, so it stays empty until the bag is read.
        mirror.clear(head.done)
    bag.add(entry.to_bytes())
    earliest = entry.dues[0] if head.due is None else min(entry.dues[0], head.due)
    return PendingHead(
        head.live + 1,
        (head.mark + entry.mark) % _MARKS,
        head.stored + 1,
        earliest,
        head.done,
        head.size + len(payload),
    )


def matched(head: PendingHead, mirror: Mirror, bag: Bag) -> Mirror:
    """Return the mirror in agreement with the head; rebuild it from the bag if it differs.

    Raises:
        DamagedDataError: The bag does not contain what the head says.
    """
    if mirror.matches(head):
        return mirror
    mirror.clear(head.done)
    for element in bag.read():
        entry = Entry.from_bytes(element)
        if head.done is None or entry.dues[-1] > head.done:
            mirror.put(entry)
    if not mirror.matches(head):
        raise DamagedDataError(
            f"the buffer holds {mirror.count} waiting entries, not the {head.live} that were put"
            " there"
        )
    return mirror


def spend(head: PendingHead, mirror: Mirror, bag: Bag, time: int) -> PendingHead:
    """Mark everything that is due up to ``time`` as spent; return the new head.

    The mirror must match. A bag that is mostly spent is rewritten.
    """
    mirror.drop(time)
    stored = head.stored
    if stored > 2 * mirror.count:
        bag.clear()
        for entry in mirror.entries():
            bag.add(entry.to_bytes())
        stored = mirror.count
    return PendingHead(mirror.count, mirror.mark, stored, mirror.earliest, mirror.done, mirror.size)
