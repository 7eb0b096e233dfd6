"""Minibatches: the documents that a learner takes in one step, and the chain of these.

A :class:`Minibatch` is a block of documents of one window, with its number. A link of the chain of
a key is a :class:`NumberedMinibatch`, whose fingerprint covers all minibatches before it.

A document of a log has a *place*: the log, the offset at which the run began to read it, and the
offsets from the end of the previous document to the end of this one. Records between two documents
hold no document or are dead letters, so the places of all documents cover the log without gaps,
whatever the order in which they are learned. Everything before the first gap is learned or in the
dead letters, and a new job continues after it.

>>> seen = joined(ranges_of([place("posts/0", 5, 5, 7), place("posts/0", 5, 9, 10)]))
>>> seen, reads_on(seen)
({'posts/0': [[5, 7], [9, 10]]}, {'posts/0': 7})
>>> reads_on(joined(seen, ranges_of([place("posts/0", 5, 7, 9)])))
{'posts/0': 10}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from beam_topics.model.documents.block import NO_PLACES, Block, columns_of
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks, wire

# [begin, end) by log, ascending and apart. The first one begins where the log was read first.
Ranges = dict[str, list[list[int]]]
# A gap lasts as long as a document waits. Whatever follows this many ranges is read again.
MOST_RANGES = 1 << 14


def place(log: str, first: int, begin: int, end: int) -> str:
    """Return the place of a document.

    Args:
        log: The name of the log.
        first: The offset at which the run began to read the log.
        begin: The offset after the previous document.
        end: The offset after the document.
    """
    return f"{first} {begin} {end} {log}"


def ranges_of(places: Iterable[str | None]) -> Ranges:
    """Return the offsets of documents; none where one of them has no place.

    Raises:
        DamagedDataError: A place is something else.
    """
    found: dict[str, list[list[int]]] = {}
    for one in places:
        if one is None:
            return {}
        *numbers, log = one.split(" ", 3)
        if len(numbers) < 3 or not all(number.isdecimal() for number in numbers):
            raise DamagedDataError(f"the place of a document is {one!r}: no offsets and a log")
        first, begin, end = map(int, numbers)
        found.setdefault(log, []).extend(([first, first], [begin, end]))
    return joined(found)


def joined(*parts: Ranges) -> Ranges:
    """Return the offsets of several parts, of each log at most the lowest ranges."""
    found: Ranges = {}
    for log in sorted({log for part in parts for log in part}):
        merged: list[list[int]] = []
        for begin, end in sorted(pair for part in parts for pair in part.get(log, ())):
            if merged and begin <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([begin, end])
        found[log] = merged[:MOST_RANGES]
    return found


def offsets_in(header: dict[str, Any], name: str) -> Ranges:
    """Return the offsets of a stored header; none where it has none.

    Raises:
        DamagedDataError: They are not ascending, separate ranges.
    """
    ranges: Ranges = header.get("offsets", {})
    if not checks.fits(ranges, Ranges):
        checks.refuse(f"offsets of {name}", repr(ranges), "lists of ranges by log")
    for pairs in ranges.values():
        bounds = [bound for pair in pairs for bound in pair]
        apart = all(a < b for a, b in zip(bounds[1:], bounds[2:], strict=False))
        if not pairs or any(len(pair) != 2 for pair in pairs) or not 0 <= bounds[0] <= bounds[1]:
            checks.refuse(f"offsets of {name}", repr(pairs[:3]), "pairs of a begin and an end")
        if not apart:
            checks.refuse(f"offsets of {name}", repr(pairs[:3]), "ascending ones")
    return ranges


def reads_on(ranges: Ranges) -> dict[str, int]:
    """Return the first offset of each log that is not learned."""
    return {log: pairs[0][1] for log, pairs in ranges.items()}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Minibatch(Block):
    """Documents of one window that a learner takes in one step, in the order that all learners see.

    Attributes:
        sequence: 1, 2, 3, ... within the key.
        window_end: The end of the event-time window, in microseconds.
        closes_window: Whether this is the last minibatch of its window. Models are published after
            such a minibatch.
    """

    sequence: int
    window_end: int
    closes_window: bool

    MAGIC = b"BTm1"

    @classmethod
    def of_block(
        cls, block: Block, sequence: int, window_end: int, closes_window: bool
    ) -> Minibatch:
        """Return the documents of a block as a minibatch; they have their order from now on."""
        columns = {**columns_of(block), "arrived": NO_PLACES, "places": ()}
        return cls(**columns, sequence=sequence, window_end=window_end, closes_window=closes_window)

    def to_bytes(self) -> bytes:
        names = ("key", "sequence", "window_end", "closes_window", "ids", "labels")
        marks = {"sources": self.sources, "groups": self.groups}
        header = {name: getattr(self, name) for name in names}
        header |= {name: values for name, values in marks.items() if values}
        return wire.pack(
            self.MAGIC,
            header,
            self.words.text.tobytes(),
            wire.array_to_bytes(self.timestamps, "<i8"),
            wire.array_to_bytes(self.tokens, "<i4"),
            wire.array_to_bytes(self.offsets, "<i8"),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Minibatch:
        header, (words, timestamps, tokens, offsets) = wire.unpack(cls.MAGIC, data, 4)
        found = cls.checked(header, words, tokens, timestamps, offsets)
        found.check_distinct()
        checks.whole("sequence of a minibatch", found.sequence)
        return found


@dataclass(frozen=True, slots=True)
class NumberedMinibatch:
    """A minibatch with its link of the chain: fingerprint_n = H(fingerprint_n-1, payload).

    An empty ``payload`` marks the end of the stream after minibatch ``sequence``. Learners then
    publish what they have.

    Attributes:
        sequence: The number of the minibatch.
        previous: The fingerprint of the minibatch before it, 32 bytes.
        fingerprint: Its own fingerprint, 32 bytes.
        payload: The bytes of the minibatch.
        offsets: The offsets of its documents, and of those of its window that became dead letters;
            empty where they do not come from a log. They are not part of the chain.
        reach: The end of the newest window that had documents when this one was cut; 0 without
            offsets. It is not part of the chain either.
    """

    sequence: int
    previous: bytes
    fingerprint: bytes
    payload: bytes
    offsets: Ranges = field(default_factory=dict, hash=False)
    reach: int = 0

    MAGIC = b"BTn1"

    def to_bytes(self) -> bytes:
        of_log = {"offsets": self.offsets, "reach": self.reach} if self.offsets else {}
        header = {"sequence": self.sequence} | of_log
        return wire.pack(self.MAGIC, header, self.previous, self.fingerprint, self.payload)

    @classmethod
    def from_bytes(cls, data: bytes) -> NumberedMinibatch:
        header, (previous, fingerprint, payload) = wire.unpack(cls.MAGIC, data, 3)
        for link in (previous, fingerprint):
            checks.sized("link of a numbered minibatch", link, wire.DIGEST_BYTES)
        return cls(
            checks.whole("sequence of a numbered minibatch", checks.field(header, "sequence")),
            previous,
            fingerprint,
            payload,
            offsets_in(header, "a numbered minibatch"),
            checks.whole("reach of a numbered minibatch", header.get("reach", 0), -checks.LARGEST),
        )

    @classmethod
    def link(
        cls,
        sequence: int,
        previous: bytes,
        payload: bytes,
        offsets: Ranges | None = None,
        reach: int = 0,
    ) -> NumberedMinibatch:
        """Return the next link of the chain after ``previous``."""
        fingerprint, places = wire.digest(previous, payload), offsets or {}
        return cls(sequence, previous, fingerprint, payload, places, reach if places else 0)

    @classmethod
    def end(cls, sequence: int, fingerprint: bytes) -> NumberedMinibatch:
        """Return the end marker after minibatch ``sequence``."""
        return cls(sequence, fingerprint, fingerprint, b"")

    @property
    def is_end(self) -> bool:
        """Return whether this is an end marker."""
        return not self.payload

    def minibatch(self) -> Minibatch:
        """Return the minibatch.

        Raises:
            DamagedDataError: The payload does not hash to the fingerprint.
        """
        if wire.digest(self.previous, self.payload) != self.fingerprint:
            raise DamagedDataError(
                f"minibatch {self.sequence} does not have the fingerprint that it was sent with"
            )
        return Minibatch.from_bytes(self.payload)
