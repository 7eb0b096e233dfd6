"""Dead letters by reason, and files that are added to a folder, each of which is read once.

:class:`RefusedCounts` counts dead letters, and :class:`LabelledWindows` says up to which event time
documents are labelled, by the rows of trends.
"""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.sequencing import REPEATED_ID
from beam_topics.model.errors import BeamTopicsError, DamagedDataError
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.reading.parsing import REASONS
from beam_topics.model.reporting.trends import rows_of_file
from beam_topics.model.stored import checks

# What is read of a file and in one reading, in bytes; a file of ours is little more than 32 MB.
_FILE_BYTES, _READING_BYTES = 2**26, 2**28
# Reasons of dead letters and keys of trends that are told apart.
_MOST_REASONS, _MOST_KEYS = 50, 100
_REASON = re.compile("[a-z_]{1,40}")


class AddedFiles(ABC):
    """The files of a folder.

    Attributes:
        OPTION: The option that names the folder.
        NAMES: The form of the names of the files.
        waiting: The number of files that the next readings take.
    """

    OPTION: ClassVar[str]
    NAMES: ClassVar[re.Pattern[str]]

    def __init__(self, folder: str) -> None:
        self._blobs = blobs_at(folder, self.OPTION)
        self._taken: set[str] = set()
        self.waiting = 0

    def read(self) -> list[str]:
        """Take files that are new, up to 256 MB of them.

        Returns:
            Why a file could not be taken, a line each. It is not read again.

        Raises:
            OptionError: The folder cannot be read.
        """
        names, size, wrong = set(filter(self.NAMES.fullmatch, self._blobs.list(""))), 0, []
        self._taken &= names
        for name in sorted(names - self._taken):
            if size >= _READING_BYTES:
                break
            self._taken.add(name)
            try:
                data = self._blobs.read(name, _FILE_BYTES)
                size += len(data)
                self._take(name, data)
            except (BeamTopicsError, OSError, UnicodeError) as error:
                wrong.append(f"{self.OPTION.strip('-').replace('_', ' ')}: {error}")
        self.waiting = len(names - self._taken)
        return wrong

    @abstractmethod
    def _take(self, name: str, data: bytes) -> None:
        """Take the name and the bytes of a file."""


@dataclass
class Refused:
    """The dead letters of a reason.

    Attributes:
        reason: The reason.
        count: The number of different dead letters.
        source, detail: Of the first one in the order of source and detail.
    """

    reason: str
    count: int
    source: str
    detail: str


def refused(letters: Iterable[tuple[str, bytes]]) -> list[Refused]:
    """Return dead letters by reason, the most frequent first; a letter is its place and its line.

    Equal ones are counted once, because outputs are at least once.

    Raises:
        DamagedDataError: A line is not a dead letter.
    """
    found: dict[str, Refused] = {}
    for place, line in {line: (place, line) for place, line in letters}.values():
        letter = _letter(place, line)
        first = Refused(letter.reason, 0, letter.source, letter.detail)
        one = found.setdefault(letter.reason, first)
        one.count += letter.count
        one.source, one.detail = min((one.source, one.detail), (letter.source, letter.detail))
    return sorted(found.values(), key=lambda one: (-one.count, one.reason))


def _letter(place: str, line: bytes) -> DeadLetter:
    try:
        name = "a dead letter"
        letter = DeadLetter(**checks.record(DeadLetter, checks.parse_json(line, name), name))
        checks.whole(f"field count of {name}", letter.count, 1)
        return letter
    except DamagedDataError as error:
        raise DamagedDataError(
            f"{place} is not a dead letter: {error}. Restore it from a copy."
        ) from error


class RefusedCounts(AddedFiles):
    """The dead letters of a folder by reason.

    Attributes:
        by_reason: How many there are; a file that is removed later stays counted.
    """

    OPTION, NAMES = "--dead_letters", re.compile(r"dead-letters-.*\.jsonl")

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.by_reason = Counter(dict.fromkeys((*REASONS, REPEATED_ID), 0))

    def _take(self, name: str, data: bytes) -> None:
        for one in refused((name, line) for line in io.BytesIO(data)):
            self.by_reason[self._label(one.reason)] += one.count

    def _label(self, reason: str) -> str:
        """Return a reason, or ``other`` for those beyond a number and of another form."""
        full = reason not in self.by_reason and len(self.by_reason) >= _MOST_REASONS
        return "other" if full or not _REASON.fullmatch(reason) else reason


class LabelledWindows(AddedFiles):
    """The newest window of each key in a folder of trends.

    Attributes:
        windows: The end and the start of the newest window by key, in microseconds; of the first
            100 keys.
    """

    OPTION, NAMES = "--trends", re.compile(r"trends-.*\.jsonl")

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.windows: dict[str, tuple[int, int]] = {}

    def _take(self, name: str, data: bytes) -> None:
        for row in rows_of_file(io.BytesIO(data), name):
            key, window = row["key"], (row["window_end"], row["window_start"])
            if key in self.windows or len(self.windows) < _MOST_KEYS:
                self.windows[key] = max(window, self.windows.get(key, window))
