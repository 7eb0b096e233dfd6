"""The bursts that ``stream`` tells, and the stories that they name.

With ``--add_documents`` they know the trends of the runs before.
"""

from __future__ import annotations

from collections import defaultdict

import apache_beam as beam

from beam_topics.model.learner_log.options import RunSettings
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.model.reporting.alarms import Watched
from beam_topics.model.reporting.trends import rows_of_file
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import (
    DAY,
    LEAST_WINDOW,
    EventSettings,
    TrendSettings,
    kafka_topic,
)
from beam_topics.pipelines.graphs.labelled_files import matched
from beam_topics.pipelines.graphs.outputs import json_files, write_events
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.transforms.bursts import FindBursts
from beam_topics.transforms.read import open_stored
from beam_topics.transforms.stories import FindStories


def tells_bursts(options: Options) -> bool:
    """Return whether bursts of trends are written as events."""
    trends, events = settings_of(options, TrendSettings), settings_of(options, EventSettings)
    wanted = trends.trends is not None and events.events is not None
    return wanted and (trends.window or DAY) >= LEAST_WINDOW


def write_bursts(
    trends: beam.PCollection, blocks: beam.PCollection, options: Options
) -> list[beam.PCollection]:
    """Write bursts to ``--events``, and stories beside trends where these are files.

    Args:
        trends: The rows of trends.
        blocks: Mixtures with the words of their documents.
        options: The options of the run.

    Returns:
        The dead letters of a webhook.
    """
    wanted = settings_of(options, TrendSettings)
    window, folder = wanted.window or DAY, wanted.trends or ""
    stories = blocks | "Stories" >> FindStories(window, streams=streams(options))
    if kafka_topic(folder) is None:
        _ = stories | "Write stories" >> json_files(folder, "stories")
    together = (trends, stories) | "With stories" >> beam.Flatten()
    bursts = together | "Bursts" >> find_bursts(options)
    # Together with the events of versions, some runners would write those at the end only.
    return write_events(bursts, options, "Write bursts")


def find_bursts(options: Options) -> FindBursts:
    """Return the step that tells the bursts of ``--trends``."""
    where, trends = settings_of(options, StoreSettings), settings_of(options, TrendSettings)
    window, folder, known = trends.window or DAY, trends.trends, {}
    adds = settings_of(options, RunSettings).add_documents
    if adds and folder is not None and kafka_topic(folder) is None:
        known = known_of(folder, window)
    return FindBursts(where.root, window, known, streams=streams(options), trust=where.trust)


def known_of(folder: str, window: int) -> dict[bytes, bytes]:
    """Return by model key what windows after those of written trends are judged by.

    Args:
        folder: the files of rows.
        window: the length of a window in microseconds; rows of another length do not count.

    Raises:
        DamagedDataError: A file cannot be read as rows of trends.
    """
    found = defaultdict(list)
    for path in matched(f"{folder}/trends-*"):
        with open_stored(path) as stream:
            lines = stream.read().splitlines()
        for line, row in zip(lines, rows_of_file(lines, path), strict=True):
            if row["window_end"] - row["window_start"] == window:
                found[row["key"].encode()].append(line)
    return {key: Watched().closed(window, rows)[0].to_bytes() for key, rows in found.items()}
