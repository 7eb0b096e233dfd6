"""The numba decorators of this project, and the reason for each flag.

* ``nogil``: particles run in parallel threads, which needs the interpreter's lock released. (``prange`` is not used: Beam's
  harness calls from many threads, which numba's workqueue layer answers by aborting the process.)
* ``error_model="numpy"``: a division by zero gives inf instead of a test and a branch at every division, which would
  keep loops from being vectorised. Kernels never divide by zero: priors are positive.
* ``cache``: compiled once for a machine, not once for a process.
* no ``fastmath``: it would let the compiler reorder sums near weights and draws, and other machines would come to other bits.
* no ``parallel``: see ``nogil``.
* ``_nrt=False``, for pages only: no references are counted. Numba counts one, atomically, whenever an array changes its name (a row
  taken, an inlined function's argument) and the branches between keep it from seeing that the counts cancel: that was about half of
  a visit. Such a function may look into arrays that its caller holds, and neither make nor return any.
"""

from __future__ import annotations

from typing import Any

import numba

# A function that is called from Python, or large.
kernel: Any = numba.njit(nogil=True, error_model="numpy", cache=True)

# A small function within kernels; inlined by numba, because a call would pass each array as seven values.
inlined: Any = numba.njit(inline="always", nogil=True, error_model="numpy", cache=True)

# An inner loop over arrays that the caller holds.
page_kernel: Any = numba.njit(nogil=True, error_model="numpy", cache=True, _nrt=False)
