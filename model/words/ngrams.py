"""What words look like: n-grams over Unicode, counted once for each distinct word, smoothed after
Witten and Bell.

What follows a context is mixed with what follows the context that is one shorter, down to the
uniform distribution over all characters, which is the escape for characters that were never seen.
With c(h, x) how often x followed the context h, N(h) the sum of that over x and K(h) how many
different x there were,

    P(x | h) = (c(h, x) + K(h) P(x | h without its first character)) / (N(h) + K(h))

Words begin with marks, so the first letters have statistics of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from model.records import FloatArray, LongArray
from model.words.kernels.ngram_trie import CODE_BITS, Trie, hash_edges, word_probabilities

# Unicode's scalar values: all code points but the surrogates.
CHARACTERS = 0x110000 - 0x800

_START = "\n"
Codes = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class NgramModel:
    """See the module's docstring; made by :meth:`fit`.

    Attributes:
        ngrams: the distinct runs of ``order`` + 1 characters, sorted; words have ``order`` newlines
        before them. counts: int64, how often. order: of the characters before a character, how many
        count. characters: size of the alphabet.
    """

    ngrams: tuple[str, ...]
    counts: LongArray
    order: int
    characters: int = CHARACTERS

    @classmethod
    def fit(cls, words: Iterable[str], order: int, characters: int = CHARACTERS) -> NgramModel:
        """Of distinct words."""
        runs: Counter[str] = Counter()
        for word in words:
            marked = _START * order + word
            runs.update([marked[at : at + order + 1] for at in range(len(word))])
        ngrams = tuple(sorted(runs))
        return cls(ngrams, np.array([runs[run] for run in ngrams], np.int64), order, characters)

    def probabilities(self, words: Sequence[str]) -> tuple[FloatArray, LongArray]:
        """Of each word among those of its length: float64 factors and int64 exponents of 2,
        which belong to them.
        """
        text, lengths = code_points(words), np.fromiter(map(len, words), np.int64, len(words))
        products, exponents = np.empty(len(words)), np.empty(len(words), np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        word_probabilities(
            self._trie, text, offsets, self.order, ord(_START), self.characters, products, exponents
        )
        return products, exponents

    @cached_property
    def _trie(self) -> Trie:
        """Runs of every length, longest first, each level made of the ends of the one before."""
        runs, counts = code_points(self.ngrams).reshape(-1, self.order + 1), self.counts
        levels: list[tuple[Codes, LongArray, Any]] = [(runs, counts, None)]
        for _ in range(self.order):
            ends = runs[:, 1:]
            first, where = _distinct(ends)
            runs, counts = ends[first], np.bincount(where, counts).astype(np.int64)
            levels.append((runs, counts, where))
        contexts, nodes, edges, total = _number([runs for runs, _, _ in levels])
        seen, left = np.zeros(total), np.ones(total)
        shorter: Any = 1.0 / self.characters
        for (_, counts, where), context, node in zip(
            levels[::-1], contexts[::-1], nodes[::-1], strict=True
        ):
            kinds, tokens = (
                np.bincount(context, minlength=total),
                np.bincount(context, counts, minlength=total),
            )
            seen[node] = (counts + kinds[context] * shorter) / (kinds[context] + tokens[context])
            used = kinds > 0
            left[used] = kinds[used] / (kinds[used] + tokens[used])
            shorter = seen[node][where] if where is not None else None
        shift = 64 - int(2 * total).bit_length()
        table, leads = hash_edges(*edges, shift)
        return Trie(table, leads, shift, seen, left)


def code_points(words: Sequence[str]) -> Codes:
    """uint32: the code points of words, one after the other."""
    return np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)


def _distinct(runs: Codes) -> tuple[LongArray, LongArray]:
    """int64: where each distinct row is first, in the order of their characters; for each row,
    which of these it is.
    """
    which: Any = np.zeros(len(runs), np.int64)
    first: Any = np.zeros(min(1, len(runs)), np.int64)
    for column in runs.T:
        _, first, which = np.unique(
            which << CODE_BITS | column, return_index=True, return_inverse=True
        )
    return first, which


def _number(
    levels: Sequence[Codes],
) -> tuple[list[LongArray], list[LongArray], tuple[LongArray, npt.NDArray[np.int32]], int]:
    """Nodes for all runs and what they begin with: each level's contexts, each level's runs,
    (edges, where they lead), how many nodes.
    """
    contexts: list[LongArray] = [np.zeros(len(runs), np.int64) for runs in levels]
    nodes = list(contexts)
    edges: list[Any] = []
    total = 1
    for depth in range(levels[0].shape[1]):
        deep = [level for level, runs in enumerate(levels) if runs.shape[1] > depth]
        keys = np.concatenate(
            [nodes[level] << CODE_BITS | levels[level][:, depth] for level in deep]
        )
        found, which = np.unique(keys, return_inverse=True)
        parts = np.split(total + which, np.cumsum([len(levels[level]) for level in deep])[:-1])
        for level, part in zip(deep, parts, strict=True):
            contexts[level], nodes[level] = nodes[level], part
        edges.append(found)
        total += len(found)
    return contexts, nodes, (np.concatenate(edges), np.arange(1, total, dtype=np.int32)), total
