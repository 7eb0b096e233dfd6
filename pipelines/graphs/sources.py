"""``--source``: where the documents come from, and which options go with which source.

* ``files`` reads files in any order. Its options: ``--input``, ``--format``, ``--encoding``,
  ``--time_from``, ``--id_from``, ``--timestamp_unit``.
* ``replay`` reads an archive as the stream that it was: ``--input``, ``--replay_speed``.
* ``kafka`` reads JSON objects as they come: ``--kafka_...``, ``--until``, ``--idle_after``,
  ``--max_delay``, ``--id_from``, ``--timestamp_unit``.
* ``pubsub`` reads JSON objects as they come: ``--pubsub_...``, ``--timestamp_unit``.

An option that belongs to another source than the one that was chosen is refused, because it would
be ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.publishing.manifest import Manifest
from model.settings import TokeniserSettings
from model.times import MICROSECONDS_PER_SECOND
from pipelines.cli.exclusive_options import Own, check_own
from pipelines.cli.input_options import InputOptions, KafkaOptions, RecordOptions, SourceOptions
from pipelines.cli.options import OutputOptions
from pipelines.cli.settings_from_options import read_settings_of
from transforms.read import Documents, ReadDocuments, check_patterns
from transforms.route import Route
from transforms.sources.kafka import ReadKafka, partitions_of
from transforms.sources.kafka_client import KafkaSettings, properties
from transforms.sources.pubsub import ReadPubSub
from transforms.sources.replay import ReplayArchive, archive_of

_OWN: Own = {
    "files": {
        "input": None,
        "format": "auto",
        "encoding": "utf-8",
        "time_from": "field",
        "id_from": "field",
        "timestamp_unit": "s",
    },
    "replay": {"input": None, "replay_speed": None},
    "kafka": {
        **dict.fromkeys(
            (
                "kafka_servers",
                "kafka_config",
                "kafka_topic",
                "kafka_start",
                "until",
                "idle_after",
                "max_delay",
            )
        ),
        "id_from": "field",
        "timestamp_unit": "s",
    },
    "pubsub": {
        **dict.fromkeys(("pubsub_subscription", "pubsub_timestamp_attribute")),
        "timestamp_unit": "s",
    },
}
_NEEDED = {
    "files": {"input": "'data/*.jsonl.gz'"},
    "replay": {"input": "'archive/*.avro'"},
    "kafka": {"kafka_servers": "localhost:9092", "kafka_topic": "documents"},
    "pubsub": {"pubsub_subscription": "projects/me/subscriptions/documents"},
}
_MINUTE = 60 * MICROSECONDS_PER_SECOND


def read_source(
    pipeline: beam.Pipeline, options: PipelineOptions, tokeniser: TokeniserSettings
) -> Documents:
    """Tokenised documents from ``--source``, and what could not be read.

    Raises:
        UsageError: an option that the source needs is missing.
        OptionError: one is given that it does not have, or a value cannot be used.
        SourceError: the source is not there.
    """
    source = options.view_as(SourceOptions).source
    sink_is_kafka = options.view_as(OutputOptions).sink == "kafka"
    check_own(
        options,
        "source",
        source,
        _OWN,
        _NEEDED,
        shared={"kafka_servers", "kafka_config"} if sink_is_kafka else (),
    )
    return pipeline | "Read" >> _SOURCES[source](options, tokeniser)


def files(
    options: PipelineOptions,
    tokeniser: TokeniserSettings,
    patterns: list[str],
    option: str = "--input",
) -> ReadDocuments:
    """All of the files that the patterns match; patterns that match nothing are refused now."""
    settings = read_settings_of(options)
    check_patterns(patterns, settings, option)
    return ReadDocuments(patterns, settings, tokeniser)


def files_of_model(
    pipeline: beam.Pipeline,
    options: PipelineOptions,
    manifest: Manifest,
    patterns: list[str],
    option: str = "--input",
) -> Documents:
    """Documents for one model, cut as it cuts them. With ``--key_field`` those of its key; the
    others are dead letters.
    """
    tokeniser, name = manifest.tokeniser, option.removeprefix("--")
    read: Documents = pipeline | f"Read {name}" >> files(options, tokeniser, patterns, option)
    if options.view_as(RecordOptions).key_field is None:
        return read
    routed = read.documents | f"Route {name}" >> Route([manifest.key])
    dead_letters = (
        read.dead_letters,
        routed.dead_letters,
    ) | f"Dead letters of {name}" >> beam.Flatten()
    return Documents(routed.by_key[manifest.key], dead_letters)


def _files(options: PipelineOptions, tokeniser: TokeniserSettings) -> ReadDocuments:
    return files(options, tokeniser, options.view_as(InputOptions).input)


def _replay(options: PipelineOptions, tokeniser: TokeniserSettings) -> ReplayArchive:
    patterns, settings = options.view_as(InputOptions).input, read_settings_of(options)
    replay = ReplayArchive(
        patterns, settings, tokeniser, options.view_as(SourceOptions).replay_speed
    )
    archive_of(b"", patterns, settings)
    return replay


def kafka_settings_of(options: PipelineOptions) -> KafkaSettings:
    """Checked settings of the Kafka source."""
    given, kafka = options.view_as(SourceOptions), options.view_as(KafkaOptions)
    return KafkaSettings(
        servers=kafka.kafka_servers,
        topic=given.kafka_topic,
        config=kafka.kafka_config or "",
        start=given.kafka_start or "earliest",
        until=given.until or "forever",
        idle_after=(given.idle_after or _MINUTE) / MICROSECONDS_PER_SECOND,
        max_delay=given.max_delay or 0,
    )


def _kafka(options: PipelineOptions, tokeniser: TokeniserSettings) -> ReadKafka:
    settings = kafka_settings_of(options)
    properties(settings.config)
    for _ in partitions_of(b"", settings):
        # Only to see that the topic is there; workers look again.
        break
    return ReadKafka(settings, read_settings_of(options).parse, tokeniser)


def _pubsub(options: PipelineOptions, tokeniser: TokeniserSettings) -> ReadPubSub:
    given = options.view_as(SourceOptions)
    return ReadPubSub(
        given.pubsub_subscription,
        given.pubsub_timestamp_attribute,
        read_settings_of(options).parse,
        tokeniser,
    )


_SOURCES: dict[str, Callable[[PipelineOptions, TokeniserSettings], Any]] = {
    "files": _files,
    "replay": _replay,
    "kafka": _kafka,
    "pubsub": _pubsub,
}
