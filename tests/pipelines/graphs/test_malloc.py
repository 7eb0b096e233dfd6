import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from beam_topics.pipelines.graphs import memory
from beam_topics.pipelines.graphs.memory import LIMITS

ROOT = Path(__file__).parents[3]
ON_GLIBC = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
ARENAS = "MALLOC_ARENA_MAX"
BEGIN = """
import ctypes, os, sys, threading
from beam_topics.pipelines.graphs.memory import limit_malloc
if sys.argv[1] == "limited":
    limit_malloc()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
"""
# Sixteen threads that hold memory at the same time; then glibc lists its arenas on standard error.
THREADS = """
print(os.environ.get("MALLOC_ARENA_MAX"))
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
# Twenty large blocks, each before a smaller one that stays, and that is too large for the gaps that
# imports have left. The first free raises the threshold.
HOLES = """
libc.free(libc.malloc(2 << 20))
large = []
for _ in range(20):
    large.append(libc.malloc(2 << 20))
    libc.malloc(100_000)
[libc.free(block) for block in large]
libc.malloc_stats()
"""


def run(program, how, **given):
    env = {name: value for name, value in os.environ.items() if name not in LIMITS} | given
    return subprocess.run(
        [sys.executable, "-c", BEGIN + program, how],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )


@ON_GLIBC
@pytest.mark.parametrize(
    ("how", "given", "most"), [("limited", None, 1), ("limited", "2", 2), ("unlimited", None, None)]
)
def test_the_arenas_of_a_process(how, given, most):
    done = run(THREADS, how, **({ARENAS: given} if given else {}))
    found = len(re.findall(r"^Arena \d+:", done.stderr, re.MULTILINE))
    assert found <= most if most else found > 2
    assert done.stdout.strip() == (given or ("1" if most else "None"))


@ON_GLIBC
@pytest.mark.parametrize(("how", "holes"), [("limited", False), ("unlimited", True)])
def test_large_blocks_leave_no_holes_between_small_ones(how, holes):
    heap = re.search(r"Arena 0:\nsystem bytes +=\s+(\d+)", run(HOLES, how).stderr)
    assert (int(heap.group(1)) > 20 * (2 << 20)) == holes


def test_where_there_is_no_such_function_nothing_happens(monkeypatch):
    for variable in LIMITS:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: object())
    memory.limit_malloc()
    assert {name: os.environ.pop(name) for name in LIMITS} == {
        name: str(value) for name, (_, value) in LIMITS.items()
    }


@pytest.mark.parametrize("name", ["docker/Dockerfile", "docs/running.md"])
def test_the_image_and_the_guide_say_the_same(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for variable, (_, value) in LIMITS.items():
        assert f"{variable}={value}" in text, variable
