"""JSON lines next to models and mixtures: dead letters, events, coverage reports."""

from __future__ import annotations

from collections.abc import Sequence

import apache_beam as beam

from beam_topics.model.inference.base import RETRAIN_BELOW
from beam_topics.model.reporting.encoding import json_lines
from beam_topics.model.reporting.webhook import secret_of
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import (
    CoverageFileSettings,
    EventSettings,
    OutputFileSettings,
    kafka_topic,
)
from beam_topics.pipelines.cli.values import is_webhook
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import to_kafka
from beam_topics.transforms.coverage import Coverage
from beam_topics.transforms.send import EVENTS, PostEvents
from beam_topics.transforms.write import WriteByPeriod, WriteRecords


def write_dead_letters(collections: Sequence[beam.PCollection], options: Options) -> None:
    """Write all dead letters into the folder ``--dead_letters``."""
    write = _write_lines(
        settings_of(options, OutputFileSettings).dead_letters, "dead-letters", options
    )
    _ = tuple(collections) | "All dead letters" >> beam.Flatten() | "Write dead letters" >> write


def write_events(
    events: beam.PCollection,
    options: Options,
    name: str = "Write events",
    place: str = "",
    option: str = "--events",
) -> list[beam.PCollection]:
    """Write events to a folder, a Kafka topic or a webhook.

    Args:
        events: JSON of events.
        options: The options of the run.
        name: The name of the step.
        place: Where they go; "" for ``--events``, if it is given.
        option: What names the place.

    Returns:
        The dead letters of a webhook.

    Raises:
        UsageError: the brokers of the topic are missing.
        OptionError: the client of Kafka is not installed, its properties cannot be used, or the
            secret of the webhook is missing.
    """
    place = place or settings_of(options, EventSettings).events or ""
    if not place:
        return []
    written = events | name >> _event_sink(place, options, option)
    return [written] if is_webhook(place) else []


def _event_sink(place: str, options: Options, option: str) -> beam.PTransform:
    if (topic := kafka_topic(place)) is not None:
        return to_kafka(topic, options, EVENTS, option)
    if is_webhook(place):
        secret_of(option, place)
        return PostEvents(place, option=option)
    return _write_lines(place, "events", options)


def _write_lines(folder: str, name: str, options: Options) -> beam.PTransform:
    """Return the transform that writes JSON lines, with ``--file_period`` one file a period."""
    period = settings_of(options, OutputFileSettings).file_period
    if not period:
        return json_files(folder, name)
    return WriteByPeriod(folder, name, ".jsonl", json_lines, period, streams=streams(options))


def report_coverage(
    tallies: beam.PCollection, window: int, options: Options, *, retrains: bool
) -> None:
    """Report the coverage of windows, and write it into the folder ``--coverage`` if it is given.

    Args:
        tallies: What the documents' words are known to.
        window: The length of a window in microseconds.
        options: The options of the run.
        retrains: Whether a report of low coverage asks for retraining.
    """
    known = Coverage(window, RETRAIN_BELOW if retrains else None, streams=streams(options))
    reports = tallies | "Coverage" >> known
    if (folder := settings_of(options, CoverageFileSettings).coverage) is not None:
        _ = reports | "Write coverage" >> json_files(folder, "coverage")


def json_files(folder: str, name: str) -> WriteRecords:
    """Return the transform that writes JSON lines into files of a folder."""
    return WriteRecords(folder, name, ".jsonl", json_lines)
