"""The vocabularies of online LDA with a fixed vocabulary (Zhai and Boyd-Graber 2013, section 6).

They decide which words have a number, and which number it is. A hash cannot be inverted, but a
number can be named after the word that uses it most often. A majority vote in constant memory
(Boyer and Moore) finds that word: its votes grow with each use, and fall with each use of another
word with the same number.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from beam_topics.model.arrays import IntArray
from beam_topics.model.learners.variational.settings import DictHash, FullHash
from beam_topics.model.learners.vocabularies import VocabularySettings
from beam_topics.model.stored import checks
from beam_topics.model.words.known_words import bucket

_UNUSED = "#"


class FixedVocabulary:
    """A vocabulary; see the module's docstring.

    Attributes:
        words: the name of each number.
        buckets: the number of hash buckets for other words; 0: other words have no number.
        expected: W of the prior; 0 while it is not known.
        votes: int64, the votes of the names where they are found by vote, else empty.
    """

    def __init__(self, settings: VocabularySettings) -> None:
        # Imported here, because options are read without numba.
        from beam_topics.model.words.vocabulary import Vocabulary

        start = settings.words
        if isinstance(settings, FullHash):
            start = tuple(f"{_UNUSED}{number}" for number in range(settings.buckets))
        self.expected = settings.size
        self.buckets = len(start) if isinstance(settings, DictHash | FullHash) else 0
        self._names = list(start) if isinstance(settings, FullHash) else []
        self._vocabulary = Vocabulary(() if self._names else start, self.expected or sys.maxsize)
        self.votes = np.zeros(len(self._names), np.int64)

    @property
    def words(self) -> Sequence[str]:
        """The name of each number."""
        return self._names or self._vocabulary.words

    def nbytes(self) -> int:
        """Return the memory of the words."""
        if self._names:
            return sum(map(sys.getsizeof, self._names))
        return self._vocabulary.nbytes()

    def numbers(self, words: Sequence[str], uses: IntArray) -> IntArray:
        """Return the number of each word, int32; -1 where it has none.

        Args:
            words: distinct words.
            uses: int32, how often each occurs.
        """
        if self._names:
            found = np.array([bucket(word, self.buckets) for word in words], np.int32)
            self._vote(words, found, uses)
            return found
        found = self._vocabulary.numbers(words)
        if self.buckets:
            found = np.array(
                [bucket(words[i], self.buckets) if n < 0 else n for i, n in enumerate(found)],
                np.int32,
            )
        if not self.expected and len(words):
            self._close()
        return found

    def restore(self, words: Sequence[str], votes: np.ndarray) -> None:
        """Restore saved names.

        Raises:
            DamagedDataError: the settings do not allow them.
        """
        checks.sized("votes for words", votes, len(self.votes))
        checks.within("votes for words", votes, 0, checks.LARGEST)
        if self._names:
            checks.sized("words of a saved learner", words, len(self.words))
        else:
            checks.distinct("words of a saved learner", words)
            if len(self.words):
                checks.sized("words of a saved learner", words, len(self.words))
                checks.equal(
                    "words of a saved learner that are not in the settings",
                    set(words) - set(self.words),
                    set(),
                )
            elif self.expected:
                checks.whole("words of a saved learner", len(words), 0, self.expected + 1)
        if self._names:
            self._names, self.votes = list(words), votes.copy()
            return
        self._vocabulary.extend(words)
        if not self.expected and words:
            self._close()

    def _close(self) -> None:
        """Admit no more words."""
        self.expected = self._vocabulary.limit = len(self.words)

    def _vote(self, words: Sequence[str], numbers: IntArray, uses: IntArray) -> None:
        """Count the uses of words as votes for the names of their numbers."""
        names, votes = self._names, self.votes
        for word, number, used in zip(words, numbers.tolist(), uses.tolist(), strict=True):
            if names[number] == word:
                votes[number] += used
            elif used > votes[number]:
                names[number], votes[number] = word, used - votes[number]
            else:
                votes[number] -= used
