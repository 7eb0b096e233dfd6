"""The choice of the model version that labels a document.

It is the newest version published before the end of the document's window. This is a function of
the data if a decision waits until everything with an earlier event time has arrived. So a document
waits until the end of its window has passed. Then it gets the newest :class:`Reference` whose event
time lies strictly before that end. Before the first version, it gets the prior (version ``""``),
waits for the first version, or becomes a dead letter (``no_model``).

``label_with="latest"`` decides at once, by the versions known then. This is sooner but not
reproducible.

The id of a text that comes without one is a digest of it. Draws of inference depend on the id, so
the same text has the same mixture, whatever texts come with it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from beam_topics.model.documents import pending
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.documents.pending import Bag, Mirror, PendingHead
from beam_topics.model.inference.base import BeforeFirstModel, LabelWith
from beam_topics.model.stored import checks, wire
from beam_topics.model.words.tokeniser import Tokeniser

NO_MODEL = "no_model"
PRIOR = ""
# One millisecond. Some runners round times to milliseconds, and an element with the time of a timer
# may arrive after the timer.
TICK = 1000

_END = struct.Struct("<q")


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """A published version; references are ordered by publication."""

    event_time: int
    sequence: int
    version: str

    @classmethod
    def of(cls, values: list[Any]) -> Reference:
        """Check the stored fields of a reference and return it."""
        checks.sized("fields of a reference", values, len(cls.__slots__))
        named = dict(zip(cls.__slots__, values, strict=True))
        return cls(**checks.record(cls, named, "a reference"))


@dataclass(frozen=True, slots=True)
class LabelHead:
    """The head of the state of a labeller.

    Attributes:
        references: the versions that can still be chosen, ascending.
        forgotten: whether there were earlier versions.
        pending: the documents whose window has not passed.
        waiting: number of blocks that wait for the first version.
    """

    references: tuple[Reference, ...] = ()
    forgotten: bool = False
    pending: PendingHead = field(default_factory=PendingHead)
    waiting: int = 0

    MAGIC = b"BTw1"

    def to_bytes(self) -> bytes:
        references = [[r.event_time, r.sequence, r.version] for r in self.references]
        header = {"references": references, "forgotten": self.forgotten, "waiting": self.waiting}
        return wire.pack(self.MAGIC, header, self.pending.to_bytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> LabelHead:
        header, (waiting,) = wire.unpack(cls.MAGIC, data, 1)
        listed = checks.field(header, "references")
        checks.of_type("references of a labeller's head", listed, list[list[Any]])
        header.pop("references")
        apart = ("references", "pending")
        facts = checks.record(cls, header, "a labeller's head", apart)
        checks.whole("blocks that wait in a labeller's head", facts["waiting"])
        references = tuple(map(Reference.of, listed))
        return cls(references, pending=PendingHead.from_bytes(waiting), **facts)

    def wake(self) -> int | None:
        """Return when documents are due next, microseconds; None where no time is known."""
        times = [time for time in (self.pending.due, self.first_due()) if time is not None]
        return min(times, default=None)

    def first_due(self) -> int | None:
        """Return when documents are due that wait for the first version; None if none is known."""
        return self.references[0].event_time + TICK if self.waiting and self.references else None


@dataclass(slots=True)
class Labels:
    """The result of a call.

    Attributes:
        head: the new head.
        labelled: (bytes of documents, version) pairs.
        dead_letters: documents without a version.
    """

    head: LabelHead
    labelled: list[tuple[bytes, str]] = field(default_factory=list)
    dead_letters: list[DeadLetter] = field(default_factory=list)


class Labeller:
    """Labels the documents of one shard of a key. It keeps nothing between calls."""

    def __init__(self, before_first_model: BeforeFirstModel, label_with: LabelWith) -> None:
        self._before_first_model = before_first_model
        self._label_with_latest = label_with == "latest"

    def documents(
        self, head: LabelHead, mirror: Mirror, bag: Bag, waiting: Bag, *, end: int, block: bytes
    ) -> Labels:
        """Take documents whose window ends at ``end``.

        Args:
            head: the head of the state.
            mirror: a copy in memory of ``bag``.
            bag: the documents whose window has not passed.
            waiting: the documents that wait for the first version.
            end: end of the window of the documents, microseconds.
            block: bytes of the documents.
        """
        if self._label_with_latest:
            labels = Labels(head)
            self._label(
                labels, waiting, block, head.references[-1].version if head.references else None
            )
            return labels
        payload = _END.pack(end) + block
        waiting_head = pending.add(head.pending, mirror, bag, [due_of(head, end)], payload)
        return Labels(replace(head, pending=waiting_head))

    def reference(self, head: LabelHead, waiting: Bag, reference: Reference) -> Labels:
        """Take a version that was published."""
        references = tuple(sorted({*head.references, reference}))
        if not self._label_with_latest:
            return Labels(replace(head, references=references))
        labels = Labels(replace(head, references=references[-1:], forgotten=True))
        self._release(labels, waiting)
        return labels

    def fire(self, head: LabelHead, mirror: Mirror, bag: Bag, waiting: Bag, time: int) -> Labels:
        """Label what is due once everything with an event time before ``time`` has arrived."""
        labels = Labels(head)
        if head.pending.due is not None and head.pending.due <= time:
            mirror = pending.matched(head.pending, mirror, bag)
            for due in mirror.due_by(time):
                for payload in sorted(mirror.at(due)):
                    (end,) = _END.unpack_from(payload)
                    self._label(labels, waiting, payload[_END.size :], choose_version(head, end))
            labels.head = replace(
                labels.head, pending=pending.spend(head.pending, mirror, bag, time)
            )
        references = labels.head.references
        if references and references[0].event_time + TICK <= time:
            self._release(labels, waiting)
        labels.head = _drop_unused_references(labels.head, time)
        return labels

    def end(self, head: LabelHead, waiting: Bag) -> Labels:
        """End the stream: documents that still wait for a version become dead letters."""
        labels = Labels(replace(head, waiting=0))
        if head.waiting:
            for block in sorted(waiting.read()):
                labels.dead_letters += _no_model(block)
            waiting.clear()
        return labels

    def _label(self, labels: Labels, waiting: Bag, block: bytes, version: str | None) -> None:
        if version is not None:
            labels.labelled.append((block, version))
        elif self._before_first_model == "prior":
            labels.labelled.append((block, PRIOR))
        elif self._before_first_model == "dead_letter":
            labels.dead_letters += _no_model(block)
        else:
            waiting.add(block)
            labels.head = replace(labels.head, waiting=labels.head.waiting + 1)

    def _release(self, labels: Labels, waiting: Bag) -> None:
        if labels.head.waiting:
            version = labels.head.references[0].version
            labels.labelled.extend((block, version) for block in sorted(waiting.read()))
            waiting.clear()
            labels.head = replace(labels.head, waiting=0)


def due_of(head: LabelHead, end: int) -> int:
    """Return when a document is due whose window ends at ``end``, in microseconds."""
    done = head.pending.done
    return end + TICK if done is None else max(end, done) + TICK


def choose_version(head: LabelHead, end: int) -> str | None:
    """Return the newest version before ``end``.

    For a document before all remembered versions, it is the oldest of these where earlier
    versions were forgotten, else None.
    """
    earlier = [reference for reference in head.references if reference.event_time < end]
    if earlier:
        return earlier[-1].version
    return head.references[0].version if head.forgotten and head.references else None


def _drop_unused_references(head: LabelHead, time: int) -> LabelHead:
    """Keep the references that documents can still need whose window ends after ``time - TICK``.

    These are the newest one before that time, and all later ones.
    """
    passed = sum(reference.event_time < time - TICK for reference in head.references)
    if passed < 2:
        return head
    return replace(head, references=head.references[passed - 1 :], forgotten=True)


def _no_model(data: bytes) -> list[DeadLetter]:
    block = Block.from_bytes(data)
    return [
        block.dead_letter(
            row,
            "labelling",
            NO_MODEL,
            f"no model of key {block.key!r} was published before the end of the window of document"
            f" {name!r}",
        )
        for row, name in enumerate(block.ids)
    ]


_ID_DIGITS = 32


def content_id(parts: Sequence[str]) -> str:
    """Return the id of a text, or of a list of tokens."""
    return wire.digest(*(part.encode("utf-8", "backslashreplace") for part in parts)).hex()[
        :_ID_DIGITS
    ]


def tokenised(texts: Sequence[str], key: str, tokeniser: Tokeniser) -> Block:
    """Return at least one text as documents of a model key."""
    return tokeniser.block([Document(content_id([text]), 0, text, key=key) for text in texts])
