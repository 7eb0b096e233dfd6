"""``init`` asks four questions, and writes a file that the programs take."""

import io
import json

import fake_learner
import pytest

from pipelines import init, train
from pipelines.cli.config import options_of_text

FAKE = [f"--learner={fake_learner.Fake.kind}", "--topics=2"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"headline": f"a ship in {n}", "date": f"20{n:02d}-03-01"} for n in range(1, 25)]
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def told(monkeypatch, answers, *argv):
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    return init.main(list(argv))


def written(here):
    return options_of_text((here / "beam-topics.yaml").read_text(), "x")


EXPECTED = {
    "input": "posts.jsonl",
    "text_field": "headline",
    "timestamp_field": "date",
    "id_from": "place",
    "window": "30d",
    "publish_every": "365d",
    "model_store": "posts.topics/models",
    "dead_letters": "posts.topics/dead",
}


def test_the_answers_of_a_newcomer(here, monkeypatch, capsys):
    assert told(monkeypatch, "posts.jsonl\n\n\n\n\n\n") == 0
    asked, said = capsys.readouterr().err, "Run: python -m pipelines.train"
    for question in (
        "Where are the documents (a path, a glob, or kafka://host:port/topic)?",
        "Which field has the text? [headline]",
        "Which field has the time? [date]",
        "Which field has the id? [none]",
        "Learned once, or a stream? [once or stream]",
        "How often is a version published? [365d]",
    ):
        assert question in asked
    assert written(here) == EXPECTED
    assert said in (here / "beam-topics.yaml").read_text()


def test_options_answer_everything(here, monkeypatch):
    flags = ["--input=posts.jsonl", "--text_field=headline", "--timestamp_field=date"]
    flags += ["--id_from=place", "--kind=once", "--publish_every=365d"]
    assert told(monkeypatch, "", *flags) == 0
    assert written(here) == EXPECTED


def test_what_is_written_trains(here, monkeypatch):
    assert told(monkeypatch, "posts.jsonl\n\n\n\n\n\n") == 0
    assert train.main(["--config=beam-topics.yaml", *FAKE]) == 0
    assert (here / "posts.topics" / "models").is_dir()


def test_a_stream(here, monkeypatch):
    assert told(monkeypatch, "posts.jsonl\n\n\n\nstream\n7d\n") == 0
    found = written(here)
    assert found["output"] == "posts.topics/mixtures"
    assert found["window"] == found["publish_every"] == "7d"
    assert "pipelines.stream --config=" in (here / "beam-topics.yaml").read_text()


def test_a_topic_of_kafka(here, monkeypatch):
    assert told(monkeypatch, "kafka://host:9092/posts\nbody\n\n\n1h\n") == 0
    assert written(here) == {
        "source": "kafka",
        "kafka_servers": "host:9092",
        "kafka_topic": "posts",
        "text_field": "body",
        "timestamp_field": "timestamp",
        "id_field": "id",
        "window": "1h",
        "publish_every": "1h",
        "model_store": "topics/models",
        "dead_letters": "topics/dead",
        "output": "topics/mixtures",
    }


@pytest.mark.parametrize(
    ("answers", "flags", "said"),
    [
        ("", [], "--input is missing: standard input ended. Give the option."),
        ("\n", [], "--input is missing: the answer was empty. Give the option."),
        (
            "posts.jsonl\n\n\n\nonce a week\n",
            [],
            "--kind: 'once a week' was given; allowed is one of once, stream. Answer with one.",
        ),
        (
            "posts.jsonl\n\n\n\n\nmonthly\n",
            [],
            "--publish_every: 'monthly' was given; allowed is a number of windows such as 4windows,"
            " or a length of time",
        ),
        ("", ["--input=absent.jsonl"], "--input: 'absent.jsonl' was given; allowed is a path or a"),
        ("kafka://host\n", [], "--input: 'kafka://host' was given; allowed is kafka://host:port/"),
    ],
)
def test_a_wrong_answer_is_named(here, monkeypatch, capsys, answers, flags, said):
    assert told(monkeypatch, answers, *flags) == 2
    assert f"python -m pipelines.init: {said}" in capsys.readouterr().err
    assert not (here / "beam-topics.yaml").exists()


def test_a_file_is_not_overwritten(here, monkeypatch, capsys):
    (here / "beam-topics.yaml").write_text("topics: 3\n")
    assert told(monkeypatch, "posts.jsonl\n\n\n\n\n\n") == 2
    assert "--output: 'beam-topics.yaml' was given; allowed is a file that is new." in (
        capsys.readouterr().err
    )
    assert (here / "beam-topics.yaml").read_text() == "topics: 3\n"
