"""The dead letters of a model, by reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks


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
