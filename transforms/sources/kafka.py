"""Read a Kafka topic of JSON objects as a stream of tokenised documents and dead letters.

    topic -> documents: bytes (Block), dead_letters: bytes (JSON)

Each partition is one log (:mod:`beam_topics.transforms.sources.log_source`) whose positions are
offsets. The checkpoints of the runner hold the offsets, and nothing is committed to a consumer
group. The model store has those of what was learned, and a new job begins there
(:mod:`beam_topics.model.documents.minibatch`). Partitions that are added to the topic are found
while the job runs (:class:`ListPartitions`) and, with a start of ``latest``, are read from their
first message. The stream waits for them as for every other partition, and their documents behind
the watermark of the stream are late.

    topic = TopicSettings("posts", max_delay=30_000_000)
    settings = KafkaSettings(KafkaClientSettings("broker:9092"), topic)
    (documents, dead_letters) = pipeline | ReadKafka(settings, ParseSettings(), TokeniserSettings())

The watermark of a partition is the largest document time so far minus ``max_delay``, the expected
disorder within a partition. A document that is older than the watermark is late and joins the
window that is open. The time of a document counts for the watermark only up to the time of its
message, so a document with a time in the future does not close windows early. One that is later
than its message by more than ``max_future`` becomes a dead letter.

The watermark of the stream is the smallest one of its partitions. Prism does not keep it: it takes
the watermark of a source from the partitions that its last bundle read. A partition that is ahead
would carry the stream past one that lags. So the watermark of each partition is bounded by the
slowest one that this process reads (:class:`PartitionWatermarks`). On Prism all partitions are in
one process. On a runner that keeps the smallest watermark the bound changes nothing. A partition
without a report for a minute is read elsewhere now, and is left out.

An idle partition would hold all others. A partition is idle if it had no message for ``idle_after``
seconds and the brokers report that it has none now. Its watermark is then the time of the clock
minus ``idle_after`` minus ``max_delay``. This is the only place where a clock is read. If documents
are far older than the clock, as in a backlog, documents that still arrive in an idle partition are
late. Use ``until="end"`` to read a backlog to its end.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import Duration

from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import place as place_in
from beam_topics.model.errors import SourceError
from beam_topics.model.reading.parsing import not_future, parse_line
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import MICROSECONDS_PER_SECOND
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.transforms.read import Documents, documents_of
from beam_topics.transforms.sources.kafka_client import (
    KafkaSettings,
    client_library,
    consumer_of,
)
from beam_topics.transforms.sources.log_source import (
    RANGE,
    WATERMARK,
    Entry,
    LogProvider,
    LogRange,
    LogSourceDoFn,
    Pause,
    Position,
    break_fusion,
)

_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a topic, and the offsets to read.

    Attributes:
        topic: The topic.
        partition: The number of the partition.
        start: The first offset.
        stop: The offset to end before. None reads without an end.
    """

    topic: str
    partition: int
    start: int
    stop: int | None

    def to_bytes(self) -> bytes:
        return wire.canonical_json(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Partition:
        """Read the bytes that :meth:`to_bytes` wrote.

        Raises:
            DamagedDataError: The data are something else.
        """
        name = "a partition of Kafka"
        return cls(**checks.record(cls, checks.parse_json(data, name), name))


def partitions_of(settings: KafkaSettings, first: int = 0) -> Iterator[Partition]:
    """Yield the partitions of the topic from the number ``first`` on, with the offsets to read.

    Partitions above a ``first`` of 0 are new ones. If the brokers do not answer, the new ones that
    are left are not yielded.

    Raises:
        SourceError: The brokers do not have the topic, do not answer and ``first`` is 0, or do not
            have a stored offset.
    """
    kafka, stored, name = client_library(), dict(settings.offsets), settings.topic.name
    consumer = consumer_of(settings)
    try:
        found = consumer.list_topics(name, timeout=_TIMEOUT).topics[name]
        if found.error is not None:
            raise SourceError(
                f"topic {name!r} at {settings.client.servers}: {found.error.str()}."
                " Check --kafka_topic."
            )
        for number in range(first, len(found.partitions)):
            low, high = consumer.get_watermark_offsets(
                kafka.TopicPartition(name, number), timeout=_TIMEOUT
            )
            # What a new partition holds came after the start of the job, or of the one before.
            new = (first > 0 or settings.offsets) and settings.topic.start == "latest"
            if (start := stored.get(number)) is not None:
                _check_stored(settings, number, start, low, high)
            else:
                start = low if new else _start(consumer, settings, number, low, high)
            stop = max(high, start) if settings.topic.until == "end" else None
            yield Partition(name, number, start, stop)
    except kafka.KafkaException as error:
        if not first:
            raise SourceError(
                f"the Kafka brokers {settings.client.servers} do not answer: {error}. Check"
                " --kafka_servers."
            ) from error
    finally:
        consumer.close()


def _check_stored(settings: KafkaSettings, partition: int, start: int, low: int, high: int) -> None:
    if low <= start <= high:
        return
    what = (
        f"begins at offset {low:,} now: {low - start:,} were removed before they were read"
        if start < low
        else f"ends at offset {high:,}: it was made anew"
    )
    raise SourceError(
        f"{settings.topic.name}/{partition} was learned up to offset {start:,}, and {what}. To"
        " learn what the topic holds beyond the documents that were learned, give"
        " --kafka_start=earliest."
    )


def _start(consumer: Any, settings: KafkaSettings, partition: int, low: int, high: int) -> int:
    if settings.topic.start == "earliest":
        return low
    if settings.topic.start == "latest":
        return high
    asked = client_library().TopicPartition(
        settings.topic.name, partition, settings.topic.start_micros() // 1000
    )
    (found,) = consumer.offsets_for_times([asked], timeout=_TIMEOUT)
    return int(found.offset) if found.offset >= 0 else high


_FRESH_SECONDS = 60.0


class PartitionWatermarks:
    """Watermarks (microseconds) of the partitions that this process reads, by topic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._topics: dict[Hashable, dict[int, tuple[int | None, float]]] = {}
        self._lock = threading.Lock()

    def report(self, topic: Hashable, partition: int, watermark: int | None) -> int | None:
        """Note the watermark of a partition and return the smallest one of the topic.

        Args:
            topic: The topic.
            partition: The number of the partition.
            watermark: Its watermark in microseconds; None leaves it as it was.

        Returns:
            The smallest watermark, or None if a partition has reported none yet.
        """
        now = self._clock()
        with self._lock:
            known = self._topics.setdefault(topic, {})
            before, _ = known.get(partition, (None, now))
            reached = max((one for one in (before, watermark) if one is not None), default=None)
            known[partition] = reached, now
            fresh = [micros for micros, at in known.values() if now - at < _FRESH_SECONDS]
        return None if None in fresh else min(micros for micros in fresh if micros is not None)

    def count(self, topic: Hashable) -> int:
        """Return how many partitions of a topic are read here."""
        with self._lock:
            return len(self._topics.get(topic, ()))

    def remove(self, topic: Hashable, partition: int) -> None:
        """Forget a partition that is no longer read here."""
        with self._lock:
            known = self._topics.get(topic, {})
            known.pop(partition, None)
            if not known:
                self._topics.pop(topic, None)


# One instance for the process: a runner may make and drop instances of a step at any time.
PARTITION_WATERMARKS = PartitionWatermarks()


_FETCH = 500
_PATIENCE = 0.1
# Pauses in seconds for each partition that the process reads, and the longest: of an active
# partition, and of an idle one. Old Flink runners keep a state for each pause.
_ACTIVE, _IDLE, _LONGEST = 1.0, 2.0, 5.0
# Flink waits for whole seconds of what is left when the bundle ends.
_ENDING = 0.5
# Seconds between two looks for new partitions.
_LOOK = 10
# Kafka has numbers of partitions of 32 bits.
_BEHIND_ALL = (2**31,)


class ListPartitions(beam.DoFn, LogProvider):
    """Emit each :class:`Partition` of the topic once, and look for new ones every ten seconds.

    The list of partitions is a log. The numbers of partitions are its positions, so what is left of
    its range begins after the partitions that were emitted. With ``until="end"`` it ends after one
    look. Its watermark holds nothing back, and is no end of the stream.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings

    def range_of(self, element: bytes) -> LogRange:
        return LogRange((0,), _BEHIND_ALL if self._settings.topic.until == "end" else None)

    def initial_estimator_state(self, element: bytes, restriction: bytes) -> int:
        return int(GlobalWindow().max_timestamp().micros)

    @beam.DoFn.unbounded_per_element()
    def process(
        self, element: bytes, tracker: Any = RANGE, watermark: Any = WATERMARK
    ) -> Iterator[bytes]:
        (first,) = LogRange.from_bytes(tracker.current_restriction()).start
        for partition in partitions_of(self._settings, first):
            if not tracker.try_claim((partition.partition,)):
                return
            yield partition.to_bytes()
        if self._settings.topic.until == "end":
            tracker.try_claim(_BEHIND_ALL)
        else:
            tracker.defer_remainder(Duration(_LOOK))


class PartitionReader:
    """Read one partition from an offset on. The place of a message is ``topic/partition/offset``.

    Args:
        consumer: A consumer that is assigned to the partition at ``start`` and reports its end.
        whole: The partition, and all offsets to read.
        start: The position to begin at.
        settings: Where to read from, and when a partition counts as idle.
        parse: How messages are parsed.
        has_keys: Whether documents are of several model keys. Each key learns some of the offsets,
            so documents have no places then.
        clock: A monotonic clock in seconds.
        now: The seconds since 1970.
    """

    def __init__(
        self,
        consumer: Any,
        whole: Partition,
        start: Position,
        *,
        settings: KafkaSettings,
        parse: ParseSettings,
        has_keys: bool = False,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.position = start
        # The first offset of the next document's place.
        self._since, self._has_keys = start[0], has_keys
        self._consumer, self._stop, self._number = consumer, whole.stop, whole.partition
        self._partition = client_library().TopicPartition(whole.topic, whole.partition)
        self._place, self._first = f"{whole.topic}/{whole.partition}", whole.start
        self._settings, self._parse = settings, parse
        self._clock, self._now = clock, now
        self._fetched: deque[Any] = deque()
        self._skipped: Position | None = None
        self._last_message = clock()

    def take(self) -> Entry | Pause | None:
        if (taken := self._take()) is None:
            return None
        reached = PARTITION_WATERMARKS.report(self._settings, self._number, taken.watermark)
        return replace(taken, watermark=reached)

    def _take(self) -> Entry | Pause | None:
        while not self._ended():
            if not self._fetched:
                self._fetched.extend(self._consumer.consume(_FETCH, _PATIENCE))
            if not self._fetched:
                return self._pause()
            message = self._fetched.popleft()
            if message.error() is not None:
                self._handle_error(message)
            elif self._stop is not None and message.offset() >= self._stop:
                self.position = (self._stop,)
            elif message.value() is None:
                # The tombstone of a key in a compacted topic is no document.
                self._skip(message.offset())
            else:
                return self._entry(message)
        return None

    def close(self) -> None:
        PARTITION_WATERMARKS.remove(self._settings, self._number)
        self._consumer.close()

    def _ended(self) -> bool:
        return self._stop is not None and self.position[0] >= self._stop

    def _entry(self, message: Any) -> Entry:
        self._last_message = self._clock()
        offset = message.offset()
        self.position, self._skipped = (offset + 1,), None
        line, place = message.value(), f"{self._place}/{offset}"
        item = parse_line(line, place, self._parse)
        if isinstance(item, Document):
            item.arrived = offset
        kind, millis = message.timestamp()
        known = kind != client_library().TIMESTAMP_NOT_AVAILABLE
        if known:
            item = not_future(item, line, place, millis * 1000, self._settings.topic.max_future)
        watermark = None
        if isinstance(item, Document) and not self._has_keys:
            item.place = place_in(self._place, self._first, self._since, offset + 1)
            self._since = offset + 1
        if isinstance(item, Document):
            reached = min(item.timestamp, millis * 1000) if known else item.timestamp
            watermark = reached - (self._settings.topic.max_delay or 0)
        return Entry((offset,), item, watermark)

    def _handle_error(self, message: Any) -> None:
        """Handle a message that reports an error.

        At the end of the partition the position moves past offsets that hold no message. Errors
        that the client retries are ignored.

        Raises:
            SourceError: The error does not pass by itself.
        """
        error, kafka = message.error(), client_library()
        if error.code() == kafka.KafkaError._PARTITION_EOF:
            if message.offset() > self.position[0]:
                self._skip(message.offset() - 1)
        elif error.code() == kafka.KafkaError._AUTO_OFFSET_RESET:
            raise SourceError(
                f"{self._place} has nothing at offset {self.position[0]} any more: it was removed"
                " before it was read. Keep messages for longer than a restart may take, or start"
                " anew with an empty model store."
            )
        elif not error.retriable() and error.code() not in (
            kafka.KafkaError._ALL_BROKERS_DOWN,
            kafka.KafkaError._TRANSPORT,
        ):
            raise SourceError(f"{self._place}: {error.str()}")

    def _skip(self, offset: int) -> None:
        """Move past an offset that holds no document."""
        self.position, self._skipped = (offset + 1,), (offset,)

    def _pause(self) -> Pause:
        passed, self._skipped = self._skipped, None
        read = max(1, PARTITION_WATERMARKS.count(self._settings))
        topic = self._settings.topic
        idle_after = topic.idle_after / MICROSECONDS_PER_SECOND
        if self._clock() - self._last_message < idle_after or not self._at_end():
            return Pause(min(_LONGEST, _ACTIVE * read) + _ENDING, passed=passed)
        idle_since = int((self._now() - idle_after) * MICROSECONDS_PER_SECOND)
        pause = min(_LONGEST, _IDLE * read) + _ENDING
        return Pause(pause, idle_since - (topic.max_delay or 0), passed)

    def _at_end(self) -> bool:
        """Return whether the brokers report that there is nothing more.

        If they do not answer, the partition does not count as being at its end.
        """
        try:
            _, high = self._consumer.get_watermark_offsets(self._partition, timeout=_PATIENCE * 10)
        except client_library().KafkaException:
            return False
        return bool(high <= self.position[0])


class KafkaDoFn(LogSourceDoFn):
    """Read a partition; an element is a :class:`Partition`."""

    def __init__(
        self, settings: KafkaSettings, parse: ParseSettings, tokeniser: TokeniserSettings
    ) -> None:
        super().__init__(tokeniser)
        self._settings = settings
        self._parse = parse
        self._has_keys = tokeniser.has_keys or parse.fields.key is not None

    def range_of(self, element: bytes) -> LogRange:
        found = Partition.from_bytes(element)
        return LogRange((found.start,), None if found.stop is None else (found.stop,))

    def name_of(self, element: bytes) -> Hashable:
        return element, self._settings, self._parse

    def open(self, element: bytes, start: Position) -> PartitionReader:
        found = Partition.from_bytes(element)
        consumer = consumer_of(self._settings)
        consumer.assign([client_library().TopicPartition(found.topic, found.partition, start[0])])
        return PartitionReader(
            consumer,
            found,
            start,
            settings=self._settings,
            parse=self._parse,
            has_keys=self._has_keys,
        )


class ReadKafka(beam.PTransform):
    """Read a Kafka topic; gives :class:`beam_topics.transforms.read.Documents`.

    :func:`partitions_of` checks that the topic exists.

    Args:
        settings: Where to read from, and when a partition counts as idle.
        parse: How messages are parsed.
        tokeniser: The settings of the tokeniser.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        parse: ParseSettings,
        tokeniser: TokeniserSettings,
    ) -> None:
        super().__init__()
        self._list = ListPartitions(settings)
        self._fn = KafkaDoFn(settings, parse, tokeniser)

    def expand(self, pipeline: Any) -> Documents:
        partitions = (
            pipeline
            | "Begin" >> beam.Impulse()
            | "Partitions" >> beam.ParDo(self._list).with_output_types(bytes)
            | "Spread" >> beam.Reshuffle().with_output_types(bytes)
        )
        return break_fusion(documents_of(partitions, "Poll", self._fn))
