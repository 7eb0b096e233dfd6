import re
import subprocess
import sys
from pathlib import Path

import pytest

import pipelines
from pipelines.__main__ import COMMANDS, main, summary

FOLDER = Path(pipelines.__file__).parent


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"]])
def test_the_commands_are_listed_one_a_line(argv, capsys):
    assert main(argv) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in COMMANDS:
        (line,) = (line for line in lines if re.search(rf"pipelines\.{name} ", line))
        assert (
            line.endswith(summary(name))
            and summary(name).endswith(".")
            and len(summary(name)) <= 80
        )


def test_every_command_is_listed():
    made = {
        path.stem
        for path in FOLDER.glob("*.py")
        if re.search(
            r"^(main = command\(|ACTIONS = )", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert made == set(COMMANDS)


def test_a_command_that_is_given_as_an_argument_is_told_how_to_run(capsys):
    assert main(["trian"]) == 2
    said = (
        "python -m pipelines: 'trian' was given; a command is a module of this package. Run: python"
        " -m pipelines.train.\n"
    )
    assert capsys.readouterr().err == said
    assert main(["zzz"]) == 2
    assert capsys.readouterr().err.endswith("python -m pipelines lists the commands.\n")


def test_it_runs_and_says_nothing_else():
    found = subprocess.run(
        [sys.executable, "-m", "pipelines"],
        cwd=FOLDER.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stderr == "" and "pipelines.train" in found.stdout


def test_a_command_imports_beam_without_its_harmless_warnings():
    found = subprocess.run(
        [sys.executable, "-m", "pipelines.show", "--model_store=absent"],
        cwd=FOLDER.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.splitlines() == [
        "python -m pipelines.show: --model_store: 'absent' was given; allowed is a folder with a"
        " published model. Correct the path, or train a model first."
    ]
