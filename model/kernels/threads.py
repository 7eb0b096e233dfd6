"""Threads for the work of one learner: kernels release the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache
from typing import TypeVar

T = TypeVar("T")


@cache
def pool_of(threads: int) -> Executor | None:
    """Return a pool of threads; None for one, because the caller's thread does all the work."""
    return ThreadPoolExecutor(threads, thread_name_prefix="learner") if threads > 1 else None


def each(pool: Executor | None, function: Callable[[int], T], count: int) -> list[T]:
    """Return function(0), ..., function(count - 1), from the threads of a pool if there is one.

    One call stays on this thread: to hand it over costs as much as thousands of draws.
    """
    return list((pool.map if pool and count > 1 else map)(function, range(count)))


def over_slices(count: int, threads: int, run: Callable[[int, int, int], object]) -> None:
    """Call run(first, last, thread) for equal slices of the work, one in each thread."""
    bounds = [count * thread // threads for thread in range(threads + 1)]
    each(pool_of(threads), lambda k: run(bounds[k], bounds[k + 1], k), threads)
