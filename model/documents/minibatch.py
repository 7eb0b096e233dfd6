"""Minibatches: the documents that a learner takes in one step, and the chain of these.

A :class:`Minibatch` is a block of documents of one window, with its number. As a link of the chain
of its key it is a :class:`NumberedMinibatch`, whose fingerprint covers all minibatches before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from beam_topics.model.documents.block import NO_PLACES, Block, columns_of
from beam_topics.model.documents.offsets import Ranges, offsets_in
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks, wire


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
            empty where they do not come from a log. They are no part of the chain.
    """

    sequence: int
    previous: bytes
    fingerprint: bytes
    payload: bytes
    offsets: Ranges = field(default_factory=dict, hash=False)

    MAGIC = b"BTn1"

    def to_bytes(self) -> bytes:
        header = {"sequence": self.sequence} | ({"offsets": self.offsets} if self.offsets else {})
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
        )

    @classmethod
    def link(
        cls, sequence: int, previous: bytes, payload: bytes, offsets: Ranges | None = None
    ) -> NumberedMinibatch:
        """Return the next link of the chain after ``previous``."""
        return cls(sequence, previous, wire.digest(previous, payload), payload, offsets or {})

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
