"""Equal slices of some work, one in each thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache


def over_slices(
    count: int, threads: int, run: Callable[[int, int, int], object], side_by_side: bool = True
) -> None:
    """Call run(first, last, thread) for equal slices of the work, one in each thread.

    Kernels release the interpreter's lock, so the slices run in parallel. With
    ``side_by_side=False`` they run one after another in the calling thread; this suits work that
    takes less time than a hand-over to another thread.
    """
    bounds = [count * thread // threads for thread in range(threads + 1)]
    if threads == 1 or not side_by_side:
        for thread in range(threads):
            run(bounds[thread], bounds[thread + 1], thread)
        return
    futures = [_pool(threads).submit(run, bounds[k], bounds[k + 1], k) for k in range(threads)]
    for future in futures:
        future.result()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="particles")
