"""``WriteMixtures``, ``WriteDeadLetters``: records to files, a few large ones, named after their
content.

    records: bytes -> paths of the files written

A DoFn without state gathers the records of a bundle and writes them when the bundle ends, or before
that at 32 MB. A bundle that is done again writes the same file again; if a runner cuts its bundles
otherwise the second time, a record may be in two files: at least once. A mixture's key is (key, id,
timestamp, model version). :mod:`model.encoding` makes the bytes. Where bundles are small, on a
runner that streams, :mod:`transforms.sinks.write_by_period` makes fewer and larger files.

    mixtures | WriteMixtures("gs://bucket/mixtures", "avro")

A file appears whole or not at all: on a local disk it is written beside its place and moved there;
    object stores do the same by themselves.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindow, GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from model.encoding import content_name, json_lines, mixtures_to_avro, mixtures_to_json_lines
from model.errors import FULL_DISK, OutputError, one_of
from model.files.leftovers import PREFIX, remove_leftovers
from transforms.constants import NAMESPACE

FLUSH_BYTES = 32 * 2**20

Encoder = Callable[[Sequence[bytes]], bytes]

_MIXTURES: dict[str, Callable[..., bytes]] = {
    "jsonl": mixtures_to_json_lines,
    "avro": mixtures_to_avro,
}


def write_file(path: str, data: bytes) -> None:
    """Write a file, with the folders above it, so that no reader ever sees a part of it.

    Raises:
        OutputError: the local disk is full, or the folder cannot be written.
    """
    if FileSystems.get_scheme(path) is None:
        try:
            _write_local(Path(path), data)
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
    path.parent.mkdir(parents=True, exist_ok=True)
    # A leading dot: a glob over the folder does not see it.
    handle, temporary = tempfile.mkstemp(prefix=PREFIX, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(0o644)
        remove_leftovers(Path(temporary))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_batch(
    prefix: str, name: str, ending: str, encode: Encoder, records: Sequence[bytes]
) -> str:
    """Write a batch as ``<prefix>/<name>-<content><ending>``; the path."""
    path = FileSystems.join(prefix, f"{name}-{content_name(records)}{ending}")
    write_file(path, encode(records))
    return path


class _WriteBatches(beam.DoFn):
    def __init__(
        self, prefix: str, name: str, ending: str, encode: Encoder, flush_bytes: int
    ) -> None:
        self._write = partial(write_batch, prefix, name, ending, encode)
        self._flush_bytes = flush_bytes
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
        self._written.inc(len(self._batch))
        self._batch = []
        self._size = 0
        return path


class WriteRecords(beam.PTransform):
    """Bytes to files ``<prefix>/<name>-<content><ending>``, whose bytes ``encode`` makes of a
    batch in any order.
    """

    def __init__(
        self, prefix: str, name: str, ending: str, encode: Encoder, flush_bytes: int = FLUSH_BYTES
    ) -> None:
        super().__init__()
        self._fn = _WriteBatches(prefix, name, ending, encode, flush_bytes)

    def expand(self, records: beam.PCollection) -> beam.PCollection:
        windowed = records | "Global" >> beam.WindowInto(GlobalWindows())
        return windowed | "Write" >> beam.ParDo(self._fn).with_output_types(str)


def mixture_encoder(output_format: str, top_topics: int) -> Encoder:
    """What makes a file of TopicMixture bytes.

    Raises:
        OptionError: the format is neither jsonl nor avro.
    """
    one_of("--output_format", output_format, tuple(_MIXTURES))
    return partial(_MIXTURES[output_format], top_topics=top_topics)


class WriteMixtures(WriteRecords):
    """TopicMixture bytes to ``mixtures-*.jsonl`` or ``.avro``. Raises OptionError: the format is
    neither.
    """

    def __init__(self, prefix: str, output_format: str = "jsonl", top_topics: int = 3) -> None:
        super().__init__(
            prefix, "mixtures", f".{output_format}", mixture_encoder(output_format, top_topics)
        )


class WriteDeadLetters(WriteRecords):
    """Dead letters (JSON) to ``dead-letters-*.jsonl``."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix, "dead-letters", ".jsonl", json_lines)
