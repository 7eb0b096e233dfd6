"""Documents of a Kafka topic burst on a Flink cluster, and a webhook gets the alarm."""

from __future__ import annotations

import json
import queue
import sys

import pytest
from receiving import receiver
from runners.broker import KafkaBroker
from runners.conftest import or_skip
from runners.processes import Server, run_until
from runners.replays import TOPICS
from runners.tools import ROOT

pytest.importorskip("confluent_kafka")

DAY, FIRST, QUIET, USUAL = 86_400, 20_000, 14, 12
# Two alarms are awaited so long, one after the other.
SECONDS = 30
SHIPS, COURTS = (text.split() for text in TOPICS)
RULES = """\
courts: {topics: [%(topics)s], to: %(url)s}
icebergs: {words: [iceberg], false_alarms: 1, to: %(url)s}
quiet: {words: [ocean], to: %(url)s}
"""


def document(day, number, theme, *more):
    """A document of a theme, some minutes after the midnight of a day."""
    words = [theme[(number * step + step * step) % len(theme)] for step in range(1, 9)]
    time = (FIRST + day) * DAY + 60 * number
    return {"id": f"{day}-{number}", "timestamp": time, "text": " ".join([*words, *more])}


def documents(day, courts=USUAL, icebergs=1):
    """The documents of a day, of which some are about courts, and some have a word."""
    ships = [document(day, n, SHIPS, *["iceberg"] * (n < icebergs)) for n in range(USUAL)]
    return [*ships, *(document(day, USUAL + n, COURTS) for n in range(courts))]


def windows(folder):
    """The ends of the windows of which rows of trends and of words are written."""
    rows = {
        name: {json.loads(x)["window_end"] for one in paths for x in one.read_text().splitlines()}
        for name in ("trends", "words")
        if (paths := list((folder / "trends").glob(f"{name}-*")))
    }
    return set.intersection(*rows.values()) if len(rows) == 2 else set()


def test_an_alarm_reaches_a_webhook_within_a_minute_of_the_document(flink, tmp_path):
    came: queue.Queue = queue.Queue()
    with or_skip():
        broker = KafkaBroker(tmp_path)
    with broker, receiver(take=came.put) as (url, _):
        broker.create("news", 1)
        given = {"topics": "0, 1, 2, 3", "url": url}
        (tmp_path / "alerts.yaml").write_text(RULES % given)
        places = {"model_store": "models", "output": "out", "dead_letters": "dead"}
        places |= {"trends": "trends", "alerts": "alerts.yaml"}
        command = [
            *(sys.executable, "-m", "beam_topics.pipelines.stream", *flink.flags(1)),
            "--checkpointing_interval=2000",
            *("--source=kafka", f"--kafka_servers={broker.servers}", "--kafka_topic=news"),
            *("--window=1d", "--publish_every=1window", "--topics=2", "--births=off"),
            *(f"--{name}={tmp_path / path}" for name, path in places.items()),
        ]
        before = [row for day in range(QUIET) for row in documents(day)]
        broker.send("news", before, (0,))
        with Server("pipeline", command, tmp_path, cwd=ROOT) as pipeline:
            job = flink.running(pipeline)
            try:
                run_until(lambda: len(windows(tmp_path)) == QUIET - 1, 300, "windows", pipeline)
                # The day of the burst is not over, and so not told.
                broker.send("news", documents(QUIET, 5 * USUAL, USUAL), (0,))
                run_until(lambda: len(windows(tmp_path)) == QUIET, 120, "the day before", pipeline)
                assert came.empty()
                # This document, of the next day, ends it.
                broker.send("news", documents(QUIET + 1)[1:2], (0,))
                told = [json.loads(came.get(timeout=SECONDS)) for _ in range(2)]
            finally:
                flink.cancel(job)
    courts, icebergs = sorted(told, key=lambda one: one["rule"])
    assert (courts["rule"], icebergs["rule"]) == ("courts", "icebergs") and came.empty()
    for one, least in ((courts, 4 * USUAL), (icebergs, USUAL)):
        assert one["kind"] == "burst" and one["documents"] >= least
        assert one["time"] == "2024-10-19T00:00:00.000000Z"
    assert set(courts["words"][0]) <= set(COURTS) and icebergs["words"] == [["iceberg"]]
    assert icebergs["word"] == "iceberg" and icebergs["topics"] == []
