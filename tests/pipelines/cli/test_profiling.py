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


def mail(n):
    date = f"{n % 27 + 1} Jan 2024 08:00:00 +0000"
    return f"Message-ID: <{n}@x>\nDate: {date}\nSubject: tea\n\n{text(n)}\n"


# The argument, the files, the documents that each piece of advice gives, and what is asked.
FOLDERS = {
    "notes": (
        {f"notes/{'old/' * (n % 2)}{n}.txt": text(n, 20) for n in range(40)},
        [40, 20],
        "notes: files .txt are in it and in the folders in it",
    ),
    "my news": (
        {f"my news/{n % 2}/{n}": text(n, 20) for n in range(40)},
        [40],
        "--format=txt",
    ),
    "wiki": (
        {f"wiki/AA/wiki_0{k}": "".join(
            f'<doc id="{n}" url="u" title="T">\n{text(n)}\n\n</doc>\n' for n in range(k, 40, 2)
        ) for k in range(2)},
        [40, 120, 2],
        "--format=doc",
    ),
    "lines": (
        {"lines/part_0": "".join(json.dumps({"id": n, "text": text(n)}) + "\n" for n in range(40))},
        [40],
        "--format=jsonl",
    ),
    "papers": (
        {f"papers/{k}.json": json.dumps(
            {"paper_id": f"p{k}", "body_text": [{"text": text(k + n)} for n in range(4)]}
        ) for k in range(20)},
        [20, 80],
        "the elements of 'body_text' in each file are documents, or one text",
    ),
    "mails.csv": (
        {"mails.csv": 'file,message\n' + "".join(f'f{n},"{mail(n)}"\n' for n in range(40))},
        [40, 40],
        "the texts of 'message' are mails, with their headers",
    ),
    "archive.jsonl": (
        {"archive.jsonl": lines(
            {"id": f"a{n}", "abstract": text(n, 20), "update_date": day(59 - n)[:10],
             "versions": [{"created": day(n)}, {"created": day(n + 1)}]} for n in range(50)
        )},
        [50, 50],
        "the time 'update_date' is that of the last change",
    ),
    "thai.csv": (
        {"thai.csv": "date,text\n" + "".join(f"2567{day(n)[4:]},{text(n)}\n" for n in range(50))},
        [50, 50],
        "for example '2567-01-01T08:00:00', can be read in several ways",
    ),
    "labels.txt": (
        {"labels.txt": "".join(f"__label__{n % 2} {text(n)}\n" for n in range(40))},
        [40, 40, 1],
        "lines of a label and a text",
    ),
    "queries.txt": (
        {"queries.txt": "".join(f"{text(n, 2)} {n}\n" for n in range(40))},
        [40, 1],
        "look like documents",
    ),
}  # fmt: skip


def advised(told, argument):
    """Return the arguments of each command that a message prints."""
    given = told.partition(" Give ")[2].removesuffix(".")
    choices, _, replaced = given.partition(" in place of ")
    each = map(shlex.split, choices.split(" or "))
    return [one if replaced else [argument, *one] for one in each]


@pytest.mark.parametrize("argument", FOLDERS)
def test_every_answer_about_files_of_tools_works(here, capsys, argument):
    files, expected, said = FOLDERS[argument]
    for name, data in files.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(data)
    assert train.main([argument, *FAKE]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert said in told and not list(here.glob("*.topics"))
    found = []
    for command in advised(told, argument):
        assert train.main([*command, *FAKE]) == 0, command
        found.append(learned(here))
    assert found == expected


def test_mails_in_a_column_have_their_times(here, capsys):
    rows = "".join(f'f{n},"{mail(n)}"\n' for n in range(40))
    (here / "mails.csv").write_text(f"file,message\n{rows}")
    assert look.main(["mails.csv", "--records=message"]) == 0
    assert "times        2024-01-01 to 2024-01-27" in capsys.readouterr().out


def test_documents_without_a_time_are_told(here, capsys):
    rows = "".join(f"{'' if n % 10 == 3 else day(n)},{text(n)}\n" for n in range(50))
    (here / "data.csv").write_text(f"date,text\n{rows}")
    assert train.main(["data.csv", *FAKE]) == 0
    assert (
        "5 of 50 records have no time in 'date'. They become dead letters; --time_from=order learns"
        " all records in their order." in capsys.readouterr().err
    )
    assert learned(here) == 45
    assert train.main(["data.csv", "--time_from=order", *FAKE]) == 0
    assert learned(here) == 50


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
