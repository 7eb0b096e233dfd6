"""The learner of CONTRIBUTING.md is one file and one import line, with all that belongs to it.

That is its options, help, battery and pipeline.
"""

import importlib
import json
import re
from pathlib import Path

import pytest
from learner_battery import check_laws

from model.compositions import compose
from model.errors import MisplacedOptionError
from model.learners import LEARNER
from model.learners.base import LEARNERS
from model.publishing.store import ModelStore
from pipelines import train

CONTRIBUTING = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture
def forgetting(tmp_path, monkeypatch):
    """The example in a package of its own, known while the test runs."""
    (code,) = [
        block
        for block in re.findall(r"```python\n(.*?)```", CONTRIBUTING, re.DOTALL)
        if "@register(Forgetting)" in block
    ]
    package = tmp_path / "contributed"
    package.mkdir()
    (package / "forgetting.py").write_text(code, encoding="utf-8")
    (package / "__init__.py").write_text("from contributed import forgetting\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(LEARNERS, "_kinds", dict(LEARNERS._kinds))
    return importlib.import_module("contributed").forgetting


def test_a_learner_in_one_file_is_complete(forgetting, tmp_path, capsys):
    made = compose(LEARNER, {"learner": "forgetting", "topics": 3, "fading": 0.5})
    assert made == forgetting.Forgetting(topics=3, fading=0.5)
    check_laws(made)
    with pytest.raises(
        MisplacedOptionError, match="--moves=3 belongs to .*; --learner=forgetting is chosen"
    ):
        compose(LEARNER, {"learner": "forgetting", "moves": 3})
    with pytest.raises(SystemExit):
        train.main(["--learner=forgetting", "--help"])
    assert "--fading X" in capsys.readouterr().out
    check_pipeline(tmp_path)


def check_pipeline(tmp_path):
    rows = [
        {
            "id": str(n),
            "timestamp": n * 3600,
            "text": "ship harbour sail" if n % 2 else "court judge law",
        }
        for n in range(60)
    ]
    (tmp_path / "data.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    given = [
        f"--input={tmp_path}/data.jsonl",
        f"--model_store={tmp_path}/models",
        f"--dead_letters={tmp_path}/dead",
    ]
    learning = [
        "--window=12h",
        "--publish_every=24h",
        "--learner=forgetting",
        "--topics=2",
        "--fading=0.8",
    ]
    assert train.main([*given, *learning]) == 0
    newest = ModelStore(f"{tmp_path}/models").manifest("")
    assert newest.documents == 60 and newest.settings["learner"]["fading"] == 0.8
    assert train.main([*given, *learning[:-1], "--fading=0.7"]) == 2
