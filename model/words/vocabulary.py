"""Numbers for words, in the order in which a stream first uses them.

A *given* vocabulary is closed: other words are unknown. A *growing* one takes every new word and
never has more than ``limit`` words. The least used words make room for new ones. The use of a word
is the number of its tokens, with exponential forgetting: at each minibatch all uses shrink by one
part in ``memory``. Only products are used, so the bits are the same everywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from copy import copy
from itertools import repeat

import numpy as np
import numpy.typing as npt

from model.records import FloatArray, IntArray, LongArray

UNKNOWN = -1
# The share of the vocabulary that is free after words have left. Words then do not have to leave at
# every minibatch.
FREED = 0.1


class Vocabulary:
    """A vocabulary; see the module's docstring.

    Attributes:
        words: words[i] is word number i.
        use: float64, the use of each word. Words since the last minibatch have no entry yet.
        limit: the maximum number of words.
        memory: the number of minibatches over which use is remembered.
        always: how many of the first words never leave.
    """

    def __init__(self, words: Iterable[str], limit: int, memory: int = 1) -> None:
        self.words = list(words)
        self.limit, self.memory, self.always = limit, memory, 0
        self.use: FloatArray = np.zeros(len(self.words))
        self._numbers = {word: number for number, word in enumerate(self.words)}
        self._sized, self._bytes = 0, 0

    def __len__(self) -> int:
        return len(self.words)

    def nbytes(self) -> int:
        """Return the memory of the words.

        The cost of a call is proportional to the number of words since the last call.
        """
        self._bytes += sum(map(sys.getsizeof, self.words[self._sized :]))
        self._sized = len(self.words)
        return self._bytes

    def copied(self) -> Vocabulary:
        """Return a copy; copies share the texts of the words."""
        made = copy(self)
        made.words, made.use, made._numbers = self.words[:], self.use.copy(), self._numbers.copy()
        return made

    def numbers(self, words: Iterable[str]) -> IntArray:
        """Return the number of each word, and number the new words.

        Returns:
            int32; :data:`UNKNOWN` for words that are not in the vocabulary and for which there is
            no room.
        """
        words = list(words)
        found = np.fromiter(map(self._numbers.get, words, repeat(UNKNOWN)), np.int32, len(words))
        for place in np.flatnonzero(found == UNKNOWN).tolist():
            # The word may also be new earlier in the list.
            number = self._numbers.get(words[place], UNKNOWN)
            if number == UNKNOWN and len(self.words) < self.limit:
                number = self._numbers[words[place]] = len(self.words)
                self.words.append(words[place])
            found[place] = number
        return found

    def missing(self, words: Iterable[str]) -> list[str]:
        """Return the words that the vocabulary does not have."""
        return [word for word in words if word not in self._numbers]

    def staying(self, words: Sequence[str]) -> LongArray | None:
        """Choose the words that stay so that ``words`` find room.

        The least used words leave, of equally used ones the later. Words that are about to be used
        stay.

        Returns:
            int64, the numbers of the words that stay, ascending; None where no word has to leave.
        """
        if len(self.words) + len(words) <= self.limit:
            return None
        known = [number for word in words if (number := self._numbers.get(word)) is not None]
        have, new = len(self.words), len(words) - len(known)
        if have + new <= self.limit:
            return None
        staying_anyway = len({*known, *range(self.always)})
        room = max(staying_anyway, min(int((1.0 - FREED) * self.limit), self.limit - new))
        use = self.use[:have].copy()
        use[known] = np.inf
        use[: self.always] = np.inf
        staying: LongArray = np.sort(np.lexsort((np.arange(have), -use))[:room])
        return staying

    def keep_always(self, words: Sequence[str]) -> None:
        """Begin an open vocabulary with words that never leave; a given one has them already."""
        if not self.words:
            self.extend(words)
            self.always = len(self.words)

    def keep(self, staying: npt.NDArray[np.int64]) -> None:
        """Keep only these words, and number them anew in their order."""
        self.words = [self.words[number] for number in staying.tolist()]
        self.use = self.use[staying]
        self._numbers = {word: number for number, word in enumerate(self.words)}
        self._sized, self._bytes = 0, 0

    def used(self, numbers: IntArray, counts: LongArray) -> None:
        """Count the tokens of a minibatch.

        Args:
            numbers: int32[n], the numbers of distinct words; :data:`UNKNOWN` does not count.
            counts: int64[n], the tokens of each word.
        """
        if new := len(self.words) - len(self.use):
            self.use = np.concatenate([self.use, np.zeros(new)])
        self.use *= 1.0 - 1.0 / self.memory
        known = numbers != UNKNOWN
        self.use[numbers[known]] += counts[known]

    def extend(self, words: Iterable[str]) -> None:
        """Take words that are not here yet; their use is 0."""
        for word in words:
            if word not in self._numbers:
                self._numbers[word] = len(self.words)
                self.words.append(word)
        self.use = np.concatenate([self.use, np.zeros(len(self.words) - len(self.use))])
