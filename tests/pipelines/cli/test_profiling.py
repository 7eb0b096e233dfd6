"""Each command that a first look advises works as it is printed."""

import json
import shlex
import shutil

import fake_learner
import pytest

from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import look, train

FAKE = [f"--learner={fake_learner.Fake.kind}", "--topics=2"]


def text(n, words=12):
    return " ".join(f"word{(n * 7 + k * 3) % 50:02}" for k in range(words))


def day(n):
    return f"2024-{1 + n // 28:02}-{1 + n % 28:02}T08:00:00"


def lines(records):
    return "".join(json.dumps(one) + "\n" for one in records)


EVENTS = [
    {
        "id": n,
        "type": "event",
        "created_at": day(n),
        "payload": {("comment", "review", "other")[n % 3]: {"body": text(n) if n % 3 < 2 else "x"}},
    }
    for n in range(60)
]
PAPERS = [
    {"paper_id": n, "body_text": [{"text": text(n)}, {"text": text(n + 1)}]} for n in range(40)
]
CHATS = {
    "about": "",
    "chats": {
        "list": [
            {
                "id": k,
                "messages": [{"id": n, "date": day(n), "text": text(n)} for n in range(k, 60, 2)],
            }
            for k in range(2)
        ]
    },
}
PAGES = [
    {"data": [{"id": n, "created_at": day(n), "text": text(n)} for n in range(k, k + 10)]}
    for k in range(0, 60, 10)
]
# What a person brings, the documents that each piece of advice gives, and what is asked.
ASKED = {
    "events.jsonl": (lines(EVENTS), [40], "the text may be in 'payload.comment.body'"),
    "papers.jsonl": (lines(PAPERS), [40, 80], "its elements are documents, or one text"),
    "my chats.json": (json.dumps(CHATS, indent=1), [60, 1], "'chats.list[].messages[].text'"),
    "pages.jsonl": (lines(PAGES), [60, 6], "the text 'data[].text' is in an array"),
    "docs.txt": ("".join(f'"{text(n)}, {n}\n' for n in range(60)), [60, 1], "look like documents"),
    "mallet.txt": ("".join(f"d{n} sea {text(n)}\n" for n in range(60)), [60, 60, 1], "a label"),
    "_chat.txt": (
        "".join(f"[1/{n % 28 + 1}/24, 3:{n:02}:00 PM] Ann: {text(n)}\nmore\n" for n in range(60)),
        [60, 120, 1],
        "the messages of a chat",
    ),
    "WhatsApp Chat.txt": (
        "".join(f"{n % 28 + 1}/1/2024, 15:{n:02} - Ann: {text(n)}\n" for n in range(60)),
        [60, 60, 1],
        "the messages of a chat",
    ),
    "irc.txt": (
        "".join(f"2024-01-{n % 28 + 1:02} 15:{n:02} <ann> {text(n)}\n" for n in range(60)),
        [60, 60, 1],
        "the messages of a chat",
    ),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def learned(folder):
    store = ModelStore(str(next(folder.glob("*.topics")) / "models"))
    documents = store.latest("").documents
    shutil.rmtree(next(folder.glob("*.topics")))
    return documents


@pytest.mark.parametrize("name", ASKED)
def test_every_piece_of_advice_is_a_command_that_works(here, capsys, name):
    data, expected, said = ASKED[name]
    (here / name).write_text(data)
    assert train.main([name, *FAKE]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert said in told and not list(here.glob("*.topics"))
    advice = told.partition(" Give ")[2].removesuffix(".").split(" or ")
    found = []
    for options in advice:
        assert train.main([name, *shlex.split(options), *FAKE]) == 0, options
        found.append(learned(here))
    assert found == expected
    assert look.main([name]) == 0
    *_, command = capsys.readouterr().out.splitlines()
    command = command.partition("beam_topics.pipelines.train ")[2]
    assert train.main([*shlex.split(command), *FAKE]) == 0
    assert learned(here) == expected[0]


def test_columns_of_lines_stay_for_more_documents(here, capsys):
    for name in ("a.txt", "b.txt"):
        (here / name).write_text("".join(f"{name}{n} sea {text(n)}\n" for n in range(30)))
    options = ["--format=lines", "--columns=id,label,text", *FAKE]
    assert train.main(["a.txt", *options]) == 0
    assert train.main(["a.topics", "b.txt", "--add_documents"]) == 0
    assert "--columns=id,label,text" in capsys.readouterr().err


def test_a_path_of_an_earlier_run_stays(here, capsys):
    for name in ("a.jsonl", "b.jsonl"):
        rows = (
            {"id": f"{name}{n}", "in": {"title": text(n), "body": text(n, 40)}} for n in range(30)
        )
        (here / name).write_text(lines(rows))
    assert train.main(["a.jsonl", "--text_field=in.title", *FAKE]) == 0
    assert train.main(["a.topics", "b.jsonl", "--add_documents"]) == 0
    assert "--text_field=in.title" in capsys.readouterr().err


def test_lists_of_users_beside_messages_decide_no_field(here, capsys):
    users = [{"id": f"U{n}", "profile": {"title": text(n, 60)}} for n in range(20)]
    (here / "users.json").write_text(json.dumps(users))
    for k in range(3):
        days = [{"ts": f"{1704096000 + 86400 * k + n}.1", "text": text(n)} for n in range(10)]
        (here / f"2024-01-0{k + 1}.json").write_text(json.dumps(days))
    assert look.main(["*.json"]) == 0
    out = capsys.readouterr().out
    assert "text         text\ntime         ts\n" in out
    assert "Note: 'users.json': no messages; their records become dead letters." in out


def test_a_large_file_of_lines_is_asked_about_too(here, capsys):
    (here / "large.txt").write_text("".join(f"{text(n, 40)} {n}\n" for n in range(5000)))
    assert train.main(["large.txt", "--max_document_mb=1", *FAKE]) == 2
    assert "Give --format=lines or --format=txt." in capsys.readouterr().err


def test_a_source_without_files_refuses_records(here, capsys):
    options = ["--source=replay", "--records=data", "--input=a.avro", "--model_store=m"]
    assert train.main([*options, "--dead_letters=d", *FAKE]) == 2
    assert "--records: 'data' was given" in capsys.readouterr().err
