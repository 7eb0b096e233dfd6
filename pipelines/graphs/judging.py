"""What judges bursts; with ``--add_documents`` it knows the trends of the runs before."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.model.reporting.alarms import Rule, Watched
from beam_topics.model.reporting.trends import rows_of_file
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import DAY, TrendSettings, kafka_topic
from beam_topics.pipelines.graphs.labelled_files import matched
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.transforms.bursts import FindBursts, by_watch
from beam_topics.transforms.read import open_stored


def find_bursts(options: Options, rules: Sequence[Rule], *, adds: bool) -> FindBursts:
    """Return the step that tells the bursts of ``--trends``; a run may add documents."""
    where, trends = settings_of(options, StoreSettings), settings_of(options, TrendSettings)
    window, folder, known = trends.window or DAY, trends.trends, {}
    if adds and folder is not None and kafka_topic(folder) is None:
        known = known_of(folder, window, rules)
    job = streams(options)
    return FindBursts(where.root, window, known, rules=rules, streams=job, trust=where.trust)


def known_of(folder: str, window: int, rules: Sequence[Rule] = (Rule(),)) -> dict[bytes, bytes]:
    """Return by what is watched what windows after those of written trends are judged by.

    Args:
        folder: The files of rows, of topics and of words.
        window: The length of a window in microseconds; rows of another length do not count.
        rules: What is watched.

    Raises:
        DamagedDataError: A file cannot be read as rows of trends.
    """
    found, by_name = defaultdict(list), {rule.name: rule for rule in rules}
    for path in [*matched(f"{folder}/trends-*"), *matched(f"{folder}/words-*")]:
        with open_stored(path) as stream:
            lines = stream.read().splitlines()
        for line, row in zip(lines, rows_of_file(lines, path), strict=True):
            if row["window_end"] - row["window_start"] == window:
                for watch, data in by_watch(line, rules):
                    found[watch].append(data)
    return {
        watch: Watched().closed(window, rows, by_name[json.loads(watch)[1]])[0].to_bytes()
        for watch, rows in found.items()
    }
