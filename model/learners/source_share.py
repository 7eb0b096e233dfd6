"""A learner that learns at most a share of its documents from one source.

The sources of the last N documents that were learned are remembered, as hashes of 64 bits. A
document is learned if its source has fewer than ceil(share (n + 1)) of the n remembered ones,
n <= N. So no source ever has more than its share of the last N documents, rounded up. A document
without a source is always learned, and is one of the n.

If there are fewer sources than 1 / share, all of them reach the bound, and nothing more is learned
until others come. The event of a flood tells it.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field

import numpy as np

from model import checks, wire
from model.learners.base import LearnerSettings
from model.learners.leaving_out import BoolArray, Filtered, Flood, LeavingOut
from model.records import Minibatch

_STATE = b"BTS1"
_NONE = 0


@dataclass
class Sources:
    """The sources of the last documents that were learned.

    Attributes:
        most: N.
        share: the largest share of one source.
        last: their hashes; 0 for none.
        counts: how often each hash is in ``last``.
    """

    most: int
    share: float
    last: deque[int] = field(default_factory=deque)
    counts: Counter[int] = field(default_factory=Counter)

    def takes(self, source: int) -> bool:
        """Return whether a document of a source is learned, and remember it if so."""
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


class WithSourceShare(LeavingOut):
    """A learner around another one; see the module's docstring."""

    counter = "over_share"

    def memory(self, settings: LearnerSettings) -> Sources:
        return Sources(settings.source_window, settings.max_source_share)

    def left_out(self, state: Filtered, minibatch: Minibatch) -> BoolArray:
        hashes = [hash_of(source) for source in minibatch.sources or [None] * len(minibatch)]
        return np.array([not state.memory.takes(source) for source in hashes], np.bool_)

    def save(self, state: Filtered) -> bytes:
        header = {"flood": state.flood.to_json()}
        last = wire.array_to_bytes(np.array(state.memory.last, np.uint64), "<u8")
        return wire.pack(_STATE, header, last, self._inner.save(state.state))

    def load(
        self, settings: LearnerSettings, key: str, island: int, data: bytes, threads: int = 1
    ) -> Filtered:
        header, (blob, inner) = wire.unpack(_STATE, data, 2)
        last = wire.array_from_bytes(blob, "<u8").tolist()
        memory = self.memory(settings)
        checks.whole("sources of a state", len(last), 0, memory.most + 1)
        memory.last, memory.counts = deque(last), Counter(last)
        state = self._inner.load(settings, key, island, inner, threads)
        flood = Flood.from_json(checks.field(header, "flood"))
        return Filtered(state, settings, memory, flood)

    def nbytes(self, state: Filtered) -> int:
        # An entry of a deque and its number, and an entry of a dictionary for each source.
        sources: Sources = state.memory
        return self._inner.nbytes(state.state) + 40 * len(sources.last) + 100 * len(sources.counts)


def hash_of(source: str | None) -> int:
    """Return 64 bits of a source's digest; 0 for none."""
    return _NONE if source is None else int.from_bytes(wire.digest(source.encode())[:8], "little")
