"""Rules of alarms: what is watched, how many false alarms there may be, and where alarms go.

A rule watches topics, or words: the documents of a window that hold a word are judged as those of a
topic are. Each of its groups of documents, and each of its words, is judged by itself.

>>> list(Rule("refunds", groups=("north", "south"), words=("refund",)).watches())
[('north', 'refund'), ('south', 'refund')]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from beam_topics.model.reporting.course import DAY, FALSE_SHARE, LEVEL


@dataclass(frozen=True)
class Rule:
    """A rule.

    Attributes:
        name: Its name; "" for the rule of a run without a file of rules.
        topics: Ids of topics, and names of the catalogue; none for all topics.
        groups: Groups of documents; none for all documents together.
        words: Words, as documents have them; none for topics.
        false_discoveries: The rate of false discoveries among the topics of a window, 0 to 1.
        false_alarms: The false alarms in a hundred days of a topic or word; None for
            :data:`beam_topics.model.reporting.course.LEVEL` a window.
        again_after: The microseconds without a burst after which a topic or word is told again; 0
            for one window.
        to: ``kafka:TOPIC`` or the address of a webhook; "" for where events go.
    """

    name: str = ""
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    false_discoveries: float = FALSE_SHARE
    false_alarms: float | None = None
    again_after: int = 0
    to: str = ""

    def level(self, window: int) -> float:
        """Return the largest probability of a burst in a window of so many microseconds."""
        return LEVEL if self.false_alarms is None else self.false_alarms / 100 * window / DAY

    def watches(self) -> Iterator[tuple[str | None, str | None]]:
        """Yield a group, or None for all, and a word, or None for topics, of all that is judged."""
        for group in self.groups or (None,):
            for word in self.words or (None,):
                yield group, word
