"""Limit the number of malloc's arenas in a process that runs workers.

glibc gives threads arenas of their own, up to eight for each core. Freed memory stays in the arena
that it came from. Beam's worker has dozens of threads, so the largest need of each thread adds up:
over ten passes of an archive the memory of a worker grew by 8.5 %, although its live bytes did not.
With two arenas it does not grow (``docs/results/soak.md``).

The local runner and Prism run their workers in the process that was started. Setting
``MALLOC_ARENA_MAX`` there has no effect, because glibc reads it before ``main``. Starting the
process again would cost a second import of everything, and break programs that call a pipeline's
``main``. ``mallopt`` does the same at run time. Processes that are started from here inherit the
variable.
"""

from __future__ import annotations

import ctypes
import os

VARIABLE = "MALLOC_ARENA_MAX"
ARENAS = 2
# Of malloc.h.
_M_ARENA_MAX = -8


def limit_arenas() -> None:
    """Limit the arenas of this process and of its children.

    Does nothing if the variable is set already, or if the C library has no arenas.
    """
    if VARIABLE in os.environ:
        return
    os.environ[VARIABLE] = str(ARENAS)
    try:
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)
    except (AttributeError, OSError, TypeError):
        # musl and macOS have no mallopt; on Windows there is no library of that name.
        return
