r"""Read the lines of a file, plain or gzipped, damaged or not, in constant memory.

The first two bytes of a file say whether it is gzipped. A damaged gzip is read up to the damage,
and the rest is one dead letter. A line that is too long is counted and not kept.

>>> import io
>>> [line for _, line in cut_lines(unzipped(io.BytesIO(b"one\n\ntwo")), "a.jsonl", 100)]
[b'one', b'two']
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.parsing import DAMAGED, TOO_LARGE, dead_letter, too_large

_CHUNK = 2**16
# The part of a line that is too long that is kept for its dead letter, in bytes.
HEAD = 4 * DeadLetter.RECORD_CHARACTERS
_GZIP = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LONGEST_REPEAT = 2**31
_BLANK = b" \t\r\v\f\n"


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
    rest, held = iter(chunks), bytearray()
    damage: DamagedDataError | None = None
    try:
        while len(held) < most and (chunk := next(rest, None)) is not None:
            held += chunk
    except DamagedDataError as error:
        damage = error

    def again() -> Iterator[bytes]:
        if held:
            yield bytes(held)
        if damage is not None:
            raise damage
        yield from rest

    return bytes(held[:most]), again()


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
