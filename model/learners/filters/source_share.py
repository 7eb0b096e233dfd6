"""The filter that keeps at most a share of the documents from one source.

The sources of the last N documents that were kept are remembered, as hashes of 64 bits. A document
is kept if its source has fewer than ceil(share (n + 1)) of the n remembered ones, n <= N. So no
source ever has more than its share of the last N documents, rounded up. A document without a source
is always kept, and is one of the n.

If there are fewer sources than 1 / share, all of them reach the bound, and nothing more is learned
until others come. The event of a flood tells it.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from model import checks, wire
from model.learners.base import LearnerSettings
from model.learners.filters.floods import BoolArray, Flood, LeavingOut
from model.records import Minibatch

_STATE = b"BTS2"
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
        return cls(settings.source_window, settings.max_source_share)

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
        return wire.pack(_STATE, {"flood": self.flood.to_json()}, last)

    @classmethod
    def from_bytes(cls, settings: LearnerSettings, data: bytes) -> Self:
        header, (blob,) = wire.unpack(_STATE, data, 1)
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
