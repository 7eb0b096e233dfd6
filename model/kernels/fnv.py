"""FNV-1a, a hash of a sequence of numbers (Fowler, Noll and Vo).

>>> int(step(OFFSET, ord("a")))
12638187200555641996
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined

# The hash of nothing.
OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME, _HALF, _LOW = np.uint64(0x100000001B3), np.uint64(32), np.uint64(0x7FFFFFFF)


@inlined
def step(h, number):
    """Return the hash, uint64, of what has hash ``h``, followed by a number."""
    return (h ^ np.uint64(number)) * _PRIME


@inlined
def folded(h):
    """Return 31 bits of a hash, int64: its low half mixed with its high half."""
    return np.int64((h ^ (h >> _HALF)) & _LOW)
