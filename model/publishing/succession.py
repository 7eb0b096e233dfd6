"""A version's model compared with its parent's: places, ids, changes and events of topics.

**Places.** A version has T places for topics: the columns of its counts, and the proportions of its
mixtures. When another particle is published, its topics may have other numbers.
:func:`match_topics` matches the topics of two models one to one (the Hungarian method) so that the
sum of their similarities is as large as possible, and a topic keeps its place. The similarity of
two topics is the Bhattacharyya coefficient of their word frequencies, sum over w of
sqrt(p(w) q(w)). It is 1 for equal topics and 0 for topics without a common word. Words that only
one model knows add nothing.

**Ids.** A place can get another topic, for example when another particle is published or when a
topic has lost all its tokens. The topic that had it has died then, and the new one is born, with an
id of its own:

    id = place + T * (number of topics that had the place before)

So ids are 0 to T - 1 until a topic dies, no id is used twice, and ``id % T`` is the place.

>>> turn = turned_over([0, 1, 5], np.array([0.9, 0.1, 0.8]), before=[7, 7, 7], after=[9, 9, 0])
>>> turn.ids, turn.born, turn.died
([0, 4, 8], [4], [1, 5])

The topic of a place is another one if its similarity to the one that the parent has there is below
:data:`SAME`. On a stream of three unrelated domains the similarity of topics that continue is .29
or more from the second version on (after 700 documents; .46 and more later), and that of 25
topics which were replaced is .28 or less, of 23 of them .24 or less.

**Changes** are words that enter and leave the first words of a topic. The rank of a word in a topic
is its place in the order of :meth:`beam_topics.model.publishing.snapshot.Snapshot.top_words`, with
1 for the first.

**New words.** There were K tokens of a word among N in all topics together, and k came among n
since the parent. The word is *new* if k is at least K, if its share k / n is at least :data:`NEW`
times K / N, and if it is larger by an exact test of two Poisson counts. Of K + k tokens that are
spread alike over N + n, k or more are among the n with the probability I_q(k, K + 1) of a binomial
distribution with q = n / (N + n). It has to be below :data:`LEVEL`, divided by the number of words
of the version. So less than one version in a hundred has a word that is new by chance. A document
counts a word once: where the learner has documents at hand, k is there at most the number of those
that came since the parent and have the word, and this is :data:`LEAST_NEW` or more. Topics are
counted together because a learner draws topics of the past again: a word that moves from one topic
to another is not new. The counts are those of the models. A word that left the vocabulary counts as
one that never came, and the documents by which ``gibbs`` judges births come when it learns them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.events import (
    BIRTH,
    DEATH,
    FIRST_WORDS,
    LEAST_DOCUMENTS,
    SIMILARITY,
    Event,
    events_from_json,
    renumbered,
)
from beam_topics.model.publishing.snapshot import Snapshot

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Added to the similarity of equal places. It decides only between equally good matchings, for
# example of topics without words, which then keep their places.
_PREFER_OWN_PLACE = 1e-9


def match_topics(previous: Snapshot, new: Snapshot) -> tuple[list[int], FloatArray]:
    """Match the topics of two models one to one.

    Returns:
        The order that gives the topics of ``new`` the places of those of ``previous``: topic
        ``order[i]`` takes place i. And float64[T], how similar the two are, from 0 to 1.

    Raises:
        ValueError: The snapshots have different numbers of topics.
    """
    # Imported here: only a program that publishes needs it.
    from scipy.optimize import linear_sum_assignment

    if previous.topic_count != new.topic_count:
        raise ValueError(
            f"{previous.topic_count} topics cannot be matched one to one with {new.topic_count}"
        )
    similar = similarity(previous, new)
    gains = similar + _PREFER_OWN_PLACE * np.eye(new.topic_count)
    places, order = linear_sum_assignment(gains, maximize=True)
    return [int(topic) for topic in order], similar[places, order]


def reorder(snapshot: Snapshot, order: Sequence[int]) -> Snapshot:
    """Return the same model with its topic ``order[i]`` as topic ``i``."""
    ids = np.empty(len(order), np.int32)
    ids[list(order)] = np.arange(len(order), dtype=np.int32)
    by_word = snapshot.count_rows
    topics = ids[snapshot.topics]
    ascending = np.argsort(by_word * len(order) + topics)
    prior = replace(snapshot.prior, strength=snapshot.prior.strength[list(order)])
    return replace(
        snapshot,
        alpha=snapshot.alpha[list(order)],
        prior=prior,
        topics=topics[ascending],
        counts=snapshot.counts[ascending],
    )


def similarity(previous: Snapshot, new: Snapshot) -> FloatArray:
    """Return the similarities, float64[T, T]: rows are previous topics, columns new ones."""
    rows = previous.known_rows(new.words)
    before = _root_frequencies(previous)[rows[rows >= 0]]
    after = _root_frequencies(new)[rows >= 0]
    return np.asarray((before.T @ after).todense(), np.float64)


def _root_frequencies(snapshot: Snapshot) -> csr_array:
    """Return sparse [W, T]: the square root of n_wz / n_z."""
    from scipy.sparse import csr_array

    topics = snapshot.topics
    values = np.sqrt(snapshot.counts / snapshot.totals[topics])
    shape = len(snapshot.words), snapshot.topic_count
    return csr_array((values, topics, snapshot.offsets), shape=shape)


# The smallest similarity of a topic and the same topic in the parent.
SAME = 0.25


@dataclass(frozen=True)
class Turnover:
    """The ids of a version, and what differs from its parent.

    Attributes:
        ids: The id of each place.
        born: The ids of topics that the parent does not have, in the order of places.
        died: The ids of topics of the parent that the version does not have.
    """

    ids: list[int]
    born: list[int]
    died: list[int]


def turned_over(
    ids: Sequence[int], similarity: FloatArray, before: npt.ArrayLike, after: npt.ArrayLike
) -> Turnover:
    """Return the ids of a version.

    Args:
        ids: The ids of its parent.
        similarity: float64[T], of the topics of each place in the parent and in the version.
        before: The tokens of each topic of the parent; a place without tokens has no topic.
        after: Those of the version.
    """
    had, has = np.asarray(before) > 0, np.asarray(after) > 0
    ended = had & (~has | (similarity < SAME))
    now = [topic + len(ids) * bool(end) for topic, end in zip(ids, ended, strict=True)]
    places = range(len(ids))
    born = [now[z] for z in places if has[z] and (ended[z] or not had[z])]
    return Turnover(now, born, [ids[z] for z in places if ended[z]])


def place_of(topic: int, ids: Sequence[int]) -> int | None:
    """Return the place of a topic among the ids of a version; None if it is not there."""
    place = topic % len(ids)
    return place if ids[place] == topic else None


TOP_WORDS = 10
LEVEL = 0.01
# The least factor by which the share of a new word grows, and the least documents that have it.
NEW, LEAST_NEW = 10.0, 3

# For each word, its rank by the id of the topic, which is a text as in JSON.
Ranks = dict[str, dict[str, int]]


def ranks_of(snapshot: Snapshot, words: Iterable[str], ids: Sequence[int]) -> Ranks:
    """Return the rank of each word in each topic that has it."""
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

    Returns:
        For each such topic: ``topic``; ``entered``, {word: rank now}; and ``left``, {word: rank
        now, or None if the topic no longer has the word}.
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
    before: Snapshot, after: Snapshot, documents: Mapping[str, int] | None = None
) -> list[dict[str, Any]]:
    """Return the new words of a version by the topic that has most of their tokens.

    Args:
        before: The model of the parent.
        after: The model of the version.
        documents: The words that may be new, with the documents that came with each; None if
            documents were not counted.

    Returns:
        For each topic with such words: ``topic``; at most :data:`TOP_WORDS` ``words``, those first
        of which most came; ``came``, k of each; and ``had``, K of each.
    """
    # Imported here, because readers of versions need no test.
    from scipy.special import betainc

    past = float(before.totals.sum())
    n = float(after.totals.sum()) - past
    if n <= 0:
        return []
    now, rows = _word_tokens(after), before.known_rows(after.words)
    had = np.where(rows >= 0, _word_tokens(before)[rows], 0.0)
    came = np.clip(now - had, 0.0, n)
    least = np.maximum(had, NEW * had * n / past) if past else had
    grew = np.flatnonzero((came > 0) & (came >= least))
    counted = came[grew]
    if documents is not None:
        own = np.array([documents.get(after.words[row], 0) for row in grew.tolist()])
        grew, counted = grew[own > 0], np.minimum(counted, own)[own > 0]
    chance = betainc(counted, had[grew] + 1, n / (past + n))
    found: dict[int, dict[str, Any]] = {}
    for row in sorted(
        grew[chance < LEVEL / len(now)].tolist(), key=lambda row: (-came[row], after.words[row])
    ):
        at = slice(after.offsets[row], after.offsets[row + 1])
        topic = int(after.topics[at][after.counts[at].argmax()])
        one = found.setdefault(topic, {"topic": topic, "words": [], "came": [], "had": []})
        if len(one["words"]) < TOP_WORDS:
            one["words"].append(after.words[row])
            one["came"].append(float(came[row]))
            one["had"].append(float(had[row]))
    return [found[topic] for topic in sorted(found)]


def _word_tokens(snapshot: Snapshot) -> FloatArray:
    """Return the tokens of each word, float64[W]."""
    words = len(snapshot.words)
    return np.bincount(snapshot.count_rows, snapshot.counts, words).astype(np.float64)


def _row(snapshot: Snapshot, word: str, likely: int) -> int:
    """Return the row of a word.

    A learner appends new words, so most have the row that they had before. To number the words of a
    new model takes longer than all the rest of a comparison.
    """
    same = likely < len(snapshot.words) and snapshot.words[likely] == word
    return likely if same else snapshot.row_of(word)


def topic_of(ranks: Mapping[str, int]) -> str | None:
    """Return the topic in which a word ranks highest, the first of equals; None if none has it."""
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
        """Match the topics of a candidate."""
        if before is None or ids is None:
            first = list(range(offered.topic_count))
            return cls(None, offered, [], Turnover(first, [], []))
        order, similarity = match_topics(before, offered)
        moved = order != list(range(offered.topic_count))
        after = reorder(offered, order) if moved else offered
        turnover = turned_over(ids, similarity, before.totals, after.totals)
        return cls(before, after, order if moved else [], turnover)

    def stored_ids(self) -> list[int]:
        """Return the ids as a manifest has them: [] if the id of each place is its number."""
        ids = self.turnover.ids
        return [] if ids == list(range(len(ids))) else ids

    def placed(self, counts: Sequence[N]) -> list[N]:
        """Return counts of the candidate's topics by the places of the version."""
        return [counts[topic] for topic in self.order or range(len(counts))]

    def new_words(self, documents: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
        """Return the new words of topics by id; ``documents`` as in :func:`new_words`."""
        if self.before is None:
            return []
        ids = self.turnover.ids
        found = new_words(self.before, self.after, documents)
        return [{**one, "topic": ids[one["topic"]]} for one in found]

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
        """Return the event of births that the learner did not note and that of deaths, if any.

        A topic that dies had as many tokens as some documents of average length.
        """
        reported = {topic for event in noted if event.kind == BIRTH for topic in event.topics}
        born = [topic for topic in self.turnover.born if topic not in reported]
        before = self.before
        least = LEAST_DOCUMENTS * candidate.tokens / max(candidate.documents, 1)
        died = [
            topic
            for topic in self.turnover.died
            if before is not None and before.totals[topic % len(before.totals)] >= least
        ]
        about = Event(
            "",
            by=SIMILARITY,
            particle=candidate.particle,
            sequence=candidate.sequence,
            time=candidate.event_time,
        )
        birth = replace(
            about,
            kind=BIRTH,
            documents=_sum(self.placed(candidate.topic_documents), born),
            tokens=_sum(self.placed(candidate.topic_tokens), born),
            topics=born,
        )
        death = replace(about, kind=DEATH, documents=0, tokens=0, topics=died)
        return [event for event in (birth, death) if event.topics]

    def _with_words(self, event: Event) -> Event:
        def first_words(of: Snapshot | None) -> list[list[str]]:
            words = of.top_words(FIRST_WORDS) if of and event.topics else []
            return [list(words[topic % len(words)]) for topic in event.topics if words]

        after = None if event.kind == DEATH else self.after
        return replace(event, words=first_words(after), words_before=first_words(self.before))


def _sum(counts: Sequence[N], topics: Sequence[int]) -> N:
    return sum(counts[topic % len(counts)] for topic in topics)
