"""Dead letters that are counted while files come."""

import json

import pytest

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.reporting import added_files
from beam_topics.model.reporting.added_files import RefusedCounts


def write(folder, name, *letters):
    folder.mkdir(exist_ok=True)
    lines = (letter if isinstance(letter, str) else letter.as_json() for letter in letters)
    (folder / f"dead-letters-{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))


def letter(reason="not_json", at=1, count=1):
    return DeadLetter(f"a.jsonl:{at}", reason, "no JSON", "{", count)


def counted(counts):
    return {reason: count for reason, count in counts.by_reason.items() if count}


def test_each_file_is_counted_once(tmp_path):
    counts = RefusedCounts(str(tmp_path / "dead"))
    assert (counts.read(), counted(counts)) == ([], {})
    write(tmp_path / "dead", "a", letter(), letter(at=2), letter(), letter("too_large", count=40))
    (tmp_path / "dead" / "other.jsonl").write_text("not ours")
    for _ in range(2):
        assert counts.read() == []
        assert counted(counts) == {"not_json": 2, "too_large": 40}
    write(tmp_path / "dead", "b", letter("future"))
    (tmp_path / "dead" / "dead-letters-a.jsonl").unlink()
    assert counts.read() == []
    assert counted(counts) == {"not_json": 2, "too_large": 40, "future": 1}
    assert counts._taken == {"dead-letters-b.jsonl"}


def test_reasons_of_a_run_begin_at_zero(tmp_path):
    assert RefusedCounts(str(tmp_path)).by_reason["missing_text"] == 0
    assert "missing_text" in RefusedCounts(str(tmp_path)).by_reason


def test_a_reading_is_bounded_and_the_next_one_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(added_files, "_READING_BYTES", 100)
    for name in "abcd":
        write(tmp_path, name, letter(), letter(at=2))
    counts = RefusedCounts(str(tmp_path))
    waiting = []
    for _ in range(4):
        assert counts.read() == []
        waiting.append(counts.waiting)
    assert waiting == [3, 2, 1, 0] and counted(counts) == {"not_json": 8}


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        "[" * 100_000,
        json.dumps({"source": "", "reason": "x", "detail": ""}),
        letter(count=-5).as_json(),
        letter(count=10**30).as_json(),
        '{"source":"\\ud800","reason":1}',
    ],
    ids=["text", "list", "deep", "a field is missing", "negative", "huge", "types"],
)
def test_what_is_no_dead_letter_is_told_once_and_the_rest_is_counted(line, tmp_path):
    write(tmp_path, "a", line)
    write(tmp_path, "b", letter())
    counts = RefusedCounts(str(tmp_path))
    (wrong,) = counts.read()
    assert wrong.startswith("dead letters: dead-letters-a.jsonl is not a dead letter: ")
    assert counts.read() == [] and counted(counts) == {"not_json": 1}


def test_the_number_of_reasons_is_bounded(tmp_path):
    write(tmp_path, "a", *(letter(f"made_{'x' * n}") for n in range(99)), letter('"}\n\x1b'))
    counts = RefusedCounts(str(tmp_path))
    assert counts.read() == []
    assert len(counts.by_reason) == added_files._MOST_REASONS
    assert sum(counts.by_reason.values()) == 100 and counts.by_reason["other"] > 50


def test_a_folder_that_is_a_file_is_refused_by_its_option(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OptionError, match=r"--dead_letters: .*/file' was given"):
        RefusedCounts(str(tmp_path / "file"))


@pytest.mark.usefixtures("bucket")
def test_a_folder_of_a_bucket():
    counts = RefusedCounts("gs://bucket/dead")
    assert (counts.read(), counted(counts)) == ([], {})
    line = letter("future", count=3).as_json().encode()
    blobs_at("gs://bucket/dead").create("dead-letters-a.jsonl", line)
    assert (counts.read(), counted(counts)) == ([], {"future": 3})
    with pytest.raises(OptionError, match="--dead_letters: 'gs://none/dead' was given"):
        RefusedCounts("gs://none/dead").read()
