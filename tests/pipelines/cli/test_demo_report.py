import io
import json

import numpy as np
from reported import listed
from rich.console import Console

from pipelines.cli.demo_report import document_table, read_mixtures, shares_by_decade


def mixture(name, time, proportions, known=10):
    return {
        "id": name,
        "timestamp": f"{time}T00:00:00.000000Z",
        **listed(proportions),
        "words_known": known,
    }


def test_shares_are_weighted_by_known_words_and_sum_to_one_in_each_decade():
    rows = [
        mixture("a", "1790-01-08", [1.0, 0.0], 30),
        mixture("b", "1799-12-31", [0.0, 1.0], 10),
        mixture("c", "1815-01-01", [0.25, 0.75]),
        mixture("d", "1812-01-01", [0.5, 0.5], 0),
    ]
    found = shares_by_decade(rows, [0, 1], range(1790, 1820, 10))
    np.testing.assert_allclose(found[:, 0], [0.75, 0.25])
    assert np.isnan(found[:, 1]).all()
    np.testing.assert_allclose(found[:, 2], [0.25, 0.75])


def test_times_beyond_the_decades_count_in_the_nearest():
    rows = [mixture("a", "1700-01-01", [1.0]), mixture("b", "2100-01-01", [1.0])]
    assert shares_by_decade(rows, [0], range(1790, 1810, 10)).tolist() == [[1.0, 1.0]]


def test_mixtures_are_read_in_the_order_of_time(tmp_path):
    (tmp_path / "mixtures-a.jsonl").write_text(
        json.dumps(mixture("late", "1900-01-01", [1.0])) + "\n"
    )
    (tmp_path / "mixtures-b.jsonl").write_text(
        json.dumps(mixture("early", "1800-01-01", [1.0])) + "\n"
    )
    (tmp_path / "other.jsonl").write_text("{}\n")
    assert [row["id"] for row in read_mixtures(tmp_path)] == ["early", "late"]


def test_passages_come_with_their_largest_topics(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        json.dumps(
            {
                "id": "a",
                "timestamp": "1790-01-08",
                "text": "Fellow citizens " * 40,
                "label": "[b]Washington",
            }
        )
        + "\n"
    )
    out = io.StringIO()
    table = document_table(
        [mixture("a", "1790-01-08", [0.02, 0.9, 0.08])],
        corpus,
        {0: ["tax"], 1: ["sea", "ship"], 2: ["law"]},
    )
    Console(file=out, width=140).print(table)
    text = out.getvalue()
    assert "[b]Washington, 1790-01-08: Fellow citizens" in text
    assert "90% ███████████   1 sea ship" in text
    assert "8% █             2 law" in text
    assert "tax" not in text
