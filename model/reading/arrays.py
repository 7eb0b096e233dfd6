r"""Read the records of a JSON file in constant memory: one per line, or the items of one array.

A file whose first characters are ``[`` and ``{`` is an array, pretty-printed or not. An array is
cut into items at its brackets, commas and quotes. An item that is too long is counted and not kept.
Lines that follow an array are read as lines.

>>> import io
>>> chunks = [b'[\n {"id": 1},\n', b' {"id": [2, "]"]}\n]\n']
>>> [place for place, _ in read_json(chunks, "a.json", 100)]
['a.json item 1', 'a.json item 2']
>>> [place for place, _ in read_json([b'{"id": 1}\n{"id": 2}\n'], "a.json", 100)]
['a.json:1', 'a.json:2']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from model.dead_letters import DeadLetter
from model.errors import DamagedDataError
from model.reading.lines import HeldRecord, cut_lines, is_json_object
from model.reading.parsing import DAMAGED, TOO_LARGE, dead_letter, too_large
from model.reading.settings import ParseSettings

_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{")
_EMPTY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\]\s*")
# The beginning of a file that may still become an array when more bytes come.
_UNDECIDED = re.compile(rb"(?:\xef(?:\xbb(?:\xbf)?)?)?\s*(?:\[\s*(?:\]\s*)?)?")
_MOST_BLANK = 2**16

_STRUCTURE = re.compile(rb'["{}\[\],]')
_IN_STRING = re.compile(rb'["\\]')


def read_json(
    chunks: Iterable[bytes], name: str, max_bytes: int
) -> Iterator[tuple[str, bytes] | DeadLetter]:
    """Yield (place, JSON) of each record, and dead letters for what is too long or damaged.

    Args:
        chunks: The bytes of the file. They may raise DamagedDataError.
        name: The name of the file. The place ``name:17`` is a line, ``name item 17`` an item of an
            array.
        max_bytes: The length of the longest record; a longer one becomes a dead letter.
    """
    rest = iter(chunks)
    head, damage = _head(rest)
    following = chain(
        [b"" if _EMPTY.fullmatch(head) else head], rest if damage is None else _raising(damage)
    )
    if _BEGINS.match(head):
        yield from _read_array(following, name, max_bytes)
    else:
        yield from cut_lines(following, name, max_bytes)


def _head(chunks: Iterator[bytes]) -> tuple[bytes, DamagedDataError | None]:
    """Return the beginning of a file up to where it is clear whether it is an array.

    Returns:
        The bytes, and the error if the file is damaged before that.
    """
    head = b""
    try:
        while (
            len(head) < _MOST_BLANK and _UNDECIDED.fullmatch(head) and (chunk := next(chunks, b""))
        ):
            head += chunk
    except DamagedDataError as error:
        return head, error
    return head, None


def _raising(error: DamagedDataError) -> Iterator[bytes]:
    yield b""
    raise error


def _read_array(
    chunks: Iterator[bytes], name: str, max_bytes: int
) -> Iterator[tuple[str, bytes] | DeadLetter]:
    items = _Items(name, max_bytes)
    try:
        for chunk in chunks:
            yield from items.feed(chunk)
            if items.rest is not None:
                break
        else:
            yield from items.end_damaged("the file ends before the array does")
    except DamagedDataError as error:
        yield from items.end_damaged(str(error))
    if items.rest is not None:
        yield from cut_lines(chain([items.rest], chunks), name, max_bytes, items.line)


class _Items(HeldRecord):
    """Cut chunks into the items of an array.

    It holds the item that is not complete yet, or only the head of an item that is too long.

    Attributes:
        rest: What follows the array in its last chunk; None before the array has ended.
        line: The number of the line that is being read.
    """

    def __init__(self, name: str, max_bytes: int) -> None:
        self.rest: bytes | None = None
        self.line = 1
        super().__init__(name, max_bytes)
        self._number = 1
        # The number of open brackets: 0 before the array, 1 between its items.
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, chunk: bytes) -> Iterator[tuple[str, bytes] | DeadLetter]:
        start = position = 0
        while (position := self._next(chunk, position)) >= 0:
            mark = chunk[position : position + 1]
            position += 1
            if mark == b'"':
                self._in_string = not self._in_string
            elif mark in b"[{":
                self._depth += 1
                if self._depth == 1:
                    start = position
            elif mark in b"]}" and self._depth > 1:
                self._depth -= 1
            elif self._depth == 1 and mark in b",]":
                self._hold(chunk[start : position - 1])
                yield from self._end()
                start = position
                if mark == b"]":
                    self.line += chunk.count(b"\n", 0, position)
                    self.rest = chunk[position:]
                    return
        self._hold(chunk[start:])
        self.line += chunk.count(b"\n")

    def end_damaged(self, detail: str) -> Iterator[tuple[str, bytes] | DeadLetter]:
        """Yield the held item if it is whole, and a dead letter for the rest of the file."""
        if self._length <= self._max and is_json_object(bytes(self._held)):
            yield from self._end()
        place = f"{self._name} item {self._number}"
        yield dead_letter(
            place,
            DAMAGED,
            f"{detail}; this item and the rest of the file cannot be read",
            bytes(self._held),
        )

    def _next(self, chunk: bytes, position: int) -> int:
        """Return the position of the next structural character, or -1 if the chunk has none.

        Outside of strings this is a quote, a bracket or a comma; in a string it is the closing
        quote.
        """
        while True:
            if self._escaped and position < len(chunk):
                self._escaped, position = False, position + 1
            found = (_IN_STRING if self._in_string else _STRUCTURE).search(chunk, position)
            if found is None:
                return -1
            if found[0] != b"\\":
                return found.start()
            self._escaped, position = True, found.end()

    def _end(self) -> Iterator[tuple[str, bytes] | DeadLetter]:
        """Yield the held item unless it is blank, and begin the next one."""
        item, length, place = bytes(self._held), self._length, f"{self._name} item {self._number}"
        self._held.clear()
        self._length = 0
        if not item.strip():
            return
        self._number += 1
        if length > self._max:
            yield dead_letter(
                place,
                TOO_LARGE,
                too_large(length, ParseSettings(max_document_bytes=self._max)),
                item,
            )
        else:
            yield place, item.strip()
