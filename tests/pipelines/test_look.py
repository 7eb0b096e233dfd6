"""``look`` says what an input is, and the command that learns it."""

import csv
import json
import shlex
from pathlib import Path

import fake_learner
import pytest

from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.times import to_iso
from beam_topics.pipelines import look, train
from beam_topics.pipelines.cli import profiling

FAKE = [f"--learner={fake_learner.Fake.kind}", "--topics=2"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{n % 28 + 1:02}/01/2024;the ship came into the harbour {n}\n" for n in range(60)]
    (tmp_path / "posts.csv").write_text("Created at;body\n" + "".join(rows))
    return tmp_path


def test_the_fields_and_the_command_are_on_one_screen(here, capsys):
    assert look.main(["posts.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [
        "input        posts.csv",
        "documents    60",
        "form         csv, utf-8, semicolon, names in the first row",
        "text         body",
        "time         Created at",
        "id           the places of the records",
    ]
    assert len(lines) < 20 and any("body" in line and "100%" in line for line in lines)
    assert lines[-1] == (
        "Learn it: python -m beam_topics.pipelines.train posts.csv --text_field=body"
        " '--timestamp_field=Created at' --timestamp_format=%d/%m/%Y --id_from=place --window=6h"
        " --publish_every=1d"
    )


def test_the_command_that_is_shown_learns(here, capsys):
    look.main(["posts.csv"])
    command = capsys.readouterr().out.splitlines()[-1].partition("beam_topics.pipelines.train ")[2]
    assert train.main([*shlex.split(command), *FAKE]) == 0


@pytest.mark.parametrize("name", ["Comment, free text", 'The "text", ""free""', '"text"'])
@pytest.mark.parametrize("title", [False, True])
def test_a_field_of_any_name_can_be_learned(here, capsys, name, title):
    with (here / "odd.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["Titel, kurz" if title else "n", name, "Datum, lokal"])
        for n in range(40):
            text = f"the ship came into the harbour of the town {n} with the morning tide"
            rows.writerow([f"a ship came {n}" if title else 7, text, f"2024-01-{n % 28 + 1:02}"])
    look.main(["odd.csv"])
    command = capsys.readouterr().out.splitlines()[-1].partition("beam_topics.pipelines.train ")[2]
    assert title == ("Titel, kurz" in command)
    assert train.main([*shlex.split(command), *FAKE, "--model_store=odd.topics"]) == 0
    stored = dict(one.removeprefix("--").split("=") for one in shlex.split(command)[1:])
    assert profiling.look_at(["odd.csv"], [], stored)[1].keys() >= {"text_field", "timestamp_field"}


def test_a_question_is_shown_and_its_first_answer_is_in_the_command(here, capsys):
    rows = "".join(f"a ship, the harbour {n},2024-01-{n:02}\n" for n in range(10, 30))
    (here / "ragged.csv").write_text("text,date\n" + rows)
    assert look.main(["ragged.csv"]) == 0
    out = capsys.readouterr().out
    assert "Question: ragged.csv: most rows have 3 fields, the header 2." in out
    assert out.splitlines()[-1].endswith(
        "beam_topics.pipelines.train ragged.csv --unquoted_field=text"
    )
    assert train.main(["ragged.csv", *FAKE]) == 2
    assert train.main(["ragged.csv", *FAKE, "--unquoted_field=text"]) == 0


@pytest.mark.parametrize("folder", ["events", "ev [1], 50%"])
@pytest.mark.parametrize("day", ["dt=2024-01-{:02}", "year=2024/month=1/day={:02}"])
def test_parts_of_a_path_are_the_times_and_the_command_learns(here, capsys, folder, day):
    for n in range(1, 9):
        place = here / folder / day.format(n)
        place.mkdir(parents=True)
        rows = [f"{n}{m},the ship came into the harbour {m}" for m in range(6)]
        (place / "part-0.csv").write_text("\n".join(["id,text", *rows, ""]))
    assert look.main([folder]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "time         the paths of the files" in shown
    assert "times        2024-01-01 to 2024-01-08, half of them up to 2024-01-05" in shown
    assert "--time_from=path" in shown[-1]
    command = shown[-1].partition("beam_topics.pipelines.train ")[2]
    assert train.main([*shlex.split(command), *FAKE]) == 0
    version = ModelStore(f"{folder}.topics/models").latest("")
    assert version.documents == 48 and to_iso(version.event_time).startswith("2024-01-08")


def test_dates_in_names_are_asked_for_and_each_answer_learns(here, capsys):
    for n in range(1, 9):
        (here / f"x-2024010{n}.csv").write_text(f"id,text\n{n},the ship came into the harbour\n")
    assert train.main(["x-*.csv", *FAKE]) == 2
    told = capsys.readouterr().err.strip()
    assert (
        "the paths of files have dates, as 'x-20240101.csv' has. Give --time_from=path or" in told
    )
    assert told.endswith("--time_from=order.")
    for answer in ("--time_from=path", "--time_from=order"):
        assert train.main(["x-*.csv", answer, f"--model_store={answer[12:]}", *FAKE]) == 0


TEXT = "the ship came into the harbour of the town with the morning tide"


def table_of(name, times):
    """Write a table in the working directory, and return the name of the field of times."""
    with Path("t.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([name, "body"])
        rows.writerows([time, f"{TEXT} {n}"] for n, time in enumerate(times))
    return name


def answers(told):
    """The answers of a question, which ends with them."""
    return [one.rstrip(".") for one in told.strip().rpartition(" Give ")[2].split(" or ")]


MONTHS = [f"{month}-19" for month in ("Jan", "Feb", "Mar", "Apr", "May", "Jun")]
ASKED = {
    "month and year or day": ("date", MONTHS, ["--timestamp_format=%b-%y", "--time_from=order"]),
    "the same, day first": (
        "note",
        ["07 March", "08 March"],
        ["--timestamp_format='%y %B'", "--time_from=order"],
    ),
    "days of Excel": (
        "Datum",
        [43831, 43832, "43833.5"],
        ["--timestamp_format=excel", "--time_from=order"],
    ),
    "the same, or seconds": (
        "date",
        [43831, 43840],
        ["--timestamp_format=excel", "--timestamp_format=s", "--time_from=order"],
    ),
    "years or months": (
        "season",
        ["2009/10", "2010/11", "2011/12"],
        ["--timestamp_format=year", "--timestamp_format=%Y/%m"],
    ),
    "years among days": ("when", ["2020", "2020-03-05", "2020"], ["--time_from=order"]),
    "seasons": ("issue", ["Spring 2019", "Spring 2020"], ["--time_from=order"]),
    "a zone of several countries": (
        "at",
        ["2024-01-02 10:00 IST", "2024-01-03 10:00 IST"],
        [
            f"--timestamp_format='%Y-%m-%d %H:%M IST' --time_zone={zone}"
            for zone in ("Asia/Kolkata", "Asia/Jerusalem", "Europe/Dublin")
        ],
    ),
}


@pytest.mark.parametrize("case", ASKED)
def test_times_of_several_meanings_are_asked_for_and_each_answer_learns(here, capsys, case):
    name, times, expected = ASKED[case]
    table_of(name, times * 8)
    assert train.main(["t.csv", *FAKE]) == 2
    told = capsys.readouterr().err
    assert name in told and answers(told) == expected
    for n, answer in enumerate(expected):
        store = f"--model_store=m{n}"
        assert train.main(["t.csv", *shlex.split(answer), store, *FAKE]) == 0
        version = ModelStore(f"m{n}").latest("")
        assert version.documents == len(times) * 8
        of_order = answer in ("--time_from=order", "--timestamp_format=s")
        assert to_iso(version.event_time).startswith("1970") == of_order
        assert ("event time" in capsys.readouterr().err) == (answer != "--time_from=order")
    capsys.readouterr()
    assert look.main(["t.csv"]) == 0
    command = capsys.readouterr().out.splitlines()[-1].partition("beam_topics.pipelines.train ")[2]
    assert command.endswith(expected[0])
    assert train.main([*shlex.split(command), *FAKE]) == 0


@pytest.mark.parametrize(
    ("name", "times", "form", "first"),
    [
        ("Quarter", ["2020Q1", "2020Q2", "2021Q4"], "quarter", "2020-01-01"),
        ("x", ["Q3 2020", "Q4 2020"], "quarter", "2020-07-01"),
        ("year", ["2018/19", "2019/20"], "year", "2018-01-01"),
        ("x", ["1998–1999", "2009–2010"], "year", "1998-01-01"),
        ("date", ["1.546850E+09", "1.546950E+09"], "s", "2019-01-07"),
        ("created", ["1.546850E+12", "1.546950E+12"], "ms", "2019-01-07"),
        ("дата", ["5 января 2019 г.", "17 мая 2019 г."], "%d %B %Y г.", "2019-01-05"),
        ("x", ["05 янв. 2019", "17 сент. 2019"], "%d %b %Y", "2019-01-05"),
        (
            "at",
            ["2024-01-02 00:30 CET", "2024-07-02 00:30 CEST"],
            "%Y-%m-%d %H:%M %Z",
            "2024-01-01",
        ),
        ("month", ["Jan-72", "Feb-99"], "%b-%y", "1972-01-01"),
    ],
)
def test_times_of_one_meaning_are_read(here, capsys, name, times, form, first):
    table_of(name, times * 8)
    assert look.main(["t.csv", "--json=found.json"]) == 0
    found = json.loads((here / "found.json").read_text())
    assert found["questions"] == [] and found["options"]["timestamp_format"] == form
    assert found["times"]["first"].startswith(first)
    assert ("are rounded" in str(found["remarks"])) == ("E+" in times[0])


@pytest.mark.parametrize(
    "day", ["2020-03-05T00:00:00Z", 1583366400000, {"$numberLong": "1583366400000"}]
)
def test_times_of_mongodb_are_read(here, day):
    rows = [json.dumps({"id": n, "text": TEXT, "made": {"$date": day}}) for n in range(9)]
    (here / "t.jsonl").write_text("\n".join(rows))
    assert look.main(["t.jsonl", "--json=found.json"]) == 0
    found = json.loads((here / "found.json").read_text())
    assert found["questions"] == [] and found["options"]["timestamp_field"] == "made"
    assert found["times"]["first"].startswith("2020-03-05")
    assert train.main(["t.jsonl", *FAKE]) == 0
    assert ModelStore("t.topics/models").latest("").documents == 9


def test_a_form_that_is_given_never_conflicts_with_what_is_chosen(here, capsys):
    table_of("Monat", [f"tag {n} Januar {2001 + n}" for n in range(1, 10)])
    assert train.main(["t.csv", "--timestamp_format=tag %d %B %Y", *FAKE]) == 0
    assert train.main(["t.csv", "--timestamp_format=%d.%m.%Y", *FAKE]) == 2
    told = capsys.readouterr().err
    assert "no field has times of --timestamp_format, or several have. Leave it out." in told
    assert answers(told) == ["--time_from=order"]


def test_words_with_years_are_no_times(here):
    table_of("model", [f"Ford {n}" for n in range(1990, 2010)])
    assert look.main(["t.csv", "--json=found.json"]) == 0
    found = json.loads((here / "found.json").read_text())
    assert found["questions"] == [] and found["options"]["time_from"] == "order"


def test_the_profile_is_json(here):
    assert look.main(["posts.csv", "--json=found.json"]) == 0
    found = json.loads((here / "found.json").read_text())
    assert found["documents"] == 60 and found["exact"] is True
    assert found["options"]["timestamp_format"] == "%d/%m/%Y"
    assert {one["name"]: one["role"] for one in found["fields"]} == {
        "Created at": "time",
        "body": "text",
    }


def test_nothing_of_a_file_acts_on_the_terminal(here, capsys):
    row = {"te\x1b[31mxt": "a ship [bold]came[/bold] \x1b[31m", "date": "2024-01-01"}
    (here / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for _ in range(3)))
    assert look.main(["a.jsonl"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "[bold]came" in out


def test_one_document_is_one(here, capsys):
    (here / "one.txt").write_text("the ship came into the harbour")
    assert train.main(["one.txt", *FAKE]) == 0
    assert "--window=1min --publish_every=10min (1 document)\n" in capsys.readouterr().err


def test_an_input_without_texts_has_no_command(here, capsys):
    (here / "numbers.csv").write_text("a,b\n" + "".join(f"{n},{n * n}\n" for n in range(60)))
    assert look.main(["numbers.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Question: no field holds texts")
    assert train.main(["numbers.csv", *FAKE]) == 2


def test_the_command_for_files_of_other_fields_learns_both_texts(here, capsys):
    for name, text in (("a", "text"), ("b", "body")):
        rows = [f"{name}{n},the ship came into the harbour of the town {n}" for n in range(40)]
        (here / f"{name}.csv").write_text("\n".join([f"id,{text}", *rows, ""]))
    assert look.main(["?.csv"]) == 0
    command = capsys.readouterr().out.splitlines()[-1].partition("beam_topics.pipelines.train ")[2]
    assert "--text_field=text,body" in command or "--text_field=body,text" in command
    store = ["--model_store=m", "--dead_letters=d"]
    assert train.main([*shlex.split(command), *FAKE, *store]) == 0
    assert ModelStore("m").latest("").documents == 80


def test_an_input_without_a_record_is_refused(here, capsys):
    (here / "empty.csv").write_text("")
    assert look.main(["empty.csv"]) == 2
    assert "empty.csv: there is no record. Give a file with documents." in capsys.readouterr().err
    assert look.main([]) == 2
    assert "--input is missing. Give it, for example --input=data.csv" in capsys.readouterr().err
