"""The bursts that ``stream`` tells; ``--add_documents`` knows the trends of the runs before."""

from __future__ import annotations

from collections import defaultdict

from beam_topics.model.learner_log.options import RunSettings
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.model.reporting.alarms import Watched
from beam_topics.model.reporting.trends import rows_of_file
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import DAY, TrendSettings, kafka_topic
from beam_topics.pipelines.graphs.labelled_files import matched
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.transforms.bursts import FindBursts
from beam_topics.transforms.read import open_stored


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
