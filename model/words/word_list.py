r"""The words of a model that was read, kept as one text until one of them is asked for.

Inference looks words up in an index of this text, so it needs no string for each word, and a
publisher needs those of the first words of topics alone. To cut the text into strings, and to
measure them, takes as long as half of the rest of reading a model.

>>> words = WordList.from_bytes(b"sea\nship")
>>> len(words), words[1], words == ("sea", "ship")
(2, 'ship', True)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import wire

_END = b"\n"


def text_of(words: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return words in UTF-8, joined by newlines; of a :class:`WordList` without a copy.

    Raises:
        ValueError: A word is empty or contains a newline.
    """
    if isinstance(words, WordList):
        return words.text
    return np.frombuffer(wire.words_to_bytes(words), np.uint8)


class WordList(Sequence[str]):
    """An immutable sequence of words; it equals the tuple of the same words.

    Attributes:
        text: uint8, the words in UTF-8, joined by newlines.
    """

    def __init__(self, text: npt.NDArray[np.uint8], count: int) -> None:
        self.text = text
        self._count = count

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

    def uncut(self) -> WordList:
        """Return the same words as a list that has not cut its text yet."""
        return WordList(self.text, self._count)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return wire.words_from_bytes(self.text.tobytes())

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _ends(self) -> LongArray:
        """int64[len(self)], where each word ends in the text."""
        return np.append(np.flatnonzero(self.text == ord(_END)), len(self.text))

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
        begin = self._ends[place - 1] + 1 if place else 0
        return self.text[begin : self._ends[place]].tobytes().decode()

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
