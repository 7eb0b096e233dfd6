r"""Cut a file into lines, or the items of a JSON array, in constant memory, damaged or not.

The first two bytes of a file say whether it is gzipped. A damaged gzip is read up to the damage,
and the rest is one dead letter. A line that is too long is counted but not kept.

>>> import io
>>> [line for _, line in cut_lines(unzipped(io.BytesIO(b"one\n\ntwo")), "a.jsonl", 100)]
[b'one', b'two']

A file whose first characters are ``[`` and ``{`` is an array, pretty-printed or not. An array is
cut into items at its brackets, commas and quotes. An item that is too long is counted but not
kept. Lines that follow an array are read as lines.

A file whose first line begins an object but does not end it holds objects over several lines. So
does a file of one line that contains an array of objects. Of an object larger than a record may be,
only the first array of objects is read, as above.

>>> chunks = [b'[\n {"id": 1},\n', b' {"id": [2, "]"]}\n]\n']
>>> [place for place, _ in read_json(chunks, "a.json", 100)]
['a.json item 1', 'a.json item 2']
>>> [place for place, _ in read_json([b'{"id": 1}\n{"id": 2}\n'], "a.json", 100)]
['a.json:1', 'a.json:2']
>>> [place for place, _ in read_json([b'{\n"data": [{"id": 1}]\n}\n{\n}'], "a.json", 100)]
['a.json object 1', 'a.json object 2']
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.parsing import DAMAGED, NOT_JSON, TOO_LARGE, dead_letter, too_large

_CHUNK = 2**16
# The part of a line that is too long that is kept for its dead letter, in bytes.
HEAD = 4 * DeadLetter.RECORD_CHARACTERS
_GZIP = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_REPEAT = 2**31
_BLANK = b" \t\r\v\f\n"
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{")
_EMPTY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\]\s*")
# The beginning of a file that may still become an array when more bytes come.
_UNDECIDED = re.compile(rb"(?:\xef(?:\xbb(?:\xbf)?)?)?\s*(?:\[\s*(?:\]\s*)?)?")
_MOST_BLANK = 2**16
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
# What the first line of an object of several lines ends with.
_GOES_ON = (b"{", b"[", b",")
_INNER_ARRAY = re.compile(rb":\s*\[\s*\{")
_STRUCTURE = re.compile(rb'["{}\[\],]')
# Within an item, and between objects, a comma says nothing.
_BRACKET = re.compile(rb'["{}\[\]]')
_COMMAS = re.compile(rb"(?:\s*+,)++")
_IN_STRING = re.compile(rb'["\\]')


def cut_lines(
    chunks: Iterable[bytes], name: str, max_bytes: int, first: int = 1
) -> Iterator[tuple[str, bytes] | DeadLetter]:
    """Yield (place, line) of each line that is not blank, and dead letters.

    A dead letter stands for what is too long or cannot be read.

    Args:
        chunks: The bytes, unzipped. They may raise DamagedDataError.
        name: The name of the file. The place ``name:17`` is the 17th line.
        max_bytes: The length of the longest line; a longer one becomes a dead letter.
        first: The number of the first line.
    """
    lines = _Lines(name, max_bytes, first)
    try:
        for chunk in chunks:
            yield from lines.feed(chunk)
    except DamagedDataError as error:
        yield from lines.end_damaged(str(error))
    else:
        yield from lines.end()


class HeldRecord:
    """A record that is not complete yet, or only the head of one that is too long.

    Attributes:
        held: Its bytes.

    Args:
        name: The file, for places.
        max_bytes: The most bytes of a record.
        kind: What it is: ``line``, ``item`` or ``object``.
        first: The number of the first record.
    """

    def __init__(self, name: str, max_bytes: int, kind: str, first: int = 1) -> None:
        self.held = bytearray()
        self._name, self._max, self._kind, self._number = name, max_bytes, kind, first
        self._length = 0

    @property
    def _place(self) -> str:
        between = ":" if self._kind == "line" else f" {self._kind} "
        return f"{self._name}{between}{self._number}"

    def _hold(self, piece: bytes) -> None:
        room = max(self._max - self._length, HEAD - len(self.held), 0)
        self.held += piece[:room]
        self._length += len(piece)
        if self._length > self._max:
            del self.held[HEAD:]

    def end(self) -> Iterator[tuple[str, bytes] | DeadLetter]:
        """Yield the held record unless it is blank, and begin the next one."""
        record, length, place = bytes(self.held), self._length, self._place
        self.held.clear()
        self._length = 0
        if self._number == 1:
            record = record.removeprefix(BYTE_ORDER_MARK)
        is_full = bool(record.strip())
        # Blank lines have numbers.
        self._number += is_full or self._kind == "line"
        if length > self._max:
            yield dead_letter(place, TOO_LARGE, too_large(length, self._max), record)
        elif is_full:
            yield place, record if self._kind == "line" else record.strip()

    def end_damaged(self, detail: str) -> Iterator[tuple[str, bytes] | DeadLetter]:
        """Yield the held record if it is whole, and a dead letter for the rest of the file."""
        if self._length <= self._max and is_json_object(bytes(self.held)):
            yield from self.end()
        what = f"{detail}; this {self._kind} and the rest of the file cannot be read"
        yield dead_letter(self._place, DAMAGED, what, bytes(self.held))


class _Lines(HeldRecord):
    """Cut chunks into lines."""

    def __init__(self, name: str, max_bytes: int, first: int) -> None:
        super().__init__(name, max_bytes, "line", first)
        # Possessive repeats need no memory for what they have matched.
        self._blank_lines = re.compile(
            rb"(?:[ \t\r\v\f]{0,%d}+\n)++" % min(max_bytes, _LONGEST_REPEAT)
        )

    def feed(self, chunk: bytes) -> Iterator[tuple[str, bytes] | DeadLetter]:
        """Cut the next bytes of the file."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            # A gzip of some kilobytes can hold millions of blank lines, so a run of them is
            # skipped in one step.
            is_first = not self._length and chunk[start] in _BLANK
            if is_first and (blank := self._blank_lines.match(chunk, start)):
                self._number += chunk.count(b"\n", start, blank.end())
                start = blank.end()
                continue
            if self._length or self._number == 1 or end - start > self._max:
                self._hold(chunk[start:end])
                yield from self.end()
            else:
                yield self._place, chunk[start:end]
                self._number += 1
            start = end + 1
        self._hold(chunk[start:])


def is_json_object(line: bytes) -> bool:
    """Return whether these bytes are a whole JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def peeked(chunks: Iterable[bytes], most: int) -> tuple[bytes, Iterator[bytes]]:
    """Return the beginning of a file, and all of its bytes again.

    Args:
        chunks: The bytes. They may raise DamagedDataError, which comes again after the beginning.
        most: The length of the beginning; it is shorter only where the file is.
    """
    head, again = _begun(chunks, lambda held: len(held) < most)
    return head[:most], again


def _begun(
    chunks: Iterable[bytes], goes_on: Callable[[bytearray], bool]
) -> tuple[bytes, Iterator[bytes]]:
    """Return the beginning of a file as far as it goes on, and all of its bytes again."""
    rest, held = iter(chunks), bytearray()
    damage: DamagedDataError | None = None
    try:
        while goes_on(held) and (chunk := next(rest, None)) is not None:
            held += chunk
    except DamagedDataError as error:
        damage = error

    def again() -> Iterator[bytes]:
        if held:
            yield bytes(held)
        if damage is not None:
            raise damage
        yield from rest

    return bytes(held), again()


def unix_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes with LF after each line where the lines of the file end in CR alone."""
    head, again = peeked(chunks, _CHUNK)
    if b"\r" not in head or b"\n" in head:
        return again
    return (chunk.replace(b"\r", b"\n") for chunk in again)


def unzipped(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a file, unzipped if it is gzipped.

    Raises:
        DamagedDataError: The gzip is truncated or damaged. All bytes before the damage were
            yielded.
    """
    chunks = iter(lambda: stream.read(_CHUNK), b"")
    first = next(chunks, b"")
    if first.startswith(_GZIP):
        yield from _gunzip(first, chunks)
    elif first:
        yield first
        yield from chunks


def _gunzip(data: bytes, chunks: Iterable[bytes]) -> Iterator[bytes]:
    chunks = iter(chunks)
    position = 0
    engine = zlib.decompressobj(wbits=31)
    while True:
        before = engine.copy()
        try:
            out = engine.decompress(data, 16 * _CHUNK)
        except zlib.error as error:
            yield from _up_to_the_damage(before, data)
            raise DamagedDataError(
                f"the gzip is damaged after compressed byte {position}: {error}"
            ) from error
        if out:
            yield out
        rest = engine.unused_data if engine.eof else engine.unconsumed_tail
        position += len(data) - len(rest)
        data = rest or next(chunks, b"")
        if engine.eof:
            data = _next_member(data, chunks)
            if not data:
                return
            engine = zlib.decompressobj(wbits=31)
        elif not data and not out:
            raise DamagedDataError(f"the gzip ends too early, after compressed byte {position}")


def _next_member(data: bytes, chunks: Iterator[bytes]) -> bytes:
    """Return the data from the next gzip member on; zeros between members are padding."""
    while data and not (data := data.lstrip(b"\0")):
        data = next(chunks, b"")
    return data


def _up_to_the_damage(engine: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Yield what lies before the fault of a chunk, byte by byte."""
    try:
        for at in range(len(data)):
            yield engine.decompress(data[at : at + 1])
    except zlib.error:
        return


def read_json(
    chunks: Iterable[bytes], name: str, max_bytes: int
) -> Iterator[tuple[str, bytes] | DeadLetter]:
    """Yield (place, JSON) of each record, and dead letters for what is too long or damaged.

    Args:
        chunks: The bytes of the file. They may raise DamagedDataError.
        name: The name of the file. The place ``name:17`` is a line, ``name item 17`` an item of an
            array, ``name object 17`` an object of several lines.
        max_bytes: The length of the longest record; a longer one becomes a dead letter.
    """
    head, following = _begun(chunks, lambda held: _is_undecided(held, max_bytes))
    if _EMPTY.fullmatch(head):
        next(following)
    if _BEGINS.match(head):
        yield from _read_array(following, name, max_bytes)
    elif _begins_object(head):
        yield from _read_objects(following, name, max_bytes)
    else:
        yield from cut_lines(following, name, max_bytes)


def _is_undecided(head: bytearray, most: int) -> bool:
    """Return whether more of a file shows how its records are written."""
    if len(head) < _MOST_BLANK and _UNDECIDED.fullmatch(head):
        return True
    is_object = len(head) < most and _OBJECT.match(head) is not None
    return is_object and head.count(b"\n", 0, most) < 2


def _begins_object(head: bytes) -> bool:
    """Return whether a file begins with an object of several lines."""
    if not _OBJECT.match(head):
        return False
    first, newline, rest = head.lstrip().partition(b"\n")
    if not newline or not rest.strip():
        return _INNER_ARRAY.search(first) is not None
    second = rest.partition(b"\n")[0]
    return first.rstrip().endswith(_GOES_ON) and not is_json_object(second)


def _read_array(
    chunks: Iterator[bytes], name: str, max_bytes: int, *, is_inner: bool = False
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
    if items.rest is not None and not is_inner:
        yield from cut_lines(chain([items.rest], chunks), name, max_bytes, items.line)


def _read_objects(
    chunks: Iterator[bytes], name: str, max_bytes: int
) -> Iterator[tuple[str, bytes] | DeadLetter]:
    """Yield objects one after the other, and the items of one that is too large."""
    # Whole, because an object that is too large may hold the array.
    objects, damage = _Items(name, sys.maxsize, "object"), "the file ends before the object does"
    try:
        for chunk in chunks:
            for item in objects.feed(chunk):
                if not isinstance(item, DeadLetter) and len(item[1]) > max_bytes:
                    yield from _read_inner(item[1], iter(()), name, max_bytes)
                else:
                    yield item
            if len(objects.held) > max_bytes:
                yield from _read_inner(bytes(objects.held), chunks, name, max_bytes)
                return
    except DamagedDataError as error:
        damage = str(error)
    if objects.held.strip():
        yield from objects.end_damaged(damage)


def _read_inner(
    held: bytes, chunks: Iterator[bytes], name: str, max_bytes: int
) -> Iterator[tuple[str, bytes] | DeadLetter]:
    """Yield the items of the first array of objects within an object."""
    inner = _INNER_ARRAY.search(held)
    if inner is None:
        detail = too_large(len(held), max_bytes)
        yield dead_letter(name, TOO_LARGE, f"{detail}; it is not read further", held[:HEAD])
    else:
        following = chain([held[inner.start() + 1 :]], chunks)
        yield from _read_array(following, name, max_bytes, is_inner=True)


class _Items(HeldRecord):
    """Cut chunks into the items of an array, or into objects that follow each other.

    It holds the item that is not complete yet, or only the head of an item that is too long.

    Attributes:
        rest: What follows the array in its last chunk; None before the array has ended.
        line: The number of the line that is being read.

    Args:
        name: The file, for the places of dead letters.
        max_bytes: The most bytes of an item.
        kind: ``item`` for those of an array, ``object`` for objects without one.
    """

    def __init__(self, name: str, max_bytes: int, kind: str = "item") -> None:
        super().__init__(name, max_bytes, kind)
        self.rest: bytes | None = None
        self.line = 1
        # The number of open brackets, and of those around an item.
        self._depth, self._outer = 0, int(kind == "item")
        self._in_string = self._escaped = False

    def feed(self, chunk: bytes) -> Iterator[tuple[str, bytes] | DeadLetter]:
        start = position = 0
        while (position := self._next(chunk, position)) >= 0:
            mark = chunk[position : position + 1]
            position += 1
            if mark == b'"':
                self._in_string = not self._in_string
            elif mark in b"[{":
                self._depth += 1
                if self._depth == self._outer:
                    start = position
            elif mark in b"]}" and (self._depth > self._outer or not self._outer):
                self._depth = max(self._depth - 1, 0)
                if not self._depth:
                    self._hold(chunk[start:position])
                    yield from self.end()
                    start = position
            elif self._depth == self._outer == 1 and mark in b",]":
                self._hold(chunk[start : position - 1])
                if mark == b"," and not self.held.strip():
                    begin, more = position, _COMMAS.match(chunk, position)
                    position = position if more is None else more.end()
                    yield self._empty(chunk.count(b",", begin, position) + 1)
                yield from self.end()
                start = position
                if mark == b"]":
                    self.line += chunk.count(b"\n", 0, position)
                    self.rest = chunk[position:]
                    return
        self._hold(chunk[start:])
        self.line += chunk.count(b"\n")

    def _empty(self, number: int) -> DeadLetter:
        """Return the dead letter for items without a character, and count them as one."""
        letter = dead_letter(self._place, NOT_JSON, f"{number:,} empty items before a comma", b",")
        self._number += 1
        return letter

    def _next(self, chunk: bytes, position: int) -> int:
        """Return the position of the next structural character, or -1 if the chunk has none.

        Outside of strings this is a quote, a bracket or a comma between items; in a string it is
        the closing quote.
        """
        while True:
            if self._escaped and position < len(chunk):
                self._escaped, position = False, position + 1
            outside = _STRUCTURE if self._depth == self._outer == 1 else _BRACKET
            found = (_IN_STRING if self._in_string else outside).search(chunk, position)
            if found is None:
                return -1
            if found[0] != b"\\":
                return found.start()
            self._escaped, position = True, found.end()
