"""The restriction and the watermark of a log: the range that is left, and the time it has reached.

They belong to :class:`transforms.sources.log_source.LogSourceDoFn`. A position is a tuple of whole
numbers that grows along the log. A range holds the positions that are still to be read:

>>> tracker = RangeTracker(LogRange((0, 0), (2, 0)).to_bytes())
>>> tracker.try_claim((0, 4))
True
>>> [LogRange.from_bytes(part) for part in tracker.try_split(0)]
[LogRange(start=(0, 0), stop=(0, 5)), LogRange(start=(0, 5), stop=(2, 0))]
>>> tracker.try_claim((1, 0))
False
"""

from __future__ import annotations

from dataclasses import dataclass

from apache_beam.io.iobase import RestrictionProgress, RestrictionTracker, WatermarkEstimator
from apache_beam.utils.timestamp import Timestamp

from model import checks, wire

Position = tuple[int, ...]


def after(position: Position) -> Position:
    """Return the first position behind this one."""
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
        """Claim a position; return False at or behind the end of the range.

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
