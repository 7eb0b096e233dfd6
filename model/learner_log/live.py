"""Live learners of this process, so that a bundle need not load the previous checkpoint.

A learner is checked out (removed under a lock) before it is touched, and checked in only when its
step succeeded. No thread and no second attempt can therefore see a learner whose step failed
half-way. A learner may be ahead of a bundle that was rolled back, so the caller compares it with
the committed head before it is used.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Live:
    """The state of a learner, and the minibatch after which it stands."""

    state: Any
    sequence: int
    fingerprint: bytes
    witness: bytes
    nbytes: int

    def stands_at(self, sequence: int, fingerprint: bytes, witness: bytes) -> bool:
        """Return whether it stands exactly where a head does."""
        return (self.sequence, self.fingerprint, self.witness) == (sequence, fingerprint, witness)


class LiveLearners:
    """The most recently used learners, within ``capacity`` bytes.

    The last one is kept even if it is larger than that.
    """

    def __init__(self, capacity: int = 4 << 30) -> None:
        self._capacity = capacity
        self._held: OrderedDict[Hashable, Live] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def check_out(self, name: Hashable) -> Live | None:
        """Take a learner out; no other caller can have it until it is checked in."""
        with self._lock:
            live = self._held.pop(name, None)
            self._bytes -= live.nbytes if live else 0
            return live

    def check_in(self, name: Hashable, live: Live) -> None:
        """Put a learner back, and drop the least recently used ones above the capacity."""
        with self._lock:
            before = self._held.pop(name, None)
            self._held[name] = live
            self._bytes += live.nbytes - (before.nbytes if before else 0)
            while self._bytes > self._capacity and len(self._held) > 1:
                _, gone = self._held.popitem(last=False)
                self._bytes -= gone.nbytes

    def clear(self) -> None:
        """Drop all learners."""
        with self._lock:
            self._held.clear()
            self._bytes = 0

    def __len__(self) -> int:
        return len(self._held)


# One instance for the process: a runner may make and drop instances of a step at any time.
LIVE_LEARNERS = LiveLearners()
