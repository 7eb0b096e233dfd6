"""Dictionaries of documents and minibatches: distinct words in order of first use."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]


def numbered_together(words: Iterable[str]) -> tuple[tuple[str, ...], IntArray]:
    """Return the distinct words in order of first use, and the number of each of the words."""
    words = list(words)
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    return tuple(numbers), np.fromiter(map(numbers.__getitem__, words), np.int32, len(words))


def own_dictionary(tokens: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct tokens in order of first use, and the tokens as indices into them."""
    used, first, inverse = np.unique(tokens, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return used[order], rank[inverse].astype(np.int32)
