"""Character n-grams over Unicode, counted once for each distinct word, with Witten-Bell smoothing.

The distribution after a context is mixed with that after the context without its first character,
down to the uniform distribution over all characters. So characters that were never seen have a
probability. With c(h, x) the number of times x followed the context h, N(h) the sum of that over x
and K(h) the number of different x,

    P(x | h) = (c(h, x) + K(h) P(x | h without its first character)) / (N(h) + K(h))

Words begin with marks, so first letters have statistics of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from model.records import FloatArray, LongArray

if TYPE_CHECKING:
    from model.words.kernels.ngram_trie import Trie

# Unicode's scalar values: all code points but the surrogates.
CHARACTERS = 0x110000 - 0x800

_START = "\n"
Codes = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class NgramModel:
    """An n-gram model; see the module's docstring. :meth:`fit` makes one.

    Attributes:
        runs: uint32[n, order + 1], the code points of the distinct runs of ``order`` + 1
            characters, in ascending order. Words are preceded by ``order`` newlines.
        counts: int64[n], how often each occurs.
        order: the number of characters of a context.
        characters: size of the alphabet.
    """

    runs: Codes
    counts: LongArray
    order: int
    characters: int = CHARACTERS

    @classmethod
    def fit(cls, words: Iterable[str], order: int, characters: int = CHARACTERS) -> NgramModel:
        """Fit a model to distinct words."""
        start, width = _START * order, order + 1
        found = Counter(
            marked[at : at + width]
            for marked in [start + word for word in words]
            for at in range(len(marked) - order)
        )
        runs = sorted(found)
        counts = np.array([found[run] for run in runs], np.int64)
        return cls(code_points(runs).reshape(-1, order + 1), counts, order, characters)

    @property
    def text(self) -> str:
        """All runs, one after the other."""
        return self.runs.tobytes().decode("utf-32-le", "surrogatepass")

    def probabilities(self, words: Sequence[str]) -> tuple[FloatArray, LongArray]:
        """Return the probability of each word among those of its length.

        Returns:
            float64 factors, and int64 exponents of 2 that belong to them.
        """
        # Imported here, so that a model can be read without kernels.
        from model.words.kernels.ngram_trie import word_probabilities

        text, lengths = code_points(words), np.fromiter(map(len, words), np.int64, len(words))
        products, exponents = np.empty(len(words)), np.empty(len(words), np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        word_probabilities(
            self._trie, text, offsets, self.order, ord(_START), self.characters, products, exponents
        )
        return products, exponents

    @cached_property
    def _trie(self) -> Trie:
        """The trie of runs of every length; each level has the suffixes of the one before."""
        from model.words.kernels.ngram_trie import Trie, hash_edges

        runs, counts = self.runs, self.counts
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
    """Return the code points of words, one after the other, uint32."""
    return np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)


def _distinct(runs: Codes) -> tuple[LongArray, LongArray]:
    """Find the distinct rows of an array.

    Returns:
        int64, the first index of each distinct row, in the order of their characters; int64, for
        each row which of these it is.
    """
    from model.words.kernels.ngram_trie import CODE_BITS

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
    """Assign numbers to the nodes of all runs and of their prefixes.

    Returns:
        For each level the nodes of the contexts and of the runs; (edges, the node that each leads
        to); the number of nodes.
    """
    from model.words.kernels.ngram_trie import CODE_BITS

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
