"""G0: a distribution over all strings, from which topics with an infinite vocabulary take their words.

A word of length L has probability p(L) x p(c_1) p(c_2 | c_1) ... p(c_L | the characters before it), after Zhai and Boyd-Graber (2013):

* *characters*: n-grams over Unicode, counted once for each distinct word, smoothed after Witten and Bell: what follows a context is
  mixed with what follows the context that is one shorter, down to the uniform distribution over all characters, which is the escape for
  characters that were never seen. Words begin with a mark, so the first letters have statistics of their own.
* *lengths*: the lambda that minimises the squared difference between the words' frequencies and their probabilities under the model,
  with lambda >= 0 and sum 1, mixed with a geometric law of the words' mean length, so that every length keeps mass.

Every string but the empty one has a positive probability, and all of them together have 1.

>>> letters = CharacterModel.fit(["sea", "seas", "seed"])
>>> letters.log_probability("sees") > letters.log_probability("xyzq")
True

A probability is a scaled product, mantissa and exponent, so it needs no logarithm and a word of 10,000 characters has one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model import wire
from model.errors import DamagedDataError
from model.records import FloatArray, LongArray
from model.scaled import Scaled

# Unicode's scalar values: all code points but the surrogates.
CHARACTERS = 0x110000 - 0x800
# Of the characters before a character, how many count.
ORDER = 3
# How much of the length law is geometric.
GEOMETRIC = 0.1
# Long words are below what a float can hold. probabilities() gives them this, so that even the product of two is not 0.
SMALLEST = 2.0**-500

_START = "\n"
_TINY = 2.0**-400


@dataclass(frozen=True, eq=False)
class CharacterModel:
    """See the module's docstring; made by :meth:`fit` or :meth:`from_bytes`.

    Attributes:
        ngrams: the distinct runs of ``order`` + 1 characters, sorted; words have ``order`` newlines before them. counts: int64, how often.
        lengths: float64, ``lengths[L]`` the fitted share of words of length L; longer ones have only the geometric law.
        again: the geometric law's probability that a word goes on. characters: size of the alphabet.
    """

    ngrams: tuple[str, ...]
    counts: LongArray
    lengths: FloatArray
    again: float
    order: int = ORDER
    characters: int = CHARACTERS

    MAGIC = b"BTg1"

    @classmethod
    def fit(cls, words: Iterable[str] | Mapping[str, int], order: int = ORDER, characters: int = CHARACTERS) -> CharacterModel:
        """A model of words; of a mapping, the values are how often each occurs, which only the length law uses.

        Raises:
            ValueError: there is no word, or one is empty, or one occurs less than once.
        """
        used = dict(words) if isinstance(words, Mapping) else dict.fromkeys(words, 1)
        spelled = sorted(used)
        if not spelled or not spelled[0] or min(used.values()) < 1:
            raise ValueError("a character model needs words, none of them empty, each used at least once")
        runs = Counter(run for word in spelled for run in _runs(word, order))
        ngrams = tuple(sorted(runs))
        counts = np.array([runs[run] for run in ngrams], np.int64)
        again = 1.0 - len(spelled) / sum(map(len, spelled))
        flat = cls(ngrams, counts, np.zeros(1), again, order, characters)
        return cls(ngrams, counts, _fit_lengths(flat, spelled, used), again, order, characters)

    def probability(self, word: str) -> Scaled:
        """G0(word), of any magnitude. Raises ValueError where the word is empty."""
        return self.length_probability(len(word)) * self.spelling(word)

    def log_probability(self, word: str) -> float:
        """ln G0(word)."""
        return self.probability(word).log()

    def probabilities(self, words: Iterable[str]) -> FloatArray:
        """float64: each word's probability, :data:`SMALLEST` at least."""
        found = []
        for word in words:
            length, (product, exponent) = self.length_probability(len(word)), self._spelled(word)
            found.append(max(math.ldexp(length.mantissa * product, length.exponent + exponent), SMALLEST))
        return np.array(found, np.float64)

    def length_probability(self, length: int) -> Scaled:
        """p(length). Raises ValueError where it is 0."""
        found = self._lengths.get(length)
        if found is None:
            found = self._lengths[length] = self._length_probability(length)
        return found

    def spelling(self, word: str) -> Scaled:
        """The probability of a word among those of its length."""
        return Scaled.of(*self._spelled(word))

    def to_bytes(self) -> bytes:
        """Equal models have equal bytes."""
        header = {"order": self.order, "characters": self.characters, "again": self.again}
        counts, lengths = wire.array_to_bytes(self.counts, "<i8"), wire.array_to_bytes(self.lengths, "<f8")
        return wire.pack(self.MAGIC, header, "".join(self.ngrams).encode("utf-8", "surrogatepass"), counts, lengths)

    @classmethod
    def from_bytes(cls, data: bytes) -> CharacterModel:
        """The inverse of :meth:`to_bytes`. Raises DamagedDataError."""
        header, blobs = wire.unpack(cls.MAGIC, data)
        try:
            text, counts, lengths = blobs
            spelled = text.decode("utf-8", "surrogatepass")
            width = int(header["order"]) + 1
            ngrams = tuple(spelled[at : at + width] for at in range(0, len(spelled), width))
            arrays = wire.array_from_bytes(counts, "<i8"), wire.array_from_bytes(lengths, "<f8")
            if len(ngrams) != len(arrays[0]) or len(spelled) % width:
                raise ValueError(f"{len(spelled)} characters of n-grams for {len(arrays[0])} counts")
            return cls(ngrams, *arrays, header["again"], header["order"], header["characters"])
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedDataError(f"a character model of {len(data)} bytes is not whole: {error}") from error

    def _length_probability(self, length: int) -> Scaled:
        if length < 1:
            raise ValueError("the empty string is not a word")
        geometric = _power(self.again, length - 1)
        share = GEOMETRIC * (1.0 - self.again)
        fitted = float(self.lengths[length]) if length < len(self.lengths) else 0.0
        if fitted:
            return Scaled.of((1.0 - GEOMETRIC) * fitted + math.ldexp(share * geometric.mantissa, geometric.exponent))
        return Scaled.of(share * geometric.mantissa, geometric.exponent)

    def _spelled(self, word: str) -> tuple[float, int]:
        """The product over the characters, and its exponent."""
        seen = self._tables[0]
        product, exponent = 1.0, 0
        for run in _runs(word, self.order):
            found = seen.get(run)
            product *= self._unseen(run) if found is None else found
            if product < _TINY:
                product, shift = math.frexp(product)
                exponent += shift
        return product, exponent

    def _unseen(self, run: str) -> float:
        """P(last character | those before it): of the longest end of the run that was seen, times what its longer ends leave to it."""
        seen, left = self._tables
        share = 1.0
        for start in range(len(run)):
            found = seen.get(run[start:])
            if found is not None:
                return share * found
            share *= left.get(run[start:-1], 1.0)
        return share / self.characters

    @cached_property
    def _lengths(self) -> dict[int, Scaled]:
        """p(length) of the lengths that were asked for; there are few."""
        return {}

    @cached_property
    def _tables(self) -> tuple[dict[str, float], dict[str, float]]:
        """P(c | h) of each n-gram hc that was seen, of every order, and what each context h leaves to shorter ones."""
        levels = [dict(zip(self.ngrams, self.counts.tolist(), strict=True))]
        for _ in range(self.order):
            shorter: Counter[str] = Counter()
            for run, count in levels[-1].items():
                shorter[run[1:]] += count
            levels.append(shorter)
        seen: dict[str, float] = {}
        left: dict[str, float] = {}
        for level in reversed(levels):
            total: Counter[str] = Counter()
            kinds: Counter[str] = Counter()
            for run, count in level.items():
                total[run[:-1]] += count
                kinds[run[:-1]] += 1
            for context, kind in kinds.items():
                left[context] = kind / (kind + total[context])
            for run, count in level.items():
                shorter_run = seen[run[1:]] if len(run) > 1 else 1.0 / self.characters
                context = run[:-1]
                seen[run] = (count + kinds[context] * shorter_run) / (kinds[context] + total[context])
        return seen, left


def _runs(word: str, order: int) -> Iterable[str]:
    """Each character with the ``order`` before it."""
    marked = _START * order + word
    return [marked[at : at + order + 1] for at in range(len(word))]


def _power(base: float, exponent: int) -> Scaled:
    """base ** exponent by squaring."""
    result, square = Scaled.of(1.0), Scaled.of(base)
    while exponent:
        if exponent & 1:
            result = result * square
        square, exponent = square * square, exponent >> 1
    return result


def _fit_lengths(letters: CharacterModel, words: list[str], used: Mapping[str, int]) -> FloatArray:
    """float64[longest + 1]: the lambda of the module's docstring.

    The programme is separable: with m(w) the spelling's probability and f(w) the word's share of all uses, it is the sum over lengths of
    A lambda^2 - 2 B lambda, A = sum m^2, B = sum f m. So lambda = max(0, (B - mu) / A), and mu, which makes their sum 1, is found by
    taking the lengths in descending order of B. Words too long for their m^2 to be a number do not take part.
    """
    total = sum(used.values())
    spelled = [letters.spelling(word) for word in words]
    parts = [(len(word), math.ldexp(m.mantissa, m.exponent), used[word] / total) for word, m in zip(words, spelled, strict=True)]
    length, m, share = (np.array(column) for column in zip(*(part for part in parts if part[1] > _TINY), strict=True))
    squares, products = np.bincount(length, m * m), np.bincount(length, share * m)
    order = [int(at) for at in np.lexsort((np.arange(len(squares)), -products)) if squares[at] > 0]
    inverse = weight = mu = 0.0
    for at in order:
        if inverse and products[at] <= mu:
            break
        inverse += 1.0 / squares[at]
        weight += products[at] / squares[at]
        mu = (weight - 1.0) / inverse
    fitted = np.zeros(len(squares))
    fitted[order] = np.maximum(0.0, (products[order] - mu) / squares[order])
    return fitted / math.fsum(fitted)
