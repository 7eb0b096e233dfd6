"""Documents without words: a run that learns none is no success, and says what to give."""

import json

import fake_learner
import pytest

from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import stream, train

FAKE = [f"--learner={fake_learner.Fake.kind}", "--topics=2", "--window=1d", "--publish_every=2d"]


def write(path, texts):
    rows = [{"id": str(n), "timestamp": n * 86_400, "text": text} for n, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def flags(folder, program=train):
    given = [f"--model_store={folder / 'models'}", f"--dead_letters={folder / 'dead'}", *FAKE]
    return given + [f"--output={folder / 'out'}"] * (program is stream)


@pytest.mark.parametrize(
    ("program", "text", "advice"),
    [
        (train, "we are here", "--stop_words=none"),
        (stream, "12 3450", "--word_forms=capitals,codes,digits,numbers,signs"),
    ],
)
def test_no_word_is_no_success(tmp_path, capsys, program, text, advice):
    source = write(tmp_path / "a.jsonl", [text] * 30)
    argv = [f"--input={source}", *flags(tmp_path, program)]
    assert program.main(argv) == 3
    told = capsys.readouterr().err.splitlines()
    assert "documents_without_words 30" in told[-3] and "lost_" not in told[-3]
    assert told[-1].startswith(
        f"python -m {program.__name__}: no word was learned, because none of 30 documents has one,"
        " and no version was made: 100 % of the words "
    )
    assert advice in told[-1]
    assert not ModelStore(str(tmp_path / "models")).has_versions("")
    # The advice is followed.
    assert program.main([*argv, advice]) == 0
    assert ModelStore(str(tmp_path / "models")).latest("").tokens > 0


def test_hardly_any_word_is_said(tmp_path, capsys):
    source = write(tmp_path / "a.jsonl", ["we are here"] * 19 + ["a ship"])
    assert train.main([f"--input={source}", *flags(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert "19 of 20 documents have no word: 100 % of the words are stop words (" in told
    assert ModelStore(str(tmp_path / "models")).latest("").tokens == 1


def test_documents_without_words_make_no_version(tmp_path):
    """A window is a minibatch, and a version is due after two."""
    source = write(tmp_path / "a.jsonl", ["a"] * 6 + ["ship"] + ["a"] * 6 + ["harbour"] + ["a"])
    assert train.main([f"--input={source}", *flags(tmp_path)]) == 0
    made = ModelStore(str(tmp_path / "models")).manifests("")
    assert [one.tokens for one in made] == [1, 2]
