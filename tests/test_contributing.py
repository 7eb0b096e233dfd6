"""The examples of CONTRIBUTING.md are complete, with one import line each.

All that the page names runs over them. Their folders join the packages of this project in child
processes.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from beam_topics.model.publishing.store import ModelStore

ROOT = Path(__file__).parent.parent
# Kernels may be compiled in the children.
pytestmark = pytest.mark.timeout(900)
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDER = ROOT / "tests" / "examples"
EXAMPLES = {str(path.relative_to(FOLDER)): path for path in sorted(FOLDER.rglob("*.py"))}
# What an import line in each package does.
PLUGIN = """
import importlib

for path in {paths}:
    module = "beam_topics." + path.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")
    folder = "{folder}/" + path.rpartition("/")[0]
    importlib.import_module(package).__path__.append(folder)
    importlib.import_module(f"{{package}}.{{name}}")
"""


@pytest.fixture(scope="module")
def contributed(tmp_path_factory):
    """The folder of a module that imports the examples."""
    folder = tmp_path_factory.mktemp("contributed")
    # What implements settings is imported where it is needed.
    left_out = ("tests/", *(path.replace(".py", "_") for path in EXAMPLES))
    modules = [path for path in EXAMPLES if not path.startswith(left_out)]
    plugin = PLUGIN.format(paths=modules, folder=FOLDER)
    (folder / "examples.py").write_text(plugin, encoding="utf-8")
    return folder


def child(folder, *command):
    """Run Python where the examples can be imported; its exit status and what it said."""
    path = os.pathsep.join(map(str, (ROOT, ROOT / "tests", folder)))
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    return done.returncode, done.stdout + done.stderr


def train(folder, *flags):
    imported = "import sys, examples; from beam_topics.pipelines import train"
    code = f"{imported}; sys.exit(train.main(sys.argv[1:]))"
    return child(folder, "-c", code, *flags)


def test_there_is_an_example_of_each_kind():
    assert sorted(EXAMPLES) == [
        "model/inference/votes.py",
        "model/inference/votes_inference.py",
        "model/learners/forgetting.py",
        "model/learners/forgetting_learner.py",
        "pipelines/graphs/sources/tail.py",
        "tests/transforms/sources/test_tail.py",
    ]
    assert [path for path in EXAMPLES if f"(tests/examples/{path})" not in PAGE] == []


@pytest.mark.parametrize("path", EXAMPLES)
def test_an_example_is_linted_and_formatted(path):
    """As in its place in the tree."""
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, f"--stdin-filename={path}", "-"],
            cwd=ROOT,
            input=EXAMPLES[path].read_text(encoding="utf-8"),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_batteries_run_over_the_examples(contributed):
    files = [
        "tests/model/learners/test_contract.py",
        "tests/model/learners/test_every_option.py",
        "tests/transforms/test_real_learners.py",
        "tests/model/inference/test_inference.py",
        EXAMPLES["tests/transforms/sources/test_tail.py"],
    ]
    options = ["-q", "-x", "-p", "examples", "-p", "no:cacheprovider", "--rootdir", ROOT]
    wanted = "forgetting or votes or test_tail"
    status, said = child(contributed, "-m", "pytest", *options, "-k", wanted, *files)
    assert status == 0, said
    assert int(re.search(r"(\d+) passed", said)[1]) > 30, said


def test_damaged_states_of_the_example_are_refused(contributed, tmp_path):
    code = "import sys, examples, artefact_fuzz; artefact_fuzz.main(*sys.argv[1:])"
    status, said = child(contributed, "-c", code, "150", tmp_path, "state: forgetting")
    assert status == 0 and " of 150 worked" in said, said


def rows(tmp_path):
    """A file of 60 documents of two topics, with one bad record."""
    texts = ("court judge law", "ship harbour sail")
    lines = [
        json.dumps({"id": str(n), "timestamp": n * 3600, "text": texts[n % 2]}) for n in range(60)
    ]
    file = tmp_path / "data.jsonl"
    file.write_text("\n".join([*lines, "no JSON", ""]), encoding="utf-8")
    return file


def test_a_learner_and_a_source_are_options_of_the_pipeline(contributed, tmp_path):
    store = [f"--model_store={tmp_path}/models", f"--dead_letters={tmp_path}/dead"]
    learner = ["--learner=forgetting", "--topics=2", "--fading=0.8", "--window=12h"]
    source = ["--source=tail", f"--tail_file={rows(tmp_path)}"]
    status, said = train(contributed, *store, *learner, *source)
    assert status == 2
    assert (
        "--until: 'forever' was given; allowed is end with --source=tail on the local runner"
        in said
    )
    status, said = train(contributed, *store, *learner, *source, "--until=end")
    assert status == 0, said
    newest = ModelStore(f"{tmp_path}/models").manifest("")
    assert newest.documents == 60 and newest.settings["learner"]["fading"] == 0.8
    (letter,) = [
        json.loads(line)
        for path in (tmp_path / "dead").iterdir()
        for line in path.read_text().splitlines()
    ]
    assert letter["reason"] == "not_json"


def test_the_examples_are_in_the_help_and_their_options_belong_to_them(contributed):
    code = """if True:
        import contextlib, examples
        from beam_topics.pipelines import infer, train

        for program, flag in (
            (train, "--learner=forgetting"),
            (train, "--source=tail"),
            (infer, "--method=votes"),
        ):
            with contextlib.suppress(SystemExit):
                program.main([flag, "--help"])
        given = ["--input=x", "--model_store=m", "--dead_letters=d"]
        train.main([*given, "--learner=forgetting", "--moves=3"])
    """
    status, said = child(contributed, "-c", code)
    assert status == 0, said
    for option in ("--fading X", "--tail_file X"):
        assert option in said
    assert "votes: each word" in said
    assert re.search(r"--moves=3 belongs to .*; --learner=forgetting is chosen", said)
