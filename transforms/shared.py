"""What several steps share: names, event times, metrics, and the bases of stateful steps.

**Event time.** The distribution ``event_time_<stage>`` (namespace ``beam_topics``) gets the event
times that a stage has handled, in seconds since 1970-01-01 UTC. Its maximum is the newest one. The
lag of a stage is the maximum of ``read`` less its own. No clock takes part, so the metric depends
on the data alone. A distribution is used rather than a gauge: its maximum over many workers is the
newest time of all, while a gauge keeps what one of them wrote last.

**Refused records.** :class:`Refusals` counts them by reason, with an example of each reason:

    self._refusals = Refusals(REASONS)
    yield self._refusals.refuse(letter)

A run reports them at its end (:mod:`beam_topics.model.reading.refused`). The examples are a metric
of string sets, which the local runner, Prism and Flink support. A step reports an example only if
its place comes before those that the step has reported already, so a metric holds a few examples
for each worker.

**Documents without words.** :class:`Wordless` counts documents of which the tokeniser keeps no
word, and says why for a few of each file. The counter ``documents_without_words`` counts all. The
counters ``lost_<reason>`` count the words of the first such documents of a file, or of a bundle of
messages (:mod:`beam_topics.model.words.tokeniser`). Documents with words cost nothing.

**Heads.** The *head* of a stateful step is a small record with explicit bytes, one for each key. It
says what the rest of the state must contain. A step reads the head once for each bundle and key,
and then uses what it wrote itself. If a bundle fails, the runner discards its writes, and the next
bundle reads the head again. Mirrors (:mod:`beam_topics.model.documents.pending`) live as long as
the process. A step uses a mirror only if it agrees with the head.

**Periods.** In a :class:`PeriodDoFn` records wait in state until event time has passed the end of
their period. An event-time timer of the period closes it; no clock is read. Results therefore come
later, by up to a period. In a job that does not stream, one firing at the end of the input closes
all periods (:meth:`StatefulDoFn.fires_at`). A record that comes after its period was closed waits
for the end of the first period that is open. No record is dropped. Fixed windows with a GroupByKey
would be shorter, but they lose groups on some runners.

A step with periods needs a shuffle before it, so that it begins a stage. The local runner keeps the
timers of a fused stage by their names alone. If a stage had two such steps, it would give the
timers of one to the other. For the same reason no other step has a timer of this name.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from apache_beam.transforms.window import GlobalWindow, GlobalWindows, TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from beam_topics.model.documents import pending
from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.pending import Mirror, PendingHead
from beam_topics.model.documents.sequencing import FIRING_BYTES
from beam_topics.model.reading.refused import Example
from beam_topics.model.times import MICROSECONDS_PER_SECOND, to_iso
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import MOST_TEXTS, REASONS, Losses

# The namespace of all counters, distributions and string sets of this project.
NAMESPACE = "beam_topics"
# The tag of the output that holds dead letters.
DEAD_LETTERS = "dead_letters"
# The last whole millisecond of event time, in microseconds. When the input has ended, each step
# finishes before the steps that use its output: Sequence at END_OF_STREAM, Label at END_OF_LABELS,
# and the steps that collect records by period at LAST_TIME.
LAST_TIME = int(GlobalWindow().max_timestamp().micros) // 1000 * 1000
# What ends a bundle is in it. Beam computes the end of time again for each window that is made.
GLOBAL = [GlobalWindow()]
END_OF_LABELS = LAST_TIME - 500_000
END_OF_STREAM = LAST_TIME - 1_000_000
PREFIX = "event_time_"
# The stages in their order. Documents are read, windows are sequenced and learned, versions are
# published, and documents are labelled.
STAGES = ("read", "sequenced", "learned", "published", "labelled")
EXAMPLES = "refused_examples"
WITHOUT_WORDS = "documents_without_words"
LOST = "lost_"
_MIRRORS = 64
# The number of waiting records of a period at which they are added up.
MAX_SUMMANDS = 256


class EventTime:
    """The newest event time that one instance of a stage has handled in a bundle.

    Args:
        stage: One of :data:`STAGES`.
    """

    def __init__(self, stage: str) -> None:
        self._metric = Metrics.distribution(NAMESPACE, PREFIX + stage)
        self._newest: int | None = None

    def start_bundle(self) -> None:
        """Start over: the metrics of a bundle that failed are lost."""
        self._newest = None

    def reached(self, micros: int) -> None:
        """Note an event time in microseconds. Times of the end of a stream are left out."""
        seconds = micros // MICROSECONDS_PER_SECOND
        if micros < END_OF_STREAM and (self._newest is None or seconds > self._newest):
            self._newest = seconds
            self._metric.update(seconds)


def lags(newest: Mapping[str, int]) -> str:
    """Return a line with the newest event time that was read, and how far each stage is behind it.

    A stage whose last window ends after the newest document is not behind.

    Args:
        newest: The newest event time of each stage in seconds. Stages that a program does not have
            are absent.
    """
    if "read" not in newest:
        return ""
    read = newest["read"]
    behind = [
        f"{stage} {max(read - newest[stage], 0):,} s" for stage in STAGES[1:] if stage in newest
    ]
    line = f"event time: read up to {to_iso(read * MICROSECONDS_PER_SECOND)[:19]}"
    return f"{line}; behind it: {', '.join(behind)}" if behind else line


class Refusals:
    """Counters ``dead_<reason>`` and examples of one step."""

    def __init__(self, reasons: Iterable[str]) -> None:
        self._counters = {
            reason: Metrics.counter(NAMESPACE, f"dead_{reason}") for reason in reasons
        }
        self._examples = Metrics.string_set(NAMESPACE, EXAMPLES)
        self._reported: dict[str, Example] = {}

    def refuse(self, letter: DeadLetter, at: Timestamp | None = None) -> TaggedOutput:
        """Count a letter, report it if it is the first one of its reason here, and return it.

        Args:
            letter: The dead letter.
            at: Its event time. None gives it the time of the element that it came from.
        """
        self._counters[letter.reason].inc(letter.count)
        before, example = self._reported.get(letter.reason), Example.of(letter)
        if before is None or example.order() < before.order():
            self._reported[letter.reason] = example
            self._examples.add(example.to_json())
        data = letter.as_json().encode()
        return TaggedOutput(DEAD_LETTERS, data if at is None else TimestampedValue(data, at))


class Wordless:
    """Counters of one step."""

    def __init__(self) -> None:
        self._documents = Metrics.counter(NAMESPACE, WITHOUT_WORDS)
        self._lost = {name: Metrics.counter(NAMESPACE, f"{LOST}{name}") for name in REASONS}
        self._seen = 0
        self._losses: Losses | None = None

    def begin(self) -> None:
        """Begin a file, or a bundle of messages."""
        self._seen = 0

    def add(self, text: str, settings: TokeniserSettings) -> None:
        """Count the text of a document without words, and say why if it is one of the first."""
        self._documents.inc()
        self._seen += 1
        if self._seen <= MOST_TEXTS:
            self._losses = self._losses or Losses(settings)
            for reason, count in self._losses.of(text).items():
                self._lost[reason].inc(count)


def timer_time(micros: int) -> Timestamp:
    """Return a timer's time in whole milliseconds, rounded up: some runners know no finer times."""
    return Timestamp(micros=-(-micros // 1000) * 1000)


def at_end_of(window: int, length: int, value: Any) -> WindowedValue:
    """Return a value at the last moment of the window of a number, in the global window."""
    last = Timestamp(micros=min((window + 1) * length - 1, LAST_TIME))
    return WindowedValue(value, last, GLOBAL)


class Head(Protocol):
    """A record that can be written as bytes."""

    def to_bytes(self) -> bytes: ...


H = TypeVar("H", bound=Head)


class StatefulDoFn(beam.DoFn, Generic[H]):
    """A stateful step with a head of type H and a mirror of its bag for each key.

    Each time that is due has an event-time timer of its own. A firing does not tell how far event
    time has come, only that it has passed the timer's own time. Where event time passes many
    windows at once, all of their timers are due at once, and the runner fires them in one bundle.
    One timer that is set again to the next time would fire once in each bundle. A runner fires
    timers in any order, so a firing takes everything that is due by its time, in the order of event
    time. A firing that leaves some of it sets its own timer again. What is due first then always
    has its timer, which holds the watermark.
    """

    HEAD = ReadModifyWriteStateSpec("head", BytesCoder())
    _HEAD = beam.DoFn.StateParam(HEAD)
    # The stage of :class:`EventTime`; "" for a step that reports none.
    STAGE = ""
    # When the step fires in a job that does not stream, in microseconds of event time.
    END = LAST_TIME
    _streams: bool

    def setup(self) -> None:
        if self.STAGE:
            self.event_time = EventTime(self.STAGE)
        # The mirrors of the keys that this instance used last.
        self.mirror: Callable[[bytes], Mirror] = lru_cache(_MIRRORS)(lambda key: Mirror())

    def start_bundle(self) -> None:
        if self.STAGE:
            self.event_time.start_bundle()
        self._heads: dict[bytes, H] = {}
        self._timers: set[tuple[bytes, int]] = set()
        self._budget = FIRING_BYTES

    @abstractmethod
    def head_from(self, key: bytes, data: bytes | None) -> H:
        """Return the head that the bytes hold, or the first head of the key if there are none."""

    def read_head(self, key: bytes, state: Any) -> H:
        """Return the head as this bundle has left it so far."""
        if key not in self._heads:
            self._heads[key] = self.head_from(key, state.read() or None)
        return self._heads[key]

    def write_head(self, key: bytes, head: H, state: Any) -> None:
        """Write a head to state and keep it for the rest of the bundle."""
        self._heads[key] = head
        state.write(head.to_bytes())

    def fires_at(self, due: int) -> int:
        """Return when something fires whose event time is ``due``, in microseconds.

        A job that streams closes a window when event time has passed its end. In any other job
        one firing closes all windows in their order, once the input has ended.
        """
        return due if self._streams else self.END

    def set_timer(self, key: bytes, timer: Any, micros: int) -> None:
        """Set the timer of a time, unless this bundle has set it and it has not fired."""
        time = timer_time(micros)
        if (key, time.micros) not in self._timers:
            self._timers.add((key, time.micros))
            timer.set(time, dynamic_timer_tag=str(time.micros))

    def timer_fired(self, key: bytes, time: Timestamp) -> None:
        """Note that the timer of a time has fired, so that it can be set again."""
        self._timers.discard((key, time.micros))

    def take_budget(self, taken: int) -> int:
        """Take bytes from what the firings of a bundle may emit.

        Returns:
            The bytes that are left, at least one: each firing emits something, so that it ends on a
            runner that fires a timer again in the same bundle.
        """
        self._budget -= taken
        return max(self._budget, 1)


# The bytes before the model key in the Beam key of a part of its work.
PART_BYTES = 4


def part_key(key: bytes, part: int) -> bytes:
    """Return the Beam key of one island or shard of a model key."""
    return part.to_bytes(PART_BYTES, "big") + key


def key_and_part(data: bytes) -> tuple[str, int]:
    """Return the model key and the part; the inverse of :func:`part_key`."""
    return data[PART_BYTES:].decode(), int.from_bytes(data[:PART_BYTES], "big")


def due_of(head: PendingHead, micros: int, period: int) -> int:
    """Return when a record is due.

    A record is due at the end of its period, or of the first period that was not closed yet.

    Args:
        head: The head of the step.
        micros: The event time of the record in microseconds.
        period: The length of a period in microseconds.
    """
    end = (micros // period + 1) * period
    if head.done is not None and end <= head.done:
        end = (head.done // period + 1) * period
    return min(end, LAST_TIME)


class PendingDoFn(StatefulDoFn[PendingHead]):
    """Base class of steps whose records wait in a bag, each until its own time is due."""

    def head_from(self, key: bytes, data: bytes | None) -> PendingHead:
        return PendingHead.from_bytes(data) if data else PendingHead()

    def take_due(
        self, key: bytes, time: Timestamp, head: Any, bag: Any
    ) -> list[tuple[int, list[bytes]]]:
        """Take out the records that are due by the time of a timer that has fired.

        Args:
            key: The key.
            time: The time of the timer.
            head: The state of the head, which is written.
            bag: The records that wait.

        Returns:
            The records as [(due, records)], in the order of time.
        """
        self.timer_fired(key, time)
        before = self.read_head(key, head)
        if before.due is None or before.due > time.micros:
            return []
        if time.micros < LAST_TIME:
            mirror = pending.matched(before, self.mirror(key), bag)
            waiting = [(due, mirror.at(due)) for due in mirror.due_by(time.micros)]
            after = pending.spend(before, mirror, bag, time.micros)
        else:
            # Records that come after this may be due at any time.
            waiting, after = self.take_all(key, before, bag)
        self.write_head(key, after, head)
        return waiting

    def take_all(
        self, key: bytes, head: PendingHead, bag: Any
    ) -> tuple[list[tuple[int, list[bytes]]], PendingHead]:
        """Take out all records that wait.

        Returns:
            The records as [(due, records)], and the head afterwards.
        """
        mirror = pending.matched(head, self.mirror(key), bag)
        waiting = [(due, mirror.at(due)) for due in mirror.dues]
        bag.clear()
        mirror.clear(head.done)
        return waiting, PendingHead(done=head.done)


class PeriodDoFn(PendingDoFn):
    """Base class; see the module's docstring.

    Args:
        period: The length of a period in microseconds.
        streams: Whether periods close while the source is read, or all at its end. See
            :class:`beam_topics.transforms.sequence.Sequence`.
    """

    PENDING = BagStateSpec("pending", BytesCoder())
    PERIOD = TimerSpec("period", TimeDomain.WATERMARK)
    _PENDING = beam.DoFn.StateParam(PENDING)
    _PERIOD = beam.DoFn.TimerParam(PERIOD)

    def __init__(self, period: int, streams: bool) -> None:
        self._period, self._streams = period, streams

    @abstractmethod
    def close_period(self, key: bytes, end: int, records: list[bytes]) -> Iterator[Any]:
        """Yield the outputs of the period that ended at ``end``."""

    @abstractmethod
    def is_full(self, key: bytes, head: PendingHead, bag: Any, due: int) -> bool:
        """Return whether too many records wait, now that another one waits for ``due``."""

    @abstractmethod
    def compact(self, key: bytes, head: PendingHead, bag: Any) -> tuple[Iterable[Any], PendingHead]:
        """Reduce the records that wait.

        Returns:
            The outputs of the records that leave the state, and the head afterwards.
        """

    def process(
        self,
        element: tuple[bytes, bytes],
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        bag: Any = _PENDING,
        timer: Any = _PERIOD,
    ) -> Iterator[Any]:
        """Add a record to its period."""
        key, record = element
        before = self.read_head(key, head)
        due = due_of(before, time.micros, self._period)
        after = pending.add(before, self.mirror(key), bag, [due], record)
        if self.is_full(key, after, bag, due):
            outputs, after = self.compact(key, after, bag)
            yield from outputs
        self.set_timer(key, timer, self.fires_at(due))
        self.write_head(key, after, head)

    @on_timer(PERIOD)
    def close(
        self,
        key: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        bag: Any = _PENDING,
    ) -> Iterator[Any]:
        """Close the periods that are due, in their order."""
        for due, records in self.take_due(key, time, head, bag):
            for output in self.close_period(key, due, records):
                yield TimestampedValue(output, timer_time(due))


class ByPeriod(beam.PTransform):
    """Base class of transforms with a step of periods: what comes before it, and the step.

    Args:
        prepare: The name of the step that gives pairs of a key and bytes, and the step; None where
            the elements are such pairs.
        name: The name of the step with periods.
        step: This step.
        kind: The type of its outputs.
    """

    def __init__(
        self,
        prepare: tuple[str, beam.PTransform] | None,
        name: str,
        step: PeriodDoFn,
        kind: type[bytes] | type[str],
    ) -> None:
        super().__init__()
        self._prepare, self._name, self._step, self._kind = prepare, name, step, kind

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        pairs = elements | "Global" >> beam.WindowInto(GlobalWindows())
        if self._prepare is not None:
            name, step = self._prepare
            pairs = pairs | name >> step.with_output_types(tuple[bytes, bytes])
        apart = pairs | "Apart" >> beam.Reshuffle()
        return apart | self._name >> beam.ParDo(self._step).with_output_types(self._kind)


class SummingDoFn(PeriodDoFn):
    """Base class of steps whose records are sums: many that wait are replaced by few."""

    @abstractmethod
    def added_up(self, records: list[bytes]) -> Iterable[bytes]:
        """Return the sums of the records of a period, as records."""

    def is_smaller(self, records: list[bytes]) -> bool:
        """Return whether adding up makes much fewer records of these."""
        return True

    def is_full(self, key: bytes, head: PendingHead, bag: Any, due: int) -> bool:
        mirror = self.mirror(key)
        if head.live % MAX_SUMMANDS == 0:
            # After a failed bundle the mirror is rebuilt by reading the whole bag. The condition
            # keeps that rare.
            mirror = pending.matched(head, mirror, bag)
        waiting = mirror.at(due) if mirror.matches(head) else []
        return bool(waiting) and not len(waiting) % MAX_SUMMANDS and self.is_smaller(waiting)

    def compact(self, key: bytes, head: PendingHead, bag: Any) -> tuple[list[Any], PendingHead]:
        waiting, head = self.take_all(key, head, bag)
        for due, records in waiting:
            for record in self.added_up(records):
                head = pending.add(head, self.mirror(key), bag, [due], record)
        return [], head
