"""Read logs, which have an order and positions, as streams that can stop and continue anywhere.

A *log* is a sequence of entries, for example an archive or a partition of a queue. Each entry is at
a position: a tuple of whole numbers that grows along the log. One splittable DoFn reads any log
whose reader has a method ``take()`` that returns one of these:

    Entry(position, item, watermark)   the next entry
    Pause(seconds, watermark, passed)  nothing now; look again after this many seconds
    None                               the end of the log

An element is the name of a log. Its restriction is the range of positions that is still to be read:

>>> tracker = RangeTracker(LogRange((0, 0), (2, 0)).to_bytes())
>>> tracker.try_claim((0, 4))
True
>>> [LogRange.from_bytes(part) for part in tracker.try_split(0)]
[LogRange(start=(0, 0), stop=(0, 5)), LogRange(start=(0, 5), stop=(2, 0))]
>>> tracker.try_claim((1, 0))
False

The DoFn checkpoints itself (``defer_remainder``) after a few hundred entries, after half a second,
or at a pause. The runner commits what was emitted together with the rest of the range. A failure
therefore neither loses an entry nor commits one twice. A log is never split between workers,
because it is an order.

Readers report the watermark. It is part of the runner's checkpoint, has whole milliseconds, and
never moves back. Entries behind it are late, but none is lost for that. When a log ends, its
watermark moves to the end of time.

Ranges are bytes under ``BytesCoder`` and watermarks are whole numbers under ``VarIntCoder``, as all
state is. Open readers stay in the process under the position at which they stand
(:class:`ReaderCache`). A reader at another position is not used. The cache saves time and holds no
state.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.coders import BytesCoder, Coder, VarIntCoder
from apache_beam.io.iobase import RestrictionProgress, RestrictionTracker, WatermarkEstimator
from apache_beam.transforms.core import RestrictionProvider, WatermarkEstimatorProvider
from apache_beam.utils.timestamp import MIN_TIMESTAMP, Duration, Timestamp

from beam_topics.model.documents.block import Gathering
from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.stored import checks, wire
from beam_topics.transforms.read import Documents, Emit

Position = tuple[int, ...]


def after(position: Position) -> Position:
    """Return the first position after this one."""
    return (*position[:-1], position[-1] + 1)


@dataclass(frozen=True, slots=True)
class LogRange:
    """The positions from ``start`` up to, but not including, ``stop``.

    A ``stop`` of None is never reached.
    """

    start: Position
    stop: Position | None

    MAGIC = b"BTr1"

    def to_bytes(self) -> bytes:
        return wire.pack(self.MAGIC, {"start": self.start, "stop": self.stop})

    @classmethod
    def from_bytes(cls, data: bytes) -> LogRange:
        header, _ = wire.unpack(cls.MAGIC, data)
        facts = checks.record(cls, header, "a range of a log")
        return cls(facts["start"], None if facts["stop"] is None else tuple(facts["stop"]))


class RangeTracker(RestrictionTracker):
    """Track which positions of a range were claimed.

    The range splits only between what was claimed and the rest. After a split nothing more can be
    claimed.
    """

    def __init__(self, restriction: bytes) -> None:
        self._range = LogRange.from_bytes(restriction)
        self._next = self._range.start
        self._done = self._range.stop is not None and self._range.start >= self._range.stop

    def current_restriction(self) -> bytes:
        return self._range.to_bytes()

    def current_progress(self) -> RestrictionProgress:
        return RestrictionProgress(fraction=1.0 if self._done else 0.0)

    def try_claim(self, position: Position) -> bool:
        """Claim a position; return False at or past the end of the range.

        Raises:
            ValueError: The position is before one that was claimed.
        """
        if position < self._next:
            raise ValueError(f"{position} is claimed after everything before {self._next}")
        if self._range.stop is not None and position >= self._range.stop:
            self._done = True
            return False
        self._next = after(position)
        return True

    def try_split(self, fraction_of_remainder: float) -> tuple[bytes, bytes] | None:
        if self._done or fraction_of_remainder != 0:
            return None
        rest = LogRange(self._next, self._range.stop)
        self._range = LogRange(self._range.start, self._next)
        self._done = True
        return self._range.to_bytes(), rest.to_bytes()

    def check_done(self) -> None:
        """Check that everything in the range was claimed or split off.

        Raises:
            ValueError: Something was not.
        """
        if not self._done:
            raise ValueError(f"the range {self._range} was read up to {self._next} only")

    def is_bounded(self) -> bool:
        return False


class LogWatermark(WatermarkEstimator):
    """A watermark in microseconds that readers set, in whole milliseconds; it never moves back."""

    def __init__(self, micros: int) -> None:
        self._micros = micros

    def advance(self, micros: int) -> None:
        """Advance to a time in microseconds, rounded down to milliseconds.

        An earlier time changes nothing.
        """
        self._micros = max(self._micros, micros // 1000 * 1000)

    def observe_timestamp(self, timestamp: Timestamp) -> None:
        """Ignore the times of elements: readers report the watermark."""

    def current_watermark(self) -> Timestamp:
        return Timestamp(micros=self._micros)

    def get_estimator_state(self) -> int:
        return self._micros


RANGE = beam.DoFn.RestrictionParam()
WATERMARK = beam.DoFn.WatermarkEstimatorParam()

# The most that a bundle reads of a log: little enough that the watermark advances, and enough that
# the cost of a bundle does not matter.
BUNDLE_ENTRIES = 1000
BUNDLE_BYTES = 4 * 2**20
# Entries may come slowly, and the runner's checkpoint and everything that waits for the watermark
# wait for the end of the bundle.
BUNDLE_SECONDS = 0.5
# A log that was not read for this long is read elsewhere by now. The number of waiting readers is
# not limited: logs are read in turn, so with one log above a limit each would lose its reader just
# before its next bundle.
_UNUSED_SECONDS = 600.0
_START = int(MIN_TIMESTAMP.micros)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log.

    Attributes:
        position: Where the entry is.
        item: A document or a dead letter.
        watermark: The earliest time that is expected after this entry, in microseconds. None leaves
            the watermark as it is.
    """

    position: Position
    item: Document | DeadLetter
    watermark: int | None


@dataclass(frozen=True, slots=True)
class Pause:
    """The log has nothing to read for some seconds.

    Attributes:
        seconds: When to look again.
        watermark: As in :class:`Entry`.
        passed: The last position since an entry that was skipped because it holds nothing.
    """

    seconds: float
    watermark: int | None = None
    passed: Position | None = None


class LogReader(Protocol):
    """An open log.

    Attributes:
        position: Where the reader stands: after what was last taken or skipped, or where it was
            opened.
    """

    position: Position

    def take(self) -> Entry | Pause | None: ...

    def close(self) -> None: ...


class ReaderCache:
    """Open readers that wait for the next bundle of their log.

    A reader that nobody took for ten minutes is closed.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._readers: OrderedDict[Hashable, tuple[LogReader, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, log: Hashable, start: Position) -> LogReader | None:
        """Take the reader of a log if it stands at ``start``; close it if it stands elsewhere."""
        with self._lock:
            reader, _ = self._readers.pop(log, (None, 0.0))
        if reader is not None and reader.position != start:
            reader.close()
            return None
        return reader

    def put(self, log: Hashable, reader: LogReader) -> None:
        """Keep a reader until the next bundle of its log."""
        now = self._clock()
        with self._lock:
            gone = [self._readers.pop(log)] if log in self._readers else []
            self._readers[log] = reader, now
            while now - next(iter(self._readers.values()))[1] >= _UNUSED_SECONDS:
                gone.append(self._readers.popitem(last=False)[1])
        for closing, _ in gone:
            closing.close()


# One cache for the process: a runner may make and drop instances of a step at any time.
READER_CACHE = ReaderCache()


class LogProvider(RestrictionProvider, WatermarkEstimatorProvider):
    """Provide the ranges and the watermarks of a DoFn that reads logs."""

    @abstractmethod
    def range_of(self, element: bytes) -> LogRange:
        """Return the whole range of a log."""

    def initial_restriction(self, element: bytes) -> bytes:
        return self.range_of(element).to_bytes()

    def create_tracker(self, restriction: bytes) -> RangeTracker:
        return RangeTracker(restriction)

    def restriction_coder(self) -> Coder:
        return BytesCoder()

    def restriction_size(self, element: bytes, restriction: bytes) -> int:
        # Runners split work by size, and a log cannot be split.
        return 1

    def truncate(self, element: bytes, restriction: bytes) -> None:
        """Read no further when the stream is drained."""

    def initial_estimator_state(self, element: bytes, restriction: bytes) -> int:
        return _START

    def create_watermark_estimator(self, estimator_state: int) -> LogWatermark:
        return LogWatermark(estimator_state)

    def estimator_state_coder(self) -> Coder:
        return VarIntCoder()


class LogSourceDoFn(Emit, LogProvider):
    """Read logs as documents at their event times, and dead letters at the watermark.

    Args:
        tokeniser: As of :class:`beam_topics.transforms.read.Emit`.
    """

    @abstractmethod
    def open(self, element: bytes, start: Position) -> LogReader:
        """Return a reader that stands at ``start``."""

    @abstractmethod
    def name_of(self, element: bytes) -> Hashable:
        """Return a value that tells this log from every other log that the process may read."""

    @beam.DoFn.unbounded_per_element()
    def process(
        self, element: bytes, tracker: Any = RANGE, estimator: Any = WATERMARK
    ) -> Iterator[Any]:
        name = self.name_of(element)
        start = LogRange.from_bytes(tracker.current_restriction()).start
        reader = READER_CACHE.take(name, start) or self.open(element, start)
        wait, gathering = None, self.gathering()
        try:
            found = yield from self._entries(reader, tracker, estimator, gathering)
            yield from self.rest(gathering)
            wait = found
        finally:
            if wait is None:
                reader.close()
        if wait is not None:
            READER_CACHE.put(name, reader)
            tracker.defer_remainder(Duration(wait))

    def _entries(
        self, reader: LogReader, tracker: Any, estimator: Any, gathering: Gathering | None
    ) -> Generator[Any, None, float | None]:
        """Emit the entries of one bundle, but for documents that are gathered.

        A document behind the watermark of the bundle's start is late. It does not hold the
        watermark, so it shares no block with documents that do.

        Returns:
            The seconds to wait for more, or None if this call must read no further.
        """
        stop, size = LogRange.from_bytes(tracker.current_restriction()).stop, 0
        end, passed = time.monotonic() + BUNDLE_SECONDS, estimator.current_watermark()
        for _ in range(BUNDLE_ENTRIES):
            taken = reader.take()
            if taken is None:
                tracker.try_claim(stop)
                return None
            # Skipped positions are claimed too. The rest of the range then begins where the reader
            # stands, and the next bundle can use this reader.
            reached = taken.position if isinstance(taken, Entry) else taken.passed
            if reached is not None and not tracker.try_claim(reached):
                return None
            if isinstance(taken, Entry):
                size += len(taken.item.text) if isinstance(taken.item, Document) else 0
                late = isinstance(taken.item, Document) and taken.item.timestamp < passed.micros
                now = estimator.current_watermark()
                yield from self.gather(None if late else gathering, taken.item, now)
            if taken.watermark is not None:
                estimator.advance(taken.watermark)
            if isinstance(taken, Pause):
                return taken.seconds
            if size >= BUNDLE_BYTES or time.monotonic() >= end:
                break
        return 0.0


def break_fusion(read: Documents) -> Documents:
    """Shuffle the documents.

    Without it the local runner would fire the timers of a stateful step that follows at the end of
    each bundle of the source, before the watermark is there. Nearly every document would be late.
    """
    return Documents(
        read.documents | "Apart" >> beam.Reshuffle().with_output_types(bytes), read.dead_letters
    )
