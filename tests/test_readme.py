"""What the README tells people to type works."""

import importlib
import json
import re
import shlex
from pathlib import Path

import fake_learner
import pytest

from pipelines import train
from pipelines.command import parse

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    shlex.split(found, comments=True)
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    for found in block.replace("\\\n", " ").splitlines()
    if "python -m" in found
]


def test_there_are_examples():
    assert len(BLOCKS) == 2
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[2])
def test_the_commands_have_options_that_exist(words):
    program = importlib.import_module(words[2])
    assert parse(words[3:], words[2], "", program.GROUPS, getattr(program, "REQUIRED", {}))


def test_learning_without_beam(capsys):
    exec(compile(BLOCKS[0], "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "harbour" in printed
    assert "court" in printed


def test_labelling_in_a_pipeline_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"id": "a", "timestamp": 0, "text": "ship harbour"}) + "\n")
    flags = [f"--learner={fake_learner.FakeLearner.name}", "--topics=2"]
    assert train.main([f"--input={corpus}", "--model_store=models", "--dead_letters=dead", *flags]) == 0
    exec(compile(BLOCKS[1], "README.md", "exec"), {})
    (written,) = (tmp_path / "mixtures").iterdir()
    assert json.loads(written.read_text())["words_known"] == 2
    (dead,) = (tmp_path / "dead").iterdir()
    assert json.loads(dead.read_text())["source"] == "my queue"
