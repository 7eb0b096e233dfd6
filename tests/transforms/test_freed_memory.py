"""Freed memory goes back to the system, now and then."""

import ctypes
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from beam_topics.transforms import publish
from beam_topics.transforms.publish import PublishDoFn, give_back

ROOT = Path(__file__).parents[2]
# Blocks of 100 kB, of which every second one stays; then the resident pages, before and after.
HOLES = """
import ctypes
from beam_topics.transforms.publish import give_back
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
large = []
for _ in range(600):
    large.append(libc.malloc(100_000))
    ctypes.memset(large[-1], 1, 100_000)
[libc.free(block) for block in large[::2]]
def pages():
    return int(open("/proc/self/statm").read().split()[1])
before = pages()
give_back()
print(before - pages())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has malloc_trim")
def test_holes_go_back_to_the_system():
    found = subprocess.run(
        [sys.executable, "-c", HOLES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    # Most of 300 blocks of 24 pages.
    assert int(found.stdout) > 5000


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_a_library_without_it_is_left_alone(monkeypatch, error):
    def missing(name):
        raise error

    monkeypatch.setattr(publish.ctypes, "CDLL", missing)
    assert give_back() is None
    assert ctypes.CDLL is missing


def test_a_publisher_gives_back_after_sixteen_versions(monkeypatch):
    calls, step = [], PublishDoFn(None, False)
    monkeypatch.setattr(publish, "give_back", lambda: calls.append(made))
    step._since = 0
    for made in (1, 14, 2, 15, 1, 40):
        step._give_back(made)
    assert calls == [2, 1, 40]
