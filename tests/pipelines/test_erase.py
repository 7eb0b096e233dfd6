"""``beam-topics erase``: no file holds the document afterwards, and what stays is told."""

import json
import shutil
from pathlib import Path

import fastavro
import numpy as np
import pytest
from apache_beam.io.localfilesystem import LocalFileSystem

from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.reporting.encoding import mixtures_to_avro, mixtures_to_json_lines
from beam_topics.pipelines import erase, infer, report, train

RARE, VICTIM = "zyzzyva", "victim-17"
WORDS = ["ship harbour sail captain storm", "court judge law trial jury"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a run with mixtures and a report."""
    folder = tmp_path_factory.mktemp("run")
    rows = [
        {
            "id": VICTIM if n == 17 else f"d{n}",
            "text": f"{WORDS[n % 2]} " * 4 + f"{RARE} {RARE}" * (n == 17),
            "timestamp": f"2024-01-{n % 28 + 1:02}",
        }
        for n in range(60)
    ]
    # Another text with the id of a document is a dead letter.
    rows += [{**rows[17], "text": "another ship"}, {"id": VICTIM, "timestamp": "2024-01-02"}]
    data = folder / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = folder / "data.topics"
    assert train.main([str(data), "--topics=2", "--threads=1"]) == 0
    trends = f"--trends={folder}/trends"
    assert infer.main([str(run), trends]) == 0
    assert report.main([str(run)]) == 0
    return folder


def run_erase(folder, *ids, **more):
    listed = folder / "ids.txt"
    listed.write_text("\n".join(ids) + "\n")
    options = [f"--{name}={value}" for name, value in more.items()]
    return erase.main([str(folder / "data.topics"), f"--ids={listed}", *options])


def holding(folder, *texts):
    """The files below the outputs that hold a text."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".txt")
    return sorted(
        str(path.relative_to(folder))
        for path in files
        if path.name != "data.jsonl" and any(t.encode() in path.read_bytes() for t in texts)
    )


def test_no_file_holds_the_document_and_what_stays_is_told(made, capsys):
    had = holding(made, VICTIM)
    kinds = {one.split("/")[-1].split("-")[0] for one in had}
    assert kinds == {"dead", "mixtures", "profile.json", "report.html", "trends"}
    assert run_erase(made, VICTIM, "nobody", rows=made / "trends") == 0
    told = capsys.readouterr().out
    assert "not found: 1 ids: 'nobody'" in told
    assert "data.topics/report.html: removed; beam-topics report writes it anew\n" in told
    assert "data.topics/profile.json: removed\n" in told
    assert "1 known documents removed" in told and "1 documents at hand in them removed" in told
    assert "versions from" in told and "train into a new model store" in told
    assert holding(made, VICTIM) == []
    checkpoints = [one for one in holding(made, RARE) if "snapshots" not in one]
    assert checkpoints == []
    (file,) = (made / "data.topics/mixtures").iterdir()
    rows = list(map(json.loads, file.read_text().splitlines()))
    assert len(rows) == 59 and all(row["id"] != VICTIM for row in rows)
    then = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    assert run_erase(made, VICTIM, rows=made / "trends") == 2
    told = capsys.readouterr()
    assert told.out == "" and "None is found: 'victim-17'. The lines that infer writes" in told.err
    after = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    assert {p for p in then if after.get(p) != then[p]} <= {made / "ids.txt"}


def test_an_erase_that_is_refused_writes_nothing(made, tmp_path, capsys):
    good, bad = tmp_path / "mixtures-1.jsonl", tmp_path / "mixtures-2.jsonl"
    mixture = TopicMixture("", "d1", 5, "7-ab", "gibbs3", np.array([0.5, 0.5]), 2, 3)
    good.write_bytes(mixtures_to_json_lines([mixture.to_bytes()]))
    bad.write_text("no row\n")
    then = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    assert run_erase(made, "d1", mixtures=tmp_path) == 2
    assert "cannot be read as an output of beam-topics" in capsys.readouterr().err
    assert b"d1" in good.read_bytes()
    after = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    assert {path for path in then if then[path] != after[path]} <= {made / "ids.txt"}


def test_avro_keeps_its_schema_and_other_rows(made, tmp_path, capsys):
    path = tmp_path / "mixtures-1.avro"
    every = [
        TopicMixture("", name, 5, "7-ab", "gibbs3", np.array([0.5, 0.5]), 2, 3).to_bytes()
        for name in ("a", "x9", "b")
    ]
    path.write_bytes(mixtures_to_avro(every))
    with path.open("rb") as stream:
        reader = fastavro.reader(stream)
        before, schema = list(reader), reader.writer_schema
    assert run_erase(made, "x9", mixtures=tmp_path) == 0
    with path.open("rb") as stream:
        reader = fastavro.reader(stream)
        assert list(reader) == [row for row in before if row["id"] != "x9"]
        assert reader.writer_schema == schema
    assert "1 rows removed, or written without the documents" in capsys.readouterr().out
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


class Bucket(LocalFileSystem):
    """A file system of Beam's that has its files in a folder, as objects of ``made://``."""

    folder = ""

    @classmethod
    def scheme(cls):
        return "made"

    def _at(self, path):
        return path.replace("made:/", self.folder)

    def join(self, *parts):
        return "/".join(parts)

    def match(self, patterns, limits=None):
        found = super().match(list(map(self._at, patterns)), limits)
        for one in (one for some in found for one in some.metadata_list):
            one.path = one.path.replace(self.folder, "made:/")
        return found

    def open(self, path, *_, **__):
        return Path(self._at(path)).open("rb")

    def create(self, path, *_, **__):
        return Path(self._at(path)).open("wb")


def test_files_of_a_bucket_are_written_again(made, tmp_path, monkeypatch):
    monkeypatch.setattr(Bucket, "folder", str(tmp_path))
    (tmp_path / "trends").mkdir()
    story = {"key": "", "story": "s1", "document_ids": ["s1", "s2"], "words": []}
    other = {**story, "story": "s2", "document_ids": ["s2", "s1"]}
    path = tmp_path / "trends/stories-1.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in (story, other)))
    assert run_erase(made, "s1", rows="made://trends") == 0
    assert list(map(json.loads, path.read_text().splitlines())) == [
        {**other, "document_ids": ["s2"]}
    ]


def test_pages_of_another_folder_stay(made, tmp_path):
    shutil.copytree(made / "data.topics/models", tmp_path / "models")
    (tmp_path / "report.html").write_text("mine")
    (tmp_path / "ids.txt").write_text("d3\td\nd3\t2024-01-04\n")
    assert erase.main([f"--model_store={tmp_path}/models", f"--ids={tmp_path}/ids.txt"]) == 0
    assert (tmp_path / "report.html").read_text() == "mine"


def test_a_file_of_ids_without_one_is_refused(made, capsys):
    assert run_erase(made) == 2
    assert "--ids: " in capsys.readouterr().err
