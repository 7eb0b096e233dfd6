"""The memory of a process: what malloc keeps, and when Python collects garbage.

glibc keeps freed memory in two ways, and both look like a leak
(``docs/results/soak.md`` and ``docs/results/headlines.md`` have the figures):

- Threads have arenas of their own, and freed memory stays in the arena that it came from. Beam's
  worker has dozens of threads, so the largest need of each thread adds up.
- When a large array is freed, glibc raises the size from which arrays have pages of their own.
  Later arrays lie between small objects, and leave holes that are not given back.

The local runner and Prism run their workers in the process that was started, where glibc has read
its variables already. ``mallopt`` does the same at run time. Processes that are started from here
inherit the variables.

Imports and the graph make about a million objects that stay to the end. Python's collector of
reference cycles walks them again and again, which takes .4 of the time of ``infer`` with a few
documents. So a program begins without collections. Before the job runs, what is there is set aside
(``gc.freeze``), and so is everything when a process ends that ran nothing but a program. A process
that calls a pipeline's ``main`` ends as it would have ended.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_WAITS: ContextVar[bool] = ContextVar("collections wait", default=False)


def end_uncollected() -> None:
    """Collect nothing when this process ends."""
    atexit.register(gc.freeze)


@contextmanager
def collected_later() -> Iterator[None]:
    """Collect nothing until :func:`collect_now`, or until the block ends.

    After the block the collector works as before, for programs that call a pipeline's ``main``.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    token = _WAITS.set(True)
    try:
        yield
    finally:
        _WAITS.reset(token)
        gc.unfreeze()
        gc.enable()


def collect_now() -> None:
    """Set aside what there is, and collect from now on; does nothing outside of such a block."""
    if _WAITS.get():
        gc.freeze()
        gc.enable()


# For each variable the number of its parameter in malloc.h, and what it is set to.
LIMITS = {
    "MALLOC_ARENA_MAX": (-8, 1),
    # Bytes from which an allocation has pages of its own, which are given back when it is freed.
    "MALLOC_MMAP_THRESHOLD_": (-3, 1 << 18),
    # Free bytes at the end of the heap above which they are given back.
    "MALLOC_TRIM_THRESHOLD_": (-1, 4 << 20),
}


def limit_malloc() -> None:
    """Limit what malloc keeps in this process and in its children.

    A variable that is set already stays as it is. Does nothing if the C library has no such
    parameters.
    """
    for variable, (parameter, value) in LIMITS.items():
        if variable not in os.environ:
            os.environ[variable] = str(value)
            # musl and macOS have no mallopt; on Windows there is no library of that name.
            with suppress(AttributeError, OSError, TypeError):
                ctypes.CDLL(None).mallopt(parameter, value)
