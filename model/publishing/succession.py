"""The model of a version beside that of its parent: places, ids, changes and events of topics.

Topics are matched with those of the parent (:mod:`model.publishing.alignment`), so they keep their
places. The topics of places that are too different get new ids (:mod:`model.publishing.topic_ids`);
the others keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from model.events import (
    BIRTH,
    DEATH,
    DOCUMENT_IDS,
    FIRST_WORDS,
    TOPICS_REPLACED,
    Event,
    events_from_json,
    renumbered,
)
from model.publishing.alignment import match_topics, reorder
from model.publishing.candidates import Candidate
from model.publishing.topic_changes import changes, new_words
from model.publishing.topic_ids import Turnover, turned_over
from model.snapshot import Snapshot

N = TypeVar("N", int, float)


@dataclass(frozen=True, eq=False)
class Succession:
    """A model and the one before it.

    Attributes:
        before: The model of the parent; None for the first version.
        after: The model of the version, in the places of the parent's topics.
        order: The permutation of the candidate's topics that gives these places; [] for none.
        turnover: The ids of the version, births and deaths.
    """

    before: Snapshot | None
    after: Snapshot
    order: list[int]
    turnover: Turnover

    @classmethod
    def of(
        cls, before: Snapshot | None, ids: Sequence[int] | None, offered: Snapshot
    ) -> Succession:
        """Match the topics of a candidate.

        Args:
            before: The model of the parent; None for the first version.
            ids: The ids of the parent's topics; None for the first version.
            offered: The model of the candidate.
        """
        if before is None or ids is None:
            first = list(range(offered.topic_count))
            return cls(None, offered, [], Turnover(first, [], []))
        order, similarity = match_topics(before, offered)
        moved = order != list(range(offered.topic_count))
        after = reorder(offered, order) if moved else offered
        turnover = turned_over(ids, similarity, before.totals, after.totals)
        return cls(before, after, order if moved else [], turnover)

    def placed(self, counts: Sequence[N] | None) -> list[N] | None:
        """Return counts of the candidate's topics by the places of the version."""
        if counts is None:
            return None
        return [counts[topic] for topic in self.order or range(len(counts))]

    def changes(self) -> list[dict[str, Any]]:
        """Return the words that entered and left topics, by id; births and deaths are none."""
        if self.before is None:
            return []
        ids = self.turnover.ids
        turned = {topic % len(ids) for topic in self.turnover.born + self.turnover.died}
        return [
            {**one, "topic": ids[one["topic"]]}
            for one in self._changed
            if one["topic"] not in turned
        ]

    @cached_property
    def _changed(self) -> list[dict[str, Any]]:
        return [] if self.before is None else changes(self.before, self.after)

    def new_words(self, came: Sequence[float] | None) -> list[dict[str, Any]]:
        """Return the new words of topics by id; a topic that was born has none.

        Args:
            came: The tokens that came to each topic of the candidate; None if it is not known.
        """
        if self.before is None or came is None:
            return []
        found = new_words(self.before, self.after, self._changed, self.placed(came) or [])
        ids, born = self.turnover.ids, set(self.turnover.born)
        named = [{**one, "topic": ids[one["topic"]]} for one in found]
        return [one for one in named if one["topic"] not in born]

    def events(self, candidate: Candidate) -> list[dict[str, Any]]:
        """Return what the learner noted under the ids of the version, then births and deaths."""
        ids, topics = self.turnover.ids, self.after.topic_count
        place = {topic: number for number, topic in enumerate(self.order or range(topics))}
        numbers = [ids[place[topic]] for topic in range(topics)]
        noted = [
            renumbered(event, numbers)
            for event in events_from_json(candidate.events, "events of a candidate")
        ]
        return [
            self._with_words(event).to_json() for event in noted + self._turns(candidate, noted)
        ]

    def _turns(self, candidate: Candidate, noted: Sequence[Event]) -> list[Event]:
        """Return the event of births and that of deaths, where there are any."""
        came = [
            self.placed(counts) for counts in (candidate.topic_documents, candidate.topic_tokens)
        ]
        found = []
        for kind, topics in ((BIRTH, self.turnover.born), (DEATH, self.turnover.died)):
            if topics:
                documents, tokens = (_sum(counts, topics) for counts in came)
                found.append(
                    Event(
                        kind,
                        documents if kind == BIRTH else 0,
                        tokens if kind == BIRTH else 0,
                        topics,
                        "similarity",
                        ids=_of_documents(noted, topics) if kind == BIRTH else [],
                        particle=candidate.particle,
                        sequence=candidate.sequence,
                        time=candidate.event_time,
                    )
                )
        return found

    def _with_words(self, event: Event) -> Event:
        places = [topic % self.after.topic_count for topic in event.topics]
        return replace(
            event,
            words=[] if event.kind == DEATH else _first_words(self.after, places),
            words_before=_first_words(self.before, places) if self.before else [],
        )


def _of_documents(noted: Sequence[Event], born: Sequence[int]) -> list[str]:
    """Return documents of the last duel that made some of the topics."""
    made = (e for e in reversed(noted) if e.kind == TOPICS_REPLACED and {*e.topics} & {*born})
    return next((event.ids for event in made), [])[:DOCUMENT_IDS]


def _sum(counts: Sequence[N] | None, topics: Sequence[int]) -> Any:
    return None if counts is None else sum(counts[topic % len(counts)] for topic in topics)


def _first_words(snapshot: Snapshot, places: Sequence[int]) -> list[list[str]]:
    words = snapshot.top_words(FIRST_WORDS) if places else []
    return [list(words[place]) for place in places]
