"""``stream --alerts``: a word that bursts is an alarm, also by the days of an earlier run."""

import json

import pytest
from receiving import receiver

from beam_topics.pipelines import erase, stream, train

FIRST, DAY, USUAL = 20_000, 86_400, 12
WORDS = ("ship", "sailed", "harbour", "sailor", "ocean", "wind", "mast", "anchor")
RULES = """\
icebergs: {words: [Iceberg, unheard], groups: [north, south], false_alarms: 1, to: %s}
sailors: {words: sailor}
"""


def document(day, number, iceberg):
    words = [WORDS[(number * step) % len(WORDS)] for step in range(1, 6)]
    return {
        "id": f"{day}-{number}",
        "timestamp": (FIRST + day) * DAY + number,
        "region": ("north", "south")[number % 2],
        "text": " ".join([*words, *["iceberg"] * iceberg]),
    }


def days(path, first, last, burst=None):
    """Documents of days; in the north half of those of the burst have the word, and else one."""
    rows = [
        document(day, n, n % 2 == 0 and (n == 0 or day == burst))
        for day in range(first, last)
        for n in range(2 * USUAL)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"--input={path}"


def lines_of(folder, name):
    paths = folder.glob(f"{name}-*")
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


@pytest.fixture
def given(tmp_path):
    """The options of a run, without those of its input and its rules."""
    places = {"model_store": "models", "output": "out", "dead_letters": "dead"}
    places |= {"trends": "trends", "events": "events"}
    flags = [f"--{name}={tmp_path / path}" for name, path in places.items()]
    return [*flags, "--window=1d", "--topics=2", "--births=off", "--group_field=region"]


def test_a_word_that_bursts_in_a_group_is_an_alarm_by_the_days_of_an_earlier_run(tmp_path, given):
    with receiver() as (url, got):
        (tmp_path / "a.yaml").write_text(RULES % url)
        given = [*given, f"--alerts={tmp_path / 'a.yaml'}"]
        assert stream.main([*given, days(tmp_path / "a.jsonl", 0, 10)]) == 0
        assert got == [] and not [e for e in lines_of(tmp_path / "events", "events") if "rule" in e]
        more = days(tmp_path / "b.jsonl", 10, 12, burst=10)
        assert stream.main([*given, more, "--add_documents"]) == 0
        ((_, body, _),) = got
    alarm = json.loads(body)
    assert (alarm["rule"], alarm["group"], alarm["word"]) == ("icebergs", "north", "iceberg")
    assert alarm["time"] == "2024-10-15T00:00:00.000000Z" and alarm["documents"] == USUAL
    assert alarm["words"] == [["iceberg"]] and alarm["topics"] == alarm["names"] == []
    assert alarm["document_ids"] == ["10-0", "10-2", "10-4"]
    rows = lines_of(tmp_path / "trends", "words")
    assert {row["word"] for row in rows} == {"iceberg", "sailor", "unheard"}
    counts = {
        round(row["documents"] * row["mean_share"])
        for row in rows
        if (row["word"], row["group"]) == ("iceberg", "north")
    }
    assert counts == {1, USUAL} and {row["documents"] for row in rows} == {USUAL}
    # What names documents is erased.
    (tmp_path / "ids").write_text("10-0\n")
    where = [f"--model_store={tmp_path / 'models'}", f"--rows={tmp_path / 'trends'}"]
    assert erase.main([*where, f"--ids={tmp_path / 'ids'}"]) == 0
    rows = lines_of(tmp_path / "trends", "words")
    assert "10-0" not in {one["id"] for row in rows for one in row["typical"]}


@pytest.mark.parametrize(
    ("rules", "flags", "said"),
    [
        ("a: {words: the}", (), "a.yaml: a.words: 'the' was given; allowed is words that"),
        ("a: {to: 'https://a.example/x'}", (), "a.to: 'https://a.example/x' was given; allowed is"),
        ("a: {to: 'kafka:x'}", (), "--kafka_servers is missing. --alerts=kafka:x needs it"),
        (
            "a:",
            ("--trends_window=30s",),
            "--alerts: '{path}' was given; allowed is a file together",
        ),
    ],
)
def test_a_wrong_file_is_refused_before_anything_is_written(
    tmp_path, given, capsys, monkeypatch, rules, flags, said
):
    monkeypatch.delenv("BEAM_TOPICS_WEBHOOK_SECRET", raising=False)
    path = tmp_path / "a.yaml"
    path.write_text(rules)
    source = days(tmp_path / "a.jsonl", 0, 2)
    before = sorted(tmp_path.iterdir())
    assert stream.main([*given, source, f"--alerts={path}", *flags]) == 2
    assert said.format(path=path) in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before
    assert train.main([*given[:1], given[2], source, f"--alerts={path}"]) == 2
    assert "only other commands have" in capsys.readouterr().err
