"""The dead letters of a model, by reason."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.sequencing import REPEATED_ID
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.parsing import REASONS
from beam_topics.model.reporting.added_files import AddedFiles
from beam_topics.model.stored import checks

_FILE, _REASON = re.compile(r"dead-letters-.*\.jsonl"), re.compile("[a-z_]{1,40}")
_MOST_REASONS = 50


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
    """

    def __init__(self, folder: str) -> None:
        self._files = AddedFiles(folder, "--dead_letters", _FILE, self._take)
        self.by_reason = Counter(dict.fromkeys((*REASONS, REPEATED_ID), 0))

    @property
    def waiting(self) -> int:
        """The number of files that the next readings count."""
        return self._files.waiting

    def read(self) -> list[str]:
        """Count files that are new; see :meth:`AddedFiles.read`."""
        return self._files.read()

    def _take(self, name: str, data: bytes) -> None:
        for one in refused((name, line) for line in io.BytesIO(data)):
            self.by_reason[self._label(one.reason)] += one.count

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
