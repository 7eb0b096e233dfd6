"""JSON lines beside models and mixtures: dead letters, events, coverage reports."""

from __future__ import annotations

from collections.abc import Sequence

import apache_beam as beam

from beam_topics.model.reporting.encoding import json_lines
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import (
    CoverageFileSettings,
    EventSettings,
    OutputFileSettings,
    kafka_topic,
)
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import to_kafka
from beam_topics.transforms.kafka_sink import EVENTS
from beam_topics.transforms.write import WriteByPeriod, WriteRecords


def write_dead_letters(collections: Sequence[beam.PCollection], options: Options) -> None:
    """Write all dead letters into the folder ``--dead_letters``."""
    write = _write_lines(
        settings_of(options, OutputFileSettings).dead_letters, "dead-letters", options
    )
    _ = tuple(collections) | "All dead letters" >> beam.Flatten() | "Write dead letters" >> write


def write_events(events: beam.PCollection, options: Options) -> None:
    """Write events to ``--events``, a folder or a Kafka topic, if it is given.

    Raises:
        UsageError: the brokers of the topic are missing.
        OptionError: the client of Kafka is not installed, or its properties cannot be used.
    """
    place = settings_of(options, EventSettings).events
    if (topic := kafka_topic(place)) is not None:
        _ = events | "Write events" >> to_kafka(topic, options, EVENTS, "--events")
    elif place is not None:
        _ = events | "Write events" >> _write_lines(place, "events", options)


def _write_lines(folder: str, name: str, options: Options) -> beam.PTransform:
    """Return the transform that writes JSON lines, with ``--file_period`` one file a period."""
    period = settings_of(options, OutputFileSettings).file_period
    if not period:
        return WriteRecords(folder, name, ".jsonl", json_lines)
    return WriteByPeriod(folder, name, ".jsonl", json_lines, period, streams=streams(options))


def report_coverage(reports: beam.PCollection, options: Options) -> None:
    """Write coverage reports into the folder ``--coverage``, if one is given."""
    if (folder := settings_of(options, CoverageFileSettings).coverage) is not None:
        _ = reports | "Write coverage" >> WriteRecords(folder, "coverage", ".jsonl", json_lines)
