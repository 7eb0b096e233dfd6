"""Base class and helpers of stateful steps that keep a head.

The *head* of a step is a small record with explicit bytes, one for each key. It says what the rest
of the state must contain. A step reads the head once for each bundle and key, and afterwards it
reads what it wrote itself. If a bundle fails, the runner discards its writes, and the next bundle
reads the head again.

Mirrors (:mod:`model.pending`) live as long as the process. A step uses a mirror only if it agrees
with the head.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import apache_beam as beam
from apache_beam.utils.timestamp import Timestamp

from model.pending import Mirror

_MIRRORS = 64


def timer_time(micros: int) -> Timestamp:
    """Return a timer's time in whole milliseconds, rounded up: some runners know no finer times."""
    return Timestamp(micros=-(-micros // 1000) * 1000)


@dataclass(frozen=True)
class TimerSchedule:
    """Decide when the event-time timer of a step fires.

    A job that streams closes a window when event time has passed its end, so the timer is set to
    the earliest time that is due. In any other job everything is due once the input has ended. One
    firing at the end then closes all windows in their order, because each firing of a timer costs a
    bundle.

    Attributes:
        streams: Whether the job streams (:func:`pipelines.graphs.runners.streams`).
        end: When the step fires in a job that does not stream, in microseconds of event time.
    """

    streams: bool
    end: int

    def time_to_set(self, before: int | None, after: int | None) -> Timestamp | None:
        """Return the time to set the timer to, or None if the timer is right as it is.

        Args:
            before: The earliest due time at which the timer is set; None if it is not set.
            after: The earliest due time now; None if nothing is due.
        """
        if after is None or after == before:
            return None
        if self.streams:
            return timer_time(after)
        return timer_time(self.end) if before is None else None


class Mirrors:
    """The mirrors of the most recently used keys, for one instance of a DoFn."""

    def __init__(self, most: int = _MIRRORS) -> None:
        self._most = most
        self._by_key: OrderedDict[Any, Mirror] = OrderedDict()

    def of(self, key: Any) -> Mirror:
        """Return the mirror of a key, an empty one if the key has none."""
        mirror = self._by_key.setdefault(key, Mirror())
        self._by_key.move_to_end(key)
        while len(self._by_key) > self._most:
            self._by_key.popitem(last=False)
        return mirror


class Head(Protocol):
    """A record that can be written as bytes."""

    def to_bytes(self) -> bytes: ...


H = TypeVar("H", bound=Head)


class StatefulDoFn(beam.DoFn, Generic[H]):
    """A stateful step with a head of type H and a mirror of its bag for each key."""

    def setup(self) -> None:
        self.mirrors = Mirrors()

    def start_bundle(self) -> None:
        self._heads: dict[bytes, H] = {}

    @abstractmethod
    def head_from(self, key: bytes, data: bytes | None) -> H:
        """Return the head that the bytes hold, or the first head of the key if there are none."""

    def read_head(self, key: bytes, state: Any) -> H:
        """Return the head as this bundle has left it so far."""
        if key not in self._heads:
            self._heads[key] = self.head_from(key, state.read() or None)
        return self._heads[key]

    def write_head(self, key: bytes, head: H, state: Any) -> None:
        """Write a head to state and keep it for the rest of the bundle."""
        self._heads[key] = head
        state.write(head.to_bytes())
