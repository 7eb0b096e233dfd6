"""A store that names a function of Python: nothing is imported unless the command names it, too."""

import json
import pickle
import sys

import fake_learner
import pytest

from beam_topics import TopicModel
from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.words import functions
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.pipelines import evaluate, fit_classifier, infer, label, train
from beam_topics.transforms.read import ReadDocuments

FUNCTION = "strange_words:cut"
FLAG = f"--tokeniser={FUNCTION}"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The folder of a run whose model names a module that writes a file when it is imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(functions, "_ALLOWED", set())
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "strange_words.py").write_text(
        "from pathlib import Path\n"
        "from beam_topics.model.words.functions import declared\n"
        f"Path({str(tmp_path / 'imported')!r}).touch()\n"
        "@declared\ndef cut(text):\n    return text.split()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    rows = [
        {"id": str(n), "timestamp": n * 86_400, "text": f"ship harbour sail{n % 3}", "label": "a"}
        for n in range(12)
    ]
    (tmp_path / "posts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    more = [{**row, "id": f"m{n}", "timestamp": (20 + n) * 86_400} for n, row in enumerate(rows)]
    (tmp_path / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in more))
    argv = [
        "posts.jsonl",
        f"--learner={fake_learner.Fake.kind}",
        "--topics=2",
        "--window=1d",
        "--publish_every=4d",
    ]
    assert train.main([*argv, FLAG]) == 0
    forgotten(tmp_path)
    yield tmp_path
    sys.modules.pop("strange_words", None)


def forgotten(folder):
    (folder / "imported").unlink()
    del sys.modules["strange_words"]
    functions._ALLOWED.clear()


COMMANDS = [
    (label, ["posts.topics", "a ship"]),
    (infer, ["posts.topics", "posts.jsonl", "--output=out"]),
    (evaluate, ["posts.topics", "posts.jsonl", "--text_field=text"]),
    (fit_classifier, ["--model_store=posts.topics/models", "--input=posts.jsonl",
                      "--dead_letters=dead"]),
    (train, ["posts.topics", "more.jsonl", "--add_documents"]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "argv"), COMMANDS)
def test_a_command_imports_nothing_that_only_the_store_names(run, capsys, program, argv):
    capsys.readouterr()
    assert program.main(argv) == 2
    *_, told = capsys.readouterr().err.splitlines()
    assert f"'{FUNCTION}'" in told and "nothing was imported" in told
    assert f"run the same with {FLAG} " in told
    assert not (run / "imported").exists() and "strange_words" not in sys.modules
    # Another name allows nothing.
    assert program.main([*argv, "--tokeniser=json:loads"]) == 2
    assert not (run / "imported").exists()


@pytest.mark.parametrize(("program", "argv"), [*COMMANDS[:3], COMMANDS[4]])
def test_the_command_of_the_message_works(run, program, argv):
    assert program.main([*argv, FLAG]) == 0
    assert (run / "imported").exists()


def test_python_imports_nothing_that_it_does_not_name(run):
    store = run / "posts.topics" / "models"
    manifest = ModelStore(str(store)).manifest("")
    settings = pickle.loads(pickle.dumps(manifest.tokeniser))
    snapshot = ModelStore(str(store)).get_snapshot(manifest)
    for act in (
        lambda: Tokeniser(settings),
        lambda: Tokeniser(snapshot.tokeniser),
        lambda: ReadDocuments(["posts.jsonl"], ReadSettings(), settings),
        lambda: TopicModel.load(store).transform(["a ship"]),
        lambda: TopicModel.load(store).partial_fit(["a ship"]),
        lambda: TopicModel.load(store).fit(["a ship"]),
    ):
        with pytest.raises(OptionError, match=f"tokeniser='{FUNCTION}'"):
            act()
    assert not (run / "imported").exists()
    # The settings of a store are the same, whoever reads them.
    assert settings.to_json() == manifest.settings["tokeniser"]


def test_python_names_it(run):
    store = run / "posts.topics" / "models"
    assert TopicModel.load(store, tokeniser=FUNCTION).transform(["a ship"]).shape == (1, 2)
    # A worker has no command; what it gets is allowed already.
    sent = pickle.dumps(ModelStore(str(store)).manifest("").tokeniser)
    functions._ALLOWED.clear()
    assert Tokeniser(pickle.loads(sent)).words("a Ship") == ["ship"]
