"""How far the partitions of a topic have come that one process reads: none vouches for more than
the slowest of them.

A stream's watermark is the smallest of its partitions', so this changes nothing where a runner
keeps the smallest. Prism does not: it takes the watermark of a source from those partitions that
its last bundle read, and one that is ahead would carry the stream past one that is behind. On Prism
all partitions are in one process, and this makes up for it. A partition that was not heard of for a
minute, because it is now read elsewhere, is left out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable

_FRESH_SECONDS = 60.0


class PartitionWatermarks:
    """Watermarks (microseconds) of the partitions that are read here, by topic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._topics: dict[Hashable, dict[int, tuple[int | None, float]]] = {}
        self._lock = threading.Lock()

    def report(self, topic: Hashable, partition: int, watermark: int | None) -> int | None:
        """Note how far a partition has come (None: no news), and return how far all have; None:
        one of them has said nothing yet.
        """
        now = self._clock()
        with self._lock:
            known = self._topics.setdefault(topic, {})
            before, _ = known.get(partition, (None, now))
            reached = (
                before
                if watermark is None or (before is not None and before > watermark)
                else watermark
            )
            known[partition] = reached, now
            fresh = [micros for micros, at in known.values() if now - at < _FRESH_SECONDS]
        return None if None in fresh else min(micros for micros in fresh if micros is not None)

    def remove(self, topic: Hashable, partition: int) -> None:
        """The partition is no longer read here."""
        with self._lock:
            known = self._topics.get(topic, {})
            known.pop(partition, None)
            if not known:
                self._topics.pop(topic, None)


# One for the process: a runner makes and drops the steps' objects as it likes.
PARTITION_WATERMARKS = PartitionWatermarks()
