"""``GatherByPeriod``: what would be many small files of a stream, gathered into one for each period of event time.

    records: bytes -> paths of the files written

:mod:`transforms.write` writes a file for each bundle, and a streaming runner makes bundles of a tenth of a second. Here records wait in
state until the event time of their period has passed (:mod:`model.pending`), and are written by one event-time timer; never by the clock.
So they appear later, by up to a period, and the state holds a period of them, or :data:`MOST` of a shard, whichever is less. A file is
named after its content; one that a failed bundle wrote is written again, and has other records too only where more came in between.

    mixtures | GatherByPeriod("gs://bucket/mixtures", "mixtures", ".jsonl", mixtures_to_json_lines, 3_600_000_000)
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from functools import partial
from typing import Any

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import BagStateSpec, ReadModifyWriteStateSpec, TimerSpec, on_timer
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.timestamp import Timestamp

from model import pending
from model.errors import OptionError
from model.pending import PendingHead
from transforms.heads import KeepsHead, timer_time
from transforms.sequence import LAST_TIME, NAMESPACE
from transforms.write import Encoder, write_batch

# So many records of a shard are written at once, whatever their period.
MOST = 20_000
SHARDS = 4


def shard_of(record: bytes) -> bytes:
    """Which shard gathers a record: a function of its bytes alone."""
    return b"%d" % (zlib.crc32(record) % SHARDS)


def due_of(head: PendingHead, micros: int, period: int) -> int:
    """When a record of this time is written: at the end of its period, or of the first one that was not written yet."""
    end = (micros // period + 1) * period
    if head.done is not None and end <= head.done:
        end = (head.done // period + 1) * period
    return min(end, LAST_TIME)


class GatherDoFn(KeepsHead[PendingHead]):
    """See the module's docstring; keyed by :func:`shard_of`."""

    HEAD = ReadModifyWriteStateSpec("head", BytesCoder())
    PENDING = BagStateSpec("pending", BytesCoder())
    PERIOD = TimerSpec("period", TimeDomain.WATERMARK)
    _HEAD = beam.DoFn.StateParam(HEAD)
    _PENDING = beam.DoFn.StateParam(PENDING)
    _PERIOD = beam.DoFn.TimerParam(PERIOD)

    def __init__(self, prefix: str, name: str, ending: str, encode: Encoder, period: int) -> None:
        self._write = partial(write_batch, prefix, name, ending, encode)
        self._period = period
        self._name = f"{name.replace('-', '_')}_written"

    def setup(self) -> None:
        super().setup()
        self._written = Metrics.counter(NAMESPACE, self._name)

    def head_from(self, key: bytes, data: bytes | None) -> PendingHead:
        return PendingHead.from_bytes(data) if data else PendingHead()

    def process(
        self,
        element: tuple[bytes, bytes],
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = _HEAD,
        bag: Any = _PENDING,
        timer: Any = _PERIOD,
    ) -> Iterator[str]:
        """A record came."""
        key, record = element
        before = self.read_head(key, head)
        after = pending.add(before, self.mirrors.of(key), bag, due_of(before, time.micros, self._period), record)
        if after.live >= MOST:
            after = yield from self._write_due(key, after, bag, LAST_TIME)
        elif after.due != before.due:
            timer.set(timer_time(after.due or 0))
        self.write_head(key, after, head)

    @on_timer(PERIOD)
    def close(
        self,
        key: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = _HEAD,
        bag: Any = _PENDING,
        timer: Any = _PERIOD,
    ) -> Iterator[str]:
        """Write what is due, each period a file."""
        after = yield from self._write_due(key, self.read_head(key, head), bag, time.micros)
        if after.due is not None:
            timer.set(timer_time(after.due))
        self.write_head(key, after, head)

    def _write_due(self, key: bytes, head: PendingHead, bag: Any, time: int) -> Generator[str, None, PendingHead]:
        mirror = pending.matched(head, self.mirrors.of(key), bag)
        for due in mirror.due_by(time):
            records = mirror.at(due)
            yield self._write(records)
            self._written.inc(len(records))
        if time < LAST_TIME:
            return pending.spend(head, mirror, bag, time)
        # Nothing is left, and what still comes may be of any period.
        bag.clear()
        mirror.clear()
        return PendingHead(done=head.done)


class GatherByPeriod(beam.PTransform):
    """See the module's docstring.

    Args:
        prefix, name, ending, encode: as in :class:`transforms.write.WriteRecords`. period: of event time, microseconds.

    Raises:
        OptionError: the period is not above 0.
    """

    def __init__(self, prefix: str, name: str, ending: str, encode: Encoder, period: int) -> None:
        super().__init__()
        if period <= 0:
            raise OptionError("--file_period", period, "a length of time above 0", "Give for example 1h.")
        self._fn = GatherDoFn(prefix, name, ending, encode, period)

    def expand(self, records: beam.PCollection) -> beam.PCollection:
        return (
            records
            | "Global" >> beam.WindowInto(GlobalWindows())
            | "Shard" >> beam.WithKeys(shard_of).with_output_types(tuple[bytes, bytes])
            | "Gather" >> beam.ParDo(self._fn).with_output_types(str)
        )
