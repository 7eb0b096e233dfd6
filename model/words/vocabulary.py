"""Numbers for words, in the order in which a stream first uses them.

A *given* vocabulary is closed: other words are unknown. A *growing* one takes every new word and
never has more than ``limit`` words. The least used words make room for new ones. The use of a word
is the number of its tokens, with exponential forgetting: at each minibatch all uses shrink by one
part in ``memory``. Only products are used, so the bits are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np

from model.records import FloatArray, IntArray, LongArray
from model.word_list import WordList
from model.words.growing_words import GrowingWords

UNKNOWN = -1
# The share of the vocabulary that is free after words have left. Words then do not have to leave at
# every minibatch.
FREED = 0.1


class Vocabulary:
    """A vocabulary; see the module's docstring.

    Attributes:
        use: float64, the use of each word. Words since the last minibatch have no entry yet.
        limit: the maximum number of words.
        memory: the number of minibatches over which use is remembered.
        always: how many of the first words never leave.
    """

    def __init__(self, words: Iterable[str], limit: int, memory: int = 1) -> None:
        self._words = GrowingWords(words)
        self.limit, self.memory, self.always = limit, memory, 0
        self.use: FloatArray = np.zeros(len(self))

    def __len__(self) -> int:
        return len(self._words)

    @property
    def words(self) -> WordList:
        """The words of now; words[i] is word number i."""
        return self._words.view()

    def words_since(self, first: int) -> tuple[str, ...]:
        """Return the words from number ``first`` on."""
        return self._words.since(first)

    def nbytes(self) -> int:
        """Return the memory of the words."""
        return self._words.nbytes()

    def copied(self) -> Vocabulary:
        """Return a copy, which changes alone."""
        made = copy(self)
        made._words, made.use = self._words.copied(), self.use.copy()
        return made

    def numbers(self, words: Iterable[str]) -> IntArray:
        """Return the number of each word, and number the new words.

        Returns:
            int32; :data:`UNKNOWN` for words that are not in the vocabulary and for which there is
            no room.
        """
        return self._words.add(list(words), self.limit).astype(np.int32)

    def missing(self, words: Iterable[str]) -> list[str]:
        """Return the words that the vocabulary does not have."""
        words = list(words)
        return [words[place] for place in np.flatnonzero(self._words.find(words) < 0).tolist()]

    def staying(self, words: Sequence[str]) -> LongArray | None:
        """Choose the words that stay so that ``words`` find room.

        The least used words leave, of equally used ones the later. Words that are about to be used
        stay.

        Returns:
            int64, the numbers of the words that stay, ascending; None where no word has to leave.
        """
        have = len(self)
        if have + len(words) <= self.limit:
            return None
        found = self._words.find(words)
        known = found[found >= 0]
        new = len(words) - len(known)
        if have + new <= self.limit:
            return None
        staying_anyway = self.always + len(np.unique(known[known >= self.always]))
        room = max(staying_anyway, min(int((1.0 - FREED) * self.limit), self.limit - new))
        use = self.use[:have].copy()
        use[known] = np.inf
        use[: self.always] = np.inf
        staying: LongArray = np.sort(np.lexsort((np.arange(have), -use))[:room])
        return staying

    def keep_always(self, words: Sequence[str]) -> None:
        """Begin an open vocabulary with words that never leave; a given one has them already."""
        if not len(self):
            self.extend(words)
            self.always = len(self)

    def keep(self, staying: LongArray) -> None:
        """Keep only these words, and number them anew in their order."""
        self._words.keep(staying)
        self.use = self.use[staying]

    def used(self, numbers: IntArray, counts: LongArray) -> None:
        """Count the tokens of a minibatch.

        Args:
            numbers: int32[n], the numbers of distinct words; :data:`UNKNOWN` does not count.
            counts: int64[n], the tokens of each word.
        """
        if new := len(self) - len(self.use):
            self.use = np.concatenate([self.use, np.zeros(new)])
        self.use *= 1.0 - 1.0 / self.memory
        known = numbers != UNKNOWN
        self.use[numbers[known]] += counts[known]

    def extend(self, words: Iterable[str]) -> None:
        """Take words that are not here yet; their use is 0."""
        if new := list(words):
            self._words.add(new, len(self) + len(new))
        self.use = np.concatenate([self.use, np.zeros(len(self) - len(self.use))])
