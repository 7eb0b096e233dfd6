"""Write documents as time-sorted, sharded Avro files that can be replayed.

    documents: bytes (Document) -> paths of the files written

There is one file for each period of event time, ``archive-<start>-<content>.avro``. Periods are
aligned to 1970-01-01 UTC. A file holds its documents in the order of (time, id, content).
Reading the archive gives the same documents, whatever the source was. Their model key is the
field ``key``.

The source must be bounded: nothing is written before it ends. One worker holds the documents of a
period in memory, so choose a period that fits.

    (documents, dead_letters) = pipeline | ReadRecords(["posts/*.jsonl.gz"], ReadSettings())
    documents | WriteArchive("archive", period_micros)
    dead_letters | WriteDeadLetters("archive/dead")
"""

from __future__ import annotations

from collections.abc import Iterable

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints import KV

from model.encoding import documents_to_avro
from model.errors import OptionError
from model.records import Document
from model.times import to_compact_iso
from transforms.write import write_batch


def shard_start(document: bytes, period: int) -> tuple[int, bytes]:
    """Return the start of the document's period in microseconds, and the document."""
    time = Document.from_bytes(document).timestamp
    return time - time % period, document


def write_shard(shard: tuple[int, Iterable[bytes]], prefix: str) -> str:
    """Write the documents of one period and return the path.

    A document that the source has twice is in the file twice.
    """
    start, documents = shard
    return write_batch(
        prefix, f"archive-{to_compact_iso(start)}", ".avro", documents_to_avro, list(documents)
    )


class WriteArchive(beam.PTransform):
    """Write documents (bytes of Document) to an archive; gives the paths of the files.

    Args:
        path: The folder of the archive.
        shard_period_micros: The event time that one file covers, in microseconds.

    Raises:
        OptionError: The period is not above 0.
    """

    def __init__(self, path: str, shard_period_micros: int) -> None:
        super().__init__()
        if shard_period_micros <= 0:
            raise OptionError(
                "--shard_period", shard_period_micros, "a duration above 0", "Give for example 30d."
            )
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
