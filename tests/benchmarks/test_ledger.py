"""An experiment that was interrupted continues where it stopped."""

import pytest

from benchmarks.ledger import Ledger, Run, mean_and_error, print_table, shown

RUNS = [
    Run("e", dataset, row, seed) for seed in (1, 2) for dataset in ("a", "b") for row in ("x", "y")
]


def made(path, runs, fail_at=None):
    names = []

    def work(run):
        if run == fail_at:
            raise KeyboardInterrupt
        names.append(run)
        return {"score": run.seed / 2}

    Ledger(path).make(runs, work)
    return names


def test_runs_that_are_written_down_are_not_made_again(tmp_path):
    path = tmp_path / "folder" / "e.jsonl"
    with pytest.raises(KeyboardInterrupt):
        made(path, RUNS, fail_at=RUNS[3])
    assert made(path, RUNS) == RUNS[3:]
    assert made(path, RUNS) == []
    assert len(path.read_text().splitlines()) == len(RUNS)


def test_lines_are_found_by_their_fields(tmp_path):
    made(tmp_path / "e.jsonl", RUNS)
    found = Ledger(tmp_path / "e.jsonl").of(dataset="b", row="y")
    assert [(line["seed"], line["score"]) for line in found] == [(1, 0.5), (2, 1.0)]


def test_a_mean_has_the_standard_error_of_its_runs():
    mean, deviation, error = mean_and_error([1.0, 2.0, 3.0, 4.0])
    assert (mean, deviation, error) == pytest.approx((2.5, 1.2909944, 0.6454972))
    assert shown([1.0, 2.0, 3.0, 4.0]) == "2.500 ± 0.645"
    assert shown([0.25]) == "0.250"


def test_a_table_is_printed_as_documents_write_it(capsys):
    print_table("scores", ["", "a"], [["x", ".5"]])
    assert capsys.readouterr().out == "\nscores\n\n|  | a |\n|---|---|\n| x | .5 |\n"
