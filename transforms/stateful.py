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
from model.sequencing import FIRING_BYTES

_MIRRORS = 64


def timer_time(micros: int) -> Timestamp:
    """Return a timer's time in whole milliseconds, rounded up: some runners know no finer times."""
    return Timestamp(micros=-(-micros // 1000) * 1000)


@dataclass(frozen=True)
class TimerSchedule:
    """Decide when what waits in a step is due.

    A job that streams closes a window when event time has passed its end. In any other job
    everything is due once the input has ended, and one firing closes all windows in their order.

    Attributes:
        streams: Whether the job streams (:func:`pipelines.graphs.runners.streams`).
        end: When the step fires in a job that does not stream, in microseconds of event time.
    """

    streams: bool
    end: int

    def time_of(self, due: int) -> int:
        """Return when something fires whose event time is ``due``, in microseconds."""
        return due if self.streams else self.end


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
    """A stateful step with a head of type H and a mirror of its bag for each key.

    Each time that is due has an event-time timer of its own. A firing does not tell how far event
    time has come, only that it has passed the timer's own time. Where event time passes many
    windows at once, all of their timers are due at once, and the runner fires them in one bundle.
    One timer that is set again to the next time would fire once in each bundle. A runner fires
    timers in any order, so a firing takes everything that is due by its time, in the order of event
    time. A firing that leaves some of it sets its own timer again. What is due first then always
    has its timer, which holds the watermark.
    """

    def setup(self) -> None:
        self.mirrors = Mirrors()

    def start_bundle(self) -> None:
        self._heads: dict[bytes, H] = {}
        self._timers: set[tuple[bytes, int]] = set()
        self._budget = FIRING_BYTES

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

    def set_timer(self, key: bytes, timer: Any, micros: int) -> None:
        """Set the timer of a time, unless this bundle has set it and it has not fired."""
        time = timer_time(micros)
        if (key, time.micros) not in self._timers:
            self._timers.add((key, time.micros))
            timer.set(time, dynamic_timer_tag=str(time.micros))

    def timer_fired(self, key: bytes, time: Timestamp) -> None:
        """Note that the timer of a time has fired, so that it can be set again."""
        self._timers.discard((key, time.micros))

    def take_budget(self, taken: int) -> int:
        """Take bytes from what the firings of a bundle may emit.

        Returns:
            The bytes that are left, at least one: each firing emits something, so that it ends on a
            runner that fires a timer again in the same bundle.
        """
        self._budget -= taken
        return max(self._budget, 1)
