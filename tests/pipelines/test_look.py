"""``look`` says what an input is, and the command that learns it."""

import csv
import json
import shlex

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


def test_an_input_without_a_record_is_refused(here, capsys):
    (here / "empty.csv").write_text("")
    assert look.main(["empty.csv"]) == 2
    assert "empty.csv: there is no record. Give a file with documents." in capsys.readouterr().err
    assert look.main([]) == 2
    assert "--input is missing. Give it, for example --input=data.csv" in capsys.readouterr().err
