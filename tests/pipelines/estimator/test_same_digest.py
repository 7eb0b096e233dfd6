"""The estimator and the command line come to the same bits."""

import json

import pytest
from learner_options import REAL_LEARNERS
from reported import shares_of

pytest.importorskip("sklearn")

from beam_topics import ModelStore, TopicModel
from beam_topics.model.learner_log.local import END_OF_STREAM
from beam_topics.pipelines import infer, train
from beam_topics.transforms import shared

TEXTS = (
    "the ship sailed into the harbour",
    "a harbour full of ships",
    "the court heard the judge",
    "judges of the high court",
    "   ",
)
ROWS = [
    {
        "id": f"d{n}",
        "timestamp": 3600 * (n * 7 % 60),
        "text": TEXTS[n % 5] + f" word{n % 9}x" * (n % 5 < 4),
        "label": "sea" if n % 5 < 2 else None,
    }
    for n in range(90)
] + [{"id": "d0", "timestamp": 0, "text": "a second document of this id", "label": None}]
OPTIONS = {
    "topics": 3,
    "window": "12h",
    "publish_every": "1d",
    "minibatch_size": 7,
    "checkpoint_tokens": 60,
}
MORE = {"particle-filter": {"particles": 3, "initial_documents": 12, "chains": 2}}


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def command(program, tmp_path, path, *flags):
    assert (
        program.main(
            [
                f"--input={path}",
                f"--model_store={tmp_path / 'line'}",
                f"--dead_letters={tmp_path / 'dead'}",
                *flags,
            ]
        )
        == 0
    )


def given(rows):
    named = {"times": "timestamp", "ids": "id", "labels": "label"}
    return {name: [row[field] for row in rows] for name, field in named.items()}


def texts(rows):
    return [row["text"] for row in rows]


def files(folder):
    """The names of all files of a store; those of snapshots, checkpoints and versions are digests.

    A manifest names the release and the settings, and is compared whole.
    """
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def lines_of(folder):
    return [line for path in folder.iterdir() for line in path.read_text().splitlines()]


@pytest.mark.parametrize("learner", REAL_LEARNERS)
def test_every_file_of_the_store_is_the_same(learner, tmp_path):
    options = {**OPTIONS, **MORE.get(learner, {}), "learner": learner}
    flags = [f"--{name}={value}" for name, value in options.items()]
    command(train, tmp_path, written(tmp_path / "rows.jsonl", ROWS), *flags)
    model = TopicModel(**options, model_store=str(tmp_path / "python"))
    model.fit(texts(ROWS), **given(ROWS))
    assert files(tmp_path / "python") == files(tmp_path / "line")
    assert len(model.versions_) == len(ModelStore(str(tmp_path / "line")).manifests("")) > 1
    assert {letter.reason for letter in model.dead_letters_} == {"empty_text", "repeated_id"}
    assert len(model.dead_letters_) == len(lines_of(tmp_path / "dead"))


def test_islands_and_threads(tmp_path):
    own = {"learner": "particle-filter", "islands": 2, "particles": 4, "initial_documents": 12}
    options = {**OPTIONS, **own, "threads": 2}
    flags = [f"--{name}={value}" for name, value in options.items()]
    command(train, tmp_path, written(tmp_path / "rows.jsonl", ROWS), *flags)
    TopicModel(**options, model_store=str(tmp_path / "python")).fit(texts(ROWS), **given(ROWS))
    assert files(tmp_path / "python") == files(tmp_path / "line")


def test_partial_fit_is_add_documents(tmp_path):
    rows = sorted(ROWS, key=lambda row: row["timestamp"])
    first = [row for row in rows if row["timestamp"] < 30 * 3600]
    last = [row for row in rows if row["timestamp"] >= 36 * 3600]
    flags = [f"--{name}={value}" for name, value in OPTIONS.items()]
    command(train, tmp_path, written(tmp_path / "1.jsonl", first), *flags)
    command(train, tmp_path, written(tmp_path / "2.jsonl", last), *flags, "--add_documents")
    model = TopicModel(**OPTIONS, model_store=str(tmp_path / "python"))
    model.partial_fit(texts(first), **given(first))
    before = model.version_
    model.partial_fit(texts(last), **given(last))
    assert files(tmp_path / "python") == files(tmp_path / "line")
    assert before not in model.versions_ and model.versions_[-1] == model.version_


def test_mixtures_are_those_of_infer(tmp_path):
    flags = [f"--{name}={value}" for name, value in OPTIONS.items()]
    path = written(tmp_path / "rows.jsonl", ROWS)
    command(train, tmp_path, path, *flags)
    command(infer, tmp_path, path, f"--output={tmp_path / 'out'}", "--inference_seed=5")
    rows = [json.loads(line) for line in lines_of(tmp_path / "out")]
    model = TopicModel.load(tmp_path / "line").set_params(inference_seed=5)
    expected = {row["id"]: shares_of(row, model.topics_) for row in rows if row["id"] != "d0"}
    kept = [row for row in ROWS if row["id"] in expected]
    found = model.transform(texts(kept), ids=[row["id"] for row in kept])
    assert len(kept) > 50
    for row, mixture in zip(kept, found, strict=True):
        assert mixture == pytest.approx(expected[row["id"]], abs=1e-3)


def test_the_end_of_the_stream_is_beams():
    assert END_OF_STREAM == shared.END_OF_STREAM
