"""What ``stream`` tells by rules: bursts with their stories, and events of versions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

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


def tells_bursts(options: Options) -> bool:
    """Return whether bursts of trends are told, as events or as alarms.

    Raises:
        OptionError: There are rules of bursts without trends.
    """
    trends, events = settings_of(options, TrendSettings), settings_of(options, EventSettings)
    alerts = settings_of(options, AlertSettings).alerts
    judged = trends.trends is not None and (trends.window or DAY) >= LEAST_WINDOW
    if alerts is not None and not _judged(options):
        return False
    if alerts is not None and not judged:
        allowed = "a file beside --trends, in windows of a minute or more"
        remedy = "Add --trends, for example --trends=trends, and a longer --trends_window."
        raise OptionError("--alerts", alerts, allowed, remedy)
    return judged and (events.events is not None or alerts is not None)


def write_bursts(
    trends: beam.PCollection,
    blocks: beam.PCollection,
    options: Options,
    runs: Mapping[str, int] | None = None,
) -> list[beam.PCollection]:
    """Write bursts where rules send them, and stories and words beside trends in files.

    Args:
        trends: The rows of trends.
        blocks: Mixtures with the words of their documents.
        options: The options of the run.
        runs: By model key, the minibatch after which a run that adds documents began.

    Returns:
        The dead letters of webhooks.
    """
    rules, wanted = _judged(options), settings_of(options, TrendSettings)
    window, folder = wanted.window or DAY, wanted.trends or ""
    stories = blocks | "Stories" >> FindStories(window, streams=streams(options))
    rows = {"stories": stories}
    if words := sorted({word for rule in rules for word in rule.words}):
        rows["words"] = blocks | "Words" >> add_up(options, streams(options), runs, words)
    for name, some in rows.items() if kafka_topic(folder) is None else ():
        _ = some | f"Write {name}" >> json_files(folder, name)
    together = (trends, *rows.values()) | "With stories" >> beam.Flatten()
    bursts, dead = together | "Bursts" >> find_bursts(options, rules, adds=bool(runs)), []
    # Together with the events of versions, some runners would write those at the end only.
    for place in sorted({rule.to for rule in rules}):
        names, step = [rule.name for rule in rules if rule.to == place], f"Write bursts {place}"
        some = bursts | f"For {place}" >> beam.Filter(is_of, names)
        dead += write_events(some, options, step.rstrip(), place, OPTION if place else "--events")
    return dead


def write_noted(events: beam.PCollection, options: Options) -> list[beam.PCollection]:
    """Write events of versions where rules send them; return the dead letters of webhooks."""
    rules, dead = [rule for rule in rules_of(options) if rule.tells in NOTED], []
    for place in sorted({rule.to for rule in rules}):
        kinds = sorted({rule.tells for rule in rules if rule.to == place})
        some = events | f"Noted for {place}" >> beam.Filter(is_a, kinds)
        dead += write_events(some, options, f"Write noted {place}", place, OPTION)
    return dead


def _judged(options: Options) -> list[Rule]:
    """Return the rules of bursts and silences."""
    return [rule for rule in rules_of(options) if rule.tells not in NOTED]


def is_a(record: bytes, kinds: Sequence[str]) -> bool:
    """Return whether an event is of one of some kinds."""
    return json.loads(record)["kind"] in kinds


def is_of(record: bytes, names: Sequence[str]) -> bool:
    """Return whether a burst is of one of some rules."""
    return json.loads(record).get("rule", "") in names
