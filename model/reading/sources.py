"""A file that is to be read, and what its bytes and its path are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from beam_topics.model.files import path_within
from beam_topics.model.reading.encodings import to_utf_8
from beam_topics.model.reading.lines import unix_lines, unzipped
from beam_topics.model.reading.parts import Part, bytes_of
from beam_topics.model.reading.settings import ReadSettings


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
