"""Damaged artefacts, sealed again, in a process of their own; see ``artefact_fuzz.py``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
# Kernels may be compiled in the children.
pytestmark = pytest.mark.timeout(900)


def fuzzed(tmp_path, examples, *kinds):
    """What the child printed; it must end by itself."""
    environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS}"}
    command = [
        sys.executable,
        str(TESTS / "artefact_fuzz.py"),
        str(examples),
        str(tmp_path),
        *kinds,
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (
        f"status {done.returncode}, the artefact is"
        f" {tmp_path / 'last'}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    )
    return done.stdout


def test_a_few_of_each_kind(tmp_path):
    said = fuzzed(tmp_path, 12)
    assert said.count(" of 12 worked\n") == len(said.splitlines()) > 20


@pytest.mark.slow
def test_many_of_each_kind(tmp_path):
    fuzzed(tmp_path, 1500)
