"""Documents in blocks, so that what their words take in all topics has bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from model.records import IntArray, LongArray

# Tokens x T of a block, unless a single document has more.
LARGEST = 1 << 22


class Block(NamedTuple):
    """Some documents.

    Attributes:
        words: int64[V], their distinct words.
        tokens: int32[N], the documents' tokens as places in ``words``.
        lengths: the tokens of each document.
    """

    words: LongArray
    tokens: IntArray
    lengths: list[int]


def in_blocks(documents: Sequence[IntArray], topics: int) -> Iterator[Block]:
    """Iterate over documents of word numbers in blocks, in their order."""
    some: list[IntArray] = []
    for document in documents:
        if some and (sum(map(len, some)) + len(document)) * topics > LARGEST:
            yield _block(some)
            some = []
        some.append(document)
    if some:
        yield _block(some)


def _block(documents: list[IntArray]) -> Block:
    words, tokens = np.unique(np.concatenate(documents), return_inverse=True)
    return Block(words.astype(np.int64), tokens.astype(np.int32), [len(one) for one in documents])
