r"""Words that were read, or numbered, kept as one text until one of them is asked for.

Inference and learners look words up in an index of this text, so they need no string for each word,
and a publisher needs those of the first words of topics alone. Cutting the text into strings and
measuring them takes half as long as the rest of reading a model. Blocks of documents are joined and
split without it.

Words may also be hashed to buckets (Weinberger et al. 2009), the same on every machine
(:func:`bucket`).

>>> words = WordList.from_bytes(b"sea\nship")
>>> len(words), words[1], words == ("sea", "ship")
(2, 'ship', True)
>>> words.taken(np.array([1, 0, 1])).distinct()
(('ship', 'sea'), array([0, 1, 0], dtype=int32))
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import overload

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import wire

_END = b"\n"
# Bytes after a text of words, so that kernels read and write eight at a time.
WINDOW_ROOM = 16


class WordList(Sequence[str]):
    """An immutable sequence of words; it equals the tuple of the same words.

    Attributes:
        text: uint8, the words in UTF-8, joined by newlines; read-only.
    """

    def __init__(self, text: npt.NDArray[np.uint8], count: int) -> None:
        self.text = text
        self._count = count
        text.flags.writeable = False

    @classmethod
    def of(cls, words: Sequence[str]) -> WordList:
        """Return words as a list; one that is a list already, itself.

        Raises:
            ValueError: A word is empty or contains a newline.
        """
        if isinstance(words, WordList):
            return words
        return cls(np.frombuffer(wire.words_to_bytes(words), np.uint8), len(words))

    @classmethod
    def joined(cls, lists: Sequence[WordList]) -> WordList:
        """Return the words of one list after the other."""
        text = _END.join(one.text.data for one in lists if len(one))
        return cls(np.frombuffer(text, np.uint8), sum(map(len, lists)))

    @classmethod
    def from_bytes(cls, data: bytes) -> WordList:
        """Return the words that :func:`beam_topics.model.stored.wire.words_to_bytes` wrote.

        Raises:
            DamagedDataError: The bytes are not UTF-8, or a word is empty.
        """
        text = np.frombuffer(data, np.uint8)
        ends = text == ord(_END)
        count = int(np.count_nonzero(ends)) + 1 if data else 0
        try:
            _ = data.isascii() or data.decode()
        except UnicodeDecodeError as error:
            raise DamagedDataError(f"{len(data)} bytes of words are not UTF-8: {error}") from error
        if data and (ends[0] or ends[-1] or np.any(ends[1:] & ends[:-1])):
            raise DamagedDataError(f"one of {count} stored words is empty")
        return cls(text, count)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return wire.words_from_bytes(self.text.tobytes())

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _begins(self) -> LongArray:
        """int64[len(self) + 1], where each word begins in the text, and one more would."""
        begins = np.zeros(self._count + 1, np.int64)
        if self._count:
            begins[1:-1] = np.flatnonzero(self.text == ord(_END)) + 1
            begins[-1] = len(self.text) + 1
        return begins

    @cached_property
    def _ended(self) -> npt.NDArray[np.uint8]:
        """The text with a newline after each word, and room."""
        ended = np.full(len(self.text) + WINDOW_ROOM, ord(_END), np.uint8)
        ended[: len(self.text)] = self.text
        return ended

    def taken(self, places: IntArray | LongArray) -> WordList:
        """Return the words at places, int[n], in their order."""
        count = len(places)
        if not np.array_equal(places, np.arange(count)):
            return words_at(self._ended, self._begins, places)
        # Archives are sorted already, so these are often the first words, or all.
        return self if count == len(self) else next(self.parts(np.array([0, count])))

    def distinct(self) -> tuple[WordList, IntArray]:
        """Return the distinct words in order of first use, and the number of each word, int32."""
        # Imported here and below, because a model can be shown without kernels.
        from beam_topics.model.words.kernels.word_index import distinct_words

        firsts, numbers = distinct_words(windows_of(self._ended), self._begins)
        return self if len(firsts) == len(self) else self.taken(firsts), numbers

    def parts(self, bounds: LongArray) -> Iterator[WordList]:
        """Yield the words between each two of ascending bounds."""
        begins = pairwise(self._begins[bounds].tolist())
        for count, (begin, after) in zip(np.diff(bounds).tolist(), begins, strict=True):
            yield WordList(self.text[begin : max(begin, after - 1)], count)

    def begins_with(self, words: Sequence[str]) -> bool:
        """Return whether these are the first words."""
        if not isinstance(words, WordList):
            return self[: len(words)] == words
        size = len(words.text)
        ends = not size or size == len(self.text) or self.text[size : size + 1].tobytes() == _END
        return ends and np.array_equal(self.text[:size], words.text)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice) or not 0 <= place < len(self) or "_words" in vars(self):
            return self._words[place]
        begin, after = self._begins[place : place + 2]
        return self.text[begin : after - 1].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def __eq__(self, other: object) -> bool:
        return self._words == (other._words if isinstance(other, WordList) else other)

    def __hash__(self) -> int:
        return hash(self._words)

    def __repr__(self) -> str:
        return repr(self._words)


def words_at(
    text: npt.NDArray[np.uint8], starts: LongArray, places: IntArray | LongArray
) -> WordList:
    """Return words of a text, in the order of their places.

    Args:
        text: uint8, words with a newline after each, and ``WINDOW_ROOM`` bytes of room.
        starts: int64, where each word begins in the text, and one more would.
        places: int[n], numbers of words.
    """
    from beam_topics.model.words.kernels.word_index import begins_of, take_words

    begins = begins_of(starts, places)
    made = np.empty(begins[-1] + WINDOW_ROOM, np.uint8)
    take_words(windows_of(text), starts, places, begins, windows_of(made))
    return WordList(made[: max(0, begins[-1] - 1)], len(places))


def windows_of(text: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return uint64, the eight bytes at each place of a text, without a copy."""
    return np.ndarray(len(text) - 7, "<u8", text, strides=(1,))


def bucket(word: str, buckets: int) -> int:
    """Return the bucket of a word, 0 to buckets - 1.

    >>> bucket("sea", 1000) == bucket("sea", 1000) < 1000
    True
    """
    return (
        int.from_bytes(
            hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
        )
        % buckets
    )


def first_uses(numbers: IntArray | LongArray) -> tuple[LongArray, IntArray]:
    """Find the distinct values of an array in order of first use.

    Args:
        numbers: int[N].

    Returns:
        int64[K], the index of the first use of each distinct value, ascending; int32[N], for each
        entry of ``numbers`` which of these values it is.
    """
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return first[order], rank[inverse]


def known_words(numbers: IntArray | LongArray) -> tuple[LongArray, IntArray]:
    """Drop unknown words, and merge words with one number.

    >>> rows, columns = known_words(np.array([7, -1, 3, 7]))
    >>> rows.tolist(), columns.tolist()
    ([7, 3], [0, -1, 1, 0])

    Args:
        numbers: int[N], the number of each word; -1 for an unknown word.

    Returns:
        int64[K], the distinct numbers in order of first use; int32[N], for each word its index in
        these, -1 for an unknown word.
    """
    known = numbers >= 0
    rows: LongArray = numbers[known].astype(np.int64)
    columns = np.full(len(numbers), -1, np.int32)
    first, columns[known] = first_uses(rows)
    return rows[first], columns
