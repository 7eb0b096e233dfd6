"""G0: a distribution over all strings, the base distribution of topics over an infinite vocabulary.

A word of length L has the probability p(L) p(c_1) p(c_2 | c_1) ... p(c_L | the characters before
it), after Zhai and Boyd-Graber (2013):

* *characters*: smoothed n-grams over Unicode, see below;
* *lengths*: the lambda that minimises the squared difference between the words' frequencies and
  their probabilities under the model, with lambda >= 0 and sum 1, mixed with a geometric
  distribution of the words' mean length, so that every length has probability.

Every string but the empty one has a positive probability. The probabilities of all strings sum
to 1.

>>> letters = CharacterModel.fit(["sea", "seas", "seed"])
>>> letters.probabilities(["sees", "xyzq"]).argmax()
np.int64(0)

A probability is a scaled product, mantissa and exponent. It needs no logarithm, and even a word of
10,000 characters has one.

The n-grams are counted once for each distinct word, with Witten-Bell smoothing. The distribution
after a context is mixed with that after the context without its first character, down to the
uniform distribution over all characters. So unseen characters have a probability, too. With c(h,
x) the number of times x followed the context h, N(h) the sum of that over x and K(h) the number of
different x,

    P(x | h) = (c(h, x) + K(h) P(x | h without its first character)) / (N(h) + K(h))

Words begin with marks, so first letters have statistics of their own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import checks, wire

if TYPE_CHECKING:
    from beam_topics.model.words.kernels.ngram_trie import Trie

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
        from beam_topics.model.words.kernels.ngram_trie import word_probabilities

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
        from beam_topics.model.words.kernels.ngram_trie import build_trie

        # Counts that were read cannot be written, for which the kernel would be compiled again.
        trie: Trie = build_trie(self.runs, self.counts.copy(), self.characters)
        return trie


def code_points(words: Sequence[str]) -> Codes:
    """Return the code points of words, one after the other, uint32."""
    return np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32)


# The number of characters of a context.
ORDER = 3
# The weight of the geometric distribution of lengths.
GEOMETRIC = 0.1
# The smallest result of probabilities(). The probability of a long word may underflow; the product
# of two of these does not.
SMALLEST = 2.0**-500

# The longest context of stored models. Each n-gram has a node for each of its prefixes, so a longer
# context takes more memory than its text.
_MOST_ORDER = 8
_TINY = 2.0**-400


@dataclass(frozen=True, eq=False)
class CharacterModel:
    """A distribution over strings; see the module's docstring. :meth:`fit` makes one.

    Attributes:
        spelling: the n-gram model.
        lengths: float64; lengths[L] is the fitted share of words of length L. Longer words have
            only the geometric distribution.
        again: the geometric distribution's probability that a word continues.
    """

    spelling: NgramModel
    lengths: FloatArray
    again: float

    MAGIC = b"BTg1"

    @classmethod
    def fit(
        cls,
        words: Iterable[str] | Mapping[str, int],
        order: int = ORDER,
        characters: int = CHARACTERS,
    ) -> CharacterModel:
        """Fit a model to words.

        Args:
            words: the words; of a mapping, the values are how often each occurs. Only the
                distribution of lengths uses them.
            order: the number of characters of a context.
            characters: size of the alphabet.

        Raises:
            ValueError: there is no word, or one is empty, or one occurs less than once.
        """
        used = dict(words) if isinstance(words, Mapping) else dict.fromkeys(words, 1)
        spelled = sorted(used)
        if not spelled or not spelled[0] or min(used.values()) < 1:
            raise ValueError(
                "a character model needs words, none of them empty, each used at least once"
            )
        spelling = NgramModel.fit(spelled, order, characters)
        # Words of one character alone count as one character more, so that longer words have a
        # positive probability.
        again = 1.0 - len(spelled) / max(sum(map(len, spelled)), len(spelled) + 1)
        return cls(spelling, _fit_lengths(spelling, spelled, used), again)

    def probabilities(self, words: Iterable[str]) -> FloatArray:
        """Return the probability of each word, float64, at least :data:`SMALLEST`."""
        words = list(words)
        products, exponents = self.spelling.probabilities(words)
        of_length = {length: self.length_probability(length) for length in set(map(len, words))}
        shares = np.array([of_length[len(word)].mantissa for word in words], np.float64)
        shifts = np.array([of_length[len(word)].exponent for word in words], np.int64)
        found: FloatArray = np.maximum(_values(shares * products, exponents + shifts), SMALLEST)
        return found

    def length_probability(self, length: int) -> Scaled:
        """Return p(length).

        Raises:
            ValueError: the length is 0.
        """
        if length < 1:
            raise ValueError("the empty string is not a word")
        geometric = _scaled_power(self.again, length - 1)
        share = GEOMETRIC * (1.0 - self.again)
        fitted = float(self.lengths[length]) if length < len(self.lengths) else 0.0
        if fitted:
            return Scaled.of(
                (1.0 - GEOMETRIC) * fitted
                + math.ldexp(share * geometric.mantissa, geometric.exponent)
            )
        return Scaled.of(share * geometric.mantissa, geometric.exponent)

    def to_bytes(self) -> bytes:
        """Return the model's bytes; equal models have equal bytes."""
        spelling = self.spelling
        header = {"order": spelling.order, "characters": spelling.characters, "again": self.again}
        text = spelling.text.encode("utf-8", "surrogatepass")
        counts = wire.array_to_bytes(spelling.counts, "<i8")
        return wire.pack(self.MAGIC, header, text, counts, wire.array_to_bytes(self.lengths, "<f8"))

    @classmethod
    def from_bytes(cls, data: bytes) -> CharacterModel:
        """Decode the bytes of :meth:`to_bytes`.

        Raises:
            DamagedDataError: the bytes are not a character model.
        """
        header, (text, counts_blob, lengths_blob) = wire.unpack(cls.MAGIC, data, 3)
        order, most = checks.field(header, "order"), sys.maxunicode + 2
        order = checks.whole("order of a character model", order, 0, _MOST_ORDER + 1)
        characters = checks.field(header, "characters")
        characters = checks.whole("characters of a character model", characters, 1, most)
        again = checks.number("again of a character model", checks.field(header, "again"), 0.0, 1.0)
        try:
            spelled = text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            what = f"the n-grams of a character model are not UTF-8: {error}"
            raise DamagedDataError(what) from error
        counts = wire.array_from_bytes(counts_blob, "<i8")
        lengths = wire.array_from_bytes(lengths_blob, "<f8")
        width = order + 1
        checks.sized("characters of n-grams", spelled, len(counts) * width)
        checks.within("number of n-grams", np.array(len(counts)), 1, checks.LARGEST)
        runs = code_points([spelled]).reshape(-1, width)
        checks.rows_ascending("n-grams", runs)
        checks.within("counts of n-grams", counts, 1, checks.LARGEST // len(counts))
        checks.measures("shares of word lengths", lengths, 0.0, 1.0)
        return cls(NgramModel(runs, counts, order, characters), lengths, again)


@dataclass(frozen=True)
class StoredCharacters:
    """The bytes of a character model that is read, and checked, where it is first used.

    Attributes:
        data: what :meth:`CharacterModel.to_bytes` returned.
        name: the name of the file that holds it, for messages.
    """

    data: bytes
    name: str

    def read(self) -> CharacterModel:
        """Return the model.

        Raises:
            DamagedDataError: the bytes are not a character model.
        """
        try:
            return CharacterModel.from_bytes(self.data)
        except DamagedDataError as error:
            raise DamagedDataError(f"{self.name} is damaged: {error}") from error


def _scaled_power(base: float, exponent: int) -> Scaled:
    """Return base ** exponent, by squaring."""
    result, square = Scaled.of(1.0), Scaled.of(base)
    while exponent:
        if exponent & 1:
            result = result * square
        square, exponent = square * square, exponent >> 1
    return result


def _values(products: FloatArray, exponents: LongArray) -> FloatArray:
    """Return products * 2^exponents, 0 where that underflows. ldexp takes exponents of 32 bits."""
    found: FloatArray = np.ldexp(products, np.maximum(exponents, -3000).astype(np.int32))
    return found


def _fit_lengths(spelling: NgramModel, words: list[str], used: Mapping[str, int]) -> FloatArray:
    """Fit lambda of the module's docstring, float64[longest + 1].

    The quadratic programme is separable. With m(w) the probability of the spelling and f(w) the
    word's share of all uses, it is the sum over lengths of A lambda^2 - 2 B lambda, with A = sum
    m^2 and B = sum f m. So lambda = max(0, (B - mu) / A). The mu for which they sum to 1 is found
    by taking the lengths in descending order of B. Words whose m^2 underflows are left out. Where
    this leaves no word, lambda is the share of each length.
    """
    total = sum(used.values())
    products, exponents = spelling.probabilities(words)
    m = _values(products, exponents)
    lengths = np.array([len(word) for word in words])
    shares = np.array([used[word] for word in words]) / total
    length, m, share = (column[m > _TINY] for column in (lengths, m, shares))
    squares, shared = np.bincount(length, m * m), np.bincount(length, share * m)
    order = [int(at) for at in np.lexsort((np.arange(len(squares)), -shared)) if squares[at] > 0]
    inverse = weight = mu = 0.0
    for at in order:
        if inverse and shared[at] <= mu:
            break
        inverse += 1.0 / squares[at]
        weight += shared[at] / squares[at]
        mu = (weight - 1.0) / inverse
    fitted = np.zeros(len(squares))
    fitted[order] = np.maximum(0.0, (shared[order] - mu) / squares[order])
    whole = math.fsum(fitted)
    return fitted / whole if whole else np.bincount(lengths, shares).astype(np.float64)
