"""Read a time-sorted archive as one log, from any position.

A position is (file, block, byte, item): the index of the file in the archive, the number and the
first byte of an Avro block, and the place of the item in the block. :func:`in_order` sorts files by
their time, with which their names begin:

>>> in_order(["b/archive-20010101T000000Z-aa.avro", "a/archive-20020101T000000Z-bb.avro"])
['b/archive-20010101T000000Z-aa.avro', 'a/archive-20020101T000000Z-bb.avro']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError
from beam_topics.model.reading.files import parse_item
from beam_topics.model.reading.opening import checked
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.reading.sources import Source

Position = tuple[int, int, int, int]
BEGINNING: Position = (0, 0, 0, 0)

# Places in a block are below 2**22, and blocks of a file below that.
_BLOCK_BITS, _FILE_BITS = 22, 44
_NAME = re.compile(r"archive-(\d{8}T\d{6}Z)-[0-9a-f]+\.avro")


def in_order(paths: Iterable[str], option: str = "--input") -> list[str]:
    """Return the files of an archive by the start of their periods.

    Raises:
        OptionError: A file does not belong to an archive, or two files are of one period: one has
            replaced the other, or they overlap.
    """
    by_start: dict[str, str] = {}
    for path in paths:
        found = _NAME.fullmatch(re.split(r"[/\\]", path)[-1])
        if found is None:
            allowed = "files of an archive, archive-<start>-<content>.avro, when --source=replay"
            remedy = "beam-topics archive makes one of any files."
            raise OptionError(option, path, allowed, remedy)
        other = by_start.setdefault(found[1], path)
        if other != path:
            allowed = f"one file for each period, and {other} is of the same one"
            remedy = "Remove the older of the two, or write the archive again into an empty folder."
            raise OptionError(option, path, allowed, remedy)
    return [by_start[start] for start in sorted(by_start)]


def end_of(paths: list[str]) -> Position:
    """Return the position behind everything."""
    return (len(paths), 0, 0, 0)


def read_archive(
    paths: list[str], settings: ReadSettings, start: Position, open_file: Callable[[str], BinaryIO]
) -> Generator[tuple[Position, Document | DeadLetter], None, None]:
    """Yield every item from ``start`` on, with its position.

    A file that cannot be read costs one dead letter, and so does a damaged block.
    """
    for file in range(start[0], len(paths)):
        with open_file(paths[file]) as stream:
            yield from _read_file(
                file, stream, paths[file], settings, start if file == start[0] else (file, 0, 0, 0)
            )


def _read_file(
    file: int, stream: BinaryIO, path: str, settings: ReadSettings, start: Position
) -> Iterator[tuple[Position, Document | DeadLetter]]:
    _, block, byte, item = start
    source: Any = checked(Source(stream, path, settings, "avro", start=(max(block, 1), byte)))
    if isinstance(source, DeadLetter) and not item:
        yield (file, 0, 0, 0), source
    if source is None or isinstance(source, DeadLetter):
        return
    unit = source.time_unit(settings.parse.fields.timestamp)
    for (number, at), items in groupby(source.placed(), itemgetter(0)):
        for place, (_, found) in enumerate(items):
            if (number, place) >= (block, item):
                read = parse_item(found, settings, unit)
                if isinstance(read, Document):
                    order = (file << _FILE_BITS) + (number << _BLOCK_BITS) + place
                    read = read.arriving(order)
                yield (file, number, at, place), read
