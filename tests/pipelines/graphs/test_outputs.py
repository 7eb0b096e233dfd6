"""Where events go: bursts are among them where trends are on."""

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from given import given_by

from beam_topics.model.errors import OptionError
from beam_topics.model.reporting.webhook import SECRET
from beam_topics.pipelines.graphs.bursts import is_of, told_rules, write_bursts, write_noted
from beam_topics.pipelines.graphs.outputs import write_events


def steps_of(*flags):
    """The names of the steps, and the number of collections of dead letters."""
    options = given_by("--model_store=m", *flags)
    pipeline = beam.Pipeline(options=PipelineOptions([]))
    events = pipeline | "events" >> beam.Create([b""]) | "e" >> beam.Map(bytes)
    rows = pipeline | "rows" >> beam.Create([b""]) | "r" >> beam.Map(bytes)
    judged, noted = told_rules(options)
    dead = write_events(events, options) + write_noted(events, options, noted)
    if judged:
        dead += write_bursts(rows, events, options, judged)
    found = pipeline.to_runner_api().components.transforms.values()
    return {step.unique_name.partition("/")[0] for step in found}, len(dead)


def test_bursts_are_events_where_trends_are_on():
    assert {"Bursts", "Write bursts", "Write events"} <= steps_of("--events=e", "--trends=t")[0]
    assert "Bursts" not in steps_of("--events=e")[0]
    assert "Bursts" not in steps_of()[0]
    # Cycles of shorter windows have too many of them.
    assert "Bursts" not in steps_of("--events=e", "--trends=t", "--trends_window=59s")[0]
    assert "Bursts" in steps_of("--events=e", "--trends=t", "--trends_window=1min")[0]
    assert "Write stories" in steps_of("--events=e", "--trends=t")[0]
    kafka = "--trends=kafka:t", "--kafka_servers=localhost:1"
    assert "Write stories" not in steps_of("--events=e", *kafka)[0]


def test_rules_send_what_versions_note_without_trends(tmp_path, monkeypatch):
    monkeypatch.delenv(SECRET, raising=False)
    place = "http://localhost:1/x"
    text = "new: {{tells: birth, to: {0}}}\nold: {{tells: death, to: {0}}}"
    (tmp_path / "a.yaml").write_text(text.format(f'"{place}"'))
    steps, dead = steps_of(f"--alerts={tmp_path / 'a.yaml'}")
    assert dead == 1 and any(step.startswith("Noted for ") for step in steps)
    assert "Bursts" not in steps
    assert "Write events" not in steps
    assert is_of(b'{"kind": "death"}', "kind", ["birth", "death"])
    assert not is_of(b'{"kind": "x"}', "kind", ["y"])


def test_what_a_webhook_does_not_take_is_a_dead_letter(monkeypatch):
    monkeypatch.delenv(SECRET, raising=False)
    assert steps_of("--events=e")[1] == 0
    assert steps_of("--events=http://localhost:1/x", "--trends=t")[1] == 2
    with pytest.raises(OptionError, match=rf"^--events: 'https://a/x' was given; .* {SECRET}"):
        steps_of("--events=https://a/x")
