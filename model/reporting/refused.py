"""The dead letters of a model, by reason."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.sequencing import REPEATED_ID
from beam_topics.model.errors import BeamTopicsError, DamagedDataError
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.reading.parsing import REASONS
from beam_topics.model.stored import checks

_FILE, _REASON = re.compile(r"dead-letters-.*\.jsonl"), re.compile("[a-z_]{1,40}")
# What is read of a file and in one reading, in bytes; a file of ours is little more than 32 MB.
_FILE_BYTES, _READING_BYTES, _MOST_REASONS = 2**26, 2**28, 50


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


class RefusedCounts:
    """Counts the dead letters of a folder by reason, while files are added to it.

    Attributes:
        by_reason: How many there are; a file that is removed later stays counted.
        waiting: The number of files that the next readings count.
    """

    def __init__(self, folder: str) -> None:
        self._blobs = blobs_at(folder, "--dead_letters")
        self._counted: set[str] = set()
        self.by_reason = Counter(dict.fromkeys((*REASONS, REPEATED_ID), 0))
        self.waiting = 0

    def read(self) -> list[str]:
        """Count files that are new, up to 256 MB of them.

        Returns:
            Why a file could not be counted, a line each. It is not read again.

        Raises:
            OptionError: The folder cannot be read.
        """
        names, size, wrong = set(filter(_FILE.fullmatch, self._blobs.list(""))), 0, []
        self._counted &= names
        for name in sorted(names - self._counted):
            if size >= _READING_BYTES:
                break
            self._counted.add(name)
            try:
                data = self._blobs.read(name, _FILE_BYTES)
                size += len(data)
                for one in refused((name, line) for line in io.BytesIO(data)):
                    self.by_reason[self._label(one.reason)] += one.count
            except (BeamTopicsError, OSError, UnicodeError) as error:
                wrong.append(f"dead letters: {error}")
        self.waiting = len(names - self._counted)
        return wrong

    def _label(self, reason: str) -> str:
        """Return a reason, or ``other`` for those beyond a number and of another form."""
        full = reason not in self.by_reason and len(self.by_reason) >= _MOST_REASONS
        return "other" if full or not _REASON.fullmatch(reason) else reason


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
