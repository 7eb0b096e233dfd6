"""Give freed memory back to the system.

glibc gives back the end of a heap and arrays that have pages of their own. What is freed between
small objects stays: a bundle of many documents that waited leaves 20 to 30 MB in a worker
(``docs/results/headlines.md``).
"""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """Give back every free page; does nothing where the C library has no ``malloc_trim``.

    A call takes .1 to 4 milliseconds in a worker of 450 MB.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        # musl and macOS have no malloc_trim; on Windows there is no library of that name.
        return
