"""A first attempt that fails leaves nothing that stands in the way of the corrected one."""

import errno
import os
from pathlib import Path

import fake_learner
import pytest

from beam_topics.model.publishing import local_files
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import train

SMALL = [f"--learner={fake_learner.Fake.kind}", "--topics=3"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A CSV file in Latin-1 in the working directory, a document an hour."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f'{n},"2024-01-{1 + n // 24:02d} {n % 24:02d}:00","Käse und Brötchen über Nacht {n}"'
        for n in range(96)
    ]
    text = "\n".join(["id,date,story", *rows, ""])
    Path("data.csv").write_bytes(text.encode("latin-1"))
    return "data.csv"


def tried(capsys, *argv):
    """(status, standard error) of train."""
    capsys.readouterr()
    status = train.main([*argv, *SMALL])
    return status, capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [
        ["--encoding=utf-8"],
        ["--encoding=latin-1", "--text_field=body"],
        ["--encoding=latin-1", "--format=jsonl"],
        ["--encoding=latin-1", "--text_field=story", "--timestamp_field=story"],
    ],
    ids=["encoding", "text_field", "format", "timestamp_field"],
)
def test_the_corrected_attempt_is_not_refused_for_what_was_guessed(data, capsys, wrong):
    status, told = tried(capsys, data, *wrong)
    assert status in (2, 3) and "Traceback" not in told
    assert not Path("data.topics/models").exists() and not Path("data.topics/run.yaml").exists()
    right = ["--encoding=latin-1", "--text_field=story"]
    # Other lengths of windows than those that were guessed first are free, too.
    assert tried(capsys, data, *right, "--window=6h", "--publish_every=1d")[0] == 0
    assert ModelStore("data.topics/models").latest("").documents == 96
    # What was learned binds.
    status, told = tried(capsys, data, *right, "--window=12h", "--publish_every=1d")
    assert status == 2 and "--window is 6h there and 12h here" in told


def store_in_a_file():
    Path("m").write_text("not a folder")
    return "m/models", "Not a directory"


def store_that_is_a_file():
    Path("m").write_text("not a folder")
    return "m", "a local folder"


def key_that_is_a_file():
    Path("m").mkdir()
    Path("m/_").write_text("not a folder")
    return "m", "Not a directory"


@pytest.mark.parametrize("made", [store_in_a_file, store_that_is_a_file, key_that_is_a_file])
def test_a_store_that_cannot_be_a_folder_is_told_in_one_line_before_the_run(data, capsys, made):
    store, said = made()
    before = sorted(Path().rglob("*"))
    status, told = tried(
        capsys, f"--input={data}", f"--model_store={store}", "--dead_letters=dead", *NAMED
    )
    assert status == 2 and told.count("\n") == 1
    assert told.startswith(
        f"python -m beam_topics.pipelines.train: --model_store: '{store}' was given;"
    )
    assert said in told and "Traceback" not in told
    assert sorted(Path().rglob("*")) == before


NAMED = ["--encoding=latin-1", "--text_field=story", "--timestamp_field=date", "--window=6h"]


def test_a_folder_that_may_not_be_written_is_told_in_one_line(data, capsys, monkeypatch):
    Path("m").mkdir()

    def refused(dir):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(dir))

    monkeypatch.setattr(local_files, "TemporaryFile", refused)
    given = [f"--input={data}", "--model_store=m", "--dead_letters=dead", *NAMED]
    status, told = tried(capsys, *given)
    assert status == 2 and told.count("\n") == 1
    assert "a folder that this user may read and write. The system says: Permission denied" in told
    assert list(Path("m").iterdir()) == []
    monkeypatch.undo()
