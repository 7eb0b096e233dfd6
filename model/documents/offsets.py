"""Which offsets of a log were learned, and from where a new job reads on.

A document of a log has a *place*: the log, where the run began to read it, and the offsets from the
end of the document before up to its own. Records between two documents hold none, or are dead
letters. So the places of all documents cover the log without gaps, in whatever order they are
learned. Everything below the first gap is learned or in the dead letters.

>>> seen = joined(ranges_of([place("posts/0", 5, 5, 7), place("posts/0", 5, 9, 10)]))
>>> seen, reads_on(seen)
({'posts/0': [[5, 7], [9, 10]]}, {'posts/0': 7})
>>> reads_on(joined(seen, ranges_of([place("posts/0", 5, 7, 9)])))
{'posts/0': 10}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks

# [begin, end) by log, ascending and apart. The first one begins where the log was read first.
Ranges = dict[str, list[list[int]]]
# A gap is as long as a document waits. What lies behind so many is read again.
MOST_RANGES = 1 << 14


def place(log: str, first: int, begin: int, end: int) -> str:
    """Return the place of a document.

    Args:
        log: The name of the log.
        first: The offset at which the run began to read the log.
        begin: The offset behind the document before.
        end: The offset behind the document.
    """
    return f"{first} {begin} {end} {log}"


def ranges_of(places: Iterable[str | None]) -> Ranges:
    """Return the offsets of documents; none where one of them has no place.

    Raises:
        DamagedDataError: A place is something else.
    """
    found: dict[str, list[list[int]]] = {}
    for one in places:
        if one is None:
            return {}
        *numbers, log = one.split(" ", 3)
        if len(numbers) < 3 or not all(number.isdecimal() for number in numbers):
            raise DamagedDataError(f"the place of a document is {one!r}: no offsets and a log")
        first, begin, end = map(int, numbers)
        found.setdefault(log, []).extend(([first, first], [begin, end]))
    return joined(found)


def joined(*parts: Ranges) -> Ranges:
    """Return the offsets of several parts, of each log at most the lowest ranges."""
    found: Ranges = {}
    for log in sorted({log for part in parts for log in part}):
        merged: list[list[int]] = []
        for begin, end in sorted(pair for part in parts for pair in part.get(log, ())):
            if merged and begin <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([begin, end])
        found[log] = merged[:MOST_RANGES]
    return found


def offsets_in(header: dict[str, Any], name: str) -> Ranges:
    """Return the offsets of a stored header; none where it has none.

    Raises:
        DamagedDataError: They are no ascending ranges that are apart.
    """
    ranges: Ranges = header.get("offsets", {})
    if not checks.fits(ranges, Ranges):
        checks.refuse(f"offsets of {name}", repr(ranges), "lists of ranges by log")
    for pairs in ranges.values():
        bounds = [bound for pair in pairs for bound in pair]
        apart = all(a < b for a, b in zip(bounds[1:], bounds[2:], strict=False))
        if not pairs or any(len(pair) != 2 for pair in pairs) or not 0 <= bounds[0] <= bounds[1]:
            checks.refuse(f"offsets of {name}", repr(pairs[:3]), "pairs of a begin and an end")
        if not apart:
            checks.refuse(f"offsets of {name}", repr(pairs[:3]), "ascending ones")
    return ranges


def reads_on(ranges: Ranges) -> dict[str, int]:
    """Return the first offset of each log that is not learned."""
    return {log: pairs[0][1] for log, pairs in ranges.items()}
