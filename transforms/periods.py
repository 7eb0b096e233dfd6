"""Base class of steps in which records wait for the end of their period of event time.

Records wait in state until event time has passed the end of their period (:mod:`model.pending`).
An event-time timer of the period closes it; no clock is read. Results therefore come later, by up
to a period. In a job that does not stream, one firing at the end of the input closes all periods
(:class:`transforms.stateful.TimerSchedule`). A record that comes after its period was closed waits
for the end of the first period that is open. No record is dropped.

Fixed windows with a GroupByKey would be shorter, but they lose groups on some runners.

Such a step needs a shuffle before it, so that it begins a stage. The local runner keeps the timers
of a fused stage by their names alone. If a stage had two such steps, it would give the timers of
one to the other. For the same reason no other step has a timer of this name.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from model import pending
from model.pending import PendingHead
from transforms.constants import LAST_TIME
from transforms.stateful import StatefulDoFn, TimerSchedule, timer_time


def due_of(head: PendingHead, micros: int, period: int) -> int:
    """Return when a record is due.

    A record is due at the end of its period, or of the first period that was not closed yet.

    Args:
        head: The head of the step.
        micros: The event time of the record in microseconds.
        period: The length of a period in microseconds.
    """
    end = (micros // period + 1) * period
    if head.done is not None and end <= head.done:
        end = (head.done // period + 1) * period
    return min(end, LAST_TIME)


class PeriodDoFn(StatefulDoFn[PendingHead]):
    """Base class; see the module's docstring.

    Args:
        period: The length of a period in microseconds.
        streams: Whether periods close while the source is read, or all at its end. See
            :class:`transforms.sequence.Sequence`.
    """

    HEAD = ReadModifyWriteStateSpec("head", BytesCoder())
    PENDING = BagStateSpec("pending", BytesCoder())
    PERIOD = TimerSpec("period", TimeDomain.WATERMARK)
    _HEAD = beam.DoFn.StateParam(HEAD)
    _PENDING = beam.DoFn.StateParam(PENDING)
    _PERIOD = beam.DoFn.TimerParam(PERIOD)

    def __init__(self, period: int, streams: bool) -> None:
        self._period = period
        self._schedule = TimerSchedule(streams, LAST_TIME)

    @abstractmethod
    def close_period(self, key: bytes, end: int, records: list[bytes]) -> Iterator[Any]:
        """Yield the outputs of the period that ended at ``end``."""

    @abstractmethod
    def is_full(self, key: bytes, head: PendingHead, bag: Any, due: int) -> bool:
        """Return whether too many records wait, now that another one waits for ``due``."""

    @abstractmethod
    def compact(self, key: bytes, head: PendingHead, bag: Any) -> tuple[Iterable[Any], PendingHead]:
        """Reduce the records that wait.

        Returns:
            The outputs of the records that leave the state, and the head afterwards.
        """

    def head_from(self, key: bytes, data: bytes | None) -> PendingHead:
        return PendingHead.from_bytes(data) if data else PendingHead()

    def process(
        self,
        element: tuple[bytes, bytes],
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = _HEAD,
        bag: Any = _PENDING,
        timer: Any = _PERIOD,
    ) -> Iterator[Any]:
        """Add a record to its period."""
        key, record = element
        before = self.read_head(key, head)
        due = due_of(before, time.micros, self._period)
        after = pending.add(before, self.mirrors.of(key), bag, due, record)
        if self.is_full(key, after, bag, due):
            outputs, after = self.compact(key, after, bag)
            yield from outputs
        self.set_timer(key, timer, self._schedule.time_of(due))
        self.write_head(key, after, head)

    @on_timer(PERIOD)
    def close(
        self,
        key: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = _HEAD,
        bag: Any = _PENDING,
    ) -> Iterator[Any]:
        """Close the periods that are due, in their order."""
        self.timer_fired(key, time)
        before = self.read_head(key, head)
        if before.due is None or before.due > time.micros:
            return
        if time.micros < LAST_TIME:
            mirror = pending.matched(before, self.mirrors.of(key), bag)
            waiting = [(due, mirror.at(due)) for due in mirror.due_by(time.micros)]
            after = pending.spend(before, mirror, bag, time.micros)
        else:
            # Records that come after this may belong to any period.
            waiting, after = self.take_all(key, before, bag)
        for due, records in waiting:
            for output in self.close_period(key, due, records):
                yield TimestampedValue(output, timer_time(due))
        self.write_head(key, after, head)

    def take_all(
        self, key: bytes, head: PendingHead, bag: Any
    ) -> tuple[list[tuple[int, list[bytes]]], PendingHead]:
        """Take out all records that wait.

        Returns:
            The records as [(due, records)], and the head afterwards.
        """
        mirror = pending.matched(head, self.mirrors.of(key), bag)
        waiting = [(due, mirror.at(due)) for due in mirror.dues]
        bag.clear()
        mirror.clear()
        return waiting, PendingHead(done=head.done)
