"""Names of the engine's uniforms (:mod:`beam_topics.model.kernels.random` has the purposes).

The six numbers that name a uniform are

    (key, thing, epoch, purpose, index),    key from the seed, thing a document, word, or 0.

A thing is one 32-bit word of Philox' counter, an epoch forty bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# Words are fewer.
MOST = 2**31


class Draws(NamedTuple):
    """What all uniforms of an epoch for one purpose share.

    Attributes:
        key0: uint32, the first half of the stream key.
        key1: uint32, the other half.
        sequence: the number of the epoch.
        purpose: one of those of :mod:`beam_topics.model.kernels.random`.
    """

    key0: Any
    key1: Any
    sequence: int
    purpose: int
