"""Words to numbers, in the order in which a stream first uses them.

A *given* vocabulary is closed: other words are unknown. A *growing* one takes every new word until it holds ``limit`` words; later
new words are unknown, so memory stays bounded. The prior's W is the limit, not the present size, so that no probability
changes because a word joins (DESIGN section 8, growing and flat).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from model.records import IntArray

UNKNOWN = -1


class Vocabulary:
    """See the module's docstring. ``words[i]`` is word number i."""

    def __init__(self, words: Iterable[str], limit: int) -> None:
        self.words = list(words)
        self.limit = limit
        self._numbers = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def numbers(self, words: Iterable[str]) -> IntArray:
        """int32: each word's number, :data:`UNKNOWN` for words that are not in it and cannot join."""
        numbers = self._numbers
        found = []
        for word in words:
            number = numbers.get(word, UNKNOWN)
            if number == UNKNOWN and len(self.words) < self.limit:
                number = numbers[word] = len(self.words)
                self.words.append(word)
            found.append(number)
        return np.array(found, np.int32)

    def extend(self, words: Iterable[str]) -> None:
        """Take the words of a saved vocabulary, those that are given with the settings left out."""
        for word in words:
            if word not in self._numbers:
                self._numbers[word] = len(self.words)
                self.words.append(word)
