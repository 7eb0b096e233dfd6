"""Choose the model version that labels each document of a stream that is being learned.

    (minibatches: (key, bytes), references: (key, bytes (Manifest)))
        -> documents: (bytes (Block), version), dead_letters: bytes (JSON)

The version ``""`` stands for the prior. The documents are taken from the numbered minibatches. Each
document is therefore labelled or dead-lettered exactly once, and its window is the one in which it
was learned.

The step is keyed by (key, hash of the id mod shards), and references go to all shards of their key.
Event-time timers (:class:`beam_topics.transforms.shared.StatefulDoFn`) wait for the end of each
window, or, in a job that does not stream, for the end of the input. A labelled document carries the
time at which its label was decided, which is the same in both kinds of job.
:mod:`beam_topics.model.inference.labelling` has the logic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import BagStateSpec, TimerSpec, on_timer
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from beam_topics.model.documents.block import Block, columns_of, key_and_count
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.inference.base import BeforeFirstModel, LabelWith
from beam_topics.model.inference.labelling import (
    NO_MODEL,
    LabelHead,
    Labeller,
    Labels,
    Reference,
    due_of,
)
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.transforms.read import Documents, documents_of
from beam_topics.transforms.shared import (
    END_OF_LABELS,
    NAMESPACE,
    Refusals,
    StatefulDoFn,
    part_key,
    timer_time,
)

_DOCUMENTS, _REFERENCE = b"d", b"r"
_END_BYTES = 8


def shard_of(document_id: str, shards: int) -> int:
    """Return the shard that labels a document, a function of its id alone."""
    return int.from_bytes(hashlib.sha256(document_id.encode()).digest()[:8], "big") % shards


def documents_by_shard(element: tuple[bytes, bytes], shards: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield the documents of a numbered minibatch by shard, with the end of their window.

    An end marker has no documents.
    """
    key, data = element
    link = NumberedMinibatch.from_bytes(data)
    if link.is_end:
        return
    minibatch = link.minibatch()
    end = minibatch.window_end.to_bytes(_END_BYTES, "big", signed=True)
    rows: dict[int, list[int]] = {}
    for row, name in enumerate(minibatch.ids):
        rows.setdefault(shard_of(name, shards), []).append(row)
    block = Block(**columns_of(minibatch))
    for shard, part in rows.items():
        yield part_key(key, shard), _DOCUMENTS + end + block.take(part).to_bytes()


def references_by_shard(element: tuple[bytes, bytes], shards: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield a reference for every shard of its key."""
    key, data = element
    for shard in range(shards):
        yield part_key(key, shard), _REFERENCE + data


class LabelDoFn(StatefulDoFn[LabelHead]):
    """Label documents with versions; keyed by :func:`~beam_topics.transforms.shared.part_key`."""

    STAGE, END = "labelled", END_OF_LABELS
    PENDING = BagStateSpec("pending", BytesCoder())
    WAITING = BagStateSpec("waiting", BytesCoder())
    WINDOW = TimerSpec("label", TimeDomain.WATERMARK)
    _PENDING = beam.DoFn.StateParam(PENDING)
    _WAITING = beam.DoFn.StateParam(WAITING)
    _WINDOW = beam.DoFn.TimerParam(WINDOW)

    def __init__(
        self, before_first_model: BeforeFirstModel, label_with: LabelWith, streams: bool
    ) -> None:
        self._labeller = Labeller(before_first_model, label_with)
        self._streams = streams

    def setup(self) -> None:
        super().setup()
        self._labelled = Metrics.counter(NAMESPACE, "labelled")
        self._refusals = Refusals((NO_MODEL,))

    def head_from(self, key: bytes, data: bytes | None) -> LabelHead:
        return LabelHead.from_bytes(data) if data else LabelHead()

    def process(
        self,
        element: tuple[bytes, bytes],
        now: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        pending: Any = _PENDING,
        waiting: Any = _WAITING,
        timer: Any = _WINDOW,
    ) -> Iterator[Any]:
        """Take documents or a reference."""
        key, data = element
        before = self.read_head(key, head)
        if data[:1] == _REFERENCE:
            labels = self._labeller.reference(before, waiting, _reference(data[1:]))
        else:
            end = int.from_bytes(data[1 : 1 + _END_BYTES], "big", signed=True)
            labels = self._labeller.documents(
                before, self.mirror(key), pending, waiting, end=end, block=data[1 + _END_BYTES :]
            )
            if labels.head.pending.live > before.pending.live:
                self.set_timer(key, timer, self.fires_at(due_of(before, end)))
        self._wait_for_version(key, labels.head, timer)
        self.write_head(key, labels.head, head)
        yield from self._outputs(labels, now)

    @on_timer(WINDOW)
    def decide(
        self,
        key: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        pending: Any = _PENDING,
        waiting: Any = _WAITING,
        timer: Any = _WINDOW,
    ) -> Iterator[Any]:
        """Label the documents that are due, one due time after the other.

        The result is as if the timer had fired at each due time.
        """
        self.timer_fired(key, time)
        current, budget = self.read_head(key, head), self.take_budget(0)
        while budget > 0 and (due := current.wake()) is not None and due <= time.micros:
            labels = self._labeller.fire(current, self.mirror(key), pending, waiting, due)
            current = labels.head
            size = sum(len(block) for block, _ in labels.labelled)
            budget -= size
            self.take_budget(size)
            yield from self._outputs(labels, timer_time(due))
        if budget > 0 and time.micros >= END_OF_LABELS:
            labels = self._labeller.end(current, waiting)
            current = labels.head
            yield from self._outputs(labels, time)
        self.write_head(key, current, head)
        self._wait_for_version(key, current, timer)
        if (due := current.wake()) is not None and due <= time.micros:
            self.set_timer(key, timer, time.micros)

    def _wait_for_version(self, key: bytes, head: LabelHead, timer: Any) -> None:
        """Set the timer of the documents that wait for the first version, which may never come."""
        if head.waiting:
            first = head.first_due()
            self.set_timer(key, timer, END_OF_LABELS if first is None else self.fires_at(first))

    def _outputs(self, labels: Labels, at: Timestamp) -> Iterator[Any]:
        for pair in labels.labelled:
            self._labelled.inc(key_and_count(pair[0])[1])
            self.event_time.reached(int(at.micros))
            yield TimestampedValue(pair, at)
        for letter in labels.dead_letters:
            yield self._refusals.refuse(letter, at)


class Label(beam.PTransform):
    """Choose versions; applied to (minibatches, references).

    It gives :class:`beam_topics.transforms.read.Documents`: (documents, version), and dead letters.

    Args:
        before_first_model: What to do with a document that no version precedes. See
            :mod:`beam_topics.model.inference.labelling`.
        label_with: ``window``, or ``latest``, which labels at once and is not reproducible.
        shards: The number of labellers of a key.
        streams: Whether documents are labelled while the source is read, or all at its end. See
            :class:`beam_topics.transforms.sequence.Sequence`.
    """

    def __init__(
        self,
        before_first_model: BeforeFirstModel = "wait",
        label_with: LabelWith = "window",
        shards: int = 4,
        *,
        streams: bool,
    ) -> None:
        super().__init__()
        self._shards = shards
        self._label = LabelDoFn(before_first_model, label_with, streams)

    def expand(self, inputs: tuple[beam.PCollection, beam.PCollection]) -> Documents:
        minibatches, references = inputs
        documents = minibatches | "Documents" >> beam.FlatMap(
            documents_by_shard, self._shards
        ).with_output_types(tuple[bytes, bytes])
        versions = references | "To shards" >> beam.FlatMap(
            references_by_shard, self._shards
        ).with_output_types(tuple[bytes, bytes])
        together = (documents, versions) | "Together" >> beam.Flatten()
        return documents_of(together, "Label", self._label, tuple[bytes, str])


def _reference(data: bytes) -> Reference:
    manifest = Manifest.from_json(data, "a reference")
    return Reference(manifest.event_time, manifest.sequence, manifest.version)
