"""Write the records of a stream to one file for each period of event time.

    records: bytes -> paths of the files written

:mod:`transforms.write` writes a file for each bundle, and the bundles of a streaming runner last a
tenth of a second. Here records wait in state for the end of their period
(:mod:`transforms.periods`), so they appear later, by up to a period. A shard writes earlier when it
holds :data:`MAX_RECORDS` records or :data:`transforms.write.FLUSH_BYTES` bytes.

A file is named after its content. A bundle that is retried writes the same file again, unless more
records came in between.

    mixtures | WriteByPeriod(
        "gs://bucket/mixtures", "mixtures", ".jsonl", mixtures_to_json_lines, 3_600_000_000,
        streams=True,
    )
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

# The number of waiting records of a shard at which all of them are written.
MAX_RECORDS = 20_000
SHARDS = 4


def shard_of(record: bytes) -> bytes:
    """Return the shard that holds a record, a function of its bytes alone."""
    return b"%d" % (zlib.crc32(record) % SHARDS)


class WriteByPeriodDoFn(PeriodDoFn):
    """Hold the records of a period and write them at its end; keyed by :func:`shard_of`."""

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
        return head.live >= MAX_RECORDS or head.size >= FLUSH_BYTES

    def compact(self, key: bytes, head: PendingHead, bag: Any) -> tuple[list[str], PendingHead]:
        """Write everything that waits."""
        waiting, head = self.take_all(key, head, bag)
        return [
            path for due, records in waiting for path in self.close_period(key, due, records)
        ], head


class WriteByPeriod(beam.PTransform):
    """Write records to one file for each period and shard; gives the paths.

    Args:
        prefix: The folder.
        name: The beginning of the file names. It names the counter too.
        ending: The end of the file names.
        encode: A function that makes the bytes of a file from a batch in any order.
        period: The length of a period of event time in microseconds.
        streams: Whether periods close while the source is read, or all at its end. See
            :class:`transforms.sequence.Sequence`.

    Raises:
        OptionError: The period is not above 0.
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
