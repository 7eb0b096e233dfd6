"""Sinks: where topic mixtures and their trends go.

``--output``, ``--trends`` and ``--events`` name a folder, or ``kafka:TOPIC`` for JSON messages to
the brokers of ``--kafka_servers``. A file of mixtures holds those of a bundle, or with
``--file_period`` those of a period of event time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apache_beam as beam

from beam_topics.model.errors import OptionError
from beam_topics.model.reading.settings import FieldNames
from beam_topics.model.reporting.encoding import json_lines
from beam_topics.model.settings.options import options_of
from beam_topics.pipelines.cli.groups import Options, UsageError, settings_of
from beam_topics.pipelines.cli.options import (
    DAY,
    OutputFileSettings,
    SinkSettings,
    TrendSettings,
    kafka_topic,
)
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.transforms.infer import EachMixture
from beam_topics.transforms.send import MIXTURES, TRENDS, Messages, WriteToKafka
from beam_topics.transforms.sources.kafka_client import (
    KafkaClientSettings,
    client_library,
    properties,
)
from beam_topics.transforms.trends import AddUpTrends
from beam_topics.transforms.write import (
    WriteByPeriod,
    WriteMixtures,
    WriteRecords,
    mixture_encoder,
)


def to_kafka(topic: str, options: Options, messages: Messages, option: str) -> beam.PTransform:
    """Return the transform that sends elements to a topic of ``--kafka_servers``.

    Raises:
        UsageError: the brokers are missing.
        OptionError: the client of Kafka is not installed, or its properties cannot be used.
    """
    kafka = settings_of(options, KafkaClientSettings)
    if not kafka.servers:
        raise UsageError(
            f"--kafka_servers is missing. {option}=kafka:{topic} needs it, for example"
            " --kafka_servers=localhost:9092."
        )
    client_library(option)
    properties(kafka.config)
    return WriteToKafka(kafka.servers, topic, kafka.config, messages=messages)


def write_mixtures(
    blocks: beam.PCollection, options: Options, streams: bool, runs: Mapping[str, int] | None = None
) -> beam.PCollection | None:
    """Write mixtures (bytes of MixtureBlock) to ``--output``, and trends to where they are wanted.

    Args:
        blocks: the mixtures.
        options: the options.
        streams: whether the job streams.
        runs: by model key, the minibatch after which a run that adds documents began.

    Returns:
        The rows of trends; None where they are not wanted.
    """
    _ = blocks | "Write mixtures" >> _sink(options, streams)
    return _write_trends(blocks, options, streams, runs)


def _sink(options: Options, streams: bool) -> beam.PTransform:
    wanted = settings_of(options, SinkSettings)
    folder, form = wanted.output or "", wanted.output_format
    if (topic := kafka_topic(folder)) is not None:
        return EachMixture() | to_kafka(topic, options, MIXTURES, "--output")
    if (period := settings_of(options, OutputFileSettings).file_period) is None:
        return WriteMixtures(folder, form)
    return EachMixture() | WriteByPeriod(
        folder, "mixtures", f".{form}", mixture_encoder(form), period, streams=streams
    )


def _write_trends(
    blocks: beam.PCollection, options: Options, streams: bool, runs: Mapping[str, int] | None
) -> beam.PCollection | None:
    """Write the trends of mixtures, if they are wanted."""
    wanted = settings_of(options, TrendSettings)
    _check_trends(wanted, options)
    if wanted.trends is None:
        return None
    rows = blocks | "Trends" >> add_up(options, streams, runs)
    if (topic := kafka_topic(wanted.trends)) is not None:
        _ = rows | "Send trends" >> to_kafka(topic, options, TRENDS, "--trends")
    else:
        written = WriteRecords(wanted.trends, "trends", ".jsonl", json_lines)
        _ = rows | "Write trends" >> written
    return rows


def _check_trends(wanted: TrendSettings, options: Options) -> None:
    """Refuse options that have no effect here."""
    fields = [item for item in options_of(FieldNames) if item.field == "group"]
    for item in [*options_of(TrendSettings), *fields] if wanted.trends is None else ():
        if (value := options.get(item.name)) is not None:
            allowed = "nothing without --trends"
            raise OptionError(item.flag, item.shown(value), allowed, "Leave it out.")


def add_up(
    options: Options, streams: bool, runs: Mapping[str, int] | None, words: Sequence[str] = ()
) -> AddUpTrends:
    """Return the step that adds up trends, of words in place of topics where there are some.

    The field by which documents are grouped may be that of the label, which archives keep, too.
    """
    fields, by = read_settings_of(options).parse.fields, "all"
    if fields.group is not None:
        by = "label" if fields.group == fields.label else "group"
    window = settings_of(options, TrendSettings).window or DAY
    return AddUpTrends(window, streams=streams, by=by, runs=runs, words=words)
