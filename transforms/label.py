"""``Label``: which model version labels each document of a stream that is being learned.

    (minibatches: (key, bytes), references: (key, bytes (Manifest)))
        -> documents: (bytes (TokenisedDocument), version; "" is the prior), dead_letters: bytes
        (JSON)

The documents are taken from the numbered minibatches, so each is labelled or dead-lettered exactly
once, and a document's window is the one that it was learned in. The step is keyed by (key, hash of
the id mod shards); references go to all shards of their key. One event-time timer per shard
(:class:`transforms.stateful.Wake`) waits for the windows' ends, or in a job that does not stream
for the end of the input. A labelled document carries the time at which its label was decided, which
is the same in both. :mod:`model.inference.labelling` has the logic.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from model.inference.labelling import (
    NO_MODEL,
    BeforeFirstModel,
    LabelHead,
    Labeller,
    Labels,
    LabelWith,
    Reference,
)
from model.publishing.manifest import Manifest
from model.records import NumberedMinibatch
from model.sequencing import FIRING_BYTES
from transforms.sequence import DEAD_LETTERS, END_OF_LABELS, NAMESPACE
from transforms.stateful import KeepsHead, Wake, timer_time

_DOCUMENT, _REFERENCE = b"d", b"r"
_SHARD_BYTES, _END_BYTES = 4, 8


class Labelled(NamedTuple):
    """What :class:`Label` gives."""

    documents: beam.PCollection
    dead_letters: beam.PCollection


def shard_key(key: bytes, shard: int) -> bytes:
    """The Beam key of one shard of a model key."""
    return shard.to_bytes(_SHARD_BYTES, "big") + key


def shard_of(document_id: str, shards: int) -> int:
    """Which shard labels a document: a function of its id alone."""
    return int.from_bytes(hashlib.sha256(document_id.encode()).digest()[:8], "big") % shards


def documents_by_shard(element: tuple[bytes, bytes], shards: int) -> Iterator[tuple[bytes, bytes]]:
    """The documents of a numbered minibatch, each with its window's end; none of an end marker."""
    key, data = element
    link = NumberedMinibatch.from_bytes(data)
    if link.is_end:
        return
    minibatch = link.minibatch()
    end = minibatch.window_end.to_bytes(_END_BYTES, "big", signed=True)
    for document in minibatch.documents():
        yield shard_key(key, shard_of(document.id, shards)), _DOCUMENT + end + document.to_bytes()


def references_by_shard(element: tuple[bytes, bytes], shards: int) -> Iterator[tuple[bytes, bytes]]:
    """A reference for every shard of its key."""
    key, data = element
    for shard in range(shards):
        yield shard_key(key, shard), _REFERENCE + data


class LabelDoFn(KeepsHead[LabelHead]):
    """See the module's docstring; keyed by :func:`shard_key`."""

    HEAD = ReadModifyWriteStateSpec("head", BytesCoder())
    PENDING = BagStateSpec("pending", BytesCoder())
    WAITING = BagStateSpec("waiting", BytesCoder())
    WINDOW = TimerSpec("label", TimeDomain.WATERMARK)
    _HEAD = beam.DoFn.StateParam(HEAD)
    _PENDING = beam.DoFn.StateParam(PENDING)
    _WAITING = beam.DoFn.StateParam(WAITING)
    _WINDOW = beam.DoFn.TimerParam(WINDOW)

    def __init__(
        self, before_first_model: BeforeFirstModel, label_with: LabelWith, streams: bool
    ) -> None:
        self._labeller = Labeller(before_first_model, label_with)
        self._wake = Wake(streams, END_OF_LABELS)

    def setup(self) -> None:
        super().setup()
        self._labelled = Metrics.counter(NAMESPACE, "labelled")
        self._no_model = Metrics.counter(NAMESPACE, f"dead_{NO_MODEL}")

    def head_from(self, key: bytes, data: bytes | None) -> LabelHead:
        return LabelHead.from_bytes(data) if data else LabelHead()

    def process(
        self,
        element: tuple[bytes, bytes],
        now: Timestamp = beam.DoFn.TimestampParam,
        head: Any = _HEAD,
        pending: Any = _PENDING,
        waiting: Any = _WAITING,
        timer: Any = _WINDOW,
    ) -> Iterator[Any]:
        """A document or a reference came."""
        key, data = element
        before = self.read_head(key, head)
        if data[:1] == _REFERENCE:
            labels = self._labeller.reference(before, waiting, _reference(data[1:]))
        else:
            end = int.from_bytes(data[1 : 1 + _END_BYTES], "big", signed=True)
            labels = self._labeller.document(
                before,
                self.mirrors.of(key),
                pending,
                waiting,
                end=end,
                document=data[1 + _END_BYTES :],
            )
        if (time := self._wake.moved(_target(before), _target(labels.head))) is not None:
            timer.set(time)
        self.write_head(key, labels.head, head)
        yield from self._outputs(labels, now)

    @on_timer(WINDOW)
    def decide(
        self,
        key: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = _HEAD,
        pending: Any = _PENDING,
        waiting: Any = _WAITING,
        timer: Any = _WINDOW,
    ) -> Iterator[Any]:
        """Label what is due by now, one due time after the other, as if the timer had fired at
        each of them.
        """
        current, budget = self.read_head(key, head), FIRING_BYTES
        while budget > 0 and (due := current.wake()) is not None and due <= time.micros:
            labels = self._labeller.fire(current, self.mirrors.of(key), pending, waiting, due)
            current = labels.head
            budget -= sum(len(document) for document, _ in labels.labelled)
            yield from self._outputs(labels, timer_time(due))
        if budget > 0 and time.micros >= END_OF_LABELS:
            labels = self._labeller.end(current, waiting)
            current = labels.head
            yield from self._outputs(labels, time)
        self.write_head(key, current, head)
        if (again := self._wake.moved(None, _target(current))) is not None:
            timer.set(again)

    def _outputs(self, labels: Labels, at: Timestamp) -> Iterator[Any]:
        for pair in labels.labelled:
            self._labelled.inc()
            yield TimestampedValue(pair, at)
        for letter in labels.dead_letters:
            self._no_model.inc()
            yield beam.pvalue.TaggedOutput(
                DEAD_LETTERS, TimestampedValue(letter.as_json().encode(), at)
            )


class Label(beam.PTransform):
    """Choose versions; applied to (minibatches, references), gives a :class:`Labelled`.

    Args:
        before_first_model: what becomes of a document without an earlier version, see
        :mod:`model.inference.labelling`. label_with: ``window``, or ``latest``: at once, and not
        reproducible. shards: how many labellers a key has. streams: whether documents are labelled
        while the source is read, or all at its end, as in :class:`transforms.sequence.Sequence`.
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

    def expand(self, inputs: tuple[beam.PCollection, beam.PCollection]) -> Labelled:
        minibatches, references = inputs
        documents = minibatches | "Documents" >> beam.FlatMap(
            documents_by_shard, self._shards
        ).with_output_types(tuple[bytes, bytes])
        versions = references | "To shards" >> beam.FlatMap(
            references_by_shard, self._shards
        ).with_output_types(tuple[bytes, bytes])
        step = beam.ParDo(self._label).with_output_types(tuple[bytes, str], **{DEAD_LETTERS: bytes})
        outputs = (
            (documents, versions)
            | "Together" >> beam.Flatten()
            | "Label" >> step.with_outputs(DEAD_LETTERS, main="documents")
        )
        return Labelled(outputs.documents, outputs[DEAD_LETTERS])


def _reference(data: bytes) -> Reference:
    manifest = Manifest.from_json(data, "a reference")
    return Reference(manifest.event_time, manifest.sequence, manifest.version)


def _target(head: LabelHead) -> int | None:
    """When something is due next: at the very end, if documents wait for a version that may
    never come.
    """
    due = head.wake()
    return END_OF_LABELS if due is None and head.waiting else due
