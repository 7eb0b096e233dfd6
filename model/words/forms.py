"""The words of many texts as numbers, by the forms in which words stand in texts.

A form is a run of word characters, as it stands in a text in lower case. Few forms are distinct, so
what becomes of a form is decided once, and a kernel looks it up afterwards
(:mod:`beam_topics.model.words.kernels.form_table`). The table has one row for each hash of a form:
a form that finds another one in its row takes the row. So its memory is bounded, and a lookup is
exact, because a row holds the whole form. Forms of more than 16 bytes are decided each time.

>>> numbers = FormNumbers(lambda form: "" if form == "the" else form.removesuffix("s"))
>>> words, tokens, offsets = numbers.of_texts(["the ships", "", "ship, the seas"])
>>> words, tokens.tolist(), offsets.tolist()
(('ship', 'sea'), [0, 0, 1], [0, 1, 1, 3])
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.words.kernels.form_table import DROPPED, look_up, settle
from beam_topics.model.words.kernels.signs import ROOM, find_unclean, join_signs
from beam_topics.model.words.vocabulary import GrowingWords
from beam_topics.model.words.word_list import WordList, windows_of

_ROW_BITS = 18
_MOST_WORDS = 200_000


class FormNumbers:
    """Numbers of words, as they come; a thread needs one of its own.

    Args:
        word_of: What becomes of a form: a word, or ``""`` where it is dropped.
        sizes: The least and the most letters of the forms of letters a to z that are words as they
            are, so that ``word_of`` is not asked for them; by default there is none.
        dropped: Forms of letters a to z that are no words.
    """

    def __init__(
        self,
        word_of: Callable[[str], str],
        sizes: tuple[int, int] = (1, 0),
        dropped: Sequence[str] = (),
    ) -> None:
        self._word_of = word_of
        self._sizes = min(sizes[0], sys.maxsize), min(sizes[1], sys.maxsize)
        self._dropped = GrowingWords(dropped)
        self._clear()

    def _clear(self) -> None:
        # Forms that are dropped come first.
        self._words = self._dropped.copied()
        # A form is not empty, so no form has the numbers 0. A row is half a line of the cache.
        self._rows = np.zeros((1 << _ROW_BITS, 4), np.int64)

    def of_texts(
        self, texts: Sequence[str], joins: bool = False
    ) -> tuple[WordList, IntArray, LongArray]:
        """Return the words that are kept.

        Args:
            texts: D texts of words, with any ASCII character but an apostrophe between them.
            joins: Whether the signs of the default word forms are joined first. Then a text is
                ASCII in lower case, or has no such sign.

        Returns:
            The distinct words in order of first use; int32[N], the tokens of all texts as indices
            into them; int64[D + 1], the bounds of the texts.
        """
        if len(self._words) >= _MOST_WORDS:
            self._clear()
        data, ends = text_of(texts)
        text = np.frombuffer(data, np.uint8)
        if joins:
            join_signs(text, np.empty((2, len(text)), np.int64))
        most = len(text) // 2
        numbers, misses = np.empty(most, np.int32), np.empty((most, 4), np.int64)
        bounds, plain = np.zeros(len(ends) + 1, np.int64), np.empty(len(text), np.uint8)
        table = np.uint64(_ROW_BITS), self._rows
        made = numbers, bounds, misses, plain
        n, m, p = look_up(text, windows_of(text), ends, *table, self._sizes, *made)
        try:
            decided = self._decided(data, misses[:m], plain[: max(0, p - 1)])
        except BaseException:
            # The table refers to the misses of this call.
            self._clear()
            raise
        used, tokens, offsets = settle(
            numbers[:n], bounds, misses[:m], decided, self._rows, len(self._words)
        )
        return self._words.taken(used), tokens, offsets

    def _decided(
        self, data: bytearray, misses: LongArray, plain: npt.NDArray[np.uint8]
    ) -> IntArray:
        """Return the numbers of the words that become of forms that missed."""
        numbers, is_plain = np.full(len(misses), DROPPED, np.int32), misses[:, 3] > 0
        if len(plain):
            forms = WordList(plain, int(np.count_nonzero(is_plain)))
            numbers[is_plain] = self._words.add(forms, sys.maxsize)
            numbers[numbers < len(self._dropped)] = DROPPED
        others = misses[~is_plain, :2].tolist()
        words = [self._word_of(data[begin:end].decode()) for begin, end in others]
        kept = np.flatnonzero(~is_plain)[np.fromiter(map(bool, words), np.bool_, len(words))]
        numbers[kept] = self._words.add(list(filter(None, words)), sys.maxsize)
        return numbers


def text_of(texts: Sequence[str]) -> tuple[bytearray, LongArray]:
    """Return texts in UTF-8, each with a newline, between bytes of room; int64[D], their ends."""
    room = "\n" * (ROOM - 1)
    joined = "\n".join([room, *texts, room + "\n"])
    parts = texts if joined.isascii() else [_encoded(text) for text in texts]
    ends = np.cumsum([ROOM, *map(len, parts)], dtype=np.int64)[1:] + np.arange(1, len(texts) + 1)
    return bytearray(_encoded(joined)), ends


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def unclean(texts: Sequence[str]) -> list[bool]:
    """Return which texts are not ASCII, or may change when the tokeniser cleans them."""
    data, ends = text_of(texts)
    found = np.zeros(len(texts), np.bool_)
    find_unclean(np.frombuffer(data, np.uint8), ends, found)
    return found.tolist()
