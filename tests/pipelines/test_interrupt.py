"""Ctrl-C: one line, status 130, and the command in it goes on to the same versions."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import fake_learner
import pytest

from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import infer, monitor, serve, stream, train
from beam_topics.pipelines.__main__ import main
from beam_topics.transforms import read

ROOT = Path(__file__).parent.parent.parent
DAY = 86_400
WORDS = ["ship", "sailed", "harbour", "judge", "court", "verdict"]
FLAGS = ["--window=1d", "--publish_every=20d", "--learner=fake", "--topics=3"]


def rows(first, last, **others):
    return [
        {"id": str(day), "timestamp": day * DAY, "text": " ".join(WORDS[day % 5 :]), **others}
        for day in range(first, last)
    ]


def write(path, documents):
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    return path


def places(store):
    return [f"--model_store={store}", f"--dead_letters={store}-dead"]


def command_in(text, program="train"):
    """The arguments of the command that a message names."""
    (line,) = [line for line in text.splitlines() if "interrupted" in line]
    (found,) = re.findall(rf"To go on: python -m beam_topics.pipelines.{program} (.*)$", line)
    return shlex.split(found)


@pytest.fixture
def interrupting(monkeypatch):
    """Return a function after which the step of a minibatch is interrupted once."""

    def at(sequence):
        step = fake_learner.FakeLearner.step

        def interrupted(self, state, minibatch):
            if minibatch.sequence == sequence:
                monkeypatch.setattr(fake_learner.FakeLearner, "step", step)
                os.kill(os.getpid(), signal.SIGINT)
            return step(self, state, minibatch)

        monkeypatch.setattr(fake_learner.FakeLearner, "step", interrupted)

    return at


@pytest.mark.parametrize("islands", [1, 2])
def test_what_was_learned_is_kept_and_the_command_goes_on(tmp_path, capsys, interrupting, islands):
    given = [f"--input={write(tmp_path / 'a.jsonl', rows(0, 150))}", *FLAGS]
    given += [f"--islands={islands}", f"--particles={islands}"]
    whole, store = tmp_path / "whole", tmp_path / "models"
    assert train.main([*given, *places(whole)]) == 0
    capsys.readouterr()
    # A run has 64 minibatches.
    interrupting(70)
    assert train.main([*given, *places(store)]) == 130
    told = capsys.readouterr().err
    assert "Traceback" not in told
    kept = ModelStore(str(store)).checkpoints("")
    if islands == 1:
        assert f"What was learned is kept in {store} as a checkpoint." in told
        assert [entry.sequence for entry in kept] == [128]
    else:
        # The other island is behind, so no point is common to both.
        assert "learning begins again with the first document" in told
        assert kept == []
    assert train.main(command_in(told)) == 0
    assert ModelStore(str(store)).manifests("") == ModelStore(str(whole)).manifests("")


def test_a_stream_goes_on(tmp_path, capsys, interrupting):
    given = [f"--input={write(tmp_path / 'a.jsonl', rows(0, 80))}", *FLAGS]
    interrupting(5)
    argv = [*given, *places(tmp_path / "m"), f"--output={tmp_path / 'out'}"]
    assert stream.main(argv) == 130
    assert stream.main(command_in(capsys.readouterr().err, "stream")) == 0
    assert ModelStore(str(tmp_path / "m")).latest("").documents == 80


def test_an_addition_is_repeated_from_where_it_began(tmp_path, capsys, interrupting):
    first = write(tmp_path / "a.jsonl", rows(0, 30))
    more = write(tmp_path / "b.jsonl", rows(30, 130))
    found = []
    for name in ("whole", "models"):
        common = [*FLAGS, *places(tmp_path / name)]
        assert train.main([f"--input={first}", *common]) == 0
        if name == "models":
            interrupting(40)
            argv = ["--add_documents", f"--input={more}", "--checkpoint_tokens=20", *common]
            assert train.main(argv) == 130
            again = command_in(capsys.readouterr().err)
            assert again[-2:] == ["--add_documents", "--resume_from=30"]
            assert train.main(again) == 0
        else:
            more_flags = ["--add_documents", "--checkpoint_tokens=20"]
            assert train.main([f"--input={more}", *more_flags, *common]) == 0
        found.append(ModelStore(str(tmp_path / name)).manifests(""))
    assert found[0] == found[1]


def test_keys_of_which_some_learned_an_addition(tmp_path, capsys, interrupting):
    common = [*FLAGS, *places(tmp_path / "m"), "--key_field=key"]
    first = write(tmp_path / "a.jsonl", rows(0, 30, key="x"))
    assert train.main([f"--input={first}", *common]) == 0
    interrupting(40)
    more = write(tmp_path / "b.jsonl", rows(30, 60, key="x"))
    assert train.main([f"--input={more}", "--add_documents", *common]) == 130
    told = capsys.readouterr().err
    assert "Begin again with a copy of the store from before." in told and "To go on" not in told


@pytest.mark.parametrize("when", ["reading", "building"])
def test_before_anything_is_learned_the_command_begins_again(tmp_path, capsys, monkeypatch, when):
    def interrupt(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)

    if when == "reading":
        monkeypatch.setattr(read.Emit, "emit_all", interrupt)
    else:
        monkeypatch.setattr("beam_topics.pipelines.graphs.learning.read_source", interrupt)
    source = write(tmp_path / "two words.jsonl", rows(0, 30))
    argv = [f"--input={source}", *FLAGS, *places(tmp_path / "m")]
    assert train.main(argv) == 130
    told = capsys.readouterr().err
    assert "Traceback" not in told
    assert command_in(told) == argv
    monkeypatch.undo()
    assert train.main(command_in(told)) == 0


def test_a_program_that_learns_nothing_begins_again(tmp_path, capsys, monkeypatch):
    source = write(tmp_path / "a.jsonl", rows(0, 30))
    assert train.main([f"--input={source}", *FLAGS, *places(tmp_path / "m")]) == 0
    capsys.readouterr()

    def interrupt(*_, **__):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(read.Emit, "emit_all", interrupt)
    argv = [f"--input={source}", *places(tmp_path / "m"), f"--output={tmp_path / 'out'}"]
    assert infer.main(argv) == 130
    told = capsys.readouterr().err
    assert "interrupted. What was written stays." in told and "Traceback" not in told
    monkeypatch.undo()
    assert infer.main(command_in(told, "infer")) == 0


@pytest.mark.parametrize(
    ("program", "step", "said"),
    [(serve, "server_of", "The page has ended."), (monitor, "_wait", "The figures have ended.")],
)
def test_a_program_that_only_an_interrupt_ends_names_no_command(
    tmp_path, capsys, monkeypatch, program, step, said
):
    source = write(tmp_path / "a.jsonl", rows(0, 30))
    assert train.main([f"--input={source}", *FLAGS, *places(tmp_path / "m")]) == 0
    capsys.readouterr()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr(program, step, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    assert program.main([f"--model_store={tmp_path / 'm'}", f"--port={port}"]) == 130
    assert capsys.readouterr().err.endswith(f": interrupted. {said}\n")


def test_an_interrupt_while_a_program_is_imported(capsys, monkeypatch):
    def interrupt(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("beam_topics.pipelines.__main__.importlib.import_module", interrupt)
    assert main(["train", "x.csv"]) == 130
    assert capsys.readouterr().err == "beam-topics: interrupted.\n"


ENTRIES = (
    ["beam_topics", "train"], ["beam_topics.pipelines", "train"], ["beam_topics.pipelines.train"]
)  # fmt: skip


# One is imported by every program, the other one where a graph is made.
@pytest.mark.parametrize("module", ["difflib", "apache_beam"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_an_interrupt_during_any_import_is_one_line(tmp_path, entry, module):
    (tmp_path / f"{module}.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    )
    write(tmp_path / "a.jsonl", rows(0, 3))
    found = subprocess.run(
        [sys.executable, "-m", *entry, "a.jsonl"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    last = found.stderr.splitlines()[-1]
    assert found.returncode == 130 and "interrupted." in last
    assert "Traceback" not in found.stderr


def test_python_handles_interrupts_again_afterwards(tmp_path, interrupting):
    interrupting(5)
    source = write(tmp_path / "a.jsonl", rows(0, 30))
    assert train.main([f"--input={source}", *FLAGS, *places(tmp_path / "m")]) == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_signals_of_a_caller_are_its_own(tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        source = write(tmp_path / "a.jsonl", rows(0, 3))
        assert train.main([f"--input={source}", *FLAGS, *places(tmp_path / "m")]) == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


STUCK = """
import sys, threading
sys.path.insert(0, {tests!r})
import fake_learner
from beam_topics.pipelines import train
def step(self, state, minibatch):
    print("a step begins", flush=True)
    while True:
        # Comes back after the first signal, which waits for the step.
        if threading.Event().wait(1e-3) or train.INTERRUPTED():
            print("asked", flush=True)
            threading.Event().wait()
fake_learner.FakeLearner.step = step
from beam_topics.model.interrupts import INTERRUPTS
train.INTERRUPTED = lambda: INTERRUPTS.asked
train.main({argv!r})
"""


def test_a_second_one_ends_at_once(tmp_path):
    source = write(tmp_path / "a.jsonl", rows(0, 3))
    argv = [f"--input={source}", *FLAGS, *places(tmp_path / "m")]
    code = STUCK.format(tests=str(ROOT / "tests"), argv=argv)
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "a step begins\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        process.wait()
    # A shell shows a process that a signal ended as 128 and its number, which is 130.
    assert process.returncode == -signal.SIGINT


TWICE = """
import ctypes, sys
sys.path.insert(0, {tests!r})
import fake_learner
from beam_topics.pipelines import train
def step(self, state, minibatch):
    fake_learner.FakeLearner.step = learn
    # Python handles no signal between the two calls.
    sum(map(getattr(ctypes.PyDLL(None), "raise"), (2, 2)))
    return learn(self, state, minibatch)
fake_learner.FakeLearner.step, learn = step, fake_learner.FakeLearner.step
train.main({argv!r})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Python counts no signals elsewhere")
def test_a_second_one_before_python_sees_the_first_ends_at_once(tmp_path):
    source = write(tmp_path / "a.jsonl", rows(0, 3))
    argv = [f"--input={source}", *FLAGS, *places(tmp_path / "m")]
    code = TWICE.format(tests=str(ROOT / "tests"), argv=argv)
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == -signal.SIGINT and "interrupted" not in found.stderr
