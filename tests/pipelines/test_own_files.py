"""A person's own files: what is printed is run as it is printed."""

import json
import re
import shlex

import pytest

from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import infer, train

WORDS = ["ship harbour sail storm", "court judge verdict trial", "oven menu bread cheese"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text(number):
    words = WORDS[number % 3].split()
    return " ".join(words[(number * step) % 4] for step in range(1, 8))


def csv(count, columns=("id", "timestamp", "text")):
    """One document in each hour."""
    rows = [
        {"id": f"p{n}", "timestamp": f"2024-01-{1 + n // 24:02d}T{n % 24:02d}:30", "text": text(n)}
        for n in range(count)
    ]
    return "\n".join(
        [",".join(columns), *(",".join(row[name] for name in columns) for row in rows)]
    )


def tried(capsys, program, *argv):
    """(status, standard error) of a command."""
    capsys.readouterr()
    status = program.main(list(argv))
    return status, capsys.readouterr().err


def learned(store):
    return ModelStore(store).latest("").documents


@pytest.mark.parametrize("columns", [("id", "timestamp", "text"), ("timestamp", "text")])
def test_a_file_that_grew_goes_on_as_its_message_says(folder, capsys, columns):
    path = folder / "posts.csv"
    path.write_text(csv(100, columns))
    assert tried(capsys, train, "posts.csv")[0] == 0
    path.write_text(csv(130, columns))
    status, told = tried(capsys, train, "posts.csv")
    assert status == 2
    option = re.search(r"add (--\w+):", told)[1]
    # Other lengths would be chosen for ten times the documents.
    for count in (130, 700):
        path.write_text(csv(count, columns))
        before = learned("posts.topics/models")
        status, told = tried(capsys, train, "posts.csv", option)
        assert status == 0 and f"{before} documents were known" in told
        assert learned("posts.topics/models") == count


@pytest.mark.parametrize("store", ["monday.topics/models", "other"])
def test_another_file_goes_on_in_the_store_with_its_lengths(folder, capsys, store):
    (folder / "monday.csv").write_text(csv(100))
    (folder / "later.csv").write_text(csv(700))
    assert tried(capsys, train, "monday.csv", f"--model_store={store}")[0] == 0
    status, told = tried(capsys, train, "later.csv", f"--model_store={store}")
    assert status == 2 and "add --add_documents" in told
    status, told = tried(capsys, train, "later.csv", f"--model_store={store}", "--add_documents")
    assert status == 0 and "100 documents were known: they were learned before. 600 are" in told
    assert learned(store) == 700


def test_columns_of_one_name_are_asked_for_by_their_numbers(folder, capsys):
    note = [f"the note on {text(n)} of {n}" for n in range(60)]
    rows = [
        f"K-{n},1{n},2024-01-01 {n % 24:02d}:00,{text(n)} here,{note[n]},{note[-n]}"
        for n in range(60)
    ]
    (folder / "jira.csv").write_text("\n".join(["Key,Id,Created,Summary,Note,Note", *rows]))
    status, told = tried(capsys, train, "jira.csv")
    assert status == 2
    for option in re.findall(r"--text_field=[^ ]*[^ .]", told):
        assert tried(capsys, train, "jira.csv", *shlex.split(option), "--model_store=m")[0] == 0
        (folder / "m").rename(folder / option.replace(",", "-"))
    assert "Note2" in told


def test_each_message_three_times_is_learned_once_and_counted(folder, capsys):
    lines = csv(40).split("\n")
    (folder / "posts.csv").write_text("\n".join([lines[0], *(3 * lines[1:])]))
    status, told = tried(capsys, train, "posts.csv")
    assert status == 0 and learned("posts.topics/models") == 40
    assert "80 documents have an id that another document of their window has, and 80 of" in told


@pytest.mark.parametrize("rule", ["first", "last"])
def test_a_corrected_post_is_learned_by_the_rule(folder, capsys, rule):
    lines = csv(40).split("\n")
    fixed = [f"{line} corrected" for line in lines[1:11]]
    (folder / "a.csv").write_text("\n".join(lines))
    (folder / "b.csv").write_text("\n".join([lines[0], *fixed]))
    status, told = tried(capsys, train, "*.csv", f"--on_repeat={rule}")
    assert status == 0 and f"The {rule} of each id was learned (--on_repeat)" in told
    store = ModelStore("documents.topics/models")
    words = store.get_snapshot(store.latest("")).words
    assert ("corrected" in words) == (rule == "last")


@pytest.mark.parametrize("given", ["new.csv", "--input=new.csv"])
def test_ids_of_a_file_are_written_after_a_run_without_ids(folder, capsys, given):
    (folder / "posts.csv").write_text(csv(60, ("timestamp", "text")))
    (folder / "new.csv").write_text(csv(9))
    assert tried(capsys, train, "posts.csv")[0] == 0
    assert "id_from: 'place'" in (folder / "posts.topics" / "run.yaml").read_text()
    assert tried(capsys, infer, "posts.topics", given)[0] == 0
    (path,) = (folder / "posts.topics" / "mixtures").glob("*.jsonl")
    ids = [json.loads(line)["id"] for line in path.read_text().splitlines()]
    assert sorted(ids) == [f"p{n}" for n in range(9)]
