"""The table of costs: its lines, its trees and its input."""

import json
import sys

import pytest

from benchmarks import scale
from benchmarks.scale.commands import Row, Tree, against_first, sizes_of
from benchmarks.scale.made_up import Made, write


def test_rows_of_two_trees_are_one_line_with_their_change():
    rows = [Row("a row", 4.0, 2.0, "1 x", "10 MB"), Row("a row", 3.0, 1.5, "1 x", "9 MB")]
    assert scale.line(scale.cells(rows)) == (
        "| a row | 4 | 3 | 0.75 x | 2.00 x, 1.50 x | 1 x | 10 MB; 9 MB |"
    )


def test_a_row_of_one_tree_has_no_change():
    assert scale.line(scale.cells([Row("a row", 0.25)])) == "| a row | 0.25 |  |  |  |"


def test_rows_are_compared_with_the_first_one_by_one():
    measured = []

    def rows():
        for row in (Row("one", 2.0), Row("many", 5.0), Row("other", 1.0, wanted="1 x")):
            measured.append(row.name)
            yield row

    found = against_first(rows(), "2 x")
    assert next(found) == Row("one", 2.0, 1.0)
    assert measured == ["one"]
    assert list(found) == [Row("many", 5.0, 2.5, "2 x"), Row("other", 1.0, 0.5, "1 x")]


def test_folders_are_not_counted_as_files(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"12345")
    assert sizes_of(tmp_path.rglob("*")) == [5]


def test_rows_that_nobody_knows_are_refused(monkeypatch):
    monkeypatch.setenv("BENCHMARK_ROWS", "start,stat")
    with pytest.raises(SystemExit, match=r"BENCHMARK_ROWS=stat: use some of windows, version,"):
        scale.scale()


def test_a_command_runs_in_its_tree_and_costs_time_and_memory(tmp_path):
    code = "open('here', 'w').close(); print(sum(range(10**6)))"
    took = Tree(tmp_path).cost(sys.executable, "-c", code)
    assert (tmp_path / "here").exists()
    assert took.seconds > 0
    assert took.megabytes > 1


def test_a_command_that_fails_ends_the_run_with_its_message(tmp_path):
    with pytest.raises(SystemExit, match=r"(?s)failed:.*no module of this name"):
        Tree(tmp_path).cost(sys.executable, "-c", "raise SystemExit('no module of this name')")


def test_made_up_documents_have_the_words_times_and_keys_that_were_asked_for(tmp_path):
    path = tmp_path / "made.jsonl"
    write(path, 50, Made(words=7, keys=3, seconds=10))
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [len(record["text"].split()) for record in records] == [7] * 50
    assert {
        b["timestamp"] - a["timestamp"] for a, b in zip(records, records[1:], strict=False)
    } == {10}
    assert {record["customer"] for record in records} == {f"customer-0000{n}" for n in range(3)}
