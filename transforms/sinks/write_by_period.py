"""``WriteByPeriod``: what would be many small files of a stream, gathered into one for each period
of event time.

    records: bytes -> paths of the files written

:mod:`transforms.write` writes a file for each bundle, and a streaming runner makes bundles of a
tenth of a second. Here records wait for the end of their period (:mod:`transforms.periods`), so
they appear later, by up to a period, and the state holds a period of them, or :data:`MOST` records
or :data:`transforms.write.FLUSH_BYTES` of a shard, whichever is less. A file is named after its
content; one that a failed bundle wrote is written again, and has other records too only where more
came in between.

    mixtures | WriteByPeriod("gs://bucket/mixtures", "mixtures", ".jsonl", mixtures_to_json_lines,
    3_600_000_000, streams=True)
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindows

from model.errors import OptionError
from model.pending import PendingHead
from transforms.constants import NAMESPACE
from transforms.periods import PeriodDoFn
from transforms.write import FLUSH_BYTES, Encoder, write_batch

# So many records of a shard are written at once, whatever their period.
MOST = 20_000
SHARDS = 4


def shard_of(record: bytes) -> bytes:
    """Which shard gathers a record: a function of its bytes alone."""
    return b"%d" % (zlib.crc32(record) % SHARDS)


class WriteByPeriodDoFn(PeriodDoFn):
    """See the module's docstring; keyed by :func:`shard_of`."""

    def __init__(
        self, prefix: str, name: str, ending: str, encode: Encoder, period: int, *, streams: bool
    ) -> None:
        super().__init__(period, streams)
        self._write = partial(write_batch, prefix, name, ending, encode)
        self._name = f"{name.replace('-', '_')}_written"

    def setup(self) -> None:
        super().setup()
        self._written = Metrics.counter(NAMESPACE, self._name)

    def close_period(self, key: bytes, end: int, records: list[bytes]) -> Iterator[str]:
        yield self._write(records)
        self._written.inc(len(records))

    def is_full(self, key: bytes, head: PendingHead, bag: Any, due: int) -> bool:
        return head.live >= MOST or head.size >= FLUSH_BYTES

    def compact(self, key: bytes, head: PendingHead, bag: Any) -> tuple[list[str], PendingHead]:
        """Everything is written."""
        waiting, head = self.take_all(key, head, bag)
        return [
            path for due, records in waiting for path in self.close_period(key, due, records)
        ], head


class WriteByPeriod(beam.PTransform):
    """See the module's docstring.

    Args:
        prefix, name, ending, encode: as in :class:`transforms.write.WriteRecords`. period: of event
        time, microseconds. streams: whether periods close while the source is read, or all at its
        end, as in :class:`transforms.sequence.Sequence`.

    Raises:
        OptionError: the period is not above 0.
    """

    def __init__(
        self, prefix: str, name: str, ending: str, encode: Encoder, period: int, *, streams: bool
    ) -> None:
        super().__init__()
        if period <= 0:
            raise OptionError(
                "--file_period", period, "a length of time above 0", "Give for example 1h."
            )
        self._fn = WriteByPeriodDoFn(prefix, name, ending, encode, period, streams=streams)

    def expand(self, records: beam.PCollection) -> beam.PCollection:
        return (
            records
            | "Global" >> beam.WindowInto(GlobalWindows())
            | "Shard" >> beam.Map(_sharded).with_output_types(tuple[bytes, bytes])
            | "Apart" >> beam.Reshuffle()
            | "Gather" >> beam.ParDo(self._fn).with_output_types(str)
        )


def _sharded(record: bytes) -> tuple[bytes, bytes]:
    return shard_of(record), record
