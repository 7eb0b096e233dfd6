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

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.words.kernels.form_table import DROPPED, look_up, settle
from beam_topics.model.words.vocabulary import GrowingWords
from beam_topics.model.words.word_list import WordList

# Bytes from 128 on are parts of characters, which are cut already.
_INSIDE = np.array([code >= 128 or chr(code).isalnum() or code == ord("'") for code in range(256)])
_ROW_BITS = 18
_MOST_WORDS = 200_000


class FormNumbers:
    """Numbers of words, as they come; a thread needs one of its own.

    Args:
        word_of: What becomes of a form: a word, or ``""`` where it is dropped.
    """

    def __init__(self, word_of: Callable[[str], str]) -> None:
        self._word_of = word_of
        self._clear()

    def _clear(self) -> None:
        self._words = GrowingWords()
        # A form is not empty, so no form has the numbers 0.
        self._low, self._high = np.zeros((2, 1 << _ROW_BITS), np.uint64)
        self._found = np.zeros(1 << _ROW_BITS, np.int32)

    def of_texts(self, texts: Sequence[str]) -> tuple[WordList, IntArray, LongArray]:
        """Return the words that are kept.

        Args:
            texts: D texts of words, with any ASCII character but an apostrophe between them.

        Returns:
            The distinct words in order of first use; int32[N], the tokens of all texts as indices
            into them; int64[D + 1], the bounds of the texts.
        """
        parts = [text.encode() for text in texts]
        ends = np.cumsum([len(part) + 1 for part in parts], dtype=np.int64)
        return self.of_bytes(b"\n".join([*parts, b""]), ends)

    def of_bytes(self, data: bytes, ends: LongArray) -> tuple[WordList, IntArray, LongArray]:
        """Return :meth:`of_texts` of texts in UTF-8 that end with a new line at ``ends``."""
        if len(self._words) >= _MOST_WORDS:
            self._clear()
        text = np.frombuffer(data, np.uint8)
        table = self._low, self._high, self._found
        numbers, bounds, misses = look_up(text, ends, _INSIDE, np.uint64(_ROW_BITS), *table)
        try:
            decided = self._decided(data, misses)
        except BaseException:
            # The table refers to the misses of this call.
            self._clear()
            raise
        used, tokens, offsets = settle(
            numbers, bounds, misses, decided, self._found, len(self._words)
        )
        return self._words.taken(used), tokens, offsets

    def _decided(self, data: bytes, misses: LongArray) -> IntArray:
        """Return the numbers of the words that become of forms that missed."""
        begins, ends, _ = misses.T.tolist()
        forms = [data[begin:end].decode() for begin, end in zip(begins, ends, strict=True)]
        words = list(map(self._word_of, forms))
        kept = np.fromiter(map(bool, words), np.bool_, len(words))
        numbers = np.full(len(words), DROPPED, np.int32)
        numbers[kept] = self._words.add(list(filter(None, words)), sys.maxsize)
        return numbers
