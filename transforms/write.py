"""Write records to a few large files that are named after their content.

    records: bytes -> paths of the files written

:mod:`beam_topics.model.reporting.encoding` makes the bytes of a file. A reader sees a whole file or
none. On a local disk a file is written under a temporary name in its folder and then renamed.
Object stores do this by themselves. There are three ways.

:class:`WriteRecords` collects the records of a bundle. It writes them when the bundle ends, or
earlier when they reach 32 MB. The records of a file are sorted, encoded and appended in parts of
2 MB (:class:`GrowingFile`), so the step holds no more. A bundle that is retried writes the same
file again. If a runner cuts its bundles differently at the second attempt, or gives their records
in another order, a record may be in two files: it is written at least once. The key of a mixture is
(key, id, timestamp, model version).

    mixtures | WriteMixtures("gs://bucket/mixtures", "avro")

:class:`WriteByPeriod` is for a runner that streams, whose bundles last a tenth of a second. Records
wait in state for the end of their period of event time (:mod:`beam_topics.transforms.shared`), so
they appear later, by up to a period. A shard writes earlier when it holds :data:`MAX_RECORDS`
records or :data:`FLUSH_BYTES` bytes. A bundle that is retried writes the same file again, unless
more records came in between.

    mixtures | WriteByPeriod(
        "gs://bucket/mixtures", "mixtures", ".jsonl", mixtures_to_json_lines, 3_600_000_000,
        streams=True,
    )

:class:`WriteArchive` writes documents as Avro files that can be replayed, one for each period of
event time: ``archive-<start>-<content>.avro``. Periods are aligned to 1970-01-01 UTC. A file holds
its documents in the order of (time, id, content). Reading the archive gives the same documents,
whatever the source was. Their model key is the field ``key``. The source must be bounded: nothing
is written before it ends. One worker holds the documents of a period in memory, so choose a period
that fits.

    (documents, dead_letters) = pipeline | ReadDocuments(["posts/*.jsonl.gz"], ReadSettings(), None)
    documents | WriteArchive("archive", period_micros)
    dead_letters | WriteDeadLetters("archive/dead")
"""

from __future__ import annotations

import errno
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import apache_beam as beam
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import KV
from apache_beam.utils.windowed_value import WindowedValue

from beam_topics.model.documents.document import Document
from beam_topics.model.documents.pending import PendingHead
from beam_topics.model.errors import FULL_DISK, OutputError, one_of
from beam_topics.model.publishing.local_files import write_temporary
from beam_topics.model.reporting.encoding import (
    MARKER_BYTES,
    content_name,
    continued,
    documents_to_avro,
    joined_name,
    json_lines,
    mixtures_to_avro,
    mixtures_to_json_lines,
    record_count,
)
from beam_topics.model.times import DURATION_UNITS, to_compact_iso
from beam_topics.transforms.shared import GLOBAL, NAMESPACE, ByPeriod, PeriodDoFn

# The records of a file, and those of them that are sorted and encoded together.
FLUSH_BYTES, PART_BYTES = 32 * 2**20, 2 * 2**20

Encoder = Callable[[Sequence[bytes]], bytes]

_MIXTURES: dict[str, Encoder] = {"jsonl": mixtures_to_json_lines, "avro": mixtures_to_avro}


def write_file(path: str, data: bytes) -> None:
    """Write a file and the folders above it, so that no reader sees a part of it.

    Raises:
        OutputError: The local disk is full, or the folder cannot be written.
    """
    if FileSystems.get_scheme(path) is None:
        with _with_remedy(path):
            target = Path(path).absolute()
            # The name begins with a dot, so a glob over the folder does not match it.
            new = Path(write_temporary(str(target), data))
            try:
                new.replace(target)
            finally:
                new.unlink(missing_ok=True)
    else:
        with FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
            stream.write(data)


@contextmanager
def _with_remedy(path: str) -> Iterator[None]:
    """Say what to do where a local file cannot be written."""
    try:
        yield
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = FULL_DISK if is_full else "Give a folder that this user may write."
        raise OutputError(
            f"{Path(path).parent} cannot be written: {error.strerror}. {remedy}"
        ) from error


def write_batch(
    prefix: str, name: str, ending: str, encode: Encoder, records: Sequence[bytes]
) -> str:
    """Write a batch as ``<prefix>/<name>-<content><ending>`` and return the path."""
    path = FileSystems.join(prefix, f"{name}-{content_name(records)}{ending}")
    write_file(path, encode(records))
    return path


class GrowingFile:
    """A file that gets its records part by part, and its name from their content.

    Its parts are appended to a file that no reader sees: on a local disk to one whose name begins
    with a dot in the same folder, which is renamed at the end; for an object store to one without a
    name on the disk of the worker, which is sent at the end. A file of one part is written at once,
    by :func:`write_batch`.

    Args:
        prefix, name, ending, encode: As those of :func:`write_batch`.
    """

    def __init__(self, prefix: str, name: str, ending: str, encode: Encoder) -> None:
        self._prefix, self._name, self._ending, self._encode = prefix, name, ending, encode
        self._parts: list[str] = []
        self._file: IO[bytes] | None = None
        self._hidden, self._marker = "", b""

    def add(self, records: Sequence[bytes]) -> None:
        """Append records, sorted among themselves; there is at least one."""
        data = self._encode(records)
        with _with_remedy(self._path("")):
            if self._file is None:
                self._file, self._marker = self._opened(), data[-MARKER_BYTES:]
            else:
                data = continued(data, self._marker)
            self._file.write(data)
        self._parts.append(content_name(records))

    def _opened(self) -> IO[bytes]:
        if FileSystems.get_scheme(self._prefix) is not None:
            return TemporaryFile()
        self._hidden = write_temporary(str(Path(self._path("")).absolute()), b"")
        return Path(self._hidden).open("ab")

    def _path(self, content: str) -> str:
        return FileSystems.join(self._prefix, f"{self._name}-{content}{self._ending}")

    def end(self, records: Sequence[bytes]) -> str:
        """Append the last records, if there are any, and return the path of the whole file."""
        if self._file is None:
            return write_batch(self._prefix, self._name, self._ending, self._encode, records)
        if records:
            self.add(records)
        path = self._path(joined_name(self._parts))
        if self._hidden:
            with _with_remedy(path):
                self._file.flush()
                os.fsync(self._file.fileno())
                Path(self._hidden).replace(path)
        else:
            self._file.seek(0)
            with FileSystems.create(path, compression_type=CompressionTypes.UNCOMPRESSED) as stream:
                shutil.copyfileobj(self._file, stream)
        self.drop()
        return path

    def drop(self) -> None:
        """Start over; what was appended but not ended is gone."""
        if self._file is not None:
            # On a full disk closing fails, because it writes the rest.
            with suppress(OSError):
                self._file.close()
        if self._hidden:
            Path(self._hidden).unlink(missing_ok=True)
        self._file, self._hidden, self._parts = None, "", []


class _WriteBatches(beam.DoFn):
    def __init__(self, file: GrowingFile, name: str) -> None:
        self._file = file
        self._written = Metrics.counter(NAMESPACE, f"{name.replace('-', '_')}_written")

    def start_bundle(self) -> None:
        self._file.drop()
        self._batch: list[bytes] = []
        self._records = self._part = self._size = 0

    def teardown(self) -> None:
        self._file.drop()

    def process(self, element: bytes) -> Iterator[str]:
        self._batch.append(element)
        self._records += record_count(element)
        self._part += len(element)
        self._size += len(element)
        if self._size >= FLUSH_BYTES:
            yield self._flush()
        elif self._part >= PART_BYTES:
            self._file.add(self._batch)
            self._batch, self._part = [], 0

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._records:
            yield WindowedValue(self._flush(), GLOBAL[0].max_timestamp(), GLOBAL)

    def _flush(self) -> str:
        path = self._file.end(self._batch)
        self._written.inc(self._records)
        self.start_bundle()
        return path


class WriteRecords(beam.PTransform):
    """Write bytes to files ``<prefix>/<name>-<content><ending>``; gives their paths.

    Args:
        prefix: The folder.
        name: The beginning of the file names. It names the counter too.
        ending: The end of the file names.
        encode: A function that makes the bytes of a file from a batch in any order.
    """

    def __init__(self, prefix: str, name: str, ending: str, encode: Encoder) -> None:
        super().__init__()
        self._fn = _WriteBatches(GrowingFile(prefix, name, ending, encode), name)

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
        super().__init__(prefix, "mixtures", f".{output_format}", mixture_encoder(output_format))


class WriteDeadLetters(WriteRecords):
    """Write dead letters (JSON) to ``dead-letters-*.jsonl``; gives the paths."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix, "dead-letters", ".jsonl", json_lines)


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


class WriteByPeriod(ByPeriod):
    """Write records to one file for each period and shard; gives the paths.

    Args:
        prefix: The folder.
        name: The beginning of the file names. It names the counter too.
        ending: The end of the file names.
        encode: A function that makes the bytes of a file from a batch in any order.
        period: The length of a period of event time in microseconds.
        streams: Whether periods close while the source is read, or all at its end. See
            :class:`beam_topics.transforms.sequence.Sequence`.
    """

    def __init__(
        self, prefix: str, name: str, ending: str, encode: Encoder, period: int, *, streams: bool
    ) -> None:
        step = WriteByPeriodDoFn(prefix, name, ending, encode, period, streams=streams)
        super().__init__(("Shard", beam.Map(_sharded)), "Gather", step, str)


def _sharded(record: bytes) -> tuple[bytes, bytes]:
    return shard_of(record), record


def shard_start(document: bytes, period: int) -> tuple[int, bytes]:
    """Return the start of the document's period in microseconds, and the document."""
    time = Document.from_bytes(document).timestamp
    return time - time % period, document


def write_shard(shard: tuple[int, Iterable[bytes]], prefix: str) -> str:
    """Write the documents of one period and return the path.

    A document that the source has twice is in the file twice.
    """
    start, documents = shard
    name = f"archive-{to_compact_iso(start)}"
    return write_batch(prefix, name, ".avro", documents_to_avro, ranked(documents))


def ranked(documents: Iterable[bytes]) -> list[bytes]:
    """Return documents with their rank among those of one time and id as their place.

    So what is written does not depend on where else the source had documents.
    """
    placed = sorted(
        (d.timestamp, d.id, d.arrived, replace(d, arrived=0).to_bytes())
        for d in map(Document.from_bytes, documents)
    )
    found = []
    for _, group in groupby(placed, itemgetter(0, 1)):
        for rank, (*_, document) in enumerate(group):
            found.append(replace(Document.from_bytes(document), arrived=rank).to_bytes())
    return found


# Thirty days of event time in one file.
SHARD_PERIOD = 30 * DURATION_UNITS["d"]


class WriteArchive(beam.PTransform):
    """Write documents (bytes of Document) to an archive; gives the paths of the files.

    Args:
        path: The folder of the archive.
        shard_period_micros: The event time that one file covers, in microseconds.
    """

    def __init__(self, path: str, shard_period_micros: int = SHARD_PERIOD) -> None:
        super().__init__()
        self._path = path
        self._period = shard_period_micros

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        return (
            documents
            | "Global" >> beam.WindowInto(GlobalWindows())
            | "Shard" >> beam.Map(shard_start, self._period).with_output_types(KV[int, bytes])
            | "Gather" >> beam.GroupByKey()
            | "Write" >> beam.Map(write_shard, self._path).with_output_types(str)
        )
