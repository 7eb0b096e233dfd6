"""Sinks: where topic mixtures go, by ``--sink``.

| ``--sink`` | writes | options |
|---|---|---|
| ``files`` | JSON lines or Avro | ``--output``, ``--output_format`` |
| ``kafka`` | JSON messages | ``--kafka_servers``, ``--kafka_config``, ``--output_topic`` |

A file holds the mixtures of a bundle, or with ``--file_period`` those of a period of event time.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.compositions import Choice
from model.encoding import json_lines
from model.errors import OptionError, at_least, one_of
from model.kinds import Kinds
from model.options import Record, option
from model.times import DURATION_UNITS, duration_text
from pipelines.cli.input_options import KafkaOptions, RecordOptions
from pipelines.cli.options import OutputOptions
from pipelines.cli.settings_options import add_choice
from pipelines.cli.shared_options import settings_of_choice
from transforms.sinks.kafka import WriteMixturesToKafka
from transforms.sinks.write_by_period import WriteByPeriod
from transforms.sources.kafka_client import client_library, properties
from transforms.trends import AddUpTrends
from transforms.write import WriteMixtures, WriteRecords, mixture_encoder

SINKS = Kinds()


class SinkSettings(Record):
    """The base of the settings of all sinks.

    Attributes:
        shared: options of other groups that the sink reads. Other sinks refuse them.
        needed: options that must be given, each with an example.
    """

    shared: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[Mapping[str, str]] = {}

    def write(self, options: PipelineOptions, top_topics: int, streams: bool) -> beam.PTransform:
        """Return the transform that writes mixtures.

        Args:
            options: the parsed command line.
            top_topics: how many topics are named beside the proportions.
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

    def write(self, options: PipelineOptions, top_topics: int, streams: bool) -> beam.PTransform:
        folder = self.output or ""
        if (period := options.view_as(RecordOptions).file_period) is None:
            return WriteMixtures(folder, self.output_format, top_topics)
        encode = mixture_encoder(self.output_format, top_topics)
        ending = f".{self.output_format}"
        return WriteByPeriod(folder, "mixtures", ending, encode, period, streams=streams)


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

    def write(self, options: PipelineOptions, top_topics: int, streams: bool) -> beam.PTransform:
        kafka = options.view_as(KafkaOptions)
        config = kafka.kafka_config or ""
        client_library("--sink")
        properties(config)
        return WriteMixturesToKafka(
            kafka.kafka_servers, self.output_topic or "", config, top_topics
        )


SINK: Choice[SinkSettings] = Choice("sink", "where the mixtures go", SINKS, default="files")


class SinkOptions(PipelineOptions):
    """Sink."""

    CHOICE = SINK

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_choice(parser, SINK)


def shared_by_sink(options: PipelineOptions) -> tuple[str, ...]:
    """Return the options of other groups that ``--sink`` reads."""
    name = options.view_as(SinkOptions).sink or SINK.default
    one_of("--sink", name, tuple(SINKS))
    return SINKS[name].shared  # type: ignore[attr-defined]


def write_mixtures(mixtures: beam.PCollection, options: PipelineOptions, streams: bool) -> None:
    """Write mixtures to ``--sink``, and their trends into the folder ``--trends``.

    Args:
        mixtures: bytes of :class:`model.records.TopicMixture`.
        options: the parsed command line.
        streams: whether the job streams (:func:`pipelines.graphs.runners.streams`).

    Raises:
        UsageError: an option that the sink needs is missing.
        OptionError: an option belongs to another sink, or has a value that cannot be used.
    """
    top_topics = options.view_as(OutputOptions).top_topics
    # A source reads the options of Kafka, too, and checks them.
    elsewhere = {"kafka_servers", "kafka_config"}
    sink = settings_of_choice(options, SinkOptions, SINK, elsewhere)
    at_least("--top_topics", top_topics, 0)
    _ = mixtures | "Write mixtures" >> sink.write(options, top_topics, streams)
    _write_trends(mixtures, options.view_as(OutputOptions), streams)


def _write_trends(mixtures: beam.PCollection, given: OutputOptions, streams: bool) -> None:
    window = given.trends_window
    if given.trends is not None:
        rows = mixtures | "Trends" >> AddUpTrends(window or DURATION_UNITS["d"], streams=streams)
        _ = rows | "Write trends" >> WriteRecords(given.trends, "trends", ".jsonl", json_lines)
    elif window is not None:
        allowed = "nothing without --trends"
        raise OptionError("--trends_window", duration_text(window), allowed, "Leave it out.")
