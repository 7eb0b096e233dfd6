"""What ``stream`` tells by rules: bursts with their stories, and events of versions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

import apache_beam as beam

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.events import NOTED
from beam_topics.model.reporting.alarms import Rule
from beam_topics.pipelines.cli.alerts import OPTION, rules_of
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import (
    DAY,
    LEAST_WINDOW,
    AlertSettings,
    EventSettings,
    TrendSettings,
    kafka_topic,
)
from beam_topics.pipelines.graphs.judging import find_bursts
from beam_topics.pipelines.graphs.outputs import json_files, write_events
from beam_topics.pipelines.graphs.runners import streams
from beam_topics.pipelines.graphs.sinks import add_up
from beam_topics.transforms.trends import FindStories

# By the field of events that rules name: what it holds, and the names of steps.
_SENT: dict[str, tuple[Callable[[Rule], str], str, str]] = {
    "rule": (attrgetter("name"), "For", "Write bursts"),
    "kind": (attrgetter("tells"), "Noted for", "Write noted"),
}


def told_rules(options: Options) -> tuple[list[Rule], list[Rule]]:
    """Return the rules by which trends are judged, and those of events that versions note.

    There are none of the former where no burst is reported.

    Raises:
        OptionError: The file of rules cannot be used, or has rules of bursts without trends.
    """
    rules, noted = [], []
    for rule in rules_of(options):
        (noted if rule.tells in NOTED else rules).append(rule)
    trends, events = settings_of(options, TrendSettings), settings_of(options, EventSettings)
    alerts = settings_of(options, AlertSettings).alerts
    judged = trends.trends is not None and (trends.window or DAY) >= LEAST_WINDOW
    if alerts is not None and rules and not judged:
        allowed = "a file together with --trends, in windows of a minute or more"
        remedy = "Add --trends, for example --trends=trends, and a longer --trends_window."
        raise OptionError("--alerts", alerts, allowed, remedy)
    is_sent = judged and (events.events is not None or alerts is not None)
    return rules if is_sent else [], noted


def write_bursts(
    trends: beam.PCollection,
    blocks: beam.PCollection,
    options: Options,
    rules: Sequence[Rule],
    runs: Mapping[str, int] | None = None,
) -> list[beam.PCollection]:
    """Write bursts where rules send them, and stories and words next to trends in files.

    Args:
        trends: The rows of trends.
        blocks: Mixtures with the words of their documents.
        options: The options of the run.
        rules: Those by which trends are judged (:func:`told_rules`).
        runs: By model key, the minibatch after which a run that adds documents began.

    Returns:
        The dead letters of webhooks.
    """
    wanted = settings_of(options, TrendSettings)
    window, folder = wanted.window or DAY, wanted.trends or ""
    stories = blocks | "Stories" >> FindStories(window, streams=streams(options))
    rows = {"stories": stories}
    if words := sorted({word for rule in rules for word in rule.words}):
        rows["words"] = blocks | "Words" >> add_up(options, streams(options), runs, words)
    for name, some in rows.items() if kafka_topic(folder) is None else ():
        _ = some | f"Write {name}" >> json_files(folder, name)
    together = (trends, *rows.values()) | "With stories" >> beam.Flatten()
    bursts = together | "Bursts" >> find_bursts(options, rules, adds=bool(runs))
    # Together with the events of versions, some runners would write those at the end only.
    return _send(bursts, options, rules, "rule")


def write_noted(
    events: beam.PCollection, options: Options, rules: Sequence[Rule]
) -> list[beam.PCollection]:
    """Write events of versions where rules send them; return the dead letters of webhooks."""
    return _send(events, options, rules, "kind")


def _send(
    events: beam.PCollection, options: Options, rules: Sequence[Rule], field: str
) -> list[beam.PCollection]:
    """Write the events of each place, by a field that has what rules name."""
    (named, chosen, written), dead = _SENT[field], []
    for place in sorted({rule.to for rule in rules}):
        values = sorted({named(rule) for rule in rules if rule.to == place})
        some = events | f"{chosen} {place}" >> beam.Filter(is_of, field, values)
        step, option = f"{written} {place}".rstrip(), OPTION if place else "--events"
        dead += write_events(some, options, step, place, option)
    return dead


def is_of(record: bytes, field: str, values: Sequence[str]) -> bool:
    """Return whether a field of an event has one of some values; "" where it has no such field."""
    return json.loads(record).get(field, "") in values
