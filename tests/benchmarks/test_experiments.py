"""What the reproductions of papers have in common."""

import math

import numpy as np
import pytest

from benchmarks.experiments import draw_traces, experiment
from benchmarks.inference import BETA
from benchmarks.yao_runs import log_joint


def given(*arguments):
    return experiment("what it is for", "e", ("a", "b"), ("x", "y"), arguments)


def test_the_papers_size_is_all_of_it():
    asked = given()
    assert (asked.datasets, asked.rows, asked.seeds) == (["a", "b"], ["x", "y"], 30)
    assert asked.ledger.as_posix() == "docs/results/e.jsonl"


def test_the_small_size_is_one_dataset_and_leaves_the_results_alone():
    asked = given("--size=small")
    assert (asked.datasets, asked.seeds) == (["a"], 2)
    assert "docs" not in asked.ledger.parts


def test_no_seeds_is_a_number_too():
    assert given("--seeds=0").seeds == 0


def test_a_row_that_is_not_there_is_refused(capsys):
    with pytest.raises(SystemExit):
        given("--rows", "z")
    assert "invalid choice: 'z'" in capsys.readouterr().err


def test_runs_that_were_measured_at_other_places_are_drawn_where_they_meet(tmp_path):
    runs = [[(1.0, 0.5), (2.0, 0.6), (3.0, 0.7)], [(1.0, 0.4), (3.0, 0.8)]]
    draw_traces(tmp_path / "plot.png", {"a": {"x": runs}}, "documents", "nMI", {"a": 0.9})
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_the_joint_probability_is_the_product_of_the_predictive_ones():
    alpha, documents = np.array([0.3, 0.7]), [[(0, 0), (1, 1), (0, 0)], [(2, 1)]]
    counts, in_documents, expected = np.zeros((3, 2), int), np.zeros((2, 2), int), 0.0
    for d, tokens in enumerate(documents):
        for w, t in tokens:
            expected += math.log(
                (in_documents[d, t] + alpha[t]) / (in_documents[d].sum() + alpha.sum())
            )
            expected += math.log((counts[w, t] + BETA) / (counts[:, t].sum() + 3 * BETA))
            counts[w, t] += 1
            in_documents[d, t] += 1
    assert log_joint(counts, in_documents, alpha) == pytest.approx(expected, abs=1e-9)
