"""The model of a version beside that of its parent: places, ids, changes and events of topics.

Topics are matched with those of the parent (:mod:`model.publishing.alignment`), so they keep their
places. The topics of places that are too different get new ids (:mod:`model.publishing.alignment`);
the others keep theirs.

How topics change: words that enter and leave their top words, new words, and ranks of words.

The rank of a word in a topic is its place in the order of
:meth:`model.snapshot.Snapshot.top_words`, with 1 for the first. Topics have the places of the
version before (:mod:`model.publishing.alignment`), so the changes are changes within a topic.

A word that entered is *new* if its share in what came to the topic is larger than its share in the
topic's whole past, by an exact test of two Poisson counts. The topic had K tokens of the word among
N, and k came among n. Of K + k tokens that are spread alike over N + n, k or more are among the n
with the probability I_q(k, K + 1) of a binomial distribution with q = n / (N + n). It has to be
below :data:`LEVEL`, divided by the number of words and topics of the version. So less than one
version in a hundred has a word that is new by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

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
from model.publishing.alignment import Turnover, match_topics, reorder, turned_over
from model.publishing.candidates import Candidate
from model.snapshot import Snapshot

TOP_WORDS = 10
LEVEL = 0.01

# For each word, its rank by the id of the topic, which is a text as in JSON.
Ranks = dict[str, dict[str, int]]


def ranks_of(snapshot: Snapshot, words: Iterable[str], ids: Sequence[int]) -> Ranks:
    """Return the rank of each word in each topic that has it.

    Args:
        snapshot: The model.
        words: The words.
        ids: The ids of the topics by place.
    """
    rows = {word: snapshot.row_of(word) for word in words}
    ranks = {word: [_rank(snapshot, row, z) for z in range(len(ids))] for word, row in rows.items()}
    return {
        word: {str(topic): rank for topic, rank in zip(ids, some, strict=True) if rank}
        for word, some in ranks.items()
    }


def _rank(snapshot: Snapshot, row: int, topic: int) -> int | None:
    """Return the rank of the word of a row in a topic."""
    offsets, rows, counts = snapshot.by_topic
    part = slice(offsets[topic], offsets[topic + 1])
    rows, counts = rows[part], counts[part]
    at = int(np.searchsorted(rows, row))
    if at == len(rows) or rows[at] != row:
        return None
    ahead = np.count_nonzero(counts > counts[at]) + np.count_nonzero(counts[:at] == counts[at])
    return 1 + int(ahead)


def changes(before: Snapshot, after: Snapshot, count: int = TOP_WORDS) -> list[dict[str, Any]]:
    """Return the topics whose first ``count`` words are other words than before.

    A topic that only changed the order of its first words is left out.

    Args:
        before: The previous version.
        after: The new version.
        count: The number of first words to compare.

    Returns:
        For each such topic: ``topic``; ``entered``, {word: rank now}; and ``left``, {word: rank
        now, or None if the topic does not have the word any more}.
    """
    found = []
    firsts = zip(before.top_rows(count), after.top_rows(count), strict=True)
    for topic, (old, new) in enumerate(firsts):
        rows = {before.words[row]: row for row in old}
        ranks = {after.words[row]: rank for rank, row in enumerate(new, 1)}
        entered = {word: rank for word, rank in ranks.items() if word not in rows}
        left = {
            word: _rank(after, _row(after, word, row), topic)
            for word, row in rows.items()
            if word not in ranks
        }
        if entered or left:
            found.append({"topic": topic, "entered": entered, "left": left})
    return found


def new_words(
    before: Snapshot, after: Snapshot, changed: Sequence[Mapping[str, Any]], came: Sequence[float]
) -> list[dict[str, Any]]:
    """Return the topics that have new words, each with its ``topic`` and ``words``.

    Args:
        before: The previous version.
        after: The new version.
        changed: The result of :func:`changes`.
        came: The tokens that came to each topic since the previous version.
    """
    # Imported here, because readers of versions need no test.
    from scipy.special import betainc

    level, found = LEVEL / (len(after.words) * after.topic_count), []
    for one in changed:
        topic, words = one["topic"], []
        n, past = float(came[topic]), float(before.totals[topic])
        for word in one["entered"]:
            row = after.row_of(word)
            had = _count(before, _row(before, word, row), topic)
            k = min(_count(after, row, topic) - had, n)
            if k > 0 and betainc(k, had + 1, n / (past + n)) < level:
                words.append(word)
        if words:
            found.append({"topic": topic, "words": words})
    return found


def _count(snapshot: Snapshot, row: int, topic: int) -> float:
    """Return the tokens that a topic has of the word of a row."""
    if row < 0:
        return 0.0
    entries = slice(snapshot.offsets[row], snapshot.offsets[row + 1])
    return float(snapshot.counts[entries][snapshot.topics[entries] == topic].sum())


def _row(snapshot: Snapshot, word: str, likely: int) -> int:
    """Return the row of a word.

    A learner appends new words, so most have the row that they had before. To number the words of a
    new model takes longer than all the rest of a comparison.
    """
    same = likely < len(snapshot.words) and snapshot.words[likely] == word
    return likely if same else snapshot.row_of(word)


def topic_of(ranks: Mapping[str, int]) -> str | None:
    """Return the topic in which a word ranks highest, of equals the one with the smallest id.

    It is None if no topic has the word.
    """
    return min(ranks, key=lambda topic: (ranks[topic], int(topic)), default=None)


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
