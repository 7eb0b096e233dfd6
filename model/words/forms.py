"""The words of many texts as numbers, by the forms in which words stand in texts.

A form is a run of word characters in a lower-case text. Few forms are distinct, so the fate of a
form is decided once, and a kernel looks it up afterwards
(:mod:`beam_topics.model.words.kernels.form_table`). The table has one row for each hash: a form
that finds another one in its row replaces it. So the memory is bounded, and a lookup is exact,
because a row holds the whole form. Forms of more than 16 bytes are decided each time.

>>> numbers = FormNumbers(lambda forms: [form.strip("s").replace("the", "") for form in forms])
>>> words, tokens, offsets = numbers.of_texts(["the hulls", "", "hull, the rigs"])
>>> words, tokens.tolist(), offsets.tolist()
(('hull', 'rig'), [0, 0, 1], [0, 1, 1, 3])
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.words.kernels.form_table import (
    DROPPED,
    ROOM,
    find_unclean,
    join_signs,
    look_up,
    plain_forms,
    scratch_for,
    settle,
)
from beam_topics.model.words.vocabulary import GrowingWords
from beam_topics.model.words.word_list import WordList, windows_of

_ROW_BITS = 18
_MOST_WORDS = 200_000


class FormNumbers:
    """Numbers of words, as they come; a thread needs one of its own.

    Args:
        words_of: What becomes of forms: for each a word, or ``""`` where it is dropped.
        stop_words: The words that are dropped among *plain* forms. These are letters of ASCII in
            lower case, and else words as they are.
        least: The fewest letters of a plain form.
        most: The most letters of a plain form. Without it no form is plain.
    """

    def __init__(
        self,
        words_of: Callable[[list[str]], list[str]],
        stop_words: Iterable[str] = (),
        least: int = 1,
        most: int = 0,
    ) -> None:
        self._words_of, self._lengths = words_of, (least, most)
        self._stop_words = list(filter(str.isalpha, stop_words))
        self._clear()

    def _clear(self) -> None:
        # The first words are dropped.
        self._words = GrowingWords(self._stop_words)
        self._places = np.zeros(1, np.int32)
        # A form is not empty, so no form has the numbers 0. A row is half a line of the cache.
        self._rows = np.zeros((1 << _ROW_BITS, 4), np.int64)

    def of_texts(
        self, texts: Sequence[str], is_lower: npt.NDArray[np.bool_] | None = None
    ) -> tuple[WordList, IntArray, LongArray]:
        """Return the words that are kept.

        Args:
            texts: D texts of words, with any ASCII character but an apostrophe between them.
            is_lower: bool[D]. With it the signs of the default word forms are joined first, in
                texts of ASCII. A text for which it is False is put in lower case before.

        Returns:
            The distinct words in order of first use; int32[N], the tokens of all texts as indices
            into them; int64[D + 1], the bounds of the texts.
        """
        if len(self._words) >= _MOST_WORDS + len(self._stop_words):
            self._clear()
        data, ends = _text_of(texts)
        text, most = np.frombuffer(data, np.uint8), len(data) // 2
        scratch = scratch_for(len(text))
        if is_lower is not None:
            join_signs(text, ends, is_lower, scratch)
        numbers, misses = np.empty(most, np.int32), np.empty((most, 3), np.int64)
        table, bounds = (np.uint64(_ROW_BITS), self._rows), np.zeros(len(ends) + 1, np.int64)
        n, m = look_up(text, windows_of(text), ends, *table, numbers, bounds, misses, scratch)
        try:
            decided = self._decided(data, misses[:m])
        except BaseException:
            # The table refers to the misses of this call.
            self._clear()
            raise
        if len(self._places) <= len(self._words):
            self._places = np.full(2 * len(self._words), -1, np.int32)
            self._places[-1] = 0
        used, tokens, offsets = settle(
            numbers[:n], bounds, misses[:m], decided, self._rows, self._places
        )
        return self._words.taken(used), tokens, offsets

    def _decided(self, data: bytearray, misses: LongArray) -> IntArray:
        """Return the numbers of the words that become of forms that missed."""
        is_plain, plain = plain_forms(np.frombuffer(data, np.uint8), misses, *self._lengths)
        others = misses[~is_plain, :2].tolist()
        words = self._words_of([data[begin:end].decode() for begin, end in others])
        numbers = np.full(len(misses), DROPPED, np.int32)
        found = self._words.add(WordList(plain[:-1], len(misses) - len(others)), sys.maxsize)
        numbers[is_plain] = np.where(found < len(self._stop_words), DROPPED, found)
        kept = np.flatnonzero(~is_plain)[list(map(bool, words))]
        numbers[kept] = self._words.add(list(filter(None, words)), sys.maxsize)
        return numbers


def _text_of(texts: Sequence[str]) -> tuple[bytearray, LongArray]:
    """Return texts in UTF-8, each with a newline, between bytes of room; int64[D], their ends."""
    room = "\n" * (ROOM - 1)
    joined = "\n".join([room, *texts, room + "\n"])
    parts = texts if joined.isascii() else map(_encoded, texts)
    ends = np.cumsum([ROOM, *map(len, parts)], dtype=np.int64)[1:] + np.arange(1, len(texts) + 1)
    return bytearray(_encoded(joined)), ends


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def unclean(texts: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return which texts are not ASCII, or may change when a tokeniser cleans them, bool[D]."""
    data, ends = _text_of(texts)
    found = np.zeros(len(texts), np.bool_)
    find_unclean(np.frombuffer(data, np.uint8), ends, found, scratch_for(len(data)))
    return found
