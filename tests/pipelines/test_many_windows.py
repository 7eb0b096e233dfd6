"""The README's commands on an archive of 2,000 windows, each of one document."""

import io
import json
from contextlib import redirect_stderr

import fake_learner  # noqa: F401
import pytest
from streams import WORDS

from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import infer, stream, train

WINDOWS = 2000
_DAY = 86_400
LEARN = ["--learner=fake", "--topics=3", "--initial=none", "--window=1d", "--publish_every=400d"]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as lines:
        for day in range(WINDOWS):
            text = f"{WORDS[day % 8]} {WORDS[day % 7]}"
            lines.write(json.dumps({"id": str(day), "timestamp": day * _DAY, "text": text}) + "\n")
    return folder / "documents.jsonl"


@pytest.fixture(scope="module")
def trained(archive, tmp_path_factory):
    """The model store, and what the run said."""
    folder, said = tmp_path_factory.mktemp("trained"), io.StringIO()
    with redirect_stderr(said):
        assert (
            train.main(
                [
                    f"--input={archive}",
                    f"--model_store={folder / 'models'}",
                    f"--dead_letters={folder / 'dead'}",
                    *LEARN,
                ]
            )
            == 0
        )
    return folder / "models", said.getvalue()


def places(folder):
    return [
        f"--output={folder / 'mixtures'}",
        f"--dead_letters={folder / 'dead'}",
        f"--coverage={folder / 'coverage'}",
    ]


def rows(folder):
    return [
        json.loads(line)
        for path in folder.glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def test_train(trained):
    models, said = trained
    assert "learned_minibatches 2,000" in said
    assert [manifest.sequence for manifest in ModelStore(str(models)).manifests("")] == [
        400,
        800,
        1200,
        1600,
        2000,
    ]


def test_infer(archive, trained, tmp_path, capsys):
    assert infer.main([f"--input={archive}", f"--model_store={trained[0]}", *places(tmp_path)]) == 0
    assert "coverage_windows 2,000" in capsys.readouterr().err
    assert len(rows(tmp_path / "mixtures")) == WINDOWS
    reports = rows(tmp_path / "coverage")
    assert [row["documents"] for row in reports] == [1] * WINDOWS
    assert len({row["window_end"] for row in reports}) == WINDOWS


def test_stream(archive, tmp_path, capsys):
    assert (
        stream.main(
            [
                f"--input={archive}",
                f"--model_store={tmp_path / 'models'}",
                *places(tmp_path),
                *LEARN,
            ]
        )
        == 0
    )
    assert "labelled 2,000" in capsys.readouterr().err
    manifests = ModelStore(str(tmp_path / "models")).manifests("")
    # The version after minibatch 400 is published at the end of that window, and labels the
    # windows after it.
    found = {int(row["id"]): row["model_version"] for row in rows(tmp_path / "mixtures")}
    assert found == {day: manifests[max(day // 400 - 1, 0)].version for day in range(WINDOWS)}
