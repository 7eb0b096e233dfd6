import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import beam_topics
from beam_topics import pipelines
from beam_topics.pipelines.__main__ import COMMANDS, main, summary
from beam_topics.pipelines.cli.invocation import shown

FOLDER = Path(pipelines.__file__).parent


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"]])
def test_the_commands_are_listed_one_a_line(argv, capsys):
    assert main(argv) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in COMMANDS:
        (line,) = (line for line in lines if re.match(rf"  beam-topics {name} ", line))
        assert (
            line.endswith(summary(name))
            and summary(name).endswith(".")
            and len(summary(name)) <= 90
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


def test_an_unknown_command_is_refused_with_the_nearest(capsys):
    assert main(["trian"]) == 2
    assert capsys.readouterr().err == "beam-topics: 'trian' is no command. Did you mean train?\n"
    assert main(["zzz"]) == 2
    assert capsys.readouterr().err.endswith("beam-topics --help lists the commands.\n")


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"beam-topics {beam_topics.__version__}\n"


def test_a_subcommand_runs_under_its_name(capsys):
    assert main(["show", "--model_store=absent"]) == 2
    assert capsys.readouterr().err.startswith("beam-topics show: --model_store: 'absent' was given")
    assert main(["versions", "nothing"]) == 2
    assert capsys.readouterr().err.startswith("beam-topics versions: 'nothing' was given; ")
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    usage = (
        "usage: beam-topics train data.csv [options]\n       beam-topics train --model_store=..."
    )
    assert usage in capsys.readouterr().out
    assert shown("train") == "python -m beam_topics.pipelines.train"


@pytest.mark.parametrize("module", ["beam_topics.pipelines", "beam_topics"])
def test_it_runs_and_says_nothing_else(module):
    found = subprocess.run(
        [sys.executable, "-m", module],
        cwd=FOLDER.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stderr == "" and "beam-topics train" in found.stdout


def test_the_list_imports_next_to_nothing():
    listing = "from beam_topics.pipelines.__main__ import main; main(['--help'])"
    code = f"import sys; {listing}; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=FOLDER.parent, capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in found.stdout.splitlines()[-1].split()}
    assert not loaded & {"numpy", "rich", "apache_beam", "numba", "yaml"}


def test_a_command_imports_beam_without_its_harmless_warnings():
    found = subprocess.run(
        [sys.executable, "-m", "beam_topics.pipelines.show", "--model_store=absent"],
        cwd=FOLDER.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.splitlines() == [
        "python -m beam_topics.pipelines.show: --model_store: 'absent' was given; allowed is a"
        " folder with a published model. Correct the path, or train a model first."
    ]


@pytest.mark.parametrize("argv", [["train", "--help=all"], ["--help"], ["show", "--help"]])
def test_a_reader_that_goes_away_ends_a_program_quietly(argv):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "beam_topics.pipelines", *argv]
    found = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, cwd=FOLDER.parent)
    os.close(write)
    assert (found.returncode, found.stderr) == (141, b"")
