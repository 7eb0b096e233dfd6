import json

import apache_beam as beam
import numpy as np
import pytest
from collecting import run

from beam_topics.model.encoding import json_lines
from beam_topics.model.errors import OptionError, OutputError
from beam_topics.model.records import DeadLetter, TopicMixture
from beam_topics.transforms import write
from beam_topics.transforms.write import (
    WriteDeadLetters,
    WriteMixtures,
    WriteRecords,
    write_batch,
    write_file,
)

MIXTURES = [
    TopicMixture("", f"d{n}", n, "v1", "gibbs3", np.array([0.25, 0.75]), n, n).to_bytes()
    for n in range(20)
]


def written(transform, records, *flags):
    results, counters = run(
        lambda pipeline: {"paths": pipeline | beam.Create(records) | transform}, *flags
    )
    return [path for _, path in results["paths"]], counters


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("output_format", ["jsonl", "avro"])
def test_mixtures_arrive_once_and_writing_again_changes_nothing(tmp_path, output_format):
    paths, counters = written(WriteMixtures(str(tmp_path), output_format), MIXTURES)
    before = contents(tmp_path)
    assert sorted(before) == sorted({path.rpartition("/")[2] for path in paths})
    assert counters["mixtures_written"] == 20
    written(
        WriteMixtures(str(tmp_path), output_format),
        MIXTURES[::-1],
        "--direct_runner_bundle_repeat=2",
    )
    assert contents(tmp_path) == before


def test_mixtures_as_lines(tmp_path):
    written(WriteMixtures(str(tmp_path / "new" / "folder")), MIXTURES)
    lines = [
        json.loads(line)
        for data in contents(tmp_path / "new" / "folder").values()
        for line in data.splitlines()
    ]
    assert sorted(line["id"] for line in lines) == sorted(f"d{n}" for n in range(20))
    assert {line["topic"] for line in lines if line["words_known"]} == {1}


def test_dead_letters(tmp_path):
    letters = [DeadLetter(f"a:{n}", "nul", "a NUL", "a\0b").as_json().encode() for n in range(3)]
    written(WriteDeadLetters(str(tmp_path)), letters)
    ((name, data),) = contents(tmp_path).items()
    assert name.startswith("dead-letters-")
    assert name.endswith(".jsonl")
    assert data.splitlines() == sorted(letters)


def test_large_bundles_become_several_files(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "FLUSH_BYTES", 30)
    paths, _ = written(
        WriteRecords(str(tmp_path), "rows", ".jsonl", json_lines),
        [b"%010d" % n for n in range(10)],
    )
    assert len(set(paths)) > 1
    assert sorted(b"".join(contents(tmp_path).values()).split()) == [
        b"%010d" % n for n in range(10)
    ]


def test_no_records_no_file(tmp_path):
    assert written(WriteDeadLetters(str(tmp_path / "dead")), [])[0] == []
    assert not (tmp_path / "dead").exists()


def test_a_name_is_the_contents(tmp_path):
    one = write_batch(str(tmp_path), "rows", ".jsonl", json_lines, [b"a", b"b"])
    assert one == write_batch(str(tmp_path), "rows", ".jsonl", json_lines, [b"b", b"a"])
    assert one != write_batch(str(tmp_path), "rows", ".jsonl", json_lines, [b"a"])


def test_a_file_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write_file(str(path), b"old")

    def fail(*_):
        raise OSError(28, "disk full")

    monkeypatch.setattr(write.Path, "replace", fail)
    with pytest.raises(OutputError, match="disk full"):
        write_file(str(path), b"new")
    assert contents(tmp_path) == {"a": b"old"}


def test_an_unknown_format():
    with pytest.raises(
        OptionError, match="--output_format: 'csv' was given; allowed is one of jsonl, avro"
    ):
        WriteMixtures("out", "csv")


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (28, "No space left on device. Free some space, or give another folder"),
        (13, "Permission denied. Give a folder that this user may"),
    ],
)
def test_a_folder_that_cannot_be_written_is_told_in_a_line(tmp_path, monkeypatch, number, remedy):
    def refuse(*args, **kwargs):
        raise OSError(number, remedy.partition(".")[0])

    monkeypatch.setattr(write, "write_beside", refuse)
    with pytest.raises(OutputError, match=rf"{tmp_path}/out cannot be written: {remedy}"):
        write_file(str(tmp_path / "out" / "x.jsonl"), b"1")
    assert list(tmp_path.rglob("*")) == []
