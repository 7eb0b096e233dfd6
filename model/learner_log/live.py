"""Learners that are alive in this process, so that a bundle need not load the checkpoint of the
bundle before.

The protocol is check-out and check-in: a learner is taken out (popped under a lock) before it is
touched, and put back only when its step went well. So nobody, on whatever thread and in whatever
attempt, can see a learner whose step failed half-way. What is found is only a proposal: the caller
compares it with the committed head, because a learner may be ahead of a bundle that was rolled
back.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Live:
    """A learner's state, and exactly where it stands."""

    state: Any
    sequence: int
    fingerprint: bytes
    witness: bytes
    nbytes: int

    def stands_at(self, sequence: int, fingerprint: bytes, witness: bytes) -> bool:
        """Whether it stands exactly where a head does."""
        return (self.sequence, self.fingerprint, self.witness) == (sequence, fingerprint, witness)


class LiveLearners:
    """The learners that were used last, within ``capacity`` bytes; the last one is kept however
    large it is.
    """

    def __init__(self, capacity: int = 4 << 30) -> None:
        self._capacity = capacity
        self._held: OrderedDict[Hashable, Live] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def check_out(self, name: Hashable) -> Live | None:
        """Take a learner out; nobody else can have it until it is checked in."""
        with self._lock:
            live = self._held.pop(name, None)
            self._bytes -= live.nbytes if live else 0
            return live

    def check_in(self, name: Hashable, live: Live) -> None:
        """Put a learner back after its step; the least recently used ones make room."""
        with self._lock:
            before = self._held.pop(name, None)
            self._held[name] = live
            self._bytes += live.nbytes - (before.nbytes if before else 0)
            while self._bytes > self._capacity and len(self._held) > 1:
                _, gone = self._held.popitem(last=False)
                self._bytes -= gone.nbytes

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._held.clear()
            self._bytes = 0

    def __len__(self) -> int:
        return len(self._held)


# One for the process: a runner makes and drops the steps' objects as it likes.
LIVE_LEARNERS = LiveLearners()
