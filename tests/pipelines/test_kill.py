"""A training process that is killed with SIGKILL and continued gives the undisturbed versions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from beam_topics.model.publishing.store import ModelStore

ROOT = Path(__file__).parent.parent.parent
WORDS = "ship sailed harbour sailor ocean wind judge court verdict lawyer witness trial".split()  # noqa: SIM905
FLAGS = [
    "--window=1d",
    "--publish_every=10d",
    "--minibatch_size=10",
    "--topics=4",
    "--checkpoint_tokens=2000",
]


def corpus(path):
    rows = []
    for number in range(2000):
        words = [
            WORDS[(number * step + step * step) % 6 + 6 * (number % 2)] for step in range(1, 21)
        ]
        rows.append({"id": str(number), "timestamp": number * 8640, "text": " ".join(words)})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def command(source, store, *flags):
    common = [f"--input={source}", f"--model_store={store}", f"--dead_letters={store}-dead"]
    return [sys.executable, "-m", "beam_topics.pipelines.train", *common, *FLAGS, *flags]


def kill_after_checkpoint(arguments, store):
    """Kill the process as soon as the store has a checkpoint but before the run has ended."""
    process = subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        while not list(store.glob("*/checkpoints/0*")):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.01)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -9


@pytest.mark.slow
def test_killed_and_resumed_equals_undisturbed(tmp_path):
    source = corpus(tmp_path / "corpus.jsonl")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(source, whole), cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    kill_after_checkpoint(command(source, killed), killed)
    expected = ModelStore(str(whole)).manifests("")
    checkpoints = ModelStore(str(killed)).checkpoints("")
    assert 0 < checkpoints[-1].sequence < expected[-1].sequence
    subprocess.run(
        command(source, killed, "--resume_from=latest"),
        cwd=ROOT,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    assert len(expected) > 10
    assert ModelStore(str(killed)).manifests("") == expected
