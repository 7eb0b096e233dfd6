"""The numba decorators of this project, and the reason for each flag.

* ``nogil``: particles run in parallel threads, which needs the interpreter's lock released.
  (``prange`` is not used: Beam's harness calls from many threads, which numba's workqueue layer
  answers by aborting the process.)
* ``error_model="numpy"``: a division by zero gives inf instead of a test and a branch at every
  division, which would keep loops from being vectorised. Kernels never divide by zero: priors are
  positive.
* ``cache``: compiled once for a machine, not once for a process. Numba notices that a function's
  own file has changed, not one that it inlines from another: a changed constant once left old and
  new machine code working on one table. So what is compiled is kept in a folder named after the
  content of all kernels, those of every ``kernels`` folder below ``model``.
* no ``fastmath``: it would let the compiler reorder sums near weights and draws, and other machines
  would come to other bits.
* no ``parallel``: see ``nogil``.
* ``_nrt=False``, for pages only: no references are counted. Numba counts one, atomically, whenever
  an array changes its name (a row taken, an inlined function's argument) and the branches between
  keep it from seeing that the counts cancel: that was about half of a visit. Such a function may
  look into arrays that its caller holds, and neither make nor return any.
* ``forceinline``, for pages only: LLVM puts the function into its caller. A call passes each array
  as seven values, so a cloud of particles is some four hundred of them on the stack; that was a
  third to a half of a visit where a page is one token. (``inline="always"`` does it earlier, with
  numba's own variables; with those it once mixed up two places of one caller. It is left to what is
  called from kernels that count references.)
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


def cache_places(root: Path) -> list[Path]:
    """Return the folders that may hold compiled kernels, the preferred one first.

    Args:
        root: the folder of the package ``model``.

    Returns:
        Numba's own folder alone where one is set; else one beside the sources, then one in the
        user's cache, for sources that cannot be written.
    """
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR)]
    return [root / "kernels" / "__pycache__", Path.home() / ".cache" / "beam-topics"]


def cache_folder(root: Path) -> Path:
    """Return the folder that compiled kernels are kept in; its name is a digest of all kernels'
    sources.

    Args:
        root: the folder of the package ``model``.

    Returns:
        The first of :func:`cache_places` in which it can be made.
    """
    sources = sorted(root.rglob("kernels/*.py"))
    content = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    places = cache_places(root)
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
        for place in cache_places(_ROOT)
        for folder in sorted(place.glob("kernels-*"))
        if str(folder) != _FOLDER
    ]
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)
    return stale


_ROOT = Path(__file__).parent.parent
_FOLDER = str(cache_folder(_ROOT))


def _compiled(**flags: Any) -> Callable[[Callable[..., Any]], Any]:
    """numba.njit with the flags that all kernels have, and a cache of our own; numba reads its
    place when a function is decorated.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, _FOLDER
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
