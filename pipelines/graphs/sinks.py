"""Sinks: where topic mixtures go, by ``--sink``.

| ``--sink`` | writes | options |
|---|---|---|
| ``files`` | JSON lines or Avro | ``--output``, ``--output_format`` |
| ``kafka`` | JSON messages | ``--kafka_servers``, ``--kafka_config``, ``--output_topic`` |

A file holds the mixtures of a bundle, or with ``--file_period`` those of a period of event time.
The trends of the mixtures have sinks of their own (:mod:`pipelines.graphs.trend_sinks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from model.compositions import Choice
from model.errors import one_of
from model.kinds import Kinds
from model.options import Record, option
from pipelines.cli.groups import Options
from pipelines.cli.program_settings import (
    EventSettings,
    KafkaClientSettings,
    OutputFileSettings,
)
from pipelines.cli.settings_options import group, settings_of
from pipelines.cli.shared_options import settings_of_choice
from pipelines.graphs.trend_sinks import write_trends

if TYPE_CHECKING:
    import apache_beam as beam

SINKS = Kinds()


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
            streams: whether the job streams (:func:`pipelines.graphs.runners.streams`).

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
        from transforms.infer_by_key import EachMixture
        from transforms.sinks.write_by_period import WriteByPeriod
        from transforms.write import WriteMixtures, mixture_encoder

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
        from transforms.infer_by_key import EachMixture
        from transforms.sinks.kafka import WriteMixturesToKafka
        from transforms.sources.kafka_client import client_library, properties

        kafka = settings_of(options, KafkaClientSettings)
        client_library("--sink")
        properties(kafka.config)
        return EachMixture() | WriteMixturesToKafka(
            kafka.servers, self.output_topic or "", kafka.config
        )


SINK: Choice[SinkSettings] = Choice("sink", "where the mixtures go", SINKS, default="files")
SinkOptions = group("Sink", choice=SINK)


def shared_by_sink(options: Options) -> tuple[str, ...]:
    """Return the options of other groups that ``--sink`` reads, or ``--events``."""
    name = options.view_as(SinkOptions).sink or SINK.default
    one_of("--sink", name, tuple(SINKS))
    of_events = KafkaSink.shared if settings_of(options, EventSettings).topic is not None else ()
    return (*SINKS[name].shared, *of_events)  # type: ignore[attr-defined]


def write_mixtures(blocks: beam.PCollection, options: Options, streams: bool) -> None:
    """Write mixtures to ``--sink``, and their trends to where they are wanted.

    Args:
        blocks: bytes of :class:`model.inference.mixture_blocks.MixtureBlock`.
        options: the parsed command line.
        streams: whether the job streams (:func:`pipelines.graphs.runners.streams`).

    Raises:
        UsageError: an option that the sink needs is missing.
        OptionError: an option belongs to another sink, or has a value that cannot be used.
    """
    # A source reads the options of Kafka, too, and checks them.
    elsewhere = {"kafka_servers", "kafka_config"}
    sink = settings_of_choice(options, SinkOptions, SINK, elsewhere)
    _ = blocks | "Write mixtures" >> sink.write(options, streams)
    write_trends(blocks, options, streams)
