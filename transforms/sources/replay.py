"""Replay an archive that :mod:`beam_topics.transforms.write` wrote as the stream that it recorded.

    files -> documents: bytes (Block), dead_letters: bytes (JSON)

The whole archive is one log (:mod:`beam_topics.transforms.sources.log_source`). The watermark
advances with the documents, so windows close and models are published while the archive is read.
Memory is needed for the open windows and not for the archive. A document that is earlier than the
one before it is late and joins the window that is open. An archive of this project has no such
document.

    (documents, dead_letters) = pipeline | ReplayArchive(
        ["archive/*.avro"], ReadSettings(), TokeniserSettings(), speed=3600
    )

``speed`` is in seconds of event time per second. Without it documents come as fast as they are
read. The speed only delays documents. It is counted from the document at which a reader was opened.
A job that is restored after an hour continues at the same speed and does not catch up. A local
runner that does not stream reads everything before the first window closes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

import apache_beam as beam

from beam_topics.model.documents.document import Document
from beam_topics.model.errors import OptionError
from beam_topics.model.reading.files import BEGINNING, end_of, in_order, read_archive
from beam_topics.model.reading.files import Position as ArchivePosition
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import MICROSECONDS_PER_SECOND
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.transforms.read import Documents, check_patterns, documents_of, open_stored
from beam_topics.transforms.sources.log_source import (
    Entry,
    LogRange,
    LogSourceDoFn,
    Pause,
    Position,
    after,
    break_fusion,
)

# The longest wait within a bundle, in seconds. The runner waits for the rest of a longer one.
_PATIENCE = 0.1


class Pace:
    """Decide when each document is due, counted from the first document that it is asked for.

    Args:
        speed: Seconds of event time per second.
        clock: A monotonic clock in seconds.
    """

    def __init__(self, speed: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._speed = speed
        self._clock = clock
        self._anchor: tuple[int, float] | None = None

    def seconds_until(self, micros: int) -> float:
        """Return the seconds until a document of this event time is due; 0 or less if it is due."""
        now = self._clock()
        if self._anchor is None:
            self._anchor = micros, now
        begun, then = self._anchor
        return (micros - begun) / MICROSECONDS_PER_SECOND / self._speed - (now - then)


class ArchiveReader:
    """Read an archive from a position on."""

    def __init__(
        self, paths: list[str], settings: ReadSettings, start: Position, pace: Pace | None
    ) -> None:
        self.position = start
        self._items = read_archive(paths, settings, cast(ArchivePosition, start), open_stored)
        self._pace = pace
        self._held: Any = None

    def take(self) -> Entry | Pause | None:
        if self._held is None:
            self._held = next(self._items, None)
        if self._held is None:
            return None
        position, item = self._held
        event_time = item.timestamp if isinstance(item, Document) else None
        if (
            self._pace is not None
            and event_time is not None
            and (wait := self._pace.seconds_until(event_time)) > 0
        ):
            time.sleep(min(wait, _PATIENCE))
            if wait > _PATIENCE:
                return Pause(wait - _PATIENCE)
        self._held = None
        self.position = after(position)
        return Entry(position, item, event_time)

    def close(self) -> None:
        self._items.close()


class ReplayDoFn(LogSourceDoFn):
    """Read an archive; an element is the JSON list of its files in order."""

    def __init__(
        self,
        settings: ReadSettings,
        tokeniser: TokeniserSettings,
        speed: float | None,
    ) -> None:
        super().__init__(tokeniser)
        self._settings = settings
        self._speed = speed

    def range_of(self, element: bytes) -> LogRange:
        return LogRange(BEGINNING, end_of(files_of(element)))

    def name_of(self, element: bytes) -> Hashable:
        return element, self._settings, self._speed

    def open(self, element: bytes, start: Position) -> ArchiveReader:
        return ArchiveReader(
            files_of(element), self._settings, start, Pace(self._speed) if self._speed else None
        )


def archive_of(_: bytes, patterns: Sequence[str], settings: ReadSettings) -> bytes:
    """Return the files that the patterns match now, in order, as JSON."""
    return wire.canonical_json(in_order(check_patterns(patterns, settings))).encode()


def files_of(element: bytes) -> list[str]:
    """Return the files that :func:`archive_of` wrote.

    Raises:
        DamagedDataError: The element is something else.
    """
    files = checks.parse_json(element, "the list of an archive's files")
    if not checks.fits(files, list[str]):
        checks.refuse("the list of an archive's files", repr(files), "a list of paths")
    return cast(list[str], files)


class ReplayArchive(beam.PTransform):
    """Replay an archive; gives :class:`beam_topics.transforms.read.Documents`.

    Check the patterns first, with :func:`archive_of`.

    Args:
        patterns: Paths or globs.
        settings: How the files are read.
        tokeniser: The settings of the tokeniser.
        speed: Seconds of event time per second. None reads as fast as possible.

    Raises:
        OptionError: Times or ids are not to come from the fields of the archive.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        settings: ReadSettings,
        tokeniser: TokeniserSettings,
        speed: float | None = None,
    ) -> None:
        super().__init__()
        for option, value, what in (
            ("--time_from", settings.time_from, "times"),
            ("--id_from", settings.parse.id_from, "ids"),
        ):
            if value != "field":
                remedy = f"An archive has the {what} already."
                raise OptionError(option, value, "field with --source=replay", remedy)
        self._patterns = tuple(patterns)
        self._settings = settings
        self._fn = ReplayDoFn(settings, tokeniser, speed)

    def expand(self, pipeline: Any) -> Documents:
        files = beam.Map(archive_of, self._patterns, self._settings).with_output_types(bytes)
        archive = pipeline | "Begin" >> beam.Impulse() | "Files" >> files
        return break_fusion(documents_of(archive, "Replay", self._fn))
