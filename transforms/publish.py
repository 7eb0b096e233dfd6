"""``Publish``: the islands' candidates into versions in the model store, and references to them.

    candidates: (key, bytes (Candidate)) -> references: (key, bytes (Manifest, JSON))

One stateful step for each model key, without timers; :mod:`model.publishing.publication` has the
logic. Its key is the model key, not (key, sequence): the topics of a version are matched with those
of the version before it, so versions must be made in their order. Candidates name the one before,
and those that come too early wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.transforms.userstate import BagStateSpec, ReadModifyWriteStateSpec
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from model.learner_log.options import LearnOptions
from model.publishing.candidates import Candidate
from model.publishing.publication import Publisher, PublishHead
from model.publishing.store import ModelStore
from transforms.constants import NAMESPACE


class PublishDoFn(beam.DoFn):
    """See the module's docstring; keyed by the model key's UTF-8 bytes."""

    HEAD = ReadModifyWriteStateSpec("head", BytesCoder())
    WAITING = BagStateSpec("waiting", BytesCoder())
    _HEAD = beam.DoFn.StateParam(HEAD)
    _WAITING = beam.DoFn.StateParam(WAITING)
    _NOW = beam.DoFn.TimestampParam

    def __init__(self, options: LearnOptions) -> None:
        self._options = options

    def setup(self) -> None:
        self._versions = Metrics.counter(NAMESPACE, "versions")
        self._store = ModelStore(self._options.store)

    def process(
        self,
        element: tuple[bytes, bytes],
        now: Any = _NOW,
        head: Any = _HEAD,
        waiting: Any = _WAITING,
    ) -> Iterator[TimestampedValue]:
        """Publish what this candidate completes."""
        key, data = element
        options = self._options
        publisher = Publisher(
            self._store, key.decode(), options.settings.islands, options.manifest_settings()
        )
        held = head.read()
        after, versions = publisher.handle(
            PublishHead.from_bytes(held) if held else PublishHead(),
            Candidate.from_bytes(data),
            waiting,
        )
        head.write(after.to_bytes())
        for at, manifest in versions:
            self._versions.inc()
            # What an earlier job published is past: at its own time it would not hold the
            # watermark.
            yield TimestampedValue((key, manifest.to_json()), max(Timestamp(micros=at), now))


class Publish(beam.PTransform):
    """Publish versions; gives the references (key, bytes). ``options`` are those of
    :class:`transforms.learn.Learn`.
    """

    def __init__(self, options: LearnOptions) -> None:
        super().__init__()
        self._options = options

    def expand(self, candidates: beam.PCollection) -> beam.PCollection:
        return candidates | "Publish" >> beam.ParDo(PublishDoFn(self._options)).with_output_types(
            tuple[bytes, bytes]
        )
