"""JSON lines beside models and mixtures: dead letters, events, coverage reports."""

from __future__ import annotations

from collections.abc import Sequence

import apache_beam as beam

from beam_topics.model.reporting.encoding import json_lines
from beam_topics.model.reporting.webhook import secret_of
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import (
    DAY,
    LEAST_WINDOW,
    CoverageFileSettings,
    EventSettings,
    OutputFileSettings,
    TrendSettings,
    kafka_topic,
)
from beam_topics.pipelines.cli.values import is_webhook
from beam_topics.pipelines.graphs.bursts import find_bursts
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import to_kafka
from beam_topics.transforms.send import EVENTS, PostEvents
from beam_topics.transforms.stories import FindStories
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
    trends: beam.PCollection | None = None,
    blocks: beam.PCollection | None = None,
) -> list[beam.PCollection]:
    """Write events to ``--events``, a folder, a Kafka topic or a webhook, if it is given.

    Bursts of the rows of trends are events, too. The blocks are those of mixtures with their words,
    whose stories bursts name.

    Returns:
        The dead letters of a webhook.

    Raises:
        UsageError: the brokers of the topic are missing.
        OptionError: the client of Kafka is not installed, its properties cannot be used, or the
            secret of the webhook is missing.
    """
    place = settings_of(options, EventSettings).events
    if place is None:
        return []
    written = [events | "Write events" >> _event_sink(place, options)]
    if trends is not None and blocks is not None and tells_bursts(options):
        window = settings_of(options, TrendSettings).window or DAY
        stories = blocks | "Stories" >> FindStories(window, streams=streams(options))
        _write_stories(stories, options)
        together = (trends, stories) | "With stories" >> beam.Flatten()
        bursts = together | "Bursts" >> find_bursts(options)
        # Together with the events above, some runners would write those at the end only.
        written.append(bursts | "Write bursts" >> _event_sink(place, options))
    return written if is_webhook(place) else []


def tells_bursts(options: Options) -> bool:
    """Return whether bursts of trends are written as events."""
    trends, events = settings_of(options, TrendSettings), settings_of(options, EventSettings)
    wanted = trends.trends is not None and events.events is not None
    return wanted and (trends.window or DAY) >= LEAST_WINDOW


def _write_stories(stories: beam.PCollection, options: Options) -> None:
    """Write stories beside trends, where these are files."""
    folder = settings_of(options, TrendSettings).trends
    if folder is not None and kafka_topic(folder) is None:
        _ = stories | "Write stories" >> WriteRecords(folder, "stories", ".jsonl", json_lines)


def _event_sink(place: str, options: Options) -> beam.PTransform:
    if (topic := kafka_topic(place)) is not None:
        return to_kafka(topic, options, EVENTS, "--events")
    if is_webhook(place):
        secret_of("--events", place)
        return PostEvents(place)
    return _write_lines(place, "events", options)


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
