"""Words to a fixed number of buckets, the same on every machine and in every process (Weinberger
et al. 2009).
"""

from __future__ import annotations

import hashlib


def bucket(word: str, buckets: int) -> int:
    """Which of so many buckets a word falls into.

    >>> bucket("sea", 1000) == bucket("sea", 1000) < 1000
    True
    """
    return (
        int.from_bytes(
            hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
        )
        % buckets
    )
