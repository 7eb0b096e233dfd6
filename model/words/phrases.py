"""Phrases: neighbouring words of a text that become one word.

A phrase is written with :data:`JOINER` between its words, ``new_york``, which no word of the
tokeniser has. A text is read from left to right. A word, or a phrase that was just made, and the
word behind it are joined if the result is a phrase:

>>> some = Phrases(["new_york", "new_york_times"])
>>> some.in_words(["new", "york", "times", "of", "new", "york"])
['new_york_times', 'of', 'new_york']

So the last word of a phrase is always a single word, and what is before it is a word or a phrase.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.records import (
    IntArray,
    LongArray,
    Minibatch,
    TokenisedDocument,
    own_dictionary,
)

JOINER = "_"


class _Texts(NamedTuple):
    """Texts of one dictionary, as the arrays of :class:`~beam_topics.model.records.Minibatch`."""

    words: Sequence[str]
    tokens: IntArray
    offsets: LongArray


class Phrases:
    """A set of phrases.

    Args:
        phrases: the phrases; what is no phrase by its form is left out.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._phrases: set[str] = set()
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = {}
        for phrase in phrases:
            self.add(phrase)

    def __len__(self) -> int:
        return len(self._phrases)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._phrases))

    def __contains__(self, phrase: str) -> bool:
        return phrase in self._phrases

    def add(self, phrase: str) -> None:
        """Add a phrase."""
        first, _, last = phrase.rpartition(JOINER)
        if not first or not last or phrase in self._phrases:
            return
        self._phrases.add(phrase)
        self._first[first] = self._first.get(first, 0) + 1
        self._last[last] = self._last.get(last, 0) + 1

    def discard(self, phrase: str) -> None:
        """Remove a phrase."""
        self._phrases.discard(phrase)
        first, _, last = phrase.rpartition(JOINER)
        for uses, word in ((self._first, first), (self._last, last)):
            uses[word] -= 1
            if not uses[word]:
                del uses[word]

    def in_words(self, words: Sequence[str]) -> list[str]:
        """Return the words of a text, with phrases in the place of their words."""
        numbers: dict[str, int] = {}
        tokens = [numbers.setdefault(word, len(numbers)) for word in words]
        offsets = np.array([0, len(tokens)], np.int64)
        found = self._joined(_Texts(tuple(numbers), np.array(tokens, np.int32), offsets))
        return [found.words[token] for token in found.tokens.tolist()] if found else list(words)

    def in_document(self, document: TokenisedDocument) -> TokenisedDocument:
        """Return a document with phrases in the place of their words."""
        offsets = np.array([0, len(document.tokens)], np.int64)
        found = self._joined(_Texts(document.words, document.tokens, offsets))
        if found is None:
            return document
        return replace(document, words=tuple(found.words), tokens=found.tokens)

    def in_minibatch(self, minibatch: Minibatch) -> Minibatch:
        """Return a minibatch with phrases in the place of their words."""
        found = self._joined(_Texts(minibatch.words, minibatch.tokens, minibatch.offsets))
        if found is None:
            return minibatch
        words, tokens, offsets = found
        return replace(minibatch, words=tuple(words), tokens=tokens, offsets=offsets)

    def _joined(self, texts: _Texts) -> _Texts | None:
        """Return texts with phrases; None where they have none."""
        if not self._phrases or len(texts.tokens) < 2:
            return None
        spans = list(self._spans(texts))
        if not spans:
            return None
        numbers = {word: number for number, word in enumerate(texts.words)}
        tokens, kept = texts.tokens.copy(), np.ones(len(texts.tokens), np.bool_)
        for begin, end, phrase in spans:
            tokens[begin] = numbers.setdefault(phrase, len(numbers))
            kept[begin + 1 : end] = False
        words, (used, own) = tuple(numbers), own_dictionary(tokens[kept])
        before = np.concatenate([[0], np.cumsum(kept)])
        return _Texts([words[w] for w in used.tolist()], own, before[texts.offsets])

    def _spans(self, texts: _Texts) -> Iterator[tuple[int, int, str]]:
        """Yield the tokens [begin, end) that become a phrase, and the phrase."""
        words, tokens, done = texts.words, texts.tokens, 0
        first, last = _among(words, self._first), _among(words, self._last)
        places = np.flatnonzero(first[tokens[:-1]] & last[tokens[1:]])
        ends = texts.offsets[np.searchsorted(texts.offsets, places, side="right")]
        for begin, bound in zip(places.tolist(), ends.tolist(), strict=True):
            if begin < done:
                continue
            phrase, end = words[tokens[begin]], begin + 1
            while end < bound and (longer := f"{phrase}{JOINER}{words[tokens[end]]}") in self:
                phrase, end = longer, end + 1
            if end > begin + 1:
                done = end
                yield begin, end, phrase


def _among(words: Sequence[str], wanted: Collection[str]) -> npt.NDArray[np.bool_]:
    return np.fromiter((word in wanted for word in words), np.bool_, len(words))
