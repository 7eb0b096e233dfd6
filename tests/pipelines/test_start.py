"""What a program imports before it has anything to do.

Beam takes two seconds to import, and numba with the kernels another. No times are tested, because
they differ between machines.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from hostile import stored

from beam_topics.pipelines.__main__ import COMMANDS

ROOT = Path(__file__).parent.parent.parent
SLOW = ("apache_beam", "numba", "scipy", "pyarrow", "snowballstemmer", "stopwordsiso", "sklearn")
CHILD = """
import runpy, sys

sys.argv = sys.argv[1:]
try:
    runpy.run_module(sys.argv[0], run_name="__main__")
except SystemExit as stopped:
    assert not stopped.code, stopped.code
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def imported_by(*command):
    """The packages that a program has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *command], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_imports_no_slow_package(name):
    found = imported_by(f"beam_topics.pipelines.{name}", "--help")
    assert "argparse" in found
    assert not found & set(SLOW)


@pytest.mark.parametrize("name", ["train", "stream", "infer", "serve"])
def test_help_of_settings_alone_imports_neither_numpy_nor_readers_nor_the_terminal(name):
    # importlib.metadata imports the package email, and the tokeniser imports regex.
    needless = {"numpy", "fastavro", "regex", "rich", "email"}
    assert not imported_by(f"beam_topics.pipelines.{name}", "--help") & needless


@pytest.mark.parametrize("command", [["show"], ["versions", "list"], ["topics"]], ids=" ".join)
def test_what_reads_a_store_alone_needs_neither_beam_nor_numba(command, tmp_path):
    store, _ = stored(tmp_path)
    name, *action = command
    found = imported_by(f"beam_topics.pipelines.{name}", *action, f"--model_store={store.root}")
    assert "numpy" in found
    assert not found & {"apache_beam", "numba", "scipy", "pyarrow"}
