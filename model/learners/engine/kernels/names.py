"""Purposes of the engine's uniforms (:mod:`beam_topics.model.kernels.random`).

The six numbers that name a uniform are

    (key, thing, epoch, purpose, index),    key from the seed, thing a document, word, or 0.

A thing is one 32-bit word of Philox' counter, an epoch forty bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# The topic of a token; the thing is its document, the index its place there.
TOPIC = 32
# The tables of a word; the thing is the word.
TABLES = 33
# The tables at which the tables of a word sit.
SHARED_TABLES = 34
# The mass of a word in G.
BASE = 35
# The concentrations a and a0.
STRENGTH, BASE_STRENGTH = 36, 37
# The order in which an archive is learned; the thing is the document.
ORDER = 38

# Words are fewer.
MOST = 2**31


class Draws(NamedTuple):
    """What all uniforms of an epoch for one purpose share.

    Attributes:
        key0: uint32, the first half of the stream key.
        key1: uint32, the other half.
        sequence: the number of the epoch.
        purpose: one of the constants above.
    """

    key0: Any
    key1: Any
    sequence: int
    purpose: int
