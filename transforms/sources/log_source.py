"""``LogSourceDoFn``: logs that have an order, an archive or a partition of a queue, read as streams
that can stop and go on anywhere.

A *log* is a sequence of entries, each at a position: a tuple of whole numbers that grows along the
log. One splittable DoFn reads any log whose reader says ``take()``:

    Entry(position, item, watermark)   the next entry
    Pause(seconds, watermark, passed)  nothing now; look again after so many seconds
    None                               the end

An element is the name of a log, and its restriction is the range of positions that is still to be
read (:mod:`transforms.sources.ranges`). After some hundred entries, half a second, or at a pause,
the DoFn checkpoints itself (``defer_remainder``): the runner commits what was emitted together with
the rest of the range, so a failure neither loses an entry nor brings one into committed state
twice. A log is never shared out between workers, because its order is its meaning.

The watermark is what the readers vouch for. It is part of the runner's checkpoint, in whole
milliseconds, and never moves back: entries behind it are late, which loses nothing. When a log ends
its watermark goes to the end of time.

Ranges are bytes under ``BytesCoder``, watermarks whole numbers under ``VarIntCoder``, so that no
pickle enters the graph. Open readers are kept in the process under the position at which they stand
(:class:`ReaderCache`), and one that stands elsewhere is not used: they are no state, only speed.
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
from apache_beam.transforms.core import RestrictionProvider, WatermarkEstimatorProvider
from apache_beam.utils.timestamp import MIN_TIMESTAMP, Duration

from model.dead_letters import DeadLetter
from model.records import Document
from model.settings import TokeniserSettings
from transforms.read import Documents, Emit
from transforms.sources.ranges import LogRange, LogWatermark, Position, RangeTracker

_RANGE = beam.DoFn.RestrictionParam()
_WATERMARK = beam.DoFn.WatermarkEstimatorParam()

# A bundle reads so much of a log at most: small enough that the watermark moves on, large enough
# that a bundle's cost does not count.
BUNDLE_ENTRIES = 1000
BUNDLE_BYTES = 4 * 2**20
# A runner's checkpoint, and everything that waits for the watermark, waits for the end of the
# bundle: entries may come slowly.
BUNDLE_SECONDS = 0.5
# A log that was not read for so long is read elsewhere by now. How many wait is not limited: logs
# are read in turn, and with one above a limit each would lose its reader just before its next
# bundle.
_UNUSED_SECONDS = 600.0
_START = int(MIN_TIMESTAMP.micros)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a log; ``watermark`` (microseconds): nothing behind it is expected to be
    earlier. None: no news.
    """

    position: Position
    item: Document | DeadLetter
    watermark: int | None


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing to read for some seconds. ``passed``: the last position that was passed since an
    entry because nothing stands there.
    """

    seconds: float
    watermark: int | None = None
    passed: Position | None = None


class Reader(Protocol):
    """An open log. ``position`` is where it stands: behind what was taken or passed last, or
    where it was opened.
    """

    position: Position

    def take(self) -> Entry | Pause | None: ...

    def close(self) -> None: ...


class ReaderCache:
    """Open readers that wait for the next bundle of their log; those that nobody took for ten
    minutes are closed.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._readers: OrderedDict[Hashable, tuple[Reader, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, log: Hashable, start: Position) -> Reader | None:
        """The reader of a log if it stands at ``start``; nobody else can have it then. One that
        stands elsewhere is closed.
        """
        with self._lock:
            reader, _ = self._readers.pop(log, (None, 0.0))
        if reader is not None and reader.position != start:
            reader.close()
            return None
        return reader

    def put(self, log: Hashable, reader: Reader) -> None:
        """Keep a reader."""
        now = self._clock()
        with self._lock:
            gone = [self._readers.pop(log)] if log in self._readers else []
            self._readers[log] = reader, now
            while now - next(iter(self._readers.values()))[1] >= _UNUSED_SECONDS:
                gone.append(self._readers.popitem(last=False)[1])
        for closing, _ in gone:
            closing.close()


# One for the process: a runner makes and drops the steps' objects as it likes.
READER_CACHE = ReaderCache()


class _LogProvider(RestrictionProvider, WatermarkEstimatorProvider):
    """Ranges and watermarks of :class:`LogSourceDoFn`, which says where a log begins."""

    @abstractmethod
    def range_of(self, element: bytes) -> LogRange:
        """The whole range of a log."""

    def initial_restriction(self, element: bytes) -> bytes:
        return self.range_of(element).to_bytes()

    def create_tracker(self, restriction: bytes) -> RangeTracker:
        return RangeTracker(restriction)

    def restriction_coder(self) -> Coder:
        return BytesCoder()

    def restriction_size(self, element: bytes, restriction: bytes) -> int:
        # Runners share out work by sizes, and a log cannot be shared out.
        return 1

    def truncate(self, element: bytes, restriction: bytes) -> None:
        """A drained stream reads no further."""

    def initial_estimator_state(self, element: bytes, restriction: bytes) -> int:
        return _START

    def create_watermark_estimator(self, estimator_state: int) -> LogWatermark:
        return LogWatermark(estimator_state)

    def estimator_state_coder(self) -> Coder:
        return VarIntCoder()


class LogSourceDoFn(Emit, _LogProvider):
    """Logs to documents at their event times, tokenised where that is asked for; dead letters to
    the side, at the watermark.
    """

    def __init__(self, tokeniser: TokeniserSettings | None) -> None:
        super().__init__(tokeniser)

    @abstractmethod
    def open(self, element: bytes, start: Position) -> Reader:
        """A reader that stands at ``start``."""

    @abstractmethod
    def name_of(self, element: bytes) -> Hashable:
        """What tells a log, as this DoFn reads it, from every other that this process may read."""

    @beam.DoFn.unbounded_per_element()
    def process(
        self, element: bytes, tracker: Any = _RANGE, estimator: Any = _WATERMARK
    ) -> Iterator[Any]:
        name, start = (
            self.name_of(element),
            LogRange.from_bytes(tracker.current_restriction()).start,
        )
        reader = READER_CACHE.take(name, start) or self.open(element, start)
        wait = None
        try:
            wait = yield from self._read(reader, tracker, estimator)
        finally:
            if wait is None:
                reader.close()
        if wait is not None:
            READER_CACHE.put(name, reader)
            tracker.defer_remainder(Duration(wait))

    def _read(
        self, reader: Reader, tracker: Any, estimator: Any
    ) -> Generator[Any, None, float | None]:
        """Emit a bundle's worth; returns the seconds to wait for more, None when this call must
        read no further.
        """
        stop, size = LogRange.from_bytes(tracker.current_restriction()).stop, 0
        end = time.monotonic() + BUNDLE_SECONDS
        for _ in range(BUNDLE_ENTRIES):
            taken = reader.take()
            if taken is None:
                tracker.try_claim(stop)
                return None
            # What is passed is claimed as well: the rest of the range begins where the reader
            # stands, so the next bundle goes on with it.
            reached = taken.position if isinstance(taken, Entry) else taken.passed
            if reached is not None and not tracker.try_claim(reached):
                return None
            if isinstance(taken, Entry):
                size += len(taken.item.text) if isinstance(taken.item, Document) else 0
                yield self.emit(taken.item, estimator.current_watermark())
            if taken.watermark is not None:
                estimator.advance(taken.watermark)
            if isinstance(taken, Pause):
                return taken.seconds
            if size >= BUNDLE_BYTES or time.monotonic() >= end:
                break
        return 0.0


def break_fusion(read: Documents) -> Documents:
    """The documents behind a shuffle. The local runner would otherwise fire the timers of a
    stateful step that follows at the end of each bundle of the source, long before the watermark is
    there, and nearly every document would be late.
    """
    return Documents(
        read.documents | "Apart" >> beam.Reshuffle().with_output_types(bytes), read.dead_letters
    )
