"""What the benchmark of streams that change plans, and how its tables are made."""

import argparse

import pytest

from beam_topics.model.records import Document, TokenisedDocument
from benchmarks.drift import ROWS, TRIPLES, ordered, plan, settings_of
from benchmarks.drift_report import report
from benchmarks.drift_streams import places
from benchmarks.ledger import Ledger, Run


def given(**others):
    chosen = {
        "experiments": ["planted", "triples"],
        "rows": ["default", "batch"],
        "size": 1000,
        "orders": ["date", "sorted"],
        "courses": ["planted"],
    }
    return argparse.Namespace(
        **{**chosen, "triples": ["hockey"], "alone": True, "seeds": 1, "first_seed": 3, **others}
    )


def test_versions_are_scored_at_the_same_places_whatever_the_size():
    assert places(7000) == [500, 1000, 2000, 7000]
    assert places(2000) == [500, 1000, 2000]
    assert places(300) == [300]


def test_batch_sampling_is_run_in_one_order_and_on_no_planted_change():
    runs = list(plan(given()))
    assert [run.dataset for run in runs if run.row == "batch"] == ["hockey shuffled"]
    assert [run.dataset for run in runs if run.experiment == "planted"] == [
        *(f"alone-1000 {n}" for n in (1, 2, 3)),
        "planted-1000",
    ]
    assert {run.seed for run in runs} == {3}
    assert [run.dataset for run in plan(given(alone=False)) if run.experiment == "planted"] == [
        "planted-1000"
    ]


def test_ten_triples_of_groups():
    assert len(TRIPLES) == 10
    assert len(set(map(frozenset, TRIPLES.values()))) == 10
    assert all(len(set(groups)) == 3 for groups in TRIPLES.values())


def test_orders_of_one_set_of_documents():
    documents = [
        TokenisedDocument.from_words(Document(str(n), 0, "", "ba"[n % 2]), ["w"]) for n in range(6)
    ]
    assert ordered(documents, "date", 1) == documents
    assert [document.label for document in ordered(documents, "sorted", 1)] == ["a"] * 3 + ["b"] * 3
    assert sorted(document.id for document in ordered(documents, "shuffled", 1)) == [
        str(n) for n in range(6)
    ]


def test_accuracies_are_shares_of_what_the_third_alone_comes_to(tmp_path, capsys):
    costs = {"seconds": 1.0, "visits": 2.0}
    points = [[third, 1000, third / 10, 4.0] for third in (1, 2, 3)]
    ledger = Ledger(tmp_path / "drift.jsonl")
    ledger.make(
        [Run("planted", "planted-1000", "default", 1)],
        lambda run: {"points": points, "last": [[1, 0.05, 3.0], *points], **costs},
    )
    alone = {f"alone-1000 {n}": [[n, 1000, 0.4, 5.0]] for n in (1, 2, 3)}
    ledger.make(
        [Run("planted", name, "default", 1) for name in alone],
        lambda run: {"points": alone[run.dataset], "last": [], **costs},
    )
    ledger.lines[0]["last"] = [[1, 0.05, 3.0], [2, 0.2, 4.0], [3, 0.3, 4.0]]
    report(ledger)
    said = capsys.readouterr().out
    assert "| 1 | 0.400 | 0.250 | 4.0 | 0.125 |" in said
    assert "| 3 | 0.400 | 0.750 | 4.0 | 0.750 |" in said


@pytest.mark.parametrize("row", ROWS)
def test_settings_of_rows_can_be_made(row):
    assert settings_of(Run("planted", "planted-1000", row, 3)).seed == 3
