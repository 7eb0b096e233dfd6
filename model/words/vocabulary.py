"""Numbers for words, in the order in which a stream first uses them.

A *given* vocabulary is closed: other words are unknown. A *growing* one takes every new word and
never has more than ``limit`` words. The least used words make room for new ones. The use of a word
is the number of its tokens, with exponential forgetting: each minibatch shrinks all uses by one
part in ``memory``. Only products are used, so the bits are the same everywhere.

The words are one text with a hash table (:class:`GrowingWords`). A Python list and dictionary take
about 140 bytes for a word of ten letters: its string, its number, and its places in both. Here it
takes about 40: its letters, their start, and 16 to 32 bytes of the table
(:mod:`beam_topics.model.words.kernels.word_index`). Strings are made on demand.

>>> words = GrowingWords(["sea", "ship"])
>>> words.add(["ship", "harbour"], 10).tolist(), words.view()
([1, 2], ('sea', 'ship', 'harbour'))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, IntArray, LongArray
from beam_topics.model.stored import wire
from beam_topics.model.words.kernels.word_index import add_words, build_index, find_words
from beam_topics.model.words.word_list import WINDOW_ROOM, WordList, words_at

_ROOM = 8


class GrowingWords:
    """Distinct words in the order in which they came; see the module's docstring."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._hold(np.zeros(0, np.uint8), 0)
        given = list(words)
        self.add(given, len(given))

    def _hold(self, text: npt.NDArray[np.uint8], count: int) -> None:
        """Hold these words; each of them ends with a newline."""
        self._text, self._used, self._count = text, len(text), count
        self._starts, self._slots = build_index(text, count, count)

    def __len__(self) -> int:
        return self._count

    def view(self) -> WordList:
        """Return the current words, without a copy of their text."""
        # What is appended later comes after these bytes.
        return WordList(self._text[: max(self._used - 1, 0)], self._count)

    def taken(self, numbers: IntArray) -> WordList:
        """Return some words by their numbers, int32[n]."""
        self._reserve(1, WINDOW_ROOM)
        self._starts[self._count] = self._used
        return words_at(self._text, self._starts, numbers)

    def since(self, first: int) -> tuple[str, ...]:
        """Return the words from number ``first`` on."""
        if first >= self._count:
            return ()
        text = self._text[self._starts[first] : self._used - 1]
        return wire.words_from_bytes(text.tobytes())

    def nbytes(self) -> int:
        """Return the bytes that the words need, whatever room there is for others."""
        table = _table_size(self._count) * self._slots.itemsize
        return self._used + self._count * self._starts.itemsize + table

    def find(self, words: Sequence[str]) -> LongArray:
        """Return the number of each word, int64; -1 for a word that is not in the list."""
        text = WordList.of(words).text
        found: LongArray = find_words(self._text, self._starts, self._slots, text, len(words))
        return found

    def add(self, words: Sequence[str], most: int) -> LongArray:
        """Append the words that the list does not have, and return the number of each word.

        Args:
            words: the words.
            most: the list gets no more words than this.

        Returns:
            int64; -1 for a word for which there is no room.

        Raises:
            ValueError: a word is empty or has a newline.
        """
        given = WordList.of(words)
        self._reserve(len(given), len(given.text) + 1)
        held = self._text, self._starts, self._slots, self._count, self._used
        found, self._count, self._used = add_words(*held, given.text, len(given), most)
        return found

    def _reserve(self, words: int, size: int) -> None:
        """Make room for more words, and for more bytes of text."""
        self._text = _with_room(self._text, self._used, size)
        self._starts = _with_room(self._starts, self._count, words)
        if len(self._slots) < _table_size(self._count + words):
            # Only the table is made for words to come, so it is at least half empty.
            _, self._slots = build_index(self._text[: self._used], self._count, self._count + words)

    def keep(self, staying: LongArray) -> None:
        """Keep only these words, and renumber them in their order.

        Args:
            staying: int64, the numbers of the words, ascending.
        """
        kept = np.zeros(self._count, np.bool_)
        kept[staying] = True
        sizes = np.diff(np.append(self._starts[: self._count], self._used))
        self._hold(self._text[: self._used][np.repeat(kept, sizes)], len(staying))


def _with_room(array: npt.NDArray[Any], used: int, more: int) -> npt.NDArray[Any]:
    """Return an array with the used entries and room for more."""
    if used + more <= len(array):
        return array
    made = np.empty(used + more + used // _ROOM, array.dtype)
    made[:used] = array[:used]
    return made


def _table_size(words: int) -> int:
    """Return the size of the table of ``words`` words, as :func:`build_index` makes it."""
    return max(8, 1 << (2 * words - 1).bit_length())


UNKNOWN = -1
# The share of the vocabulary that is free after words have left. Words then do not have to leave at
# every minibatch.
FREED = 0.1


class Vocabulary(GrowingWords):
    """A vocabulary; see the module's docstring.

    Attributes:
        use: float64, the use of each word. Words since the last minibatch have no entry yet.
        limit: the maximum number of words.
        memory: the number of minibatches over which use is remembered.
        always: how many of the first words never leave.
    """

    def __init__(self, words: Iterable[str], limit: int, memory: int = 1) -> None:
        super().__init__(words)
        self.limit, self.memory, self.always = limit, memory, 0
        self.use: FloatArray = np.zeros(len(self))

    @property
    def words(self) -> WordList:
        """The current words; words[i] is word number i."""
        return self.view()

    def numbers(self, words: Sequence[str]) -> IntArray:
        """Return the number of each word, and number the new words.

        Returns:
            int32; :data:`UNKNOWN` for words that are not in the vocabulary and for which there is
            no room.
        """
        return self.add(words, self.limit).astype(np.int32)

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
        found = self.find(words)
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
        """Keep only these words, and renumber them in their order."""
        super().keep(staying)
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
            self.add(new, len(self) + len(new))
        self.use = np.concatenate([self.use, np.zeros(len(self) - len(self.use))])
