"""Bound the watermark of each partition by the slowest partition that this process reads.

The watermark of a stream is the smallest one of its partitions, so this changes nothing on a runner
that keeps the smallest. Prism does not keep it: it takes the watermark of a source from the
partitions that its last bundle read. A partition that is ahead would carry the stream past one that
is behind. On Prism all partitions are in one process, so this bound corrects the watermark. A
partition without a report for a minute is read elsewhere now, and is left out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable

_FRESH_SECONDS = 60.0


class PartitionWatermarks:
    """Watermarks (microseconds) of the partitions that this process reads, by topic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._topics: dict[Hashable, dict[int, tuple[int | None, float]]] = {}
        self._lock = threading.Lock()

    def report(self, topic: Hashable, partition: int, watermark: int | None) -> int | None:
        """Note the watermark of a partition and return the smallest one of the topic.

        Args:
            topic: The topic.
            partition: The number of the partition.
            watermark: Its watermark in microseconds; None leaves it as it was.

        Returns:
            The smallest watermark, or None if a partition has reported none yet.
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
        """Forget a partition that is no longer read here."""
        with self._lock:
            known = self._topics.get(topic, {})
            known.pop(partition, None)
            if not known:
                self._topics.pop(topic, None)


# One instance for the process: a runner may make and drop instances of a step at any time.
PARTITION_WATERMARKS = PartitionWatermarks()
