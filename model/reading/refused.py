"""Report how much of the input of a run could not be used, why, and one example.

A step that refuses records counts them by reason. It keeps one example of each reason, the one
whose place comes first (:meth:`Example.order`). The same input therefore gives the same report,
however it was distributed.

>>> letter = DeadLetter("a.jsonl:2", "missing_text", "the field 'text' is missing", '{"id": "b"}')
>>> report = refused({"records_read": 3, "dead_missing_text": 2}, [Example.of(letter).to_json()])
>>> report.share, report.reason, report.example.source
('2 of 3', 'missing_text', 'a.jsonl:2')
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.sequencing import REPEATED_ID
from beam_topics.model.reading.parsing import REASONS
from beam_topics.model.stored import wire

# The reason of a document whose key has no model in this run.
UNKNOWN_KEY = "unknown_key"

_SOURCE, _DETAIL, _RECORD = 300, 500, 200
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True)
class Example:
    """A dead letter, cut to the length of a message."""

    source: str
    reason: str
    detail: str
    record: str

    @classmethod
    def of(cls, letter: DeadLetter) -> Example:
        """Cut a dead letter. The end of a long source is kept, because the place is there."""
        detail, record = _cut(letter.detail, _DETAIL), _cut(letter.record, _RECORD)
        return cls(letter.source[-_SOURCE:], letter.reason, detail, record)

    def to_json(self) -> str:
        """Return the example as JSON, for a metric of strings."""
        return wire.canonical_json(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Example:
        """Read the text that :meth:`to_json` wrote."""
        return cls(**json.loads(text))

    def order(self) -> tuple[list[tuple[str, int]], str, str]:
        """Return a sort key by file and place, with numbers as numbers: line 9 before line 10."""
        parts = _DIGITS.split(self.source)
        return (
            [("", int(part)) if at % 2 else (part, 0) for at, part in enumerate(parts)],
            self.detail,
            self.record,
        )


@dataclass(frozen=True, slots=True)
class Refused:
    """What could not be used.

    Attributes:
        read: The number of records that were read.
        refused: The number of those that could not be used.
        used: The number of those that were used. Records of a key without a model count as neither.
        reason: The most frequent reason, the first in the alphabet of several.
        count: The number of records with this reason.
        example: A record with this reason; None if the runner reports none.
    """

    read: int
    refused: int
    used: int
    reason: str
    count: int
    example: Example | None

    @property
    def share(self) -> str:
        """Return the share as text, for example ``2 of 3``."""
        return f"{self.refused:,} of {self.read:,}"

    @property
    def is_failure(self) -> bool:
        """Return whether nothing, or less than half, could be used."""
        return self.used <= 0 or 2 * self.refused > self.read


def refused(counted: Mapping[str, int], examples: Iterable[str]) -> Refused | None:
    """Return what the counters and examples of a run say; None if nothing was refused.

    Args:
        counted: Counters by name: ``records_read`` and ``dead_<reason>``.
        examples: Results of :meth:`Example.to_json`.
    """
    by_reason = {reason: counted.get(f"dead_{reason}", 0) for reason in (*REASONS, REPEATED_ID)}
    total, read = sum(by_reason.values()), counted.get("records_read", 0)
    by_reason[UNKNOWN_KEY] = elsewhere = counted.get(f"dead_{UNKNOWN_KEY}", 0)
    if not total + elsewhere or not read:
        return None
    reason = min(by_reason, key=lambda name: (-by_reason[name], name))
    used, example = read - total - elsewhere, first_example(reason, examples)
    return Refused(read, total, used, reason, by_reason[reason], example)


def most_refused(
    counted: Mapping[str, Mapping[str, int]], examples: Mapping[str, Iterable[str]]
) -> Refused | None:
    """Return what was refused if a run, or one of its inputs, used nothing or less than half.

    Args:
        counted: Counters by name for each step. A step reads one input.
        examples: Results of :meth:`Example.to_json` for each step.
    """
    total: Counter[str] = Counter()
    for counters in counted.values():
        total.update(counters)
    steps = [(counters, examples.get(step, ())) for step, counters in sorted(counted.items())]
    everything = (total, [example for each in examples.values() for example in each])
    found = (refused(*each) for each in (everything, *steps))
    return next((one for one in found if one is not None and one.is_failure), None)


def first_example(reason: str, examples: Iterable[str]) -> Example | None:
    """Return the first example of a reason by file and place."""
    known = [example for example in map(Example.from_json, examples) if example.reason == reason]
    return min(known, key=Example.order, default=None)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
