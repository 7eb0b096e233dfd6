"""Live learners of this process, so that a bundle need not load the previous checkpoint.

A learner is checked out (removed under a lock) before it is touched, and checked in only when its
step succeeded. No thread and no second attempt can therefore see a learner whose step failed
half-way. A learner may be ahead of a bundle that was rolled back, so the caller compares it with
the committed head before it is used.

All learners of a process share one bound in bytes. Beyond it, the learner that was used least
recently is packed: its saved state replaces it, the bytes that a checkpoint would hold. Loading
them gives the same bits. If packed states do not fit either, the oldest ones are dropped; such a
learner is restored from its checkpoint and its log.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

from beam_topics.model.learner_log.head import LearnerHead
from beam_topics.model.settings.options import MEGABYTE


@dataclass(frozen=True, slots=True)
class Live:
    """The state of a learner, and the head at which it stands.

    Attributes:
        state: The state, or its saved bytes where the learner is packed.
        head: The head of its log.
        nbytes: The bytes that the state takes in memory.
        save: Returns the saved bytes of a state; None where the learner is packed.
    """

    state: Any
    head: LearnerHead
    nbytes: int
    save: Callable[[Any], bytes] | None

    @property
    def packed(self) -> bool:
        """Whether the state is its saved bytes."""
        return self.save is None

    def stands_at(self, head: LearnerHead) -> bool:
        """Return whether it stands exactly where a head does."""
        names = ("sequence", "fingerprint", "witness")
        return all(getattr(self.head, name) == getattr(head, name) for name in names)

    def pack(self) -> Live:
        """Return the learner with its saved bytes in place of its state."""
        assert self.save is not None
        data = self.save(self.state)
        return replace(self, state=data, nbytes=len(data), save=None)


class LiveLearners:
    """The most recently used learners of a process.

    The last one is kept even if it is larger than the bound.
    """

    def __init__(self) -> None:
        # Both are in the order of use.
        self._live: OrderedDict[Hashable, Live] = OrderedDict()
        self._packed: OrderedDict[Hashable, Live] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def check_out(self, name: Hashable) -> Live | None:
        """Take a learner out; no other caller can have it until it is checked in."""
        with self._lock:
            return self._take(name)

    def check_in(self, name: Hashable, live: Live, most_mb: float) -> None:
        """Put a learner back, and pack or drop the least recently used ones beyond the bound.

        Args:
            name: The name of the learner.
            live: The learner.
            most_mb: The megabytes that all learners of the process may take.
        """
        with self._lock:
            self._take(name)
            self._put(self._live, name, live)
        while (surplus := self._surplus(most_mb * MEGABYTE)) is not None:
            surplus_name, found = surplus
            # Saving takes milliseconds, so the other threads are not kept waiting.
            packed = found.pack()
            with self._lock:
                if surplus_name not in self._live:
                    self._put(self._packed, surplus_name, packed)

    def heads(self) -> dict[Any, LearnerHead]:
        """Return the head of each learner by its name."""
        with self._lock:
            return {name: live.head for name, live in [*self._live.items(), *self._packed.items()]}

    def clear(self) -> None:
        """Drop all learners."""
        with self._lock:
            self._live.clear()
            self._packed.clear()
            self._bytes = 0

    def _take(self, name: Hashable) -> Live | None:
        found = self._live.pop(name, None) or self._packed.pop(name, None)
        self._bytes -= found.nbytes if found else 0
        return found

    def _put(self, held: OrderedDict[Hashable, Live], name: Hashable, live: Live) -> None:
        held[name] = live
        self._bytes += live.nbytes

    def _surplus(self, most: float) -> tuple[Hashable, Live] | None:
        """Take out the learner to pack next; without one, drop packed ones beyond the bound."""
        with self._lock:
            if self._bytes > most and len(self._live) > 1:
                name, live = self._live.popitem(last=False)
                self._bytes -= live.nbytes
                return name, live
            while self._bytes > most and self._packed:
                self._bytes -= self._packed.popitem(last=False)[1].nbytes
            return None

    def __len__(self) -> int:
        return len(self._live) + len(self._packed)


# One instance for the process: a runner may make and drop instances of a step at any time.
LIVE_LEARNERS = LiveLearners()
