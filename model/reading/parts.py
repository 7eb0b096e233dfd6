r"""Large files of JSON lines in parts, which several workers read.

A part has whole lines, and says where it begins and which line of the file is its first. So its
records have the places that they have in the whole file. Only the first bytes of a file say whether
it has lines: an array, objects over several lines, a gzip and other encodings are read as a whole.

>>> import io
>>> stream = io.BytesIO(b'{"id": 1}\n' * 10_000)
>>> [first, second] = parts_of(stream, least=65_000)
>>> first, second.begin, second.line
(Part(begin=0, end=65530, line=1), 65530, 6554)
>>> sum(map(len, bytes_of(stream, second)))
34470
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from beam_topics.model.reading.encodings import is_utf_8
from beam_topics.model.reading.lines import is_json_object
from beam_topics.model.reading.settings import ReadSettings

# A worker reads 12,000 abstracts of 1,300 bytes, which take a second.
LEAST = 2**24
_CHUNK, _HEAD = 2**16, 2**20


class Part(NamedTuple):
    """Whole lines of a file.

    Attributes:
        begin, end: Its first byte, and the one behind its last.
        line: The number of its first line in the file, from 1 on.
    """

    begin: int
    end: int
    line: int


def has_parts(stream: BinaryIO, settings: ReadSettings) -> bool:
    """Return whether each line of a JSON file is a record, whatever the lines before it are.

    Args:
        stream: The file, at its beginning.
        settings: How it is read.
    """
    if settings.records is not None or not is_utf_8(settings.encoding):
        return False
    first, newline, rest = stream.read(_HEAD).partition(b"\n")
    return bool(newline and rest.strip()) and is_json_object(first)


def parts_of(stream: BinaryIO, least: int = LEAST) -> Iterator[Part]:
    """Cut a file that is not empty into parts.

    Args:
        stream: The file. It is read once, because lines are counted.
        least: The bytes of a part; the last one may have fewer.
    """
    stream.seek(0)
    begin = end = at = 0
    line = next_line = 1
    while chunk := stream.read(_CHUNK):
        if cut := chunk.rfind(b"\n") + 1:
            end, next_line = at + cut, next_line + chunk.count(b"\n")
        at += len(chunk)
        if end - begin >= least:
            yield Part(begin, end, line)
            begin, line = end, next_line
    if at > begin:
        yield Part(begin, at, line)


def bytes_of(stream: BinaryIO, part: Part) -> Iterator[bytes]:
    """Yield the bytes of a part."""
    stream.seek(part.begin)
    left = part.end - part.begin
    while left and (chunk := stream.read(min(left, _CHUNK))):
        yield chunk
        left -= len(chunk)
