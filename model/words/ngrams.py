"""Character n-grams over Unicode, counted once for each distinct word, with Witten-Bell smoothing.

The distribution after a context is mixed with that after the context without its first character,
down to the uniform distribution over all characters. So characters that were never seen have a
probability. With c(h, x) the number of times x followed the context h, N(h) the sum of that over x
and K(h) the number of different x,

    P(x | h) = (c(h, x) + K(h) P(x | h without its first character)) / (N(h) + K(h))

Words begin with marks, so first letters have statistics of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

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
        marked, width = [_START * order + word for word in words], order + 1
        lengths = np.fromiter(map(len, marked), np.int64, len(marked)) - order
        # A run begins at each place of a marked word but the last ``order`` ones.
        places = np.arange(lengths.sum()) + np.repeat(order * np.arange(len(lengths)), lengths)
        runs = code_points(marked)[places[:, None] + np.arange(width)]
        runs = runs[np.lexsort(runs.T[::-1])]
        # The first of equal runs, where there are any.
        first = np.append(True, (runs[1:] != runs[:-1]).any(axis=1))[: len(runs)].nonzero()[0]
        return cls(runs[first], np.diff(first, append=len(runs)), order, characters)

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
        """The trie of the runs, and of their last 1 to ``order`` characters."""
        from model.words.kernels.ngram_trie import build_trie

        # Counts that were read cannot be written, for which the kernel would be compiled anew.
        trie: Trie = build_trie(self.runs, self.counts.copy(), self.characters)
        return trie


def code_points(words: Sequence[str]) -> Codes:
    """Return the code points of words, one after the other, uint32."""
    return np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)
