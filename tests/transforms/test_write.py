import io
import json
from pathlib import Path
from types import SimpleNamespace

import apache_beam as beam
import fastavro
import numpy as np
import pytest
from collecting import run

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import OptionError, OutputError
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.inference.serving import held_bytes
from beam_topics.model.reporting.encoding import json_lines
from beam_topics.transforms import write
from beam_topics.transforms.write import (
    GrowingFile,
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


@pytest.mark.parametrize("output_format", ["jsonl", "avro"])
def test_a_file_grows_by_parts(tmp_path, monkeypatch, output_format):
    whole = written(WriteMixtures(str(tmp_path / "whole"), output_format), MIXTURES)
    monkeypatch.setattr(write, "PART_BYTES", 3 * len(MIXTURES[0]))
    one, again, turned = (tmp_path / name for name in ("one", "again", "turned"))
    _, counters = written(WriteMixtures(str(one), output_format), MIXTURES)
    flags = "--direct_runner_bundle_repeat=2"
    written(WriteMixtures(str(again), output_format), MIXTURES, flags)
    written(WriteMixtures(str(turned), output_format), MIXTURES[::-1])
    assert counters["mixtures_written"] == whole[1]["mixtures_written"] == 20
    # No hidden file is left, and a bundle that is repeated writes the same file again.
    assert contents(one) == contents(again)
    assert not contents(one).keys() & contents(turned).keys()
    for folder in (one, turned, tmp_path / "whole"):
        assert rows_of(folder) == sorted(f"d{n}" for n in range(20))
    if output_format == "jsonl":
        assert len(contents(one)) == 1


def rows_of(folder):
    return sorted(
        row["id"]
        for data in contents(folder).values()
        for row in (
            fastavro.reader(io.BytesIO(data))
            if data.startswith(b"Obj")
            else map(json.loads, data.splitlines())
        )
    )


def growing(folder):
    return GrowingFile(str(folder), "rows", ".jsonl", json_lines)


def test_a_file_of_an_object_store_is_sent_whole(tmp_path, monkeypatch):
    here = growing(tmp_path / "here")
    for records in ([b"2", b"1"], [b"0"]):
        here.add(records)
    path = here.end([b"4", b"3"])
    there = SimpleNamespace(
        get_scheme=lambda path: "gs",
        join=lambda *parts: "/".join(parts),
        create=lambda path, **_: (tmp_path / path.rpartition("/")[2]).open("wb"),
    )
    monkeypatch.setattr(write, "FileSystems", there)
    sent = growing("gs://bucket")
    sent.add([b"1", b"2"])
    sent.add([b"0"])
    assert list(tmp_path.glob("rows*")) == []
    assert sent.end([b"3", b"4"]).rpartition("/")[2] == path.rpartition("/")[2]
    (found,) = tmp_path.glob("rows*")
    assert found.read_bytes() == b"1\n2\n0\n3\n4\n" == Path(path).read_bytes()


def test_a_file_that_does_not_end_leaves_nothing(tmp_path, monkeypatch):
    file = growing(tmp_path)
    file.add([b"lost"])
    assert [path.name[:5] for path in tmp_path.iterdir()] == [".new-"]
    file.drop()
    assert contents(tmp_path) == {}
    file.add([b"1"])
    assert Path(file.end([])).read_bytes() == b"1\n"
    file.add([b"2"])
    monkeypatch.setattr(write.os, "fsync", lambda _: refuse())
    with pytest.raises(OutputError, match="disk full"):
        file.end([])
    file.drop()
    assert list(contents(tmp_path).values()) == [b"1\n"]


def refuse():
    raise OSError(28, "disk full")


def test_the_writer_holds_one_part(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "PART_BYTES", 1_000)
    step = write._WriteBatches(growing(tmp_path), "rows")
    step.start_bundle()
    held = []
    for n in range(5_000):
        assert not list(step.process(b"%010d" % n))
        held.append(held_bytes(step._batch))
    assert max(held[:200]) == max(held) < 10_000
    assert len(list(step.finish_bundle())) == 1


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

    monkeypatch.setattr(write, "write_temporary", refuse)
    with pytest.raises(OutputError, match=rf"{tmp_path}/out cannot be written: {remedy}"):
        write_file(str(tmp_path / "out" / "x.jsonl"), b"1")
    assert list(tmp_path.rglob("*")) == []
