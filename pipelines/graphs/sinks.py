"""Sinks: where topic mixtures go, by ``--sink``.

| ``--sink`` | writes | options |
|---|---|---|
| ``files`` | JSON lines or Avro | ``--output``, ``--output_format`` |
| ``kafka`` | JSON messages | ``--kafka_servers``, ``--kafka_config``, ``--output_topic`` |

A file holds the mixtures of a bundle, or with ``--file_period`` those of a period of event time.

The trends of the mixtures go to either of these, or to both:

| option | writes |
|---|---|
| ``--trends`` | files of JSON lines in a folder |
| ``--trends_topic`` | JSON messages to a Kafka topic, with ``--kafka_servers`` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from beam_topics.model.errors import OptionError, one_of
from beam_topics.model.settings.compositions import Choice
from beam_topics.model.settings.options import Kinds, Record, option, options_of
from beam_topics.model.times import duration_text
from beam_topics.pipelines.cli.groups import (
    Options,
    fields_given,
    group,
    settings_of,
    settings_of_choice,
)
from beam_topics.pipelines.cli.options import (
    DAY,
    EventSettings,
    KafkaClientSettings,
    OutputFileSettings,
    TrendSettings,
)
from beam_topics.pipelines.cli.settings_from_options import read_settings_of

if TYPE_CHECKING:
    import apache_beam as beam

    from beam_topics.transforms.kafka_sink import Messages

SINKS = Kinds()
# Typical documents of a row of trends.
_TYPICAL = 3


class SinkSettings(Record):
    """The base of the settings of all sinks.

    Attributes:
        shared: options of other groups that the sink reads. Other sinks refuse them.
        needed: options that must be given, each with an example.
    """

    shared: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[Mapping[str, str]] = {}

    def write(self, options: Options, streams: bool) -> beam.PTransform:
        """Return the transform that writes blocks of mixtures.

        Args:
            options: the parsed command line.
            streams: whether the job streams (:func:`beam_topics.pipelines.graphs.runners.streams`).

        Raises:
            OptionError: a value cannot be used.
        """
        raise NotImplementedError


@SINKS.register
@dataclass(frozen=True)
class FilesSink(SinkSettings):
    """Files in a folder."""

    kind = "files"
    needed: ClassVar[Mapping[str, str]] = {"output": "mixtures"}

    output: str | None = option(None, "folder for the mixtures", first=True)
    output_format: Literal["jsonl", "avro"] = option("jsonl", "format of the mixtures")

    def write(self, options: Options, streams: bool) -> beam.PTransform:
        # Imported here, because --help needs no Beam.
        from beam_topics.transforms.infer import EachMixture
        from beam_topics.transforms.write import WriteByPeriod, WriteMixtures, mixture_encoder

        folder = self.output or ""
        if (period := settings_of(options, OutputFileSettings).file_period) is None:
            return WriteMixtures(folder, self.output_format)
        encode = mixture_encoder(self.output_format)
        ending = f".{self.output_format}"
        return EachMixture() | WriteByPeriod(
            folder, "mixtures", ending, encode, period, streams=streams
        )


@SINKS.register
@dataclass(frozen=True)
class KafkaSink(SinkSettings):
    """A Kafka topic."""

    kind = "kafka"
    shared = ("kafka_servers", "kafka_config")
    needed: ClassVar[Mapping[str, str]] = {
        "kafka_servers": "localhost:9092",
        "output_topic": "mixtures",
    }

    output_topic: str | None = option(None, "the topic for the mixtures, as JSON")

    def write(self, options: Options, streams: bool) -> beam.PTransform:
        from beam_topics.transforms.infer import EachMixture
        from beam_topics.transforms.kafka_sink import MIXTURES

        return EachMixture() | to_kafka(self.output_topic or "", options, MIXTURES, "--sink")


def to_kafka(topic: str, options: Options, messages: Messages, option: str) -> beam.PTransform:
    """Return the transform that sends elements to a topic of ``--kafka_servers``.

    Args:
        topic: the topic.
        options: the parsed command line.
        messages: what the elements are.
        option: the option that asks for Kafka.

    Raises:
        OptionError: the client of Kafka is not installed, or its properties cannot be used.
    """
    from beam_topics.transforms.kafka_sink import WriteToKafka
    from beam_topics.transforms.sources.kafka_client import client_library, properties

    kafka = settings_of(options, KafkaClientSettings)
    client_library(option)
    properties(kafka.config)
    return WriteToKafka(kafka.servers, topic, kafka.config, messages=messages)


SINK: Choice[SinkSettings] = Choice("sink", "where the mixtures go", SINKS, default="files")
SinkOptions = group("Sink", choice=SINK)


def shared_by_sink(options: Options) -> tuple[str, ...]:
    """Return the options of other groups that ``--sink`` reads, or ``--events``."""
    name = options.get("sink") or SINK.default
    one_of("--sink", name, tuple(SINKS))
    of_events = KafkaSink.shared if settings_of(options, EventSettings).topic is not None else ()
    return (*SINKS[name].shared, *of_events)  # type: ignore[attr-defined]


def write_mixtures(blocks: beam.PCollection, options: Options, streams: bool) -> None:
    """Write mixtures to ``--sink``, and their trends to where they are wanted.

    Args:
        blocks: bytes of :class:`beam_topics.model.inference.mixture_blocks.MixtureBlock`.
        options: the parsed command line.
        streams: whether the job streams (:func:`beam_topics.pipelines.graphs.runners.streams`).

    Raises:
        UsageError: an option that the sink needs is missing.
        OptionError: an option belongs to another sink, or has a value that cannot be used.
    """
    # A source reads the options of Kafka, too, and checks them.
    elsewhere = {"kafka_servers", "kafka_config"}
    sink = settings_of_choice(options, SINK, elsewhere)
    _ = blocks | "Write mixtures" >> sink.write(options, streams)
    write_trends(blocks, options, streams)


def write_trends(blocks: beam.PCollection, options: Options, streams: bool) -> None:
    """Write the trends of mixtures, if they are wanted.

    Args:
        blocks: bytes of :class:`beam_topics.model.inference.mixture_blocks.MixtureBlock`.
        options: the parsed command line.
        streams: whether the job streams (:func:`beam_topics.pipelines.graphs.runners.streams`).

    Raises:
        OptionError: an option has no effect here, or a value cannot be used.
    """
    wanted = settings_of(options, TrendSettings)
    if not check_trends(wanted, options):
        return
    # Imported here, because --help needs no Beam.
    from beam_topics.model.reporting.encoding import json_lines
    from beam_topics.transforms.kafka_sink import TRENDS
    from beam_topics.transforms.trends import AddUpTrends
    from beam_topics.transforms.write import WriteRecords

    added = AddUpTrends(
        wanted.window or DAY,
        streams=streams,
        by=wanted.by,
        typical=_TYPICAL,
    )
    rows = blocks | "Trends" >> added
    if wanted.trends is not None:
        written = WriteRecords(wanted.trends, "trends", ".jsonl", json_lines)
        _ = rows | "Write trends" >> written
    if wanted.topic is not None:
        _ = rows | "Send trends" >> to_kafka(wanted.topic, options, TRENDS, "--trends_topic")


def check_trends(wanted: TrendSettings, options: Options) -> bool:
    """Return whether trends are wanted anywhere.

    Raises:
        OptionError: an option has no effect, or a value cannot be used.
    """
    places = {"trends", "topic"}
    names = {option.field: option.name for option in options_of(TrendSettings)}
    given = fields_given(options, TrendSettings)
    _check_groups(wanted, options)
    if not places & set(given):
        for field, value in given.items():
            allowed = "nothing without --trends or --trends_topic"
            shown = duration_text(value) if field == "window" else value
            raise OptionError(f"--{names[field]}", shown, allowed, "Leave it out.")
        return False
    if wanted.topic is not None and not settings_of(options, KafkaClientSettings).servers:
        allowed = "a topic with --kafka_servers beside it"
        raise OptionError("--trends_topic", wanted.topic, allowed, "Say where the brokers are.")
    return True


def _check_groups(wanted: TrendSettings, options: Options) -> None:
    field = read_settings_of(options).parse.fields.group
    if field is not None and wanted.by != "group":
        allowed = "nothing without --trends_by=group"
        raise OptionError("--group_field", field, allowed, "Add it, or leave the field out.")
    if field is None and wanted.by == "group":
        allowed = "group beside --group_field"
        raise OptionError("--trends_by", "group", allowed, "Name the field, for example region.")
