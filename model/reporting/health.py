"""The health of a run: dead letters by reason, with an example of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from model import checks
from model.errors import DamagedDataError


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
    """Return dead letters by reason, the most frequent first.

    Equal ones are counted once, because outputs are at least once.

    Args:
        letters: The place of each line, for messages, and the line.

    Raises:
        DamagedDataError: A line is not a dead letter.
    """
    found: dict[str, Refused] = {}
    for place, line in {line: (place, line) for place, line in letters}.values():
        letter = _letter(place, line)
        one = found.setdefault(
            letter["reason"], Refused(letter["reason"], 0, letter["source"], letter["detail"])
        )
        one.count += 1
        if (letter["source"], letter["detail"]) < (one.source, one.detail):
            one.source, one.detail = letter["source"], letter["detail"]
    return sorted(found.values(), key=lambda one: (-one.count, one.reason))


def _letter(place: str, line: bytes) -> dict[str, Any]:
    values = checks.parse_json(line, place)
    fields = ("source", "reason", "detail")
    if not isinstance(values, dict) or not all(isinstance(values.get(f), str) for f in fields):
        raise DamagedDataError(f"{place} is not a dead letter. Restore it from a copy.")
    return values
