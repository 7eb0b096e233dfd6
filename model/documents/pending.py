"""A buffer of entries that wait for a time, over an append-only bag that is rarely read.

In the bag state of a runner, adding is cheap, reading costs the whole bag, and only the whole bag
can be removed. A step that read its bag at each timer would take quadratic time. So the truth is
the bag together with a small :class:`PendingHead`, and a :class:`Mirror` in memory holds the same
entries by due time. A mirror may be wrong: a failed bundle takes back its writes to the bag, but
not those to memory. A mirror is therefore used only if its (count, mark) are those of the head. The
mark is the sum of a 128-bit hash of every entry. It does not depend on the order of entries, and
two mirrors of equal counts but other entries have other marks.

An entry is ``due (8 bytes, little-endian, signed) | payload``. Entries whose due time is at or
before ``head.done`` are spent:

>>> bag, mirror, head = ListBag(), Mirror(), PendingHead()
>>> head = add(head, mirror, bag, 20, b"b")
>>> head = add(head, mirror, bag, 10, b"a")
>>> head.due
10
>>> mirror.at(10)
[b'a']
>>> head = spend(head, mirror, bag, 10)
>>> head.due, head.live, matched(head, Mirror(), bag).at(20)
(20, 1, [b'b'])
"""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks

_DUE = struct.Struct("<q")
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


@dataclass(frozen=True, slots=True)
class PendingHead:
    """What the bag must contain.

    Attributes:
        live: The number of entries that wait.
        mark: The sum of their hashes.
        stored: The number of elements in the bag, spent ones included.
        due: The earliest due time; None if nothing waits.
        done: Entries up to this time are spent.
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
        self.count = 0
        self.mark = 0
        self.size = 0
        # Ascending. Those before _first are gone: to remove each one at once would move all others.
        self._dues: list[int] = []
        self._first = 0
        self._payloads: dict[int, list[bytes]] = {}
        # The sums of the hashes of what is due at a time: an entry may be large.
        self._marks: dict[int, int] = {}

    def matches(self, head: PendingHead) -> bool:
        """Return whether the mirror holds what the head says."""
        return self.count == head.live and self.mark == head.mark

    @property
    def dues(self) -> list[int]:
        """The due times, ascending."""
        return self._dues[self._first :]

    @property
    def earliest(self) -> int | None:
        """The earliest due time; None if nothing waits."""
        return self._dues[self._first] if self._first < len(self._dues) else None

    def at(self, due: int) -> list[bytes]:
        """Return the payloads that are due at exactly this time."""
        return self._payloads[due]

    def due_by(self, time: int) -> list[int]:
        """Return the due times up to ``time``, ascending."""
        return self._dues[self._first : self._end(time)]

    def _end(self, time: int) -> int:
        return bisect_right(self._dues, time, self._first)

    def put(self, due: int, payload: bytes) -> int:
        """Add an entry and return its hash."""
        mark = _mark(due, payload)
        if due not in self._payloads:
            self._payloads[due], self._marks[due] = [], 0
            insort(self._dues, due, self._first)
        self._payloads[due].append(payload)
        self._marks[due] += mark
        self.count += 1
        self.size += len(payload)
        self.mark = (self.mark + mark) % _MARKS
        return mark

    def drop(self, time: int) -> None:
        """Remove what is due up to ``time``."""
        for due in self.due_by(time):
            payloads = self._payloads.pop(due)
            self.count -= len(payloads)
            self.size -= sum(map(len, payloads))
            self.mark = (self.mark - self._marks.pop(due)) % _MARKS
        self._first = self._end(time)
        if 2 * self._first >= len(self._dues):
            self._dues, self._first = self.dues, 0

    def clear(self) -> None:
        """Remove everything."""
        self.count, self.mark, self.size = 0, 0, 0
        self._dues, self._first, self._payloads, self._marks = [], 0, {}, {}

    def entries(self) -> Iterable[bytes]:
        """Return the elements of the bag for what waits."""
        return (_entry(due, payload) for due in self.dues for payload in self._payloads[due])


def add(head: PendingHead, mirror: Mirror, bag: Bag, due: int, payload: bytes) -> PendingHead:
    """Add an entry to the bag, and to the mirror if the mirror matches; return the new head."""
    if not head.live:
        mirror.clear()
    if mirror.matches(head):
        mark = mirror.put(due, payload)
    else:
        # An empty mirror matches no head with entries, so it stays empty until the bag is read.
        mirror.clear()
        mark = _mark(due, payload)
    bag.add(_entry(due, payload))
    earliest = due if head.due is None else min(due, head.due)
    return PendingHead(
        head.live + 1,
        (head.mark + mark) % _MARKS,
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
    mirror.clear()
    for element in bag.read():
        if len(element) < _DUE.size:
            checks.refuse("bytes of a waiting entry", len(element), f"{_DUE.size} or more")
        (due,) = _DUE.unpack_from(element)
        if head.done is None or due > head.done:
            mirror.put(due, element[_DUE.size :])
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
    done = time if head.done is None else max(time, head.done)
    stored = head.stored
    if stored > 2 * mirror.count:
        bag.clear()
        for element in mirror.entries():
            bag.add(element)
        stored = mirror.count
    return PendingHead(mirror.count, mirror.mark, stored, mirror.earliest, done, mirror.size)


def _entry(due: int, payload: bytes) -> bytes:
    return _DUE.pack(due) + payload


def _mark(due: int, payload: bytes) -> int:
    state = hashlib.blake2b(_DUE.pack(due), digest_size=_MARK_BYTES)
    state.update(payload)
    return int.from_bytes(state.digest(), "little")
