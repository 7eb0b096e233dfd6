"""Read files, or messages of a queue, as tokenised documents at their event times.

    patterns -> documents: bytes (Block), dead_letters: bytes (JSON)

:class:`ReadDocuments` reads files of the formats of :mod:`beam_topics.model.reading.files`, on any
file system that Beam knows. A worker reads a file, a part of a large file of JSON lines
(:mod:`beam_topics.model.reading.sources`), or some files of one document each, and many are read in
parallel. With ``time_from="order"`` one worker reads all files in the order of their names.
Beam's own readers are not used: they fail the job on the first damaged byte, or end without an
error where a gzip is cut off.

    (documents, dead_letters) = pipeline | ReadDocuments(
        ["gs://bucket/*.jsonl.gz"], ReadSettings(), TokeniserSettings()
    )

Without a tokeniser it gives the documents with their texts, for an archive. :class:`ParseMessages`
does the same for JSON objects from elsewhere, for example from a queue.

Every step that reads derives from :class:`Emit`. The counter ``records_read`` equals ``documents``
plus all ``dead_<reason>``, and ``tokens`` counts the tokens of the documents. The time of an
element has the precision of the runner. The document has the exact time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.io.filesystem import BeamIOError, CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from beam_topics.model.documents.block import Gathering
from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError
from beam_topics.model.files import folder_of, is_local, matching_files
from beam_topics.model.learner_log.progress import counted
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.parsing import REASONS, not_future, parse_line
from beam_topics.model.reading.settings import SMALL, ParseSettings, ReadSettings
from beam_topics.model.reading.sources import (
    LEAST,
    Part,
    check_formats,
    format_of,
    has_parts,
    parts_of,
)
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser, check_tokeniser
from beam_topics.transforms.shared import DEAD_LETTERS, NAMESPACE, EventTime, Refusals, Wordless

DOCUMENTS = "documents"
# Thousands of files of one document each take long as elements of their own.
_MOST_FILES = 64
# Records of the next file are numbered from its next multiple on, and those of a part from its
# first byte on.
_MOST_RECORDS = 1 << 40
# The place of a file among all files, its path, and the part that is read; None for all of it.
_Piece = tuple[int, str, Part | None]


class Documents(NamedTuple):
    """Documents, and dead letters as UTF-8 JSON: the outputs of the steps that read or route."""

    documents: beam.PCollection
    dead_letters: beam.PCollection


def check_patterns(
    patterns: Sequence[str], settings: ReadSettings, option: str = "--input"
) -> list[str]:
    """Return the files that the patterns match now, sorted and without duplicates.

    Args:
        patterns: Paths or globs.
        settings: How the files are read.
        option: The option that gives the patterns, for messages.

    Raises:
        OptionError: A pattern matches nothing or cannot be looked up, the name of a file does not
            say its format, or an encoding is given that no file uses.
    """
    return list(_sizes(patterns, settings, option))


def _sizes(
    patterns: Sequence[str], settings: ReadSettings, option: str = "--input"
) -> dict[str, int]:
    """Return the files of :func:`check_patterns` in their order, and the bytes of each."""
    if not patterns:
        raise OptionError(
            option, "", "one or more paths or globs", "Give for example data/*.jsonl.gz."
        )
    files = {path: size for one in patterns for path, size in _matched(one, option)}
    check_formats(files, settings, option)
    # However a path is written, the files have one order.
    return {path: files[path] for path in sorted(files, key=os.path.abspath)}


def _matched(pattern: str, option: str) -> list[tuple[str, int]]:
    if is_local(pattern):
        return [(path, Path(path).stat().st_size) for path in matching_files(pattern, option)]
    allowed = "a path or a glob that matches at least one file"
    try:
        (result,) = FileSystems.match([pattern])
    except (BeamIOError, ValueError) as error:
        raise OptionError(option, pattern, allowed, f"It cannot be looked up: {error}.") from error
    if not result.metadata_list:
        remedy = "Check the spelling, and that the files are there; a folder needs a trailing /*."
        raise OptionError(option, pattern, allowed, remedy)
    return [(found.path, found.size_in_bytes) for found in result.metadata_list]


def open_stored(path: str) -> BinaryIO:
    """Open a file with its bytes as stored: this project unzips itself, so that damage is seen."""
    stream: BinaryIO = FileSystems.open(path, compression_type=CompressionTypes.UNCOMPRESSED)
    return stream


class Emit(beam.DoFn):
    """Emit documents at their event times and dead letters to a side output, and count both.

    Args:
        tokeniser: The settings of the tokeniser. None emits documents with their texts, each alone.
    """

    def __init__(self, tokeniser: TokeniserSettings | None) -> None:
        if tokeniser is not None:
            check_tokeniser(tokeniser)
        self._tokeniser_settings = tokeniser
        self._tokeniser: Tokeniser | None = None
        self._records = Metrics.counter(NAMESPACE, "records_read")
        self._documents = Metrics.counter(NAMESPACE, "documents")
        self._tokens = Metrics.counter(NAMESPACE, "tokens")
        self._event_time = EventTime("read")
        self._refusals = Refusals(REASONS)
        self._wordless = Wordless()

    def setup(self) -> None:
        if self._tokeniser_settings is not None:
            self._tokeniser = Tokeniser(self._tokeniser_settings)

    def start_bundle(self) -> None:
        self._event_time.start_bundle()
        self._wordless.begin()

    def emit(self, item: Document | DeadLetter, dead_time: Timestamp | None = None) -> Any:
        """Return the output for an item.

        Args:
            item: A document or a dead letter.
            dead_time: The event time of a dead letter. None gives it the time of the element that
                it came from.
        """
        if isinstance(item, DeadLetter):
            self._records.inc(item.count)
            return self._refusals.refuse(item, dead_time)
        if self._tokeniser is not None:
            return self._block([self._tokeniser.with_key(item)])
        self._records.inc()
        self._documents.inc()
        self._event_time.reached(item.timestamp)
        return TimestampedValue(item.to_bytes(), Timestamp(micros=item.timestamp))

    def emit_all(self, items: Iterable[Document | DeadLetter]) -> Iterator[Any]:
        """Yield the outputs for the items of a file."""
        self._wordless.begin()
        gathering = self.gathering()
        for item in items:
            yield from self.gather(gathering, item)
        yield from self.rest(gathering)

    def gathering(self) -> Gathering | None:
        """Return what holds documents until their block is full; None if each is alone."""
        return None if self._tokeniser is None else Gathering()

    def gather(
        self,
        gathering: Gathering | None,
        item: Document | DeadLetter,
        dead_time: Timestamp | None = None,
    ) -> Iterator[Any]:
        """Yield the outputs that end with an item, which may wait for others in its block.

        Args:
            gathering: What waits; None emits the item at once.
            item: A document or a dead letter.
            dead_time: As of :meth:`emit`.
        """
        if gathering is None or isinstance(item, DeadLetter):
            yield self.emit(item, dead_time)
        else:
            assert self._tokeniser is not None, "documents are emitted with their texts"
            yield from map(self._block, gathering.add(self._tokeniser.with_key(item)))

    def rest(self, gathering: Gathering | None) -> Iterator[Any]:
        """Yield the outputs for what waits."""
        if gathering is not None:
            yield from map(self._block, gathering.rest())

    def _block(self, documents: Sequence[Document]) -> TimestampedValue:
        """Return documents at the earliest of their times, and count them."""
        assert self._tokeniser is not None, "documents are emitted with their texts"
        self._records.inc(len(documents))
        self._documents.inc(len(documents))
        block = self._tokeniser.block(documents)
        self._tokens.inc(len(block.tokens))
        for row in np.flatnonzero(block.lengths == 0).tolist():
            self._wordless.add(documents[row].text, self._tokeniser.settings)
        self._event_time.reached(int(block.timestamps.max()))
        return TimestampedValue(block.to_bytes(), Timestamp(micros=int(block.timestamps.min())))


class _ReadFiles(Emit):
    """Read files, given by their paths, or all files one after the other.

    In the order of files, the number of a record is its time.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        settings: ReadSettings,
        tokeniser: TokeniserSettings | None,
    ) -> None:
        super().__init__(tokeniser)
        self._patterns, self._folder = patterns, folder_of(patterns)
        self._settings = settings

    def process(self, element: Any) -> Iterator[Any]:
        in_order = self._settings.time_from == "order"
        pieces: Iterable[_Piece] = (
            [(0, path, None) for path in check_patterns(self._patterns, self._settings)]
            if in_order
            else [(n, path, part and Part(*part)) for n, path, part in json.loads(element)]
        )
        yield from self.emit_all(counted(self._items(pieces), Document))

    def _items(self, pieces: Iterable[_Piece]) -> Iterator[Document | DeadLetter]:
        number = 0
        for place, path, part in pieces:
            number = max(number, place * _MOST_RECORDS + (part.begin if part else 0))
            with open_stored(path) as stream:
                for item in read_file(stream, path, self._settings, number, self._folder, part):
                    yield item
                    number += item.count if isinstance(item, DeadLetter) else 1


class _ParseMessage(Emit):
    """Parse one JSON object."""

    def __init__(
        self,
        source: str,
        settings: ParseSettings,
        tokeniser: TokeniserSettings | None,
        max_future: int | None,
    ) -> None:
        super().__init__(tokeniser)
        self._source = source
        self._settings = settings
        self._max_future = max_future

    def process(self, element: bytes, came: Timestamp = beam.DoFn.TimestampParam) -> Iterator[Any]:
        item = parse_line(element, self._source, self._settings)
        if isinstance(item, Document):
            item.arrived = came.micros
        yield self.emit(not_future(item, element, self._source, came.micros, self._max_future))


def _groups(_: bytes, patterns: Sequence[str], settings: ReadSettings) -> Iterator[str]:
    """Yield, as JSON, the pieces that one worker reads."""
    small = []
    for place, (path, size) in enumerate(_sizes(patterns, settings).items()):
        if format_of(path, settings) in SMALL:
            small.append((place, path, None))
        else:
            is_large = size > LEAST and format_of(path, settings) == "jsonl"
            for part in _parts(path, settings) if is_large else [None]:
                yield json.dumps([(place, path, part)])
    for at in range(0, len(small), _MOST_FILES):
        yield json.dumps(small[at : at + _MOST_FILES])


def _parts(path: str, settings: ReadSettings) -> Iterable[Part | None]:
    """Return the parts of a file; None stands for all of it."""
    with open_stored(path) as stream:
        return list(parts_of(stream)) if has_parts(stream, settings) else [None]


class ReadDocuments(beam.PTransform):
    """Read files as documents; gives :class:`Documents`.

    Check the patterns first, with :func:`check_patterns`.

    Args:
        patterns: Paths or globs.
        settings: How the files are read.
        tokeniser: The settings of the tokeniser. None gives bytes of Document, with the texts, each
            at its time. Otherwise documents come in blocks
            (:mod:`beam_topics.model.documents.block`), at the earliest of their times.
    """

    def __init__(
        self,
        patterns: Sequence[str],
        settings: ReadSettings,
        tokeniser: TokeniserSettings | None,
    ) -> None:
        super().__init__()
        self._patterns, self._settings = tuple(patterns), settings
        self._fn = _ReadFiles(self._patterns, settings, tokeniser)

    def expand(self, pipeline: Any) -> Documents:
        begin = pipeline | "Begin" >> beam.Impulse()
        if self._settings.time_from == "order":
            return documents_of(begin, "ReadInOrder", self._fn)
        paths = (
            begin
            | "Files"
            >> beam.FlatMap(_groups, self._patterns, self._settings).with_output_types(str)
            | "Spread" >> beam.Reshuffle().with_output_types(str)
        )
        return documents_of(paths, "ReadFiles", self._fn)


class ParseMessages(beam.PTransform):
    """Parse JSON objects (bytes) as tokenised documents; gives :class:`Documents`.

    Args:
        source: The origin of the objects, as dead letters name it.
        settings: How the objects are parsed.
        tokeniser: The settings of the tokeniser.
        max_future: How much later than its element a document may be, in microseconds; None for any
            time. Others become dead letters.

    Raises:
        OptionError: Ids are to come from the place of a record, which a message does not have.
    """

    def __init__(
        self,
        source: str,
        settings: ParseSettings,
        tokeniser: TokeniserSettings,
        max_future: int | None = None,
    ) -> None:
        super().__init__()
        if settings.id_from == "place":
            allowed = "field for messages, which have no place that stays the same"
            raise OptionError(
                "--id_from",
                settings.id_from,
                allowed,
                "Give each message an id, and name its field with --id_field.",
            )
        self._fn = _ParseMessage(source, settings, tokeniser, max_future)

    def expand(self, messages: beam.PCollection) -> Documents:
        return documents_of(messages, "Parse", self._fn)


def documents_of(
    source: beam.PCollection, name: str, fn: beam.DoFn, kind: Any = bytes
) -> Documents:
    """Apply a step that gives documents and dead letters, and return both outputs.

    Args:
        source: What the step is applied to.
        name: The name of the step.
        fn: The step.
        kind: The type of its documents.
    """
    typed = beam.ParDo(fn).with_output_types(kind, **{DEAD_LETTERS: bytes})
    both = source | name >> typed.with_outputs(DEAD_LETTERS, main=DOCUMENTS)
    return Documents(both[DOCUMENTS], both[DEAD_LETTERS])
