"""Uniforms as a pure function of where they are used: Philox4x32-10 (Salmon et al. 2011).

There is no generator and no state. Six numbers name a uniform:

    (stream key, particle, sequence, purpose, index)  ->  [0, 1), 53 bits

The stream key (two 32-bit words) comes from the seed and the model's key, see :func:`stream_key`.
``sequence`` is the number of the minibatch. ``purpose`` is one of the constants below. It separates
for example a token's draw in the first pass from its draw in a later move. ``index`` counts tokens
or moves. So results do not depend on threads, workers, bundles or retries.

One Philox block gives two uniforms: index k is half ``k & 1`` of block ``k >> 1``. The counter's
four words are (block's low 32 bits, particle, sequence's low 32 bits, purpose | block's next 8 bits
<< 8 | sequence's next 16 bits << 16).
"""

from __future__ import annotations

import hashlib

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel

FIRST_PASS = 1
MOVE = 2
RESAMPLE = 3
SCHEDULE = 4
RESERVOIR = 5
INFERENCE = 10
EVALUATION = 11
LOCAL = 20
FIRST_TOPICS = 21
# Of :mod:`beam_topics.model.learners.engine`, where the sequence is the number of an epoch. What
# the other name of a uniform is, comes after each.
# The topic of a token: its document, and its place there.
EPOCH_TOPIC = 32
# The tables of a word, and those at which these sit; its mass in G: the word.
TABLES, SHARED_TABLES, BASE = 33, 34, 35
# The concentrations a and a0.
STRENGTH, BASE_STRENGTH = 36, 37
# The order in which an archive is learned: the document.
ORDER = 38
# Which documents are visited, and which of all that came stay at hand: the document.
VISITED, KEPT = 39, 40
# Of topics that are born, where the sequence counts sweeps: the first topic of a token of a
# candidate and its later ones (the document's place among the candidate's), and the order in which
# documents of the past are compared (the document).
CANDIDATE_FIRST, CANDIDATE_TOPIC, COMPARED = 41, 42, 43

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_BITS = np.uint64(32)
_UNIT = 1.0 / 9007199254740992.0


def stream_key(seed: int, name: str) -> tuple[int, int]:
    """Return two 32-bit words for a seed and a name (a model's key, a document's id)."""
    data = hashlib.sha256(f"{seed}\0{name}".encode()).digest()
    return int.from_bytes(data[:4], "little"), int.from_bytes(data[4:8], "little")


@inlined
def philox(c0, c1, c2, c3, k0, k1):
    """Return ten rounds of Philox; six uint64 with 32-bit words in, four out."""
    for _ in range(10):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0, c1, c2, c3 = (p1 >> _BITS) ^ c1 ^ k0, p1 & _LOW, (p0 >> _BITS) ^ c3 ^ k1, p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@inlined
def pair(block, key0, key1, particle, sequence, purpose):
    """Return the two uniforms of a block."""
    b, s = np.uint64(block), np.uint64(sequence)
    high = (
        np.uint64(purpose)
        | ((b >> _BITS) & np.uint64(0xFF)) << np.uint64(8)
        | ((s >> _BITS) & np.uint64(0xFFFF)) << np.uint64(16)
    )
    x0, x1, x2, x3 = philox(
        b & _LOW, np.uint64(particle), s & _LOW, high, np.uint64(key0), np.uint64(key1)
    )
    first = np.float64(np.int64((x0 << _BITS | x1) >> np.uint64(11))) * _UNIT
    second = np.float64(np.int64((x2 << _BITS | x3) >> np.uint64(11))) * _UNIT
    return first, second


@kernel
def fill_uniforms(out, count, first, key0, key1, particle, sequence, purpose):
    """Set out[i] to the uniform of index ``first + i``, for i < count; out is float64[>= count]."""
    i = 0
    if first & 1 and count > 0:
        out[0] = pair(first >> 1, key0, key1, particle, sequence, purpose)[1]
        i = 1
    start = (first + i) >> 1
    whole = (count - i) >> 1
    for block in range(whole):
        out[i + 2 * block], out[i + 2 * block + 1] = pair(
            start + block, key0, key1, particle, sequence, purpose
        )
    if (count - i) & 1:
        out[count - 1] = pair(start + whole, key0, key1, particle, sequence, purpose)[0]


@kernel
def uniform(index, key0, key1, particle, sequence, purpose):
    """Return the uniform of an index."""
    first, second = pair(index >> 1, key0, key1, particle, sequence, purpose)
    return second if index & 1 else first
