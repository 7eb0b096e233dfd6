"""A Kafka topic as a source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from beam_topics.model.settings.options import option
from beam_topics.model.times import MICROSECONDS_PER_SECOND
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import DAY, KafkaClientSettings
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.graphs.sources.base import SOURCES, SourceSettings
from beam_topics.transforms.sources.kafka_client import (
    KafkaSettings,
    Until,
    properties,
)

if TYPE_CHECKING:
    from beam_topics.transforms.sources.kafka import ReadKafka

# Partitions whose offsets are printed.
_SHOWN = 8


@SOURCES.register
@dataclass(frozen=True)
class Kafka(SourceSettings):
    """A Kafka topic of JSON objects, as a stream."""

    kind = "kafka"
    shared = ("kafka_servers", "kafka_config", "id_from", "timestamp_format")
    needed: ClassVar[Mapping[str, str]] = {
        "kafka_servers": "localhost:9092",
        "kafka_topic": "documents",
    }
    endless = "until"

    kafka_topic: str | None = option(None, "the topic to read")
    kafka_start: str = option(
        "earliest", "where to begin: earliest, latest, or the ISO 8601 time of a message"
    )
    until: Until = option(
        "forever", "end: stop after the messages that the topic holds at the start"
    )
    idle_after: int = option(
        60 * MICROSECONDS_PER_SECOND,
        "a partition without a message for this time does not hold back the others",
        unit="microseconds",
        least=1,
    )
    max_delay: int | None = option(
        None,
        "largest difference in event time by which documents may be out of order; without it, none",
        unit="microseconds",
        least=0,
    )
    max_future: int = option(
        DAY,
        "documents that are later than their messages by more than this become dead letters",
        unit="microseconds",
        least=1,
    )

    def settings(self, options: Options) -> KafkaSettings:
        """Return the settings of the transform. Raises OptionError."""
        kafka = settings_of(options, KafkaClientSettings)
        return KafkaSettings(
            servers=kafka.servers,
            topic=self.kafka_topic or "",
            config=kafka.config,
            start=self.kafka_start,
            until=self.until,
            idle_after=self.idle_after / MICROSECONDS_PER_SECOND,
            max_delay=self.max_delay or 0,
            max_future=self.max_future,
            offsets=self._stored(options),
        )

    def _stored(self, options: Options) -> tuple[tuple[int, int], ...]:
        """Return the partitions of the topic that are read on, with their offsets in the store."""
        # Imported here, and below: --help needs no model store and no NumPy.
        from beam_topics.pipelines.graphs.additions import stored_offsets

        if options.get("kafka_start") == "earliest":
            return ()
        found = {log.rpartition("/"): at for log, at in stored_offsets(options.learning).items()}
        return tuple(
            sorted(
                (int(number), at)
                for (topic, _, number), at in found.items()
                if topic == self.kafka_topic
            )
        )

    def read(self, options: Options, tokeniser: TokeniserSettings) -> ReadKafka:
        from beam_topics.pipelines.cli.terminal import tell
        from beam_topics.transforms.sources.kafka import ReadKafka, partitions_of

        settings = self.settings(options)
        properties(settings.config)
        # Check now that the topic exists, with stored offsets. Workers list its partitions again.
        list(partitions_of(settings))
        if settings.offsets:
            some = ", ".join(f"{at:,} of {number}" for number, at in settings.offsets[:_SHOWN])
            more = ", ..." if len(settings.offsets) > _SHOWN else ""
            tell(
                f"--source=kafka: reads {settings.topic} on at the offsets of the model store:"
                f" {some}{more} (--kafka_start=earliest reads it from its beginning)."
            )
        return ReadKafka(settings, read_settings_of(options).parse, tokeniser)
