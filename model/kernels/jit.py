"""The numba decorators of this project, and the reason for each flag.

* ``nogil``: particles run in parallel threads, so kernels release the interpreter's lock.
  ``prange`` is not used: Beam's harness calls from many threads, and numba's workqueue layer then
  aborts the process.
* ``error_model="numpy"``: a division by zero gives inf. The other model adds a test and a branch to
  every division, which prevents vectorisation. Kernels never divide by zero: priors are positive.
* ``cache``: kernels are compiled once for a machine, not once for a process. Numba notices a change
  of a function's own file, but not of a file from which it inlines. A changed constant could leave
  old and new machine code working on one table. So compiled kernels are kept in a folder named
  after the content of every ``kernels`` folder below ``model``.
* no ``fastmath``: the compiler could reorder sums near weights and draws, and other machines would
  get other bits.
* no ``parallel``: see ``nogil``.
* ``_nrt=False``, for ``page_kernel`` and ``page_inlined``: references are not counted. Numba counts
  one, atomically, whenever an array gets another name (a row, an argument of an inlined function),
  and does not see across branches that the counts cancel. This took about half of a visit. Such a
  function may read and write arrays that its caller holds. It must not create or return any.
* ``forceinline``, for ``page_inlined``: LLVM inlines the function. A call passes each array as
  seven values, so the particles are about four hundred values on the stack. This took a third to a
  half of a visit where a page is one token. ``inline="always"`` inlines earlier, with numba's own
  variables. It once confused two places of one caller with ``_nrt=False``, so it is used only in
  kernels that count references.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.extending import intrinsic

from beam_topics.model.kernels.caches import cache_places


def cache_folder(root: Path) -> Path:
    """Return the folder for compiled kernels; its name is a digest of all kernels' sources.

    Args:
        root: the folder of the package ``model``.

    Returns:
        The first of :func:`beam_topics.model.kernels.caches.cache_places` in which it can be made.
    """
    every = sorted(root.rglob("*.py"))
    sources = [path for path in every if "kernels" in path.relative_to(root).parts]
    content = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    places = cache_places(root, numba.config.CACHE_DIR)
    for place in places:
        folder = place / f"kernels-{content[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        return folder
    return places[-1]


def remove_stale_caches() -> list[Path]:
    """Remove the folders of compiled kernels that other contents of the sources left.

    A process that still runs the older sources compiles what it misses again.

    Returns:
        The folders that were removed.
    """
    stale = [
        folder
        for place in cache_places(_ROOT, numba.config.CACHE_DIR)
        for folder in sorted(place.glob("kernels-*"))
        if str(folder) != FOLDER
    ]
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)
    return stale


_ROOT = Path(__file__).parent.parent
# Where compiled kernels are kept.
FOLDER = str(cache_folder(_ROOT))


def _compiled(**flags: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba.njit with the flags of all kernels, and a cache of our own.

    Numba reads the cache's folder when a function is decorated.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, FOLDER
        try:
            return numba.njit(nogil=True, error_model="numpy", cache=True, **flags)(function)
        finally:
            numba.config.CACHE_DIR = before

    return decorate


# A function that is called from Python, or large.
kernel: Any = _compiled()

# A small function within kernels; inlined by numba, because a call would pass each array as seven
# values.
inlined: Any = _compiled(inline="always")

# An inner loop over arrays that the caller holds.
page_kernel: Any = _compiled(_nrt=False)

# The same, within its caller.
page_inlined: Any = _compiled(_nrt=False, forceinline=True)


@intrinsic
def trailing_zeros(_, number):
    """Return how many of the lowest bits of a number, which is not 0, are 0."""

    def made(context, builder, signature, given):
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 1))

    return number(number), made
