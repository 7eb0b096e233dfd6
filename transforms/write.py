"""Write records to a few large files that are named after their content.

    records: bytes -> paths of the files written

A stateless DoFn collects the records of a bundle. It writes them when the bundle ends, or earlier
when they reach 32 MB. A bundle that is retried writes the same file again. If a runner cuts its
bundles differently at the second attempt, a record may be in two files: it is written at least
once. The key of a mixture is (key, id, timestamp, model version). :mod:`model.encoding` makes the
bytes. On a runner that streams, bundles are small, and
:mod:`transforms.sinks.write_by_period` makes fewer and larger files.

    mixtures | WriteMixtures("gs://bucket/mixtures", "avro")

A reader sees a whole file or none. On a local disk a file is written under a temporary name in its
folder and then renamed. Object stores do this by themselves.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindow, GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from model.encoding import (
    content_name,
    json_lines,
    mixture_count,
    mixtures_to_avro,
    mixtures_to_json_lines,
)
from model.errors import FULL_DISK, OutputError, one_of
from model.publishing.local_files import write_beside
from transforms.constants import NAMESPACE

FLUSH_BYTES = 32 * 2**20

Encoder = Callable[[Sequence[bytes]], bytes]

_MIXTURES: dict[str, Encoder] = {
    "jsonl": mixtures_to_json_lines,
    "avro": mixtures_to_avro,
}


def write_file(path: str, data: bytes) -> None:
    """Write a file and the folders above it, so that no reader sees a part of it.

    Raises:
        OutputError: The local disk is full, or the folder cannot be written.
    """
    if FileSystems.get_scheme(path) is None:
        try:
            _write_local(Path(path).absolute(), data)
        except OSError as error:
            remedy = (
                FULL_DISK
                if error.errno in (errno.ENOSPC, errno.EDQUOT)
                else "Give a folder that this user may write."
            )
            raise OutputError(
                f"{Path(path).parent} cannot be written: {error.strerror}. {remedy}"
            ) from error
    else:
        with FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
            stream.write(data)


def _write_local(path: Path, data: bytes) -> None:
    # The name begins with a dot, so a glob over the folder does not match it.
    new = Path(write_beside(str(path), data))
    try:
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def write_batch(
    prefix: str, name: str, ending: str, encode: Encoder, records: Sequence[bytes]
) -> str:
    """Write a batch as ``<prefix>/<name>-<content><ending>`` and return the path."""
    path = FileSystems.join(prefix, f"{name}-{content_name(records)}{ending}")
    write_file(path, encode(records))
    return path


class _WriteBatches(beam.DoFn):
    def __init__(
        self,
        write: Callable[[Sequence[bytes]], str],
        name: str,
        flush_bytes: int,
        count: Callable[[bytes], int],
    ) -> None:
        self._write, self._flush_bytes, self._count = write, flush_bytes, count
        self._written = Metrics.counter(NAMESPACE, f"{name.replace('-', '_')}_written")
        self._batch: list[bytes] = []
        self._size = 0

    def start_bundle(self) -> None:
        self._batch = []
        self._size = 0

    def process(self, element: bytes) -> Iterator[str]:
        self._batch.append(element)
        self._size += len(element)
        if self._size >= self._flush_bytes:
            yield self._flush()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._batch:
            yield WindowedValue(self._flush(), GlobalWindow().max_timestamp(), [GlobalWindow()])

    def _flush(self) -> str:
        path = self._write(self._batch)
        self._written.inc(sum(map(self._count, self._batch)))
        self._batch = []
        self._size = 0
        return path


def _one(record: bytes) -> int:
    return 1


class WriteRecords(beam.PTransform):
    """Write bytes to files ``<prefix>/<name>-<content><ending>``; gives their paths.

    Args:
        prefix: The folder.
        name: The beginning of the file names. It names the counter too.
        ending: The end of the file names.
        encode: A function that makes the bytes of a file from a batch in any order.
        flush_bytes: The size of a batch at which it is written before the bundle ends.
        count: A function that tells how many records the counter counts for an element.
    """

    def __init__(
        self,
        prefix: str,
        name: str,
        ending: str,
        encode: Encoder,
        *,
        flush_bytes: int = FLUSH_BYTES,
        count: Callable[[bytes], int] = _one,
    ) -> None:
        super().__init__()
        write = partial(write_batch, prefix, name, ending, encode)
        self._fn = _WriteBatches(write, name, flush_bytes, count)

    def expand(self, records: beam.PCollection) -> beam.PCollection:
        windowed = records | "Global" >> beam.WindowInto(GlobalWindows())
        return windowed | "Write" >> beam.ParDo(self._fn).with_output_types(str)


def mixture_encoder(output_format: str) -> Encoder:
    """Return the function that makes a file of TopicMixture bytes.

    Raises:
        OptionError: The format is neither jsonl nor avro.
    """
    one_of("--output_format", output_format, tuple(_MIXTURES))
    return _MIXTURES[output_format]


class WriteMixtures(WriteRecords):
    """Write mixtures to ``mixtures-*.jsonl`` or ``.avro``; gives the paths.

    The elements are bytes of TopicMixture or of MixtureBlock.

    Args:
        prefix: The folder.
        output_format: ``jsonl`` or ``avro``.

    Raises:
        OptionError: The format is neither jsonl nor avro.
    """

    def __init__(self, prefix: str, output_format: str = "jsonl") -> None:
        encode = mixture_encoder(output_format)
        super().__init__(prefix, "mixtures", f".{output_format}", encode, count=mixture_count)


class WriteDeadLetters(WriteRecords):
    """Write dead letters (JSON) to ``dead-letters-*.jsonl``; gives the paths."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix, "dead-letters", ".jsonl", json_lines)
