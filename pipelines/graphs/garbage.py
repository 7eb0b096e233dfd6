"""Collect no garbage while a program starts and while it ends.

Imports and the graph make about a million objects that stay to the end. Python's collector of
reference cycles walks them again and again as they get more, and finds almost nothing. At the end
of the process it walks them once more, and takes each class and function apart, although the system
frees the memory of a process anyway. Together this took .4 of the time of ``infer`` with a few
documents.

So a program begins without collections. Before the job runs, what is there is set aside
(``gc.freeze``): the collector does not walk it, and collects what the job makes as usual. When a
process ends that ran nothing but a program, everything is set aside. Standard streams are flushed
and ``atexit`` functions run as before. A process that calls a pipeline's ``main`` ends as it would
have ended.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager
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
