"""The distinct known words of a document or minibatch, in order of first use.

Words may be hashed to buckets (Weinberger et al. 2009), the same on every machine.
"""

from __future__ import annotations

import hashlib

import numpy as np

from beam_topics.model.arrays import IntArray, LongArray


def bucket(word: str, buckets: int) -> int:
    """Return the bucket of a word, 0 to buckets - 1.

    >>> bucket("sea", 1000) == bucket("sea", 1000) < 1000
    True
    """
    return (
        int.from_bytes(
            hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
        )
        % buckets
    )


def first_uses(numbers: IntArray | LongArray) -> tuple[LongArray, IntArray]:
    """Find the distinct values of an array in order of first use.

    Args:
        numbers: int[N].

    Returns:
        int64[K], the index of the first use of each distinct value, ascending; int32[N], for each
        entry of ``numbers`` which of these values it is.
    """
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return first[order], rank[inverse]


def known_words(numbers: IntArray | LongArray) -> tuple[LongArray, IntArray]:
    """Drop unknown words, and merge words with one number.

    >>> rows, columns = known_words(np.array([7, -1, 3, 7]))
    >>> rows.tolist(), columns.tolist()
    ([7, 3], [0, -1, 1, 0])

    Args:
        numbers: int[N], the number of each word; -1 for an unknown word.

    Returns:
        int64[K], the distinct numbers in order of first use; int32[N], for each word its index in
        these, -1 for an unknown word.
    """
    known = numbers >= 0
    rows: LongArray = numbers[known].astype(np.int64)
    columns = np.full(len(numbers), -1, np.int32)
    first, columns[known] = first_uses(rows)
    return rows[first], columns
