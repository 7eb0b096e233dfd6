"""The alerts and the board name what the monitor shows, and Prometheus's own tool runs them."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml
from made import manifest_of
from reported import trends_file

pytest.importorskip("prometheus_client")

from beam_topics.model.learner_log.known import Segment
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines.monitoring import Monitor

ROOT = Path(__file__).parent.parent.parent.parent
RULES, BOARD = ROOT / "docker" / "alerts.yml", ROOT / "docker" / "board.json"
CASES = Path(__file__).with_name("alerts_test.yml")
NAME = re.compile(r"beam_topics_\w+")


def rules():
    (group,) = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return group["rules"]


def board():
    """The expressions of the board."""
    panels = json.loads(BOARD.read_text("utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def exposed(folder):
    """The names and labels of all metrics."""
    store = ModelStore(str(folder))
    every, settings = {"windows": 1}, {"sequence": {"window": 60_000_000}}
    others = {"publish_every": every, "settings": settings, "topic_tokens": [1.0]}
    store.publish(manifest_of(1, islands=1, **others))
    point = store.put_checkpoint(CheckpointEntry("", 0, 1, "c", 10, 0, "d"), b"state")
    learned = Segment("", np.zeros(0, np.uint64), {"news/0": [[0, 5]]})
    store.put_known("", point.digest, learned.to_bytes())
    trends_file(folder / "trends", 60, 120)
    made = Monitor(store.root, str(folder / "dead"), trends=str(folder / "trends"))
    made.read(1)
    return {sample.name: set(sample.labels) for one in made.collect() for sample in one.samples}


def unknown(expressions, names):
    return {name for text in expressions for name in NAME.findall(text)} - names


def test_the_alerts_and_the_board_name_metrics_that_are_exposed(tmp_path):
    names = exposed(tmp_path).keys()
    assert unknown([rule["expr"] for rule in rules()], names) == set()
    assert unknown(board(), names) == set()
    assert unknown(["rate(beam_topics_no_such_total[1m])"], names) == {"beam_topics_no_such_total"}
    # What no board shows nobody sees.
    shown = {name for text in board() for name in NAME.findall(text)}
    assert names - shown == {
        "beam_topics_keys",
        "beam_topics_monitor_read_timestamp_seconds",
        "beam_topics_version_sequence",
    }


def test_labels_are_those_of_the_metrics(tmp_path):
    labels = {label for found in exposed(tmp_path).values() for label in found}
    text = RULES.read_text("utf-8") + BOARD.read_text("utf-8")
    named = set(re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", text))
    assert named <= labels == {"key", "part", "partition", "reason"}


def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not():
    cases = [
        (one["alertname"], bool(one.get("exp_alerts")))
        for case in yaml.safe_load(CASES.read_text("utf-8"))["tests"]
        for one in case["alert_rule_test"]
    ]
    assert set(cases) == {(rule["alert"], fires) for rule in rules() for fires in (True, False)}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool of Prometheus")
class TestPromtool:
    def run(self, *given):
        return subprocess.run(["promtool", *map(str, given)], capture_output=True, text=True)

    def test_the_alerts_fire_where_they_should(self):
        found = self.run("test", "rules", CASES)
        assert found.returncode == 0, found.stdout + found.stderr

    @pytest.mark.parametrize("number", range(len(rules())), ids=lambda n: rules()[n]["alert"])
    def test_an_alert_that_never_fires_is_found(self, number, tmp_path):
        silent = yaml.safe_load(RULES.read_text("utf-8"))
        rule = silent["groups"][0]["rules"][number]
        rule["expr"] = f"({rule['expr']}) and vector(0) == 1"
        (tmp_path / "alerts.yml").write_text(yaml.safe_dump(silent))
        cases = CASES.read_text("utf-8").replace("../../../docker/", f"{tmp_path}/")
        (tmp_path / "cases.yml").write_text(cases)
        assert self.run("test", "rules", tmp_path / "cases.yml").returncode != 0

    def test_the_board_can_be_evaluated(self, tmp_path):
        made = [{"record": f"panel:{at}", "expr": text} for at, text in enumerate(board())]
        (tmp_path / "board.yml").write_text(json.dumps({"groups": [{"name": "b", "rules": made}]}))
        found = self.run("check", "rules", tmp_path / "board.yml")
        assert found.returncode == 0, found.stdout + found.stderr
