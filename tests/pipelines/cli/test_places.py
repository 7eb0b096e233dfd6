"""Arguments without a name, and what is chosen for them."""

import json
import re
import shlex

import fake_learner
import pytest

from beam_topics.model.settings.options import names_in
from beam_topics.pipelines import export, infer, label, report, show, stream, train, versions
from beam_topics.pipelines.cli import arguments, profiling
from beam_topics.pipelines.cli.arguments import arranged
from beam_topics.pipelines.cli.groups import UsageError
from beam_topics.pipelines.cli.option_files import options_of_text

FAKE = [f"--learner={fake_learner.Fake.kind}", "--topics=2"]
ROWS = [
    {"headline": f"a ship in the harbour of {n}", "date": f"20{n:02d}-03-01"} for n in range(1, 25)
]


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def options(argv):
    return dict(one.removeprefix("--").split("=", 1) for one in argv)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines(tmp_path / "posts.jsonl", ROWS)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("posts.jsonl", "posts.topics"),
        ("data/posts.csv.gz", "data/posts.topics"),
        ("a.b.parquet", "a.b.topics"),
        ("data/*.jsonl.gz", "data.topics"),
        ("*.jsonl", "documents.topics"),
        ("/data/", "/data.topics"),
        ("posts", "posts.topics"),
        ("events/*/*.parquet", "events.topics"),
        ("a[[]1]/**/*.csv", "a[1].topics"),
        ('"a, b/*.csv"', "a, b.topics"),
    ],
)
def test_the_folder_of_a_run_is_beside_its_input(path, folder):
    assert arguments.run_folder(path) == folder


def test_a_value_of_an_option_is_no_argument():
    argv = ["a.csv", "--topics", "5", "--hide", "--window=1d", "b.csv", "-h"]
    assert arguments.without_name(argv) == (
        ["a.csv", "b.csv"],
        ["--topics=5", "--hide", "--window=1d", "-h"],
    )


def test_a_learner_gets_its_input_its_folders_and_what_the_records_suggest(here, capsys):
    found = arranged(["posts.jsonl", "--topics=5"], "train", train.GROUPS)
    assert options(found.argv) == {
        "input": "posts.jsonl",
        "model_store": "posts.topics/models",
        "dead_letters": "posts.topics/dead",
        "text_field": "headline",
        "timestamp_field": "date",
        "id_from": "place",
        "window": "30d",
        "publish_every": "365d",
        "topics": "5",
    }
    assert options_of_text(found.files["run.yaml"], "x") == options(found.argv)
    assert dict(json.loads(found.files["profile.json"])["summary"])["documents"] == "24"
    assert capsys.readouterr().err.splitlines() == [
        "python -m beam_topics.pipelines.train: --text_field=headline --timestamp_field=date"
        " --id_from=place (how posts.jsonl is written, and its fields)",
        "python -m beam_topics.pipelines.train: --window=30d --publish_every=365d (24 documents"
        " from 2001-03-01 to 2024-03-01)",
        "python -m beam_topics.pipelines.train: 24 documents are few for 5 topics: most topics"
        " stay empty or share their words. --topics=2 gives each topic about 12 documents.",
        "python -m beam_topics.pipelines.train: --input=posts.jsonl"
        " --model_store=posts.topics/models"
        " --dead_letters=posts.topics/dead (the input, and what is written)",
    ]
    assert not (here / "posts.topics").exists()


def test_languages_are_found_only_where_words_are_chosen(here, monkeypatch):
    asked = []
    monkeypatch.setattr("beam_topics.model.profile.profile.language_of", asked.append)
    bare = ["posts.jsonl", "--model_store=m"]
    arranged([*bare, "--stop_words=de"], "beam_topics.pipelines.train", train.GROUPS)
    read = "--text_field=headline", "--timestamp_field=date", "--id_from=place"
    arranged([*bare, "--output=o", *read], "beam_topics.pipelines.infer", infer.GROUPS)
    profiling.look_at(["posts.jsonl"], [])
    assert asked == []
    arranged(bare, "beam_topics.pipelines.train", train.GROUPS)
    assert len(asked) == 1


def test_what_is_given_is_not_chosen(here):
    given = ["--text_field=date", "--id_field=n", "--time_from=order", "--window=1h"]
    found = options(
        arranged(["posts.jsonl", *given, "--model_store=m"], "train", train.GROUPS).argv
    )
    assert found == {
        **options(given),
        "model_store": "m",
        "input": "posts.jsonl",
        "dead_letters": "posts.topics/dead",
    }


def test_a_stream_gets_a_folder_of_mixtures(here):
    found = options(arranged(["posts.jsonl"], "stream", stream.GROUPS).argv)
    assert found["output"] == "posts.topics/mixtures"


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["a.txt", "b.txt", "readme.md", ".hidden.eml", "c.eml"], "in/*.txt"),
        (["a.eml", "b.TXT", "x/c.txt", "x/d.txt", "e.eml"], "in/*.eml"),
        (["x/a.txt", "y/z/b.txt", "y/c.md"], "in/**/*.txt"),
        (["a.jsonl.gz", "b.jsonl.gz", "c.jsonl"], "in/*.jsonl.gz"),
        (["a.md", "b.txt"], "in/*.md"),
        (["123", "124"], "in/*"),
        ([], "in/*"),
    ],
)
def test_a_folder_stands_for_its_files_of_the_commonest_ending(here, names, pattern):
    for name in names:
        (here / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "in" / name).write_text("a text", encoding="utf-8")
    (here / "in").mkdir(exist_ok=True)
    assert arguments.of_learner(["in/"], "in.topics", {}, ())["input"] == pattern


def table(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        lines(folder / name, [{"id": f"{name}{n}", "text": f"a ship of {n}"} for n in range(5)])


SPARK = ["dt=2024-01-08/part-0.jsonl", "dt=2024-01-09/part-0.jsonl"]
MARKS = ["_SUCCESS", "._SUCCESS.crc", "dt=2024-01-08/.part-0.jsonl.crc", "_committed_17"]
STORES = [
    "old.topics/run.yaml",
    "old.topics/dead/a.jsonl",
    "m/_/manifests/a.jsonl",
    "m/_/settings.json",
]


@pytest.mark.parametrize("folder", ["in", "in [1], 50%", "a=b,c"])
def test_marks_of_tools_and_stores_in_a_folder_are_counted_and_not_read(here, capsys, folder):
    table(here / folder, [*SPARK, *MARKS, *STORES, "notes.md/x.txt"])
    found = options(arranged([folder], "train", train.GROUPS).argv)
    assert found["model_store"] == f"{folder}.topics/models" and found["time_from"] == "path"
    files = profiling.files_of(names_in(found["input"]))
    assert files == [f"{folder}/{name}" for name in SPARK]
    assert (
        f"{folder}: the number of files that are read is 2; not read: 4 hidden, or marks of a tool,"
        " 4 of a model store or run, 1 of other endings." in capsys.readouterr().err
    )


def test_what_is_below_a_folder_whose_own_files_are_read_is_told(here, capsys):
    table(here, ["in/a.jsonl", "in/x/b.csv", "in/x/c.csv", "in/.d"])
    arranged(["in", "--time_from=order"], "train", train.GROUPS)
    said = "in: the number of files that are read is 1; not read: 1 folders within it, 1 hidden, or"
    assert said in capsys.readouterr().err


def test_files_in_a_folder_and_in_its_folders_are_asked_for(here):
    table(here, ["in/a.jsonl", "in/x/b.jsonl"])
    said = (
        "in: files .jsonl are in it and in the folders in it, for example in/x/b.jsonl. Give"
        " 'in/**/*.jsonl' or 'in/*.jsonl' in place of in."
    )
    with pytest.raises(UsageError) as raised:
        arranged(["in", "--time_from=order"], "train", train.GROUPS)
    assert str(raised.value) == said
    for argument, files in (("in/**/*.jsonl", 2), ("in/*.jsonl", 1)):
        found = options(arranged([argument, "--time_from=order"], "train", train.GROUPS).argv)
        assert len(profiling.files_of(names_in(found["input"]))) == files


def test_lists_of_users_alone_are_no_documents_of_a_folder(here):
    table(here, ["in/users.json", "in/channels.json", "in/c/2024-01-08.json"])
    found = options(arranged(["in", "--time_from=order"], "train", train.GROUPS).argv)
    assert "in/c/2024-01-08.json" in profiling.files_of(names_in(found["input"]))


def test_a_shell_gives_marks_for_a_glob(here):
    table(here, ["in/_SUCCESS", "in/a.jsonl"])
    found = options(
        arranged(["in/_SUCCESS", "in/a.jsonl", "--time_from=order"], "train", train.GROUPS).argv
    )
    assert found["input"] == "in/a.jsonl"


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (["in"], "--model_store=in/m"),
        (["--input=in/**/*.jsonl", "--model_store=m"], "--dead_letters=in/x/dead"),
        (["in/**/*.jsonl"], "--dead_letters=in/dead"),
        (["."], "--model_store=m"),
    ],
)
def test_nothing_is_written_into_the_input(here, read, written):
    (here / "posts.jsonl").unlink()
    table(here, ["in/a.jsonl"] if read != ["."] else ["a.jsonl"])
    with pytest.raises(UsageError, match="is in the folder that is read. Give --") as raised:
        arranged([*read, written], "train", train.GROUPS)
    (advised,) = shlex.split(str(raised.value).partition(" Give ")[2].removesuffix("."))
    order = ["--time_from=order"] * ("--input" not in read[0])
    found = options(arranged([*read, advised, *order], "train", train.GROUPS).argv)
    assert found[advised[2:].partition("=")[0]] == advised.partition("=")[2]


def test_the_folder_of_a_run_in_the_working_directory_is_beside_it(here):
    assert arguments.run_folder(".") == f"{here}.topics"


def test_texts_of_a_folder_get_their_times_from_their_names_or_their_order(here, capsys):
    (here / "in").mkdir()
    for number in range(1, 10):
        (here / "in" / f"2024-03-0{number}.txt").write_text("a text of words", encoding="utf-8")
    assert "time_from" not in options(arranged(["in"], "train", train.GROUPS).argv)
    (here / "in" / "notes.txt").write_text("a text of words", encoding="utf-8")
    (here / "in" / "more.txt").write_text("a text of words", encoding="utf-8")
    with pytest.raises(UsageError, match="'timestamp', which 82% of the records have") as raised:
        arranged(["in"], "train", train.GROUPS)
    for answer in ("--timestamp_field=timestamp", "--time_from=order"):
        assert answer in str(raised.value)
        found = options(arranged(["in", answer], "train", train.GROUPS).argv)
        assert found["input"] == "in/*.txt"


def test_several_files_and_folders(here):
    (here / "more").mkdir()
    lines(here / "more" / "a.jsonl", ROWS)
    found = options(arranged(["more", "posts.jsonl"], "train", train.GROUPS).argv)
    assert (
        found["input"] == "more/*.jsonl,posts.jsonl"
        and found["model_store"] == "more.topics/models"
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"title": "a ship came", "body": "the ship came in", "date": "2001-01-31"},
            "posts.jsonl: the text may be in 'body', 'title'. Give --text_field=body or"
            " --text_field=title or --text_field=title,body.",
        ),
        (
            {"n": 1, "date": "2001-01-31"},
            "posts.jsonl: no field holds texts for sure (several words, mostly different); the"
            " records have 'n', 'date'. Name the text of a record with --text_field.",
        ),
        (
            {"text": "a ship came", "born_on": "1941-01-31", "sent_on": "2001-01-31"},
            "posts.jsonl: the time may be in 'born_on', 'sent_on'. Give"
            " --timestamp_field=born_on or --timestamp_field=sent_on.",
        ),
        (
            {"text": "a ship came", "date": "02/01/2020"},
            "posts.jsonl: the times of the field 'date', for example '02/01/2020', can be read in"
            " several ways. Give --timestamp_format=%d/%m/%Y or --timestamp_format=%m/%d/%Y.",
        ),
        (
            {"text": "a ship came", "date": "spring 2020"},
            "posts.jsonl: the field 'date' seems to hold times, and 'spring 2020' cannot be read as"
            " one. --timestamp_format takes the form of strptime that reads it; the order of"
            " the records is another time. Give --time_from=order.",
        ),
    ],
)
def test_an_unclear_field_is_asked_for_and_each_answer_works(here, row, said):
    lines(here / "posts.jsonl", [row] * 3)
    with pytest.raises(UsageError) as raised:
        arranged(["posts.jsonl"], "train", train.GROUPS)
    assert str(raised.value) == said
    for answer in re.findall(r"--[a-z_]+=\S+[^.\s]", said):
        if not re.search("NAME|FORM", answer):
            assert arranged(["posts.jsonl", answer], "train", train.GROUPS).argv


def test_a_run_from_the_first_file_to_the_page(here, capsys):
    pytest.importorskip("jinja2")
    assert train.main(["posts.jsonl", *FAKE]) == 0
    assert options_of_text((here / "posts.topics" / "run.yaml").read_text(), "x")["topics"] == "2"
    assert "beam_topics.pipelines.show posts.topics" in capsys.readouterr().err
    assert show.main(["posts.topics"]) == 0
    assert "versions" in capsys.readouterr().out
    assert report.main(["posts.topics"]) == 0
    assert (here / "posts.topics" / "report.html").exists()
    lines(here / "new.jsonl", ROWS[:3])
    assert infer.main(["posts.topics", "new.jsonl"]) == 0
    written = [path.read_text() for path in (here / "posts.topics" / "mixtures").iterdir()]
    assert sum(len(text.splitlines()) for text in written) == 3
    assert report.main(["posts.topics"]) == 0
    assert "--mixtures=posts.topics/mixtures --documents=posts.jsonl" in capsys.readouterr().err
    assert versions.main(["posts.topics"]) == 2
    told = capsys.readouterr().err
    assert told.endswith(
        " For example: python -m beam_topics.pipelines.versions list posts.topics\n"
    )
    assert versions.main(["list", "posts.topics"]) == 0
    told = capsys.readouterr().err
    assert "versions list: --model_store=posts.topics/models (from the arguments)" in told
    assert export.main(["posts.topics", "--format=csv", "--output=of/topics.csv"]) == 0
    assert (here / "of" / "topics.csv").read_text().startswith("topic,name,share,rank,word,")


def test_a_run_learns_more_documents_as_it_has_learned(here, capsys):
    assert train.main(["posts.jsonl", *FAKE, "--window=60d"]) == 0
    later = [{**row, "date": row["date"].replace("20", "21", 1)} for row in ROWS]
    lines(here / "later.jsonl", later)
    argv = ["posts.topics", "later.jsonl", *FAKE[:1]]
    assert train.main(argv) == 2
    told = capsys.readouterr().err
    assert "--topics=2 --window=60d (as in posts.topics)" in told
    assert "add --add_documents" in told
    assert train.main([*argv, "--add_documents"]) == 0
    kept = options_of_text((here / "posts.topics" / "run.yaml").read_text("utf-8"), "x")
    assert kept["input"] == "posts.jsonl,later.jsonl" and kept["window"] == "60d"
    assert "resume_from" not in kept and not (here / "later.topics").exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (
            ["posts.topics"],
            "give the files to learn next after it, as in .* posts.topics february",
        ),
        (["posts.topics", "posts.topics", "a.jsonl"], "stands before it already. Leave it out."),
    ],
)
def test_a_run_that_learns_more_needs_one_folder_and_files(here, argv, said):
    (here / "posts.topics" / "models").mkdir(parents=True)
    with pytest.raises(UsageError, match=said):
        arranged(argv, "train", train.GROUPS)


def test_new_files_are_read_as_they_are_written(here, capsys):
    assert train.main(["posts.jsonl", *FAKE]) == 0
    rows = "".join(f"Größe {n};{n:02}.03.2024;a ship in {n}\n" for n in range(13, 29))
    (here / "new.csv").write_bytes(("Titel;date;headline\n" + rows).encode("cp1252"))
    found = options(arranged(["posts.topics", "new.csv"], "infer", infer.GROUPS).argv)
    # The text is that of the run; how the file is written is found.
    assert found["text_field"] == "headline" and found["timestamp_field"] == "date"
    assert found["timestamp_format"] == "%d.%m.%Y" and found["encoding"] == "cp1252"
    (here / "other.csv").write_text("body,day\na ship came in,2024-03-13\na port,2024-03-14\n")
    found = options(arranged(["posts.topics", "other.csv"], "infer", infer.GROUPS).argv)
    assert found["text_field"] == "body" and found["timestamp_field"] == "day"


@pytest.mark.parametrize("argv", [['--input="a, b.jsonl"'], ["a, b.jsonl"]])
def test_a_path_with_a_comma_is_looked_at(here, argv, capsys):
    (here / "a, b.jsonl").write_bytes((here / "posts.jsonl").read_bytes())
    for program in (train, infer):
        found = arranged([*argv, "--model_store=m"], "x", program.GROUPS).argv
        assert '--input="a, b.jsonl"' in found
    assert arguments.of_learner(["a, b.jsonl", "c.csv,d.csv"], "x", (), ())["input"] == (
        '"a, b.jsonl",c.csv,d.csv'
    )
    (here / "x,y").mkdir()
    (here / "x,y" / "a.txt").write_text("harbour")
    assert arguments.of_learner(["x,y"], "x", (), ())["input"] == '"x,y/*.txt"'


def test_of_an_input_that_an_option_names_only_the_writing_is_found(here):
    given = ["--input=posts.jsonl", "--window=1d"]
    assert arranged(given, "train", train.GROUPS).argv == given
    table = "id,timestamp,text\n" + "".join(f"{n},2024-01-{n},Größe {n}\n" for n in range(10, 30))
    (here / "a.csv").write_bytes(table.encode("cp1252"))
    found = arranged(["--input=a.csv"], "train", train.GROUPS).argv
    assert found == ["--encoding=cp1252", "--input=a.csv"]
    absent = ["--input=absent.jsonl"]
    assert arranged(absent, "train", train.GROUPS).argv == absent


def test_a_text_is_labelled_by_the_only_run_of_the_folder(here, capsys):
    assert label.main(["a ship"]) == 2
    assert "--model_store is missing." in capsys.readouterr().err
    assert train.main(["posts.jsonl", *FAKE]) == 0
    capsys.readouterr()
    assert label.main(["a ship in the harbour"]) == 0
    told = capsys.readouterr()
    assert "--model_store=posts.topics/models" in told.err
    first, *rest = told.out.splitlines()
    assert first.startswith("a ship in the harbour (2 of 2 words known, no topic explains ")
    assert len(rest) == 2
    assert train.main(["posts.jsonl", *FAKE, "--model_store=second.topics/models"]) == 0
    assert label.main(["a ship"]) == 2


def test_a_store_elsewhere_is_named_and_leaves_no_folder_of_a_run(here, capsys):
    assert train.main(["posts.jsonl", *FAKE, "--model_store=else where/m"]) == 0
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "Next: python -m beam_topics.pipelines.show '--model_store=else where/m'"
    assert not (here / "posts.topics" / "run.yaml").exists()
    assert show.main(["--model_store=else where/m"]) == 0


def test_a_wrong_argument_is_refused(here, capsys):
    assert show.main(["posts.jsonl"]) == 2
    assert capsys.readouterr().err == (
        "python -m beam_topics.pipelines.show: posts.jsonl: python -m beam_topics.pipelines.show"
        " takes no such argument."
        " python -m beam_topics.pipelines.train data.csv makes the folder data.topics, and python"
        " -m beam_topics.pipelines.show takes it; --help lists the options.\n"
    )
    assert train.main(["gs://bucket/a.jsonl"]) == 2
    assert "a folder next to the input is made on this machine only" in capsys.readouterr().err
    assert train.main(["absent.jsonl"]) == 2
    assert "a path or a glob that matches at least one file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "argv", "said"),
    [
        (show, ["feb.topcs"], "feb.topcs: there is no such folder"),
        (report, ["feb"], "feb: there is no such folder"),
        (show, ["feb.csv.gz"], "feb.csv.gz: there is no such folder"),
        (show, ["feb.topics/models"], "feb.topics/models: the folder has no model store 'models'"),
        (infer, ["feb.topic", "posts.jsonl"], "feb.topic: there is no such folder"),
        (label, ["feb.topcs"], "feb.topcs: there is no such folder"),
        (label, ["fb.topics", "a ship"], "fb.topics: there is no such folder"),
    ],
)
def test_a_misspelt_folder_is_told_with_the_nearest(here, capsys, program, argv, said):
    (here / "feb.topics" / "models").mkdir(parents=True)
    assert program.main(argv) == 2
    told = capsys.readouterr().err
    assert told.endswith(f"{said}. Did you mean feb.topics?\n")
    # The advice is followed.
    argv = ["feb.topics", *argv[1:]]
    found = arranged(argv, program.__name__, program.GROUPS).argv
    assert "--model_store=feb.topics/models" in found


@pytest.mark.parametrize("program", [train, stream, infer, show, label, report, export])
def test_a_folder_of_a_run_is_no_model_store(here, capsys, program):
    (here / "feb 1.topics" / "models" / "_").mkdir(parents=True)
    argv = ["--model_store=feb 1.topics"]
    assert arranged(argv, program.__name__, program.GROUPS).argv == argv
    (here / "feb 1.topics" / "models" / "_" / "settings.json").touch()
    assert program.main(argv) == 2
    assert capsys.readouterr().err.endswith(
        ": --model_store: 'feb 1.topics' was given; allowed is a model store."
        " Give --model_store='feb 1.topics/models'.\n"
    )


def test_two_folders_of_runs_and_a_folder_far_from_any(here, capsys):
    for name in ("feb.topics", "march.topics"):
        (here / name / "models").mkdir(parents=True)
    assert show.main(["feb.topics", "march.topics"]) == 2
    assert "march.topics: a folder of a run stands before it already. " in capsys.readouterr().err
    assert show.main(["nothing"]) == 2
    told = "nothing: there is no such folder. python -m beam_topics.pipelines.train data.csv makes"
    assert told in capsys.readouterr().err
    assert label.main(["absent"]) == 2
    assert "absent: there is no such folder. " in capsys.readouterr().err


def test_a_command_without_an_argument_names_what_may_stand_alone(here, capsys):
    assert train.main(["--topics=2"]) == 2
    assert (
        "for example --model_store=models, or python -m beam_topics.pipelines.train data.csv; "
        in (capsys.readouterr().err)
    )
    assert show.main([]) == 2
    assert ", or python -m beam_topics.pipelines.show data.topics; " in capsys.readouterr().err


def test_a_file_without_a_record_is_refused_and_passed_over_beside_others(here, capsys):
    (here / "empty.csv").write_text("")
    assert train.main(["empty.csv"]) == 2
    assert capsys.readouterr().err == (
        "python -m beam_topics.pipelines.train: empty.csv: there is no record. Give a file with"
        " documents.\n"
    )
    (here / "a.jsonl").write_text("")
    with pytest.raises(UsageError, match=r"a\.jsonl and 1 more files: there is no record"):
        profiling.look_at(["a.jsonl", "empty.csv"], [])
    found = options(arranged(["a.jsonl", "posts.jsonl"], "train", train.GROUPS).argv)
    assert found["text_field"] == "headline" and found["window"] == "30d"
    # A broken record is told by its dead letter.
    (here / "a.jsonl").write_text("{\n")
    profile, _ = profiling.look_at(["a.jsonl"], [])
    assert profile.options == {} and profile.samples.sampled[0].unread == 1


def test_a_wrong_command_line_writes_nothing(here):
    assert train.main(["posts.jsonl", "--topics=0"]) == 2
    assert not (here / "posts.topics").exists()
