"""``--trends`` of infer: the table equals sums over the mixtures, and the figures of the report."""

import csv
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from reported import DAY, published, trends_of

from beam_topics.model.reporting.trends import rows_of_file
from beam_topics.model.times import parse_time, to_iso
from beam_topics.pipelines import infer, report, stream, topics, trends

WORDS = tuple(f"word{letter}{end}" for letter in "abcdefghijklmnopqrst" for end in "xy")


def text_of(number):
    return f"{WORDS[number % 40]} {WORDS[number % 7]}" if number % 9 else "new"


def rows_of(folder):
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    return list(map(json.loads, lines))


def of_topic(mixture):
    """The shares of a mixture by topic, and of None."""
    shares = {one["topic"]: one["share"] for one in mixture["topics"]}
    return shares | {None: float(mixture["topic"] is None)}


def test_the_table_equals_the_mixtures_and_the_report(tmp_path, capsys):
    words = WORDS
    store = published(tmp_path / "models", versions=3, words=words)
    documents = [
        {
            "id": str(n),
            "timestamp": to_iso(n * DAY),
            "text": text_of(n),
        }
        for n in range(80)
    ]
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, documents)))
    given = [f"--{name}={tmp_path / name}" for name in ("dead_letters", "trends")]
    given += [f"--model_store={store.root}", f"--input={tmp_path / 'new.jsonl'}"]
    given += [f"--output={tmp_path / 'mixtures'}", "--trends_window=30d"]
    assert infer.main(given) == 0
    mixtures, rows = rows_of(tmp_path / "mixtures"), rows_of(tmp_path / "trends")
    assert len(mixtures) == 80 and len(rows) == 3 * 6
    for row in rows:
        start, end = parse_time(row["window_start"]), parse_time(row["window_end"])
        own = [m for m in mixtures if start <= parse_time(m["timestamp"]) < end]
        shares = [of_topic(m).get(row["topic"], 0.0) for m in own]
        assert row["documents"] == len(own) and row["part"] == row["window_end"]
        assert row["mean_share"] == pytest.approx(np.mean(shares), abs=1e-3)
    check_report(tmp_path, store.root, rows)
    check_program(tmp_path, store.root, capsys)


def grouped_documents():
    """Every third document has no region; those of others have two."""
    return [
        {
            "id": str(n),
            "timestamp": to_iso(n * DAY),
            "text": text_of(n),
            "label": "l",
            **({"region": ("north", "süd")[n % 2]} if n % 3 else {}),
        }
        for n in range(60)
    ]


def write_jsonl(path, documents):
    path.write_text("\n".join(map(json.dumps, documents)))


def write_csv(path, documents):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ("id", "timestamp", "text", "label", "region"))
        writer.writeheader()
        writer.writerows(documents)


def write_parquet(path, documents):
    pq.write_table(pa.Table.from_pylist([{"region": None, **one} for one in documents]), path)


WRITERS = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet}


@pytest.mark.parametrize("form", WRITERS)
def test_a_field_of_the_records_is_the_group(tmp_path, form, capsys):
    store = published(tmp_path / "models", versions=2, words=WORDS)
    documents = grouped_documents()
    WRITERS[form](tmp_path / f"new.{form}", documents)
    given = [f"--{name}={tmp_path / name}" for name in ("dead_letters", "trends")]
    given += [f"--model_store={store.root}", f"--input={tmp_path / f'new.{form}'}"]
    given += [f"--output={tmp_path / 'mixtures'}", "--trends_window=30d"]
    assert infer.main([*given, "--group_field=region"]) == 0
    regions = {one["id"]: one.get("region", "") for one in documents}
    mixtures = rows_of(tmp_path / "mixtures")
    rows = []
    for path in (tmp_path / "trends").glob("*"):
        with path.open("rb") as stream:
            rows += rows_of_file(stream, path.name)
    assert len(rows) == 2 * 3 * 6 and {row["group"] for row in rows} == {"north", "süd", ""}
    for row in rows:
        own = [
            m
            for m in mixtures
            if row["window_start"] <= parse_time(m["timestamp"]) < row["window_end"]
            and regions[m["id"]] == row["group"]
        ]
        shares = [of_topic(m).get(row["topic"], 0.0) for m in own]
        assert row["documents"] == len(own) == 10
        assert row["mean_share"] == pytest.approx(np.mean(shares), abs=1e-3)
    capsys.readouterr()
    shown = [f"--model_store={store.root}", f"--rows={tmp_path / 'trends'}", "--trends_group=süd"]
    assert trends.main(shown) == 0
    assert "20 documents in 2 windows" in capsys.readouterr().out


def test_a_stream_groups_by_a_field(tmp_path):
    write_jsonl(tmp_path / "new.jsonl", grouped_documents())
    given = [f"--{name}={tmp_path / name}" for name in ("dead_letters", "trends", "output")]
    given += [f"--model_store={tmp_path / 'models'}", f"--input={tmp_path / 'new.jsonl'}"]
    given += ["--window=5d", "--publish_every=10d", "--topics=5", "--births=off"]
    given += ["--trends_window=30d", "--group_field=region"]
    assert stream.main(given) == 0
    rows = [row for row in rows_of(tmp_path / "trends") if row["topic"] is None]
    assert {row["group"] for row in rows} == {"north", "süd", ""}
    assert sum(row["documents"] for row in rows) == 60


def test_bursts_are_listed_with_the_names_of_their_topics(tmp_path, capsys):
    store = published(tmp_path / "models", versions=1)
    trends_of(tmp_path / "trends", burst=4)
    shown = [f"--model_store={store.root}", f"--rows={tmp_path / 'trends'}"]
    names = ["--topic_ids=4", "--topic_name=Harbours"]
    assert topics.main([shown[0], *names]) == 0
    capsys.readouterr()
    assert trends.main(shown) == 0
    _, found = capsys.readouterr().out.split("the last bursts")
    assert re.search(r"1970-01-20 +│ 4 +Harbours +│ +60 │", found)


def check_program(folder, root, capsys):
    """The program shows names of the catalogue, and the sums of merged topics."""
    common = [f"--model_store={root}"]
    assert topics.main([*common, "--topic_ids=1", "--topic_name=\x1b[31mHealth"]) == 0
    assert topics.main([*common, "--topic_ids=2,3", "--merge_into=1"]) == 0
    capsys.readouterr()
    assert trends.main([*common, f"--rows={folder / 'trends'}"]) == 0
    told = capsys.readouterr().out
    assert "\ufffd[31mHealth" in told and "80 documents in 3 windows" in told
    assert "no bursts" in told
    assert told.count("%") == 4 + 3 * 2, told
    assert re.search(r"none +│ +11.2% │", told)
    assert "not listed" not in told and re.search(r"^ 4 ", told, re.MULTILINE)
    assert topics.main([*common, "--topic_ids=4", "--hide"]) == 0
    capsys.readouterr()
    assert trends.main([*common, f"--rows={folder / 'trends'}"]) == 0
    told = capsys.readouterr().out
    assert "; not listed: 1 topics, hidden or below 0.05%" in told
    assert not re.search(r"^ 4 ", told, re.MULTILINE)
    assert trends.main([*common, f"--rows={folder / 'trends'}", "--trends_group=x"]) == 2
    assert "allowed is rows of this model key and group" in capsys.readouterr().err
    assert trends.main([*common, f"--rows={folder / 'none'}"]) == 2
    assert "a folder with files trends-*" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "--trends_window=1h",
            "--trends_window: '1h' was given; allowed is nothing without --trends. ",
        ),
        (
            "--group_field=x",
            "--group_field: 'x' was given; allowed is nothing without --trends. ",
        ),
        ("--trends=kafka:t", "--kafka_servers is missing. --trends=kafka:t needs it"),
    ],
)
def test_an_option_without_effect_is_refused(tmp_path, capsys, options, message):
    store = published(tmp_path / "models", versions=1, words=WORDS)
    (tmp_path / "new.jsonl").write_text('{"id": "1", "timestamp": 1, "text": "word1"}')
    given = [f"--model_store={store.root}", f"--input={tmp_path / 'new.jsonl'}"]
    given += [f"--{name}={tmp_path / name}" for name in ("dead_letters", "output")]
    assert infer.main([*given, *options.split()]) == 2
    assert message in capsys.readouterr().err


def check_report(folder, root, rows):
    """The report's means over all documents equal those of the table."""
    pytest.importorskip("jinja2")
    page = folder / "r.html"
    given = [f"--model_store={root}", f"--mixtures={folder / 'mixtures'}", f"--output={page}"]
    assert report.main(given) == 0
    data = page.read_text(encoding="utf-8").partition('id="figures">')[2].partition("</script>")[0]
    labelled = json.loads(data)["labelled"]
    whole = np.dot(labelled["documents"], labelled["shares"])
    table = np.zeros(5)
    for row in rows:
        if row["topic"] is not None:
            table[row["topic"]] += row["mean_share"] * row["documents"]
    assert table == pytest.approx(whole, abs=1e-3)
    assert labelled["without"] == 9
