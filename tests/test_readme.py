"""What the README and the guides tell people to type works."""

import importlib
import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import apache_beam as beam
import fake_learner
import pytest

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.pipelines import train
from beam_topics.pipelines.__main__ import COMMANDS as SUBCOMMANDS
from beam_topics.pipelines.cli.command import parse

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
ESTIMATOR, *BLOCKS = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text("utf-8"), re.DOTALL
)


def commands_of(text):
    """The commands of a page as (name, options), but for those with files in place of options.

    Dots stand for what the page does not repeat.
    """
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [
        shlex.split(line, comments=True)
        for block in blocks
        for line in block.replace("\\\n", " ").splitlines()
    ]
    commands = [
        (words[1], [word for word in words[2:] if word != "..."])
        for words in lines
        if words[:1] == ["beam-topics"]
    ]
    # The first argument of versions is what it does.
    commands = [(name, given[1:] if name == "versions" else given) for name, given in commands]
    return [
        (name, given)
        for name, given in commands
        if given and all(one.startswith("--") for one in given)
    ]


COMMANDS = commands_of((ROOT / "docs" / "steps.md").read_text("utf-8"))
# Their commands may leave out what other pages have said.
GUIDES = [
    command
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for command in commands_of(page.read_text())
]


def test_there_are_examples():
    assert len(BLOCKS) == 4
    assert len(COMMANDS) >= 6 and len(GUIDES) >= 40


@pytest.mark.parametrize(("name", "given"), COMMANDS)
def test_the_commands_have_options_that_exist(name, given):
    program = importlib.import_module(f"beam_topics.pipelines.{name}")
    assert parse(given, name, "", program.GROUPS, getattr(program, "REQUIRED", {}))


@pytest.mark.parametrize(("name", "given"), GUIDES, ids=str)
def test_the_commands_of_the_guides_have_options_that_exist_and_go_together(name, given):
    program = importlib.import_module(f"beam_topics.pipelines.{name}")
    assert parse(given, name, "", program.GROUPS, {})


def test_learning_without_beam(capsys):
    exec(compile(BLOCKS[0], "python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "harbour" in printed
    assert "court" in printed


def test_the_estimator_of_the_guide(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    exec(compile(ESTIMATOR, "python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "harbour" in printed and printed.endswith("True\n")


@pytest.fixture
def learned(tmp_path, monkeypatch):
    """The working directory, with a model store ``models``."""
    monkeypatch.chdir(tmp_path)
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps({"id": "a", "timestamp": 0, "text": "ship harbour"}) + "\n")
    flags = ["--model_store=models", "--dead_letters=dead", "--topics=2"]
    assert train.main([f"--input={corpus}", *flags, f"--learner={fake_learner.Fake.kind}"]) == 0
    return tmp_path


DOORS = re.findall(
    r"```(?:sh|python|yaml)\n(.*?)```", README.partition("## Five ways in")[2], re.DOTALL
)


def test_there_are_five_doors_of_at_most_five_lines():
    assert len(DOORS) == 5
    assert all(len(block.splitlines()) <= 5 for block in DOORS)


def test_the_estimator_of_the_readme(capsys):
    pytest.importorskip("sklearn")
    exec(compile(DOORS[1], "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "harbour" in printed and "court" in printed


@pytest.mark.usefixtures("learned")
def test_the_run_inference_of_the_readme():
    document = Block.of_words([Document("b", 0, "")], [["ship"]])

    def check(found):
        assert [(m.id, m.words_known) for m in map(TopicMixture.from_bytes, found)] == [("b", 1)]

    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        names = {"documents": pipeline | beam.Create([document.to_bytes()])}
        exec(compile(DOORS[3], "README.md", "exec"), names)
        names["mixtures"] | beam.combiners.ToList() | beam.Map(check)


def test_the_subcommands_of_the_guides_exist():
    pages = [README, *(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))]
    blocks = [block for page in pages for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL)]
    used = {name for block in blocks for name in re.findall(r"^beam-topics (\w+)", block, re.M)}
    assert {"train", "report", "label", "export"} <= used <= set(SUBCOMMANDS)


def test_labelling_in_a_pipeline_of_ones_own(learned):
    exec(compile(BLOCKS[1], "python.md", "exec"), {})
    (written,) = (learned / "mixtures").iterdir()
    assert json.loads(written.read_text())["words_known"] == 2
    (dead,) = (learned / "dead").iterdir()
    assert json.loads(dead.read_text())["source"] == "my queue"


@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize(
    ("block", "step"), [(BLOCKS[2], "pubsub_read"), (BLOCKS[3], "WriteToBigQ")]
)
def test_the_graphs_of_pubsub_and_bigquery_are_built(monkeypatch, block, step):
    pytest.importorskip("google.cloud.bigquery")
    built = []

    def only_build(pipeline, *_, **__):
        built.append(str(pipeline.to_runner_api()))
        return SimpleNamespace(wait_until_finish=lambda: None, state=None)

    monkeypatch.setattr(beam.Pipeline, "run", only_build)
    exec(compile(block, "python.md", "exec"), {})
    assert step in built[0]
