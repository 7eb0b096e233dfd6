"""Turn tokenised documents into numbered minibatches, in one order for each model key.

    documents: bytes (Block)
        -> minibatches: (key, bytes (NumberedMinibatch)), dead_letters: bytes (JSON)

One stateful step in the global window decides the order. Its input must carry event times and may
come in any order. :mod:`beam_topics.model.documents.sequencing` has the logic. A block has the
earliest time of its documents, so that it holds the watermark for each of them.

The step has event-time timers (:class:`beam_topics.transforms.shared.StatefulDoFn`). In a job
that streams, there is one for the end of each window that waits. In any other job there is one for
the end of the input, and the whole archive is held in state until then. A firing closes all windows
that are due, in their order. Each minibatch carries the end of its own window as its event time.

After a runner has restored an earlier state, windows get the documents again that they had
(:mod:`beam_topics.model.documents.cuts`).

When the stream ends or is drained, an end marker follows, so that the last state of a learner is
published too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import BagStateSpec, TimerSpec, on_timer
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from beam_topics.model.documents import sequencing
from beam_topics.model.documents.block import Block, keyed
from beam_topics.model.documents.cuts import Cuts
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.sequencing import ClosedWindow, SequenceHead, complete_until
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learner_log.restoring import SequenceStart
from beam_topics.transforms.shared import (
    DEAD_LETTERS,
    END_OF_STREAM,
    NAMESPACE,
    Refusals,
    StatefulDoFn,
    timer_time,
)

_FIRST_HEADS = 1000


class Sequenced(NamedTuple):
    """The outputs of :class:`Sequence`."""

    minibatches: beam.PCollection
    dead_letters: beam.PCollection


class SequenceDoFn(StatefulDoFn[SequenceHead]):
    """Order documents and cut them into minibatches; keyed by the UTF-8 bytes of the model key."""

    STAGE, END = "sequenced", END_OF_STREAM
    PENDING = BagStateSpec("pending", BytesCoder())
    WINDOW = TimerSpec("window", TimeDomain.WATERMARK)
    _PENDING = beam.DoFn.StateParam(PENDING)
    _WINDOW = beam.DoFn.TimerParam(WINDOW)

    def __init__(self, start: SequenceStart, streams: bool) -> None:
        self._start = start
        self._settings, self._adds = start.options.sequence, start.options.run.add_documents
        self._streams = streams
        # In a stream the first window closes before all documents have arrived.
        self._checks_newer = self._adds and not streams

    def setup(self) -> None:
        super().setup()
        self._minibatches = Metrics.counter(NAMESPACE, "minibatches")
        self._late = Metrics.counter(NAMESPACE, "late_documents")
        self._known = Metrics.counter(NAMESPACE, "known_documents")
        self._new_keys = Metrics.counter(NAMESPACE, "new_keys")
        self._first = lru_cache(_FIRST_HEADS)(self._start.head)
        self._refusals = Refusals(sequencing.REPEATS)
        self._cuts: dict[bytes, tuple[int, Cuts | None]] = {}

    def head_from(self, key: bytes, data: bytes | None) -> SequenceHead:
        if data:
            return SequenceHead.from_bytes(data)
        first = self._first(key.decode())
        if self._adds and not first.sequence:
            self._new_keys.inc()
        return first

    def process(
        self,
        element: tuple[bytes, bytes],
        head: Any = StatefulDoFn._HEAD,
        bag: Any = _PENDING,
        timer: Any = _WINDOW,
    ) -> None:
        """Add documents to their windows."""
        key, data = element
        current = self.read_head(key, head)
        payload = self._unknown(key, data) if self._adds and current.sequence else data
        if not payload:
            self.set_timer(key, timer, END_OF_STREAM)
            self.write_head(key, current, head)
            return
        mirror = self.mirror(key)
        cuts = self._repeats(key, current)
        added = sequencing.add_documents(current, mirror, bag, payload, self._settings, cuts)
        for end in added.ends:
            self.set_timer(key, timer, self.fires_at(end))
        self.set_timer(key, timer, END_OF_STREAM)
        if added.late:
            self._late.inc(added.late)
        self.write_head(key, added.head, head)

    def _repeats(self, key: bytes, head: SequenceHead) -> Cuts | None:
        """Return the windows that are repeated, where a runner restored an earlier state."""
        at, cuts = self._cuts.get(key, (None, None))
        if self._streams and (at is None or head.sequence < at):
            cuts = self._start.cuts(key.decode(), head)
        if cuts and head.closed is not None and head.closed >= cuts.newest:
            cuts = None
        self._cuts[key] = head.sequence, cuts
        return cuts

    def _unknown(self, key: bytes, data: bytes) -> bytes:
        """Return the documents that were not learned before the run; empty without any."""
        block = Block.from_bytes(data)
        new = self._start.unknown(key.decode(), block)
        if len(new) == len(block):
            return data
        self._known.inc(len(block) - len(new))
        return new.to_bytes() if len(new) else b""

    @on_timer(WINDOW)
    def close(
        self,
        key: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        bag: Any = _PENDING,
        timer: Any = _WINDOW,
    ) -> Iterator[Any]:
        """Emit the minibatches of the windows that are due, each at the end of its own window."""
        self.timer_fired(key, time)
        current = self.read_head(key, head)
        self._check_newer(key, current, bag)
        cuts, mirror, settings = self._repeats(key, current), self.mirror(key), self._settings
        until = complete_until(current, mirror, bag, time.micros, settings, cuts)
        budget = self.take_budget(0)
        for closed in sequencing.close_windows(
            current, mirror, bag, time=until, settings=settings, budget=budget
        ):
            current = closed.head
            self.take_budget(sum(len(link.payload) for link in closed.links))
            yield from self._outputs(key, closed)
        self.write_head(key, current, head)
        if (due := current.pending.due) is not None and due <= time.micros:
            # A window that lacks documents waits for the timer of a later one.
            self.set_timer(key, timer, cuts.patience if cuts and due > until else time.micros)
        elif time.micros >= END_OF_STREAM:
            end = NumberedMinibatch.end(current.sequence, current.chain)
            self._start.check(key.decode(), end)
            yield key, end.to_bytes()

    def _check_newer(self, key: bytes, head: SequenceHead, bag: Any) -> None:
        """Refuse added documents that were learned already.

        The check needs all documents, so it runs while all of them wait and before anything is
        sent.
        """
        if self._checks_newer and head.sequence == self._first(key.decode()).sequence:
            sequencing.check_newer(key.decode(), head, self.mirror(key), bag, self._settings)

    def _outputs(self, key: bytes, closed: ClosedWindow) -> Iterator[Any]:
        at = timer_time(closed.end)
        self.event_time.reached(closed.end)
        for letter in closed.dead_letters:
            yield self._refusals.refuse(letter, at)
        for link in closed.links:
            self._start.check(key.decode(), link)
            self._minibatches.inc()
            yield TimestampedValue((key, link.to_bytes()), at)


class Sequence(beam.PTransform):
    """Number and chain the minibatches of each key; gives a :class:`Sequenced`.

    Args:
        options: The options of the run. The settings of the tokeniser, and those of windows and
            minibatches, begin the chain, so other ones give another history. With
            ``options.run.add_documents`` documents that the model store has learned are left out,
            and the last window that it has learned takes more documents. Others of windows that
            were learned already join that one.
        streams: Whether windows close while the source is read
            (:func:`beam_topics.pipelines.graphs.runners.streams`), or all at its end. The
            minibatches are the same. A source without an end needs True. On a runner that reads the
            whole source first, False saves a bundle for each window.
    """

    def __init__(self, options: LearnOptions, *, streams: bool) -> None:
        super().__init__()
        self._start, self._streams = SequenceStart(options), streams

    def expand(self, documents: beam.PCollection) -> Sequenced:
        step = beam.ParDo(SequenceDoFn(self._start, self._streams)).with_output_types(
            tuple[bytes, bytes], **{DEAD_LETTERS: bytes}
        )
        outputs = (
            documents
            | "By key" >> beam.Map(keyed).with_output_types(tuple[bytes, bytes])
            | "Order" >> step.with_outputs(DEAD_LETTERS, main="minibatches")
        )
        return Sequenced(outputs.minibatches, outputs[DEAD_LETTERS])
