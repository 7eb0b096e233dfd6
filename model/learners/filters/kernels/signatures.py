"""MinHash signatures of documents, and a bounded memory of them (Broder 1997).

Hash function k gives each word a number. Entry k of a document's signature is the smallest number
of its words. Two documents agree in an entry with probability J, the Jaccard index of their sets of
words, so the share of equal entries estimates J. The entries are cut into bands. A document is
compared only with remembered documents that have all entries of some band in common with it.

The memory is a ring of the last N signatures, numbered in their order, and for each band a table
from the hash of its entries to the last number that was put there. A number that the ring has
replaced counts as absent. So the tables are a function of the ring.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.kernels.fnv import OFFSET, step
from beam_topics.model.kernels.jit import inlined, kernel

ENTRIES, BANDS = 64, 16
_ROWS = ENTRIES // BANDS
_NEWLINE = 10
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_LARGEST = np.uint32(0xFFFFFFFF)


class Memory(NamedTuple):
    """The signatures of the last documents.

    Attributes:
        ring: uint32[N, ENTRIES]; signature number s is in row s mod N.
        bands: int64[BANDS, power of 2], the last signature with a hash of a band; -1 for none.
        seen: int64[1], how many signatures there were.
    """

    ring: Any
    bands: Any
    seen: Any


def new_memory(remembered: int) -> Memory:
    """Return an empty memory for ``remembered`` signatures."""
    size = 1 << (2 * remembered - 1).bit_length()
    return Memory(
        np.zeros((remembered, ENTRIES), np.uint32),
        np.full((BANDS, size), -1),
        np.zeros(1, np.int64),
    )


@inlined
def _mix(x):
    """Return splitmix64's mixture of the bits of a number."""
    x = (x ^ (x >> _S30)) * _FIRST
    x = (x ^ (x >> _S27)) * _SECOND
    return x ^ (x >> _S31)


@kernel
def hash_words(text, count):
    """Return the FNV-1a hash of each word, uint64[count].

    Args:
        text: uint8, the words joined by newlines.
        count: number of words.
    """
    hashes, at = np.empty(count, np.uint64), 0
    for number in range(count):
        h = OFFSET
        while at < text.shape[0] and text[at] != _NEWLINE:
            h = step(h, text[at])
            at += 1
        hashes[number] = h
        at += 1
    return hashes


@kernel
def sign(hashes, tokens, offsets):
    """Return the signature of each document, uint32[D, ENTRIES].

    Args:
        hashes: uint64[W], the hash of each word.
        tokens: int32, the words of the documents, one document after the other.
        offsets: int64[D + 1], where each document begins.
    """
    signatures = np.full((offsets.shape[0] - 1, ENTRIES), _LARGEST)
    for d in range(offsets.shape[0] - 1):
        for i in range(offsets[d], offsets[d + 1]):
            h = hashes[tokens[i]]
            for k in range(ENTRIES):
                value = np.uint32(_mix(h + np.uint64(k) * _STEP) >> _S32)
                if value < signatures[d, k]:
                    signatures[d, k] = value
    return signatures


@inlined
def _bucket(signature, band, size):
    """Return where a band's table has the signatures that share this band."""
    h = OFFSET
    for k in range(band * _ROWS, (band + 1) * _ROWS):
        h = _mix(h + np.uint64(signature[k]))
    return np.int64(h & np.uint64(size - 1))


@inlined
def _remember(memory, signature):
    number = memory.seen[0]
    memory.ring[number % memory.ring.shape[0]] = signature
    for band in range(BANDS):
        memory.bands[band, _bucket(signature, band, memory.bands.shape[1])] = number
    memory.seen[0] += 1


@kernel
def is_copy(memory, signature, least):
    """Return whether a remembered signature has at least ``least`` entries in common."""
    for band in range(BANDS):
        number = memory.bands[band, _bucket(signature, band, memory.bands.shape[1])]
        if number < 0 or number < memory.seen[0] - memory.ring.shape[0]:
            continue
        same, other = 0, memory.ring[number % memory.ring.shape[0]]
        for k in range(ENTRIES):
            same += signature[k] == other[k]
        if same >= least:
            return True
    return False


@kernel
def find_copies(memory, signatures, comparable, least):
    """Return whether each document is a copy of an earlier one, and remember the others.

    Args:
        memory: the memory, which changes.
        signatures: uint32[D, ENTRIES], the documents in their order.
        comparable: bool[D]; other documents are neither compared nor remembered.
        least: the number of equal entries that makes a copy.

    Returns:
        bool[D].
    """
    copies = np.zeros(signatures.shape[0], np.bool_)
    for d in range(signatures.shape[0]):
        if comparable[d]:
            copies[d] = is_copy(memory, signatures[d], least)
            if not copies[d]:
                _remember(memory, signatures[d])
    return copies


@kernel
def restore(memory, signatures, count):
    """Remember saved signatures in their order, the last of which has the number ``count`` - 1.

    Args:
        memory: an empty memory.
        signatures: uint32[n, ENTRIES].
        count: how many signatures there were.
    """
    memory.seen[0] = count - signatures.shape[0]
    for row in range(signatures.shape[0]):
        _remember(memory, signatures[row])


def saved(memory: Memory) -> Any:
    """Return the signatures of a memory in their order, uint32[n, ENTRIES]."""
    count, most = int(memory.seen[0]), len(memory.ring)
    numbers = np.arange(max(0, count - most), count)
    return memory.ring[numbers % most]
