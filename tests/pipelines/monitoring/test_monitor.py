"""The monitor over a small store, with real requests to its port."""

import errno
import os
import re
import shutil
import socket
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from hostile import latest_path, stored
from made import manifest_of
from reported import DAY, published, trends_file

parser = pytest.importorskip("prometheus_client.parser")

from beam_topics.model.documents.document import DeadLetter  # noqa: E402
from beam_topics.model.learner_log.known import Segment  # noqa: E402
from beam_topics.model.publishing.manifest import CheckpointEntry  # noqa: E402
from beam_topics.model.publishing.store import ModelStore  # noqa: E402
from beam_topics.pipelines import monitor as program  # noqa: E402
from beam_topics.pipelines.monitor import listening, main  # noqa: E402
from beam_topics.pipelines.monitoring import Monitor  # noqa: E402

NOW = 2_000_000_000_000_000


class Ended(Exception):
    """The test has seen enough."""


def figures_at(port):
    """The samples of the endpoint, by name and labels."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        families = parser.text_string_to_metric_families(answer.read().decode())
        return {(one.name, *one.labels.values()): one.value for f in families for one in f.samples}


@pytest.fixture
def free():
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        return made.getsockname()[1]


@pytest.fixture
def dead(tmp_path):
    (tmp_path / "dead").mkdir()
    letters = [DeadLetter("a:1", "not_json", "", ""), DeadLetter("a:2", "future", "", "", 1234)]
    text = "".join(f"{one.as_json()}\n" for one in letters)
    (tmp_path / "dead" / "dead-letters-a.jsonl").write_text(text)
    return str(tmp_path / "dead")


def test_the_figures_of_a_store_and_its_dead_letters(tmp_path, dead):
    store = published(tmp_path / "models", versions=3)
    newest = store.latest("")
    os.utime(latest_path(store), ns=(0, 1_999_999_940 * 10**9))
    store.put_checkpoint(CheckpointEntry("", 0, 2, "c", 60 * DAY, 0, "d"), b"state")
    for path in Path(store.root, "_", "snapshots").iterdir():
        os.utime(path, ns=(0, 1_999_999_900 * 10**9))
    newest_snapshot = Path(store.root, "_", "snapshots", newest.snapshot)
    os.utime(newest_snapshot, ns=(0, 1_999_999_930 * 10**9))
    made = Monitor(store.root, dead)
    assert made.read(NOW) == []
    with listening(made, "127.0.0.1", 0) as port:
        found = figures_at(port)
    version = {
        "sequence": 3,
        "published_timestamp_seconds": 1_999_999_940,
        "event_timestamp_seconds": newest.event_time / 1e6,
        "documents": newest.documents,
        "tokens": newest.tokens,
        "words": newest.words,
        "topics_in_use": 4,
        "perplexity": 98.7,
    }
    assert {name: found["beam_topics_version_" + name, ""] for name in version} == version
    assert ("beam_topics_version_period_seconds", "") not in found
    assert found["beam_topics_keys",] == 1 and found["beam_topics_monitor_failures_total",] == 0
    assert found["beam_topics_monitor_read_timestamp_seconds",] == NOW / 1e6
    assert found["beam_topics_dead_letters_total", "future"] == 1234
    assert found["beam_topics_dead_letters_total", "missing_id"] == 0
    folder = Path(store.root, "_", "manifests")
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert found["beam_topics_store_bytes", "", "manifests"] == size
    assert found["beam_topics_store_files", "", "snapshots"] == 3
    assert found["beam_topics_store_written_timestamp_seconds", "", "snapshots"] == 1_999_999_930
    assert ("beam_topics_store_written_timestamp_seconds", "", "known") not in found
    assert found["beam_topics_checkpoint_event_timestamp_seconds", ""] == 60 * DAY / 1e6
    line = made.line(NOW)
    assert line.startswith(
        "2033-05-18T03:33:20Z version 3 up to 1970-04-01T00:00:00, published 1min ago  checkpoint"
        " up to 1970-03-02T00:00:00  documents 10  tokens 100  words 20"
        "  topics in use 4  snapshots 0.0"
    )
    assert line.endswith(" MB  dead letters 1,235  future 1,234  not_json 1")


def test_the_offsets_that_are_learned_are_those_of_the_newest_checkpoint(tmp_path):
    store = ModelStore(str(tmp_path))
    chain = store.publish(manifest_of(2, islands=1)).chain
    made, ranges = Monitor(store.root), {"news/0": [[0, 5], [7, 9]], "news/1": [[3, 4]]}
    for sequence, found in ((1, {"news/0": [[0, 2]]}), (2, ranges)):
        entry = CheckpointEntry("", 0, sequence, chain, sequence, 0, "d")
        point = store.put_checkpoint(entry, b"state %d" % sequence)
        segment = Segment("", np.zeros(0, np.uint64), found)
        store.put_known("", point.digest, segment.to_bytes())
    assert made.read(NOW) == []
    with listening(made, "127.0.0.1", 0) as port:
        found = figures_at(port)
    # From the first gap on all is read again.
    assert found["beam_topics_learned_offset", "", "news/0"] == 5
    assert found["beam_topics_learned_offset", "", "news/1"] == 4


def test_documents_are_labelled_up_to_the_newest_window_of_trends(tmp_path):
    store = ModelStore(str(tmp_path / "models"))
    store.publish(manifest_of(1))
    folder = tmp_path / "trends"
    made = Monitor(store.root, trends=str(folder))
    assert made.read(NOW) == []
    trends_file(folder, 120, 180, name="b")
    trends_file(folder, 60, 120, name="c")
    trends_file(folder, 60, 90, "news", name="d")
    (folder / "trends-e.jsonl").write_text("{}")
    (wrong,) = made.read(NOW)
    assert wrong.startswith("trends: trends-e.jsonl cannot be read as trends: ")
    with listening(made, "127.0.0.1", 0) as port:
        found = figures_at(port)
    ends = {key: found["beam_topics_labelled_event_timestamp_seconds", key] for key in ("", "news")}
    periods = [found["beam_topics_labelled_period_seconds", key] for key in ("", "news")]
    assert ends == {"": 180, "news": 90} and periods == [60, 30]


@pytest.mark.parametrize(
    ("every", "seconds"), [({"period": 90_000_000}, 90), ({"windows": 3}, 180), ({}, None)]
)
def test_the_time_between_versions(every, seconds, tmp_path):
    settings = {"sequence": {"window": 60_000_000}}
    ModelStore(str(tmp_path)).publish(manifest_of(1, publish_every=every, settings=settings))
    made = Monitor(str(tmp_path))
    made.read(NOW)
    (family,) = (one for one in made.collect() if one.name.endswith("period_seconds"))
    assert [one.value for one in family.samples] == ([] if seconds is None else [seconds])


def test_a_request_gets_the_last_reading(tmp_path):
    store, versions = stored(tmp_path)
    made = Monitor(store.root)
    made.read(NOW)
    with listening(made, "127.0.0.1", 0) as port:
        store.publish(manifest_of(12, versions[-1]))
        assert figures_at(port)["beam_topics_version_sequence", ""] == 9
        made.read(NOW)
        found = figures_at(port)
        assert found["beam_topics_version_sequence", ""] == 12
        assert found["beam_topics_versions_published_total", ""] == 1
        latest_path(store).write_bytes(b"{}")
        assert len(made.read(NOW + 1_000_000)) == 1
        found = figures_at(port)
        assert found["beam_topics_version_sequence", ""] == 12
        assert found["beam_topics_monitor_failures_total",] == 1


def test_the_line_has_the_version_that_was_published_last(tmp_path):
    store = ModelStore(str(tmp_path))
    for key, at in (("a", 100), ("b", 300), ("c", 200)):
        store.publish(manifest_of(at, key=key))
        os.utime(tmp_path / key / "LATEST", ns=(0, at * 10**9))
    made = Monitor(store.root)
    made.read(NOW)
    assert "version 300 of key 'b' (of 3 keys) up to 1970-01-01T00:05:00, " in made.line(NOW)


@pytest.mark.parametrize("key", ['"}\n# EOF\nx{a="', "\\", "\u202e日本", "a\x1b[2J"])
def test_a_hostile_key_stays_a_label_and_text(key, tmp_path):
    store = ModelStore(str(tmp_path))
    store.publish(manifest_of(1, key=key))
    store.publish(manifest_of(1, key="b"))
    made = Monitor(store.root)
    made.read(NOW)
    with listening(made, "127.0.0.1", 0) as port:
        assert figures_at(port)["beam_topics_version_documents", key] == 10
    assert "\n" not in made.line(NOW) and "\x1b" not in made.line(NOW)


def test_the_program_reads_prints_and_reads_again(tmp_path, dead, free, monkeypatch, capsys):
    store, versions = stored(tmp_path / "models")
    seen = []

    def wait(seconds):
        found = figures_at(free)
        failures = found["beam_topics_monitor_failures_total",]
        seen.append((seconds, found["beam_topics_version_sequence", ""], failures))
        if len(seen) == 1:
            store.publish(manifest_of(12, versions[-1]))
            Path(dead, "dead-letters-\x1b[2J.jsonl").write_text("no JSON")
        elif len(seen) == 2:
            shutil.rmtree(dead)
            Path(dead).write_text("a file")
        elif len(seen) == 3:
            raise Ended

    monkeypatch.setattr(program, "_wait", wait)
    with pytest.raises(Ended):
        main([f"--model_store={store.root}", f"--dead_letters={dead}", f"--port={free}"])
    assert seen == [(60, 9, 0), (60, 12, 1), (60, 12, 2)]
    out, err = capsys.readouterr()
    assert [re.search(r"version (\d+)", line)[1] for line in out.splitlines()] == ["9", "12", "12"]
    damaged, gone = err.splitlines()
    assert damaged.startswith("dead letters: dead-letters-\ufffd[2J.jsonl is not a dead letter: ")
    assert gone.startswith(f"--dead_letters: '{dead}' was given; ")
    with socket.socket() as made:
        assert made.connect_ex(("127.0.0.1", free)) == errno.ECONNREFUSED


def test_an_empty_store_is_watched_until_it_has_a_version(tmp_path, free, monkeypatch, capsys):
    def wait(seconds):
        assert figures_at(free)["beam_topics_keys",] == 0 and seconds == 60
        raise Ended

    monkeypatch.setattr(program, "_wait", wait)
    given = [f"--model_store={tmp_path}", f"--dead_letters={tmp_path}/dead", f"--port={free}"]
    given += [f"--trends={tmp_path}/trends"]
    with pytest.raises(Ended):
        main(given)
    out, err = capsys.readouterr()
    assert out.endswith("Z no version yet  dead letters 0\n")
    folders = {"dead_letters": "dead", "trends": "trends"}.items()
    assert err == "".join(f"--{name}: {tmp_path}/{x} is not there yet\n" for name, x in folders)


def test_what_cannot_be_watched_is_refused_in_one_line(tmp_path, capsys):
    stored(tmp_path / "models")
    (tmp_path / "file").write_text("x")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        for given, told in (
            (
                [f"--model_store={tmp_path}/none"],
                "--model_store: .*none' was given; allowed is a f",
            ),
            (
                [f"--model_store={tmp_path}/file"],
                "--model_store: .*file' was given; allowed is a l",
            ),
            (
                [f"--model_store={tmp_path}/models", f"--dead_letters={tmp_path}/file"],
                "--dead_letters: .*file' was given; allowed is a local folder",
            ),
            (
                [f"--model_store={tmp_path}/models", f"--port={port}"],
                f"--port: {port} was given; allowed is a port that is free. The system says: .*in"
                " use. Name another one, or another --host than 127.0.0.1.",
            ),
            (
                [f"--model_store={tmp_path}/models", "--host=no such host"],
                "--port: 8000 was given; .* than no such host",
            ),
            ([f"--model_store={tmp_path}/models", "--port=0"], "--port: 0 was given"),
        ):
            assert main(given) == 2, given
            out, err = capsys.readouterr()
            assert out == "" and re.search(f"monitor: {told}", err) and err.count("\n") == 1


def test_without_its_package_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["--model_store=models"]) == 2
    assert "Run: pip install 'beam-topics[serve]'" in capsys.readouterr().err
