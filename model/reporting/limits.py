"""How much a report holds, so that its page stays small: at most 5 MB for 50 topics."""

from __future__ import annotations

from dataclasses import dataclass

_TOPICS = 50


@dataclass(frozen=True)
class Limits:
    """How much a report holds.

    Attributes:
        words: Words of each topic at each place of the slider, and by FREX.
        ranked: Words of each topic whose ranks are followed.
        typical: Typical documents of each topic.
        sample: Further documents.
        near: Topics that are named as near to one.
        points: Points of a curve; more versions are added up.
        models: Versions whose models are read for ranks.
        text: Characters of a document's text.
        name: Characters of a word, an id or a title.
        events: Events, the last ones.
        changed: Words of a topic that are named as new in a period.
    """

    words: int = 30
    ranked: int = 8
    typical: int = 10
    sample: int = 1000
    near: int = 5
    points: int = 200
    models: int = 24
    text: int = 1200
    name: int = 200
    events: int = 200
    changed: int = 10

    @classmethod
    def of(cls, topics: int) -> Limits:
        """Return the limits for a number of topics; more topics have less room each."""
        room = min(1.0, _TOPICS / max(1, topics))
        return cls(
            words=max(10, round(30 * room)),
            ranked=max(3, round(8 * room)),
            typical=max(3, round(10 * room)),
            points=max(50, round(200 * room)),
        )


def shortened(text: str, most: int) -> str:
    """Return a text that is cut to so many characters, and says how many it had.

    >>> shortened("abcdef", 3)
    'abc… (6 characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
