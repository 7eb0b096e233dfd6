import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.graphs import arenas

ROOT = Path(__file__).parents[3]
# Sixteen threads that hold memory at the same time; then glibc lists its arenas on standard error.
COUNT = """
import ctypes, os, sys, threading
from pipelines.graphs.arenas import limit_arenas
if sys.argv[1] == "limited":
    limit_arenas()
print(os.environ.get("MALLOC_ARENA_MAX"))
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(16)
def hold():
    together.wait()
    libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=hold) for _ in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
libc.malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
@pytest.mark.parametrize(
    ("how", "given", "most"), [("limited", None, 2), ("limited", "1", 1), ("unlimited", None, None)]
)
def test_the_arenas_of_a_process(how, given, most):
    env = {name: value for name, value in os.environ.items() if name != arenas.VARIABLE} | (
        {arenas.VARIABLE: given} if given else {}
    )
    done = subprocess.run(
        [sys.executable, "-c", COUNT, how],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    found = len(re.findall(r"^Arena \d+:", done.stderr, re.MULTILINE))
    assert found <= most if most else found > 2
    assert done.stdout.strip() == (given or ("2" if most else "None"))


def test_where_there_is_no_such_function_nothing_happens(monkeypatch):
    monkeypatch.delenv(arenas.VARIABLE, raising=False)
    monkeypatch.setattr(arenas.ctypes, "CDLL", lambda _: object())
    arenas.limit_arenas()
    assert os.environ.pop(arenas.VARIABLE) == "2"


def test_the_image_and_the_guide_say_the_same():
    setting = f"{arenas.VARIABLE}={arenas.ARENAS}"
    for name in ("docker/Dockerfile", "docs/running.md"):
        assert setting in (ROOT / name).read_text(encoding="utf-8"), name
