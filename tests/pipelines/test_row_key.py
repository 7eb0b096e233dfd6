"""Rows that are written more than once are de-duplicated by the key that docs/promises.md names."""

import json
import re
from pathlib import Path

import fake_learner
import numpy as np
import pytest

from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.reporting.encoding import ROW_KEY, mixture_to_json, row_key
from beam_topics.pipelines import infer, stream

ROOT = Path(__file__).parent.parent.parent
DAY, DOCUMENTS, AGAIN = 86_400, 560, 60
WORDS = ["ship", "sailed", "harbour", "judge", "court", "verdict"]


@pytest.fixture(autouse=True)
def no_failures():
    fake_learner.FAILURES.at = []


def documented():
    """The fields of a row's key, as the page of promises has them."""
    text = " ".join((ROOT / "docs" / "promises.md").read_text(encoding="utf-8").split())
    return tuple(
        name.strip().replace(" ", "_")
        for name in re.search(r"has the key \(([^)]*)\)", text)[1].split(",")
    )


def corpus(folder):
    """620 documents in ten windows; 60 ids are used again in another window."""
    numbers = [*range(DOCUMENTS), *range(AGAIN)]
    rows = [
        {
            "id": f"d{number}",
            "timestamp": at * DAY // 62,
            "text": " ".join(WORDS[(number * step + at) % 6] for step in range(1, 9)),
        }
        for at, number in enumerate(numbers)
    ]
    path = folder / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def written(folder):
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def test_the_documents_name_the_key_that_the_code_has():
    assert documented() == ROW_KEY
    for path in ("docs/running.md", "transforms/send.py"):
        text = " ".join((ROOT / path).read_text(encoding="utf-8").split())
        assert "the JSON list of key, id, timestamp and model version" in text


def test_a_messages_key_has_the_values_of_the_row():
    mixture = TopicMixture("k", "d", 5, "v", "gibbs3", np.array([1.0]), 1, 1)
    row = json.loads(mixture_to_json(mixture))
    assert json.loads(row_key(mixture)) == [row[name] for name in ROW_KEY]


def test_no_document_is_lost_by_de_duplication(tmp_path):
    common = [
        f"--input={corpus(tmp_path)}",
        f"--model_store={tmp_path / 'models'}",
        f"--dead_letters={tmp_path / 'dead'}",
    ]
    learning = [
        "--window=1d",
        "--publish_every=1window",
        "--learner=fake",
        "--topics=3",
        "--before_first_model=prior",
    ]
    assert stream.main([*common, *learning, f"--output={tmp_path / 'streamed'}"]) == 0
    assert infer.main([*common, f"--output={tmp_path / 'inferred'}", "--coverage_window=30d"]) == 0
    for name in ("streamed", "inferred"):
        rows = written(tmp_path / name)
        assert len(rows) == DOCUMENTS + AGAIN
        # Each row a second time, as after a retry with other bundles.
        kept = {tuple(row[field] for field in documented()): row for row in [*rows, *rows]}
        assert len(kept) == DOCUMENTS + AGAIN
    # Without the time, one model's labels of an id that was used again have one key.
    assert len({(row["key"], row["id"], row["model_version"]) for row in rows}) == DOCUMENTS
