"""A Kafka topic as a source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.graphs.sources.base import SOURCES, SourceSettings
from beam_topics.transforms.sources.kafka_client import (
    KafkaClientSettings,
    KafkaSettings,
    TopicSettings,
    properties,
)

if TYPE_CHECKING:
    from beam_topics.model.learner_log.options import LearnOptions
    from beam_topics.transforms.sources.kafka import ReadKafka

# Partitions whose offsets are printed.
_SHOWN = 8


@SOURCES.register
@dataclass(frozen=True)
class Kafka(TopicSettings, SourceSettings):
    """A Kafka topic of JSON objects, as a stream."""

    kind = "kafka"
    shared = ("kafka_servers", "kafka_config", "id_from", "timestamp_format")
    needed: ClassVar[Mapping[str, str]] = {
        "kafka_servers": "localhost:9092",
        "kafka_topic": "documents",
    }
    endless = "until"

    def settings(self, options: Options, learning: LearnOptions | None) -> KafkaSettings:
        """Return the settings of the transform."""
        client = settings_of(options, KafkaClientSettings)
        return KafkaSettings(client, self, self._stored(options, learning))

    def _stored(
        self, options: Options, learning: LearnOptions | None
    ) -> tuple[tuple[int, int], ...]:
        """Return the partitions of the topic that are read on, with their offsets in the store."""
        # Imported here, and below: --help needs no model store and no NumPy.
        from beam_topics.pipelines.graphs.additions import stored_offsets

        if options.get("kafka_start") == "earliest":
            return ()
        found = {log.rpartition("/"): at for log, at in stored_offsets(learning).items()}
        return tuple(
            sorted(
                (int(number), at) for (topic, _, number), at in found.items() if topic == self.name
            )
        )

    def read(
        self, options: Options, tokeniser: TokeniserSettings, learning: LearnOptions | None = None
    ) -> ReadKafka:
        from beam_topics.pipelines.cli.terminal import tell
        from beam_topics.transforms.sources.kafka import ReadKafka, partitions_of

        settings = self.settings(options, learning)
        properties(settings.client.config)
        # Check now that the topic exists, with stored offsets. Workers list its partitions again.
        list(partitions_of(settings))
        if settings.offsets:
            some = ", ".join(f"{at:,} of {number}" for number, at in settings.offsets[:_SHOWN])
            more = ", ..." if len(settings.offsets) > _SHOWN else ""
            tell(
                f"--source=kafka: reads {self.name} on at the offsets of the model store:"
                f" {some}{more} (--kafka_start=earliest reads it from its beginning)."
            )
        return ReadKafka(settings, read_settings_of(options).parse, tokeniser)
