r"""A file that is to be read, what its bytes and its path are, and large files in parts.

Large files of JSON lines are cut into parts, which several workers read. A part has whole lines,
and says where it begins and which line of the file is its first. So its records have the places
that they have in the whole file. Only the first bytes of a file say whether it has lines: an array,
objects over several lines, a gzip and other encodings are read as a whole.

>>> import io
>>> stream = io.BytesIO(b'{"id": 1}\n' * 10_000)
>>> [first, second] = parts_of(stream, least=65_000)
>>> first, second.begin, second.line
(Part(begin=0, end=65530, line=1), 65530, 6554)
>>> sum(map(len, bytes_of(stream, second)))
34470
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import BinaryIO, NamedTuple, get_args

from beam_topics.model.errors import OptionError
from beam_topics.model.files import path_within
from beam_topics.model.reading.encodings import is_utf_8, to_utf_8
from beam_topics.model.reading.lines import is_json_object, unix_lines, unzipped
from beam_topics.model.reading.settings import (
    BINARY_ENDINGS,
    ENCODED,
    TEXT_ENDINGS,
    Format,
    ReadSettings,
)

# A worker reads 12,000 abstracts of 1,300 bytes, which take a second.
LEAST = 2**24
_CHUNK, _HEAD = 2**16, 2**20


class Part(NamedTuple):
    """Whole lines of a file.

    Attributes:
        begin, end: Its first byte, and the one after its last.
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


class Source(NamedTuple):
    """A file that is to be opened.

    Attributes:
        stream: The bytes as they are stored. It must be able to seek unless the file has lines.
        name: The name of the file, for the places in dead letters.
        settings: How the file is read.
        kind: Its format, one of those of ``--format`` but ``auto``.
        folder: The folder that is read (:func:`beam_topics.model.files.folder_of`); places are
            paths within it.
        every_field: Whether records have all of their fields, or those that are needed.
        start: The number and the first byte of the block of an Avro file to begin with.
        part: The part of a file of JSON lines that is read; None for a whole file.
    """

    stream: BinaryIO
    name: str
    settings: ReadSettings
    kind: str
    folder: str = ""
    every_field: bool = False
    start: tuple[int, int] = (1, 0)
    part: Part | None = None

    @property
    def text(self) -> Iterator[bytes]:
        """The bytes, unzipped, in UTF-8, with lines that end in LF."""
        if self.part is not None:
            return bytes_of(self.stream, self.part)
        return unix_lines(to_utf_8(self.unzipped, self.settings.encoding))

    @property
    def unzipped(self) -> Iterator[bytes]:
        """The bytes, unzipped."""
        return unzipped(self.stream)

    @property
    def path(self) -> str:
        """The path of the file within the folder, with which places begin."""
        return path_within(self.folder, self.name)


def format_of(name: str, settings: ReadSettings, option: str = "--input") -> str:
    """Return the format of a file, one of those of ``--format`` but ``auto``.

    Args:
        name: The name of the file.
        settings: How the file is read.
        option: The option that gives the file, for messages.

    Raises:
        OptionError: The format is ``auto``, and the name has no known ending.
    """
    if settings.format != "auto":
        return settings.format
    lower = name.lower()
    for endings, bare in ((TEXT_ENDINGS, lower.removesuffix(".gz")), (BINARY_ENDINGS, lower)):
        for ending, kind in endings.items():
            if bare.endswith(ending):
                return kind
    raise OptionError(
        option,
        name,
        f"a file that ends in {', '.join(TEXT_ENDINGS)} (or in one of them and .gz),"
        f" {', '.join(BINARY_ENDINGS)}",
        f"Or say which it is: {', '.join(f'--format={kind}' for kind in get_args(Format)[1:])}.",
    )


def check_formats(names: Iterable[str], settings: ReadSettings, option: str = "--input") -> None:
    """Check that the format of each file is known, and that some file uses the encoding.

    Args:
        names: The names of the files.
        settings: How the files are read.
        option: The option that gives the files, for messages.

    Raises:
        OptionError: A format is unknown, needs a library that is not installed, or an encoding is
            given that no file uses.
    """
    kinds = {format_of(name, settings, option) for name in names}
    if "feed" in kinds and not find_spec("feedparser"):
        remedy = "Run: pip install 'beam-topics[feeds]'."
        raise OptionError(option, "a feed", "no feed without feedparser", remedy)
    if not is_utf_8(settings.encoding) and kinds.isdisjoint(ENCODED):
        allowed = (
            f"nothing with files of {' and '.join(sorted(kinds))}, which say how they are encoded"
        )
        raise OptionError("--encoding", settings.encoding, allowed, "Leave it out.")
