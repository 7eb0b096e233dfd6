"""The partitions of a Kafka topic, with the offsets to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from beam_topics.model.errors import SourceError
from beam_topics.model.stored import checks, wire
from beam_topics.transforms.sources.kafka_client import KafkaSettings, client_library, consumer_of

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
    kafka, stored = client_library(), dict(settings.offsets)
    consumer = consumer_of(settings)
    try:
        found = consumer.list_topics(settings.topic, timeout=_TIMEOUT).topics[settings.topic]
        if found.error is not None:
            raise SourceError(
                f"topic {settings.topic!r} at {settings.servers}: {found.error.str()}. Check"
                " --kafka_topic."
            )
        for number in range(first, len(found.partitions)):
            low, high = consumer.get_watermark_offsets(
                kafka.TopicPartition(settings.topic, number), timeout=_TIMEOUT
            )
            # What a new partition holds came after the start of the job, or of the one before.
            new = (first > 0 or settings.offsets) and settings.start == "latest"
            if (start := stored.get(number)) is not None:
                _check_stored(settings, number, start, low, high)
            else:
                start = low if new else _start(consumer, settings, number, low, high)
            stop = max(high, start) if settings.until == "end" else None
            yield Partition(settings.topic, number, start, stop)
    except kafka.KafkaException as error:
        if not first:
            raise SourceError(
                f"the Kafka brokers {settings.servers} do not answer: {error}. Check"
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
        f"{settings.topic}/{partition} was learned up to offset {start:,}, and {what}. To learn"
        " what the topic holds beyond the documents that were learned, give --kafka_start=earliest."
    )


def _start(consumer: Any, settings: KafkaSettings, partition: int, low: int, high: int) -> int:
    if settings.start == "earliest":
        return low
    if settings.start == "latest":
        return high
    asked = client_library().TopicPartition(
        settings.topic, partition, settings.start_micros() // 1000
    )
    (found,) = consumer.offsets_for_times([asked], timeout=_TIMEOUT)
    return int(found.offset) if found.offset >= 0 else high
