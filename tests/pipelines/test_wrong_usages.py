"""Wrong usages at the command line: status, message, and the advised command, which works."""

import json
import shlex

import fake_learner
import pytest

from beam_topics.pipelines.__main__ import main

TRAIN = f"--learner={fake_learner.Fake.kind} --topics=2 --window=10d --publish_every=30d"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with inputs, and the folder of a run."""
    folder = tmp_path_factory.mktemp("person")
    rows = [
        {"id": str(n), "timestamp": n * 86_400, "text": f"a ship in harbour {'abcdef'[n % 6] * 3}"}
        for n in range(60)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "feb.jsonl").write_text(lines)
    (folder / "feb.data").write_text(lines)
    (folder / "folder").mkdir()
    (folder / "folder" / "feb.jsonl").write_text(lines)
    (folder / "data[1].jsonl").write_text(lines)
    (folder / "umlaut.csv").write_bytes(
        b"id,timestamp,text\n"
        + b"".join(b"%d,2024-01-%02d,ein Sch\xf6ner Hafen\n" % (n, n) for n in range(1, 20))
    )
    (folder / "good.yaml").write_text("ships: [harbour]\n")
    (folder / "alias.yaml").write_text("ships: &a [harbour]\nboats: *a\n")
    (folder / "twice.yaml").write_text("topics: 2\ntopics: 3\n")
    (folder / "once.yaml").write_text("topics: 2\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["train", "feb.jsonl", *shlex.split(TRAIN)]) == 0
    return folder


# The command, its status, what it says, and the command that it advises; None for one of another
# kind, such as "correct the file".
ROWS = [
    ("trian feb.jsonl", 2, "Did you mean train?", None),
    ("show feb.topcs", 2, "Did you mean feb.topics?", "show feb.topics"),
    ("show feb", 2, "Did you mean feb.topics?", "show feb.topics"),
    (
        "watch feb.topics",
        2,
        "february.csv --add_documents. beam-topics serve feb.topics shows its page.",
        None,
    ),
    ("show feb.jsonl", 2, "Did you mean feb.topics?", "show feb.topics"),
    ("show feb.topics/models", 2, "Did you mean feb.topics?", "show feb.topics"),
    ("show", 2, "or beam-topics show data.topics", "show feb.topics"),
    (
        "show feb.topics --topwords=3",
        2,
        "Did you mean --top_words?",
        "show feb.topics --top_words=3",
    ),
    # Other options end with the same word: --kafka_topic, and one of Beam with _id.
    ("train feb.jsonl TRAIN --topic=3", 2, "Did you mean --topics?", None),
    ("erase feb.topics --id=1.txt", 2, "Did you mean --ids?", None),
    (
        "trends feb.topics",
        2,
        "for example --rows=trends, which beam-topics infer data.topics --trends=trends writes;",
        "infer feb.topics --trends=trends",
    ),
    (
        "versions feb.topics",
        2,
        "Each has --help. For example: beam-topics versions list feb.topics",
        "versions list feb.topics",
    ),
    ("show feb.topics --top_words", 2, "Write --top_words=VALUE", "show feb.topics --top_words=3"),
    (
        "show feb.topics --top_words=x",
        2,
        "allowed is a whole number",
        "show feb.topics --top_words=3",
    ),
    (
        "show feb.topics --model_version=zzz",
        2,
        "allowed is latest, or",
        "show feb.topics --model_version=latest",
    ),
    (
        "show feb.topics --model_key=x",
        2,
        "Give one of those with --model_key",
        "show feb.topics --model_key=",
    ),
    ("label feb.topcs", 2, "Did you mean feb.topics?", "label feb.topics 'a ship'"),
    (
        "label feb.topics 'a ship' --method=gibbs1",
        2,
        "Use gibbs3",
        "label feb.topics 'a ship' --method=gibbs3",
    ),
    (
        "label feb.topics 'a ship' --method=gibs3",
        2,
        "allowed is one of",
        "label feb.topics 'a ship' --method=gibbs3",
    ),
    ("infer feb.topcs feb.jsonl", 2, "Did you mean feb.topics?", "infer feb.topics feb.jsonl"),
    ("report feb.topics --output=folder", 2, "folder", "report feb.topics --output=page.html"),
    ("train fbe.jsonl", 2, "Did you mean feb.jsonl?", "train feb.jsonl TRAIN"),
    (
        "train --input=folder --model_store=m1 --dead_letters=d TRAIN",
        2,
        "It is a folder: give 'folder/*'",
        "train --input=folder/* --model_store=m1 --dead_letters=d TRAIN",
    ),
    (
        "train feb.data --model_store=m2 TRAIN",
        2,
        "--format",
        "train feb.data --format=jsonl --model_store=m2 TRAIN",
    ),
    (
        "train feb.jsonl TRAIN --text_field=body --model_store=m3",
        2,
        "a field of the records, which have 'id', 'timestamp', 'text'",
        "train feb.jsonl TRAIN --text_field=text --model_store=m3",
    ),
    (
        "train feb.jsonl TRAIN --topics=0",
        2,
        "allowed is",
        "train feb.jsonl TRAIN --topics=1 --model_store=m4",
    ),
    (
        "train feb.jsonl TRAIN --window=5",
        2,
        "a length of time such as 15min",
        "train feb.jsonl TRAIN --window=15min --model_store=m5",
    ),
    (
        "train feb.jsonl TRAIN --keep=30d",
        2,
        "for example --keep=versions:1d",
        "train feb.jsonl TRAIN --keep=versions:1d,1d/30d,30d/all,checkpoints:3 --model_store=m6",
    ),
    ("train feb.jsonl TRAIN --runner=FnApiRuner", 2, "Did you mean", None),
    (
        "train feb.jsonl TRAIN --model_store=m7 --resume_from=latest",
        2,
        "start again with an empty model store",
        "train feb.jsonl TRAIN --model_store=m7",
    ),
    (
        "train feb.jsonl TRAIN --model_store=m8 --add_documents",
        2,
        "Leave it out for the first documents",
        "train feb.jsonl TRAIN --model_store=m8",
    ),
    (
        "train feb.jsonl TRAIN --config=twice.yaml",
        2,
        "'topics' is there twice",
        "train feb.jsonl TRAIN --config=once.yaml --model_store=m9",
    ),
    (
        "train feb.jsonl --topics=2 --seeds=alias.yaml --model_store=n1",
        2,
        "write the value in place of the alias *a",
        None,
    ),
    ("train '*.jsnl'", 2, "Check the spelling", None),
    ("train \"'*.jsonl'\"", 2, "Leave out the quotes", "train '*.jsonl' TRAIN --model_store=n2"),
    (
        "train 'data[1].jsonl' TRAIN --stop_words=xx",
        2,
        "none, or one or more, with commas, of",
        "train 'data[1].jsonl' TRAIN --stop_words=none --model_store=n3",
    ),
    ("versions lst feb.topics", 2, "list, pin", "versions list feb.topics"),
    (
        "export feb.topics --format=xx --output=o",
        2,
        "allowed is one of",
        "export feb.topics --format=json --output=o",
    ),
    (
        "train umlaut.csv TRAIN --encoding=utf-8 --model_store=n4",
        3,
        "--encoding=latin-1",
        "train umlaut.csv TRAIN --encoding=latin-1 --model_store=n4",
    ),
    (
        "train feb.jsonl TRAIN --topics=3",
        2,
        "Give the same settings, or use an empty model store",
        "train feb.jsonl TRAIN --topics=3 --model_store=n6",
    ),
    (
        "train --input=feb.jsonl TRAIN",
        2,
        "--model_store is missing. Give it, for example --model_store=models",
        "train --input=feb.jsonl TRAIN --model_store=models --dead_letters=dead",
    ),
    ("train feb.jsonl TRAIN --add_documents", 0, "60 documents were known", None),
    (
        "train feb.jsonl TRAIN --timestamp_field=when --model_store=n7",
        2,
        "a field of the records, which have 'id', 'timestamp', 'text'",
        "train feb.jsonl TRAIN --timestamp_field=timestamp --model_store=n8",
    ),
    (
        "train feb.jsonl TRAIN --id_field=key --model_store=n9",
        3,
        "it has 'id', 'timestamp', 'text'. Name the id with --id_field.",
        "train feb.jsonl TRAIN --id_field=id --model_store=o1",
    ),
    (
        "train feb.jsonl TRAIN --stemmer=englsh",
        2,
        "english",
        "train feb.jsonl TRAIN --stemmer=english --model_store=o2",
    ),
    (
        "train feb.jsonl TRAIN --methods=gibbs3",
        2,
        "--methods=gibbs3: there is no such option",
        None,
    ),
    ("train feb.jsonl TRAIN --output=x", 2, "only other commands have", None),
    (
        "train feb.jsonl TRAIN --strip=htm",
        2,
        "html",
        "train feb.jsonl TRAIN --strip=html --model_store=o3",
    ),
    ("train feb.jsonl TRAIN --lemmas=xx", 2, "--lemmas", None),
    (
        "train feb.jsonl TRAIN --max_document_mb=0",
        2,
        "--max_document_mb",
        "train feb.jsonl TRAIN --max_document_mb=1 --model_store=o4",
    ),
    ("train feb.jsonl TRAIN --stop_words_file=none.txt", 2, "cannot be read", None),
    ("train feb.jsonl TRAIN --config=none.yaml", 2, "cannot be read", None),
    ("train feb.jsonl TRAIN --publish_every=never", 2, "--publish_every", None),
    ("infer feb.jsonl", 2, "or beam-topics infer data.topics", "infer feb.topics"),
    ("evaluate feb.topics", 2, "--held_out", "evaluate feb.topics --held_out=feb.jsonl"),
    ("topics", 2, "or beam-topics topics data.topics", "topics feb.topics"),
    ("versions pin feb.topics zzz", 2, "zzz", None),
    ("show feb.topics --topic_ids=99", 2, "99", "show feb.topics --topic_ids=0"),
    (
        "label feb.topics --method=maxent 'a ship'",
        2,
        "Use gibbs3.",
        "label feb.topics --method=gibbs3 'a ship'",
    ),
    (
        "train feb.jsonl TRAIN --model_store=feb.jsonl",
        2,
        "a local folder",
        "train feb.jsonl TRAIN --model_store=o5",
    ),
    (
        "train feb.jsonl TRAIN --model_store=s3://x/y",
        2,
        "Give a folder that all workers share",
        "train feb.jsonl TRAIN --model_store=o6",
    ),
    ("serve feb.topcs", 2, "Did you mean feb.topics?", None),
]


def run(command):
    argv = shlex.split(command.replace("TRAIN", TRAIN))
    try:
        return main(argv)
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize(
    ("command", "status", "said", "advised"), ROWS, ids=[row[0] for row in ROWS]
)
def test_the_advice_works(trained, monkeypatch, capsys, command, status, said, advised):
    monkeypatch.chdir(trained)
    found = run(command)
    told = capsys.readouterr().err
    assert (found, said in told, "Traceback" in told) == (status, True, False), told
    if advised is not None:
        found = run(advised)
        assert found == 0, capsys.readouterr().err
