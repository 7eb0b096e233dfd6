"""Phrases: neighbouring words of a text that become one word.

A phrase is written with :data:`JOINER` between its words, ``new_york``, which no word of the
tokeniser has. A text is read from left to right. A word, or a phrase that was just made, and the
next word are joined if the result is a phrase:

>>> some = Phrases(["new_york", "new_york_times"])
>>> some.in_words(["new", "york", "times", "of", "new", "york"])
['new_york_times', 'of', 'new_york']

So the last part of a phrase is always a single word, and the part before it is a word or a phrase.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.words.word_list import WordList

JOINER = "_"

AnyBlock = TypeVar("AnyBlock", bound=Block)


class Phrases:
    """A set of phrases.

    Args:
        phrases: the phrases; what does not have the form of a phrase is left out.
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
        return self.in_block(Block.of_words([Document("", 0, "")], [words])).words_of(0)

    def in_block(self, block: AnyBlock) -> AnyBlock:
        """Return a block, or a minibatch, with phrases in the place of their words."""
        if not self._phrases or len(block.tokens) < 2:
            return block
        spans = list(self._spans(block))
        if not spans:
            return block
        numbers = {word: number for number, word in enumerate(block.words)}
        tokens, kept = block.tokens.copy(), np.ones(len(block.tokens), np.bool_)
        for begin, end, phrase in spans:
            tokens[begin] = numbers.setdefault(phrase, len(numbers))
            kept[begin + 1 : end] = False
        words = WordList.of(tuple(numbers))
        return replace(block, words=words, tokens=tokens).tokens_where(kept)

    def _spans(self, block: Block) -> Iterator[tuple[int, int, str]]:
        """Yield the tokens [begin, end) that become a phrase, and the phrase."""
        words, tokens, done = block.words[:], block.tokens, 0
        first, last = _among(words, self._first), _among(words, self._last)
        places = np.flatnonzero(first[tokens[:-1]] & last[tokens[1:]])
        ends = block.offsets[np.searchsorted(block.offsets, places, side="right")]
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
