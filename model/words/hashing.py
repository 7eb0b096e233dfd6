"""Hashing of words to buckets (Weinberger et al. 2009), the same on every machine."""

from __future__ import annotations

import hashlib


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
