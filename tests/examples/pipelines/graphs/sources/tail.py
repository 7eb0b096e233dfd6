"""``--source=tail``: read a file of JSON lines that grows, as a stream.

    file -> documents: bytes (Block), dead_letters: bytes (JSON)

The file is one log (:mod:`beam_topics.transforms.sources.log_source`). The position of a line is
the offset of its last byte, so the next line begins behind it. The workers have to see the file.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from beam_topics.model.documents.document import Document
from beam_topics.model.errors import SourceError
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.reading.parsing import parse_line
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.settings.options import option
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.graphs.sources.base import SOURCES, SourceSettings
from beam_topics.transforms.read import Documents, documents_of, open_stored
from beam_topics.transforms.sources.log_source import (
    Entry,
    LogRange,
    LogSourceDoFn,
    Pause,
    Position,
    after,
    break_fusion,
)


@SOURCES.register
@dataclass(frozen=True)
class Tail(SourceSettings):
    """A file of JSON lines that grows, as a stream."""

    kind = "tail"
    shared = ("id_from", "timestamp_format")
    needed: ClassVar[Mapping[str, str]] = {"tail_file": "posts.jsonl"}
    endless = "until"

    tail_file: str | None = option(None, "the file to follow")
    until: Literal["end", "forever"] = option(
        "forever", "end: stop after the lines that the file holds at the start"
    )

    def read(
        self,
        options: PipelineOptions,
        tokeniser: TokeniserSettings,
        learning: LearnOptions | None = None,
    ) -> ReadTail:
        file = Path(self.tail_file or "")
        if not file.is_file():
            raise SourceError(f"there is no file {str(file)!r}. Check --tail_file.")
        stop = file.stat().st_size if self.until == "end" else None
        parse = read_settings_of(options).parse
        return ReadTail(TailDoFn(str(file), stop, parse, tokeniser))


class TailReader:
    """Read a file from a position on.

    Args:
        path: The file.
        start: The position to begin at.
        stop: The end of the log; None where it has none.
        parse: How a line is parsed.
    """

    def __init__(self, path: str, start: Position, stop: int | None, parse: ParseSettings) -> None:
        self.position = start
        self._path, self._stop, self._parse = path, stop, parse
        self._file = open_stored(path)
        self._file.seek(start[0])

    def take(self) -> Entry | Pause | None:
        begin = self.position[0]
        if self._stop is not None and begin >= self._stop:
            return None
        line = self._file.readline(-1 if self._stop is None else self._stop - begin)
        if self._stop is None and not line.endswith(b"\n"):
            # The end of the line is not written yet.
            self._file.seek(begin)
            return Pause(1.0)
        last = (begin + len(line) - 1,)
        self.position = after(last)
        item = parse_line(line, f"{self._path}:{begin}", self._parse)
        return Entry(last, item, item.timestamp if isinstance(item, Document) else None)

    def close(self) -> None:
        self._file.close()


class TailDoFn(LogSourceDoFn):
    """Read a file that grows; the element is not used."""

    def __init__(
        self,
        path: str,
        stop: int | None,
        parse: ParseSettings,
        tokeniser: TokeniserSettings | None,
    ) -> None:
        super().__init__(tokeniser)
        self._path, self._stop, self._parse = path, stop, parse

    def range_of(self, element: bytes) -> LogRange:
        return LogRange((0,), None if self._stop is None else (self._stop,))

    def name_of(self, element: bytes) -> Hashable:
        return self._path, self._stop, self._parse

    def open(self, element: bytes, start: Position) -> TailReader:
        return TailReader(self._path, start, self._stop, self._parse)


class ReadTail(beam.PTransform):
    """Read a file that grows; gives :class:`beam_topics.transforms.read.Documents`."""

    def __init__(self, fn: TailDoFn) -> None:
        super().__init__()
        self._fn = fn

    def expand(self, pipeline: Any) -> Documents:
        file = pipeline | "Begin" >> beam.Impulse()
        return break_fusion(documents_of(file, "Follow", self._fn))
