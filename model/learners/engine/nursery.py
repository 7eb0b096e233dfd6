"""What births need besides the model, the stream at a minibatch, and which topics have ended.

A document has a *mark*: how many came before it. Marks of the documents at hand ascend, so a
document is found by its mark wherever it stands.

*Endings*. A document is *about* a topic if more than .4 of its tokens have it. Posts of other
groups hold a topic with less, a quarter as often as those of its own group, so a smaller share
would never show an end. Documents that wait are not counted. r is the rate of such documents, with
a half-life of 1,700 documents. A topic is *settled* once its documents count as 600 with this
half-life, some 900 of the stream after its birth. A topic is *known* if ten of these documents are
about it: what fewer documents hold is not reported.

H0 of a known topic: its rate is at least r / 2. A document that is about it adds ln(1/6) to a sum,
and any other adds

    ln[(1 - r/12) / (1 - r/2)],

but the sum does not fall below 0: it is a CUSUM, the log likelihood ratio of a rate of r/12 to one
of r/2 since some document. Documents under a sum above 0 are not part of r until the sum is 0
again, so r is the rate from before the silence. Above 10 nats, and after 850 documents, the topic
*seems* to end. Where the rate is exactly r/2, the mean time until then is e^10 = 22,000 documents;
where it is r, it is far longer.

A young model dissolves some of its topics, and topics merge: what documents were about is not what
they are about today. A topic that seems to end has *ended* if the sum since its silence also
exceeds 10 nats by what the documents at hand are about today; else their share before is r.

An ended topic stays in the model, so that a subject that returns takes it again. Above ln 100, the
mirror sum says that it is back: a false return costs only an id. A birth that needs an id takes
that of the topic that ended first.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from beam_topics.model.learners.engine.candidates import HOLDS, Candidate, Gain, Names
from beam_topics.model.learners.engine.settings import LocalBirths
from beam_topics.model.learners.engine.snapshots import Past, kinds_of, texts_of
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.publishing.events import BIRTH, DEATH, DOCUMENT_IDS, LEAST_DOCUMENTS, Event

# The share of a document that is about a topic; the half-life of r in documents.
ABOUT, HALF_LIFE = 0.4, 1700
# Documents, with the half-life, before a topic is settled.
SETTLED = 600
# The ratio of the two rates; nats of an end, and its documents; nats of a return.
RATIO, END, SILENT, BACK = 6.0, 10.0, 850, math.log(100)
# The figures of a topic.
FIGURES = 5


@dataclass(eq=False)
class Endings:
    """Which topics have ended, and how often documents are about each.

    Args:
        most: topics that there can be.

    Attributes:
        figures: float64[5, most], of each topic: documents about it and all documents, with the
            half-life; the same two under a sum above 0; the sum. 0 of topics that are not born.
        ended: the topics that have ended, the first one first.
    """

    most: int
    figures: Array = field(init=False)
    ended: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.figures = np.zeros((FIGURES, self.most))

    @property
    def settled(self) -> Array:
        """Return which topics are settled and have not ended, bool[most]."""
        found: Array = self.figures[1] >= SETTLED
        found[self.ended] = False
        return found

    def watch(self, about: Array, documents: int) -> list[int]:
        """Count documents.

        Args:
            about: int64[T], how many are about each topic.
            documents: all.

        Returns:
            The topics that seem to end (:meth:`end`).
        """
        view = self.figures[:, : len(about)]
        rates, since, sums = view[:2], view[2:4], view[4]
        known = (rates[1] >= SETTLED) & (rates[0] >= LEAST_DOCUMENTS)
        has_ended = np.isin(np.arange(len(about)), self.ended)
        high = 0.5 * rates[0] / np.maximum(rates[1], 1.0)
        bet = about * math.log(RATIO) + (documents - about) * np.log(
            (1 - high) / (1 - high / RATIO)
        )
        sums[:] = np.where(known, np.maximum(0.0, sums + np.where(has_ended, bet, -bet)), 0.0)
        since += np.array([about, np.full(len(about), documents)])
        counts = ~known | (~has_ended & (sums == 0.0))
        rates[:, counts] = rates[:, counts] * 0.5 ** (documents / HALF_LIFE) + since[:, counts]
        since[:, counts] = 0.0
        back = np.flatnonzero(has_ended & (sums > BACK))
        since[:, back], sums[back] = 0.0, 0.0
        self.ended = [topic for topic in self.ended if topic not in back]
        seem = ~has_ended & (sums > END) & (since[1] >= SILENT)
        found: list[int] = np.flatnonzero(seem).tolist()
        return found

    def end(self, topic: int, rate: float, share: float) -> bool:
        """Return whether a topic that seems to end does; if not, r is the rate.

        Args:
            topic: the topic.
            rate: of the documents before its silence, the share that is about it today.
            share: of the documents since then.
        """
        silent, high = float(self.figures[3, topic]), 0.5 * rate
        now = share * silent
        bet = (silent - now) * math.log((1 - high / RATIO) / (1 - high)) - now * math.log(RATIO)
        if bet > END:
            self.figures[4, topic] = 0.0
            self.ended.append(topic)
        else:
            self.figures[0, topic] = rate * self.figures[1, topic]
            self.figures[4, topic] = max(0.0, bet)
        return bet > END

    def join(self, into: int, gone: int) -> None:
        """Know of one topic what was known of the elder of two, and the sum of their rates."""
        elder = max(into, gone, key=lambda topic: float(self.figures[1, topic]))
        about = self.figures[0, into] + self.figures[0, gone]
        self.figures[:, into] = self.figures[:, elder]
        self.figures[0, into] = min(about, self.figures[1, into])
        self.leave([gone])

    def leave(self, topics: list[int]) -> None:
        """Forget everything about topics."""
        self.figures[:, topics] = 0.0
        self.ended = [topic for topic in self.ended if topic not in topics]


def about_of(live: State, documents: Array) -> Array:
    """Return how many of some learned documents are about each topic, int64[T]."""
    places, offsets = live.places(documents)
    lengths, topics = np.diff(offsets), live.topics
    cells = np.repeat(np.arange(len(documents)), lengths) * topics + live.z[places]
    counts = np.bincount(cells, minlength=len(documents) * topics).reshape(-1, topics)
    found: Array = (counts > ABOUT * lengths[:, None]).sum(axis=0)
    return found


@dataclass
class Pair:
    """Two topics that may be one (:mod:`beam_topics.model.learners.engine.merges`).

    Attributes:
        x, y: the topics, x < y.
        gain: the wager that documents lose nothing if they are one.
        judges: documents that have judged.
    """

    x: int
    y: int
    gain: Gain = field(default_factory=Gain)
    judges: int = 0


@dataclass(eq=False)
class Nursery:
    """What births need besides the model.

    Attributes:
        law: the numbers.
        alpha: of each topic.
        most: topics that there can be.
        names: of the draws.
        full: topics up to which the worst documents get ids.
        grows: whether the stream says how many there are.
        waiting: int64[n], the documents that wait, by how many came before.
        uses: int64[2, W], for each word the documents and tokens that were learned.
        pasts: snapshots, the oldest first.
        due: documents after which candidates are sought.
        judged: documents before those that have not judged the pending candidates.
        levels: ln p of a token in the last minibatches.
        excesses: the excess of the last times.
        changed: documents before the last birth of a domain; -1 without one.
        pending: the candidates, the oldest first.
        endings: which topics have ended.
        twins: pairs of topics that are judged.
        apart: pairs that are two topics, and documents before that was known.
        look: documents after which the worst ones are looked at.
        events: what the last step reported; not saved.
    """

    law: LocalBirths
    alpha: float
    most: int
    names: Names
    full: int = 0
    grows: bool = False
    waiting: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    uses: Array = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    pasts: list[Past] = field(default_factory=list)
    due: int = 0
    judged: int = 0
    levels: list[float] = field(default_factory=list)
    excesses: list[float] = field(default_factory=list)
    changed: int = -1
    pending: list[Candidate] = field(default_factory=list)
    endings: Endings = field(init=False)
    twins: list[Pair] = field(default_factory=list)
    apart: dict[tuple[int, int], int] = field(default_factory=dict)
    look: int = 0
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.endings = Endings(self.most)

    def leave(self, topics: list[int]) -> None:
        """Know nothing of topics whose tokens have gone to others."""
        self.endings.leave(topics)
        self.unpair(topics)

    def unpair(self, topics: list[int]) -> None:
        """Know nothing of pairs of topics whose words are others now."""
        self.twins = [pair for pair in self.twins if not {pair.x, pair.y} & {*topics}]
        self.apart = {pair: at for pair, at in self.apart.items() if not {*pair} & {*topics}}

    def waits(self, marks: Array) -> Array:
        """Return which documents wait when they come, bool[n]."""
        return (marks >= self.law.begins) & (marks % self.law.apart == 0)

    def wanted(self, marks: Array, seen: int) -> Array:
        """Return which documents must stay at hand, bool[D]."""
        needed = [self.waiting]
        for candidate in self.pending:
            needed += [candidate.documents, candidate.controls[candidate.used :]]
        return (marks >= seen - self.law.window) | np.isin(marks, np.concatenate(needed))

    def keep_words(self, staying: Array) -> None:
        """Let words leave; candidates, whose documents are others now, are given up."""
        self.pending = []
        self.uses = self.uses[:, staying[staying < self.uses.shape[1]]]
        self.pasts = [past.of_words(staying) for past in self.pasts]

    def count_uses(self, live: State, documents: Array, times: int) -> None:
        """Add the words of documents at hand to ``uses``, or take them out: times is 1 or -1."""
        texts = texts_of(live, documents)
        words, size = kinds_of(texts)[0], len(texts.ids)
        self.uses[0, texts.ids] += times * np.bincount(words, minlength=size)
        self.uses[1, texts.ids] += times * np.bincount(texts.words, minlength=size)

    def shares(self, ids: Array) -> Array:
        """Return the share of words in the stream, float64[V]."""
        tokens = self.uses[1] + 1
        found: Array = tokens[ids] / tokens.sum()
        return found

    @property
    def nbytes(self) -> int:
        """Return the memory of the arrays."""
        pasts = self.pasts + [candidate.past for candidate in self.pending]
        own = self.uses.nbytes + self.waiting.nbytes + self.endings.figures.nbytes
        own += sum(candidate.counts.nbytes for candidate in self.pending)
        return own + sum(past.counts.nbytes + past.base.nbytes for past in pasts)


class Stream(NamedTuple):
    """The stream at a minibatch.

    Attributes:
        live: the model.
        marks: int64[D], of the documents at hand how many came before.
        nursery: what births need.
        seen: documents that have come.
        arrived: int64[n], the numbers of the minibatch's documents at hand.
        ids: of these documents, for events.
        moves: R.
        pool: threads.
    """

    live: State
    marks: Array
    nursery: Nursery
    seen: int
    arrived: Array
    ids: tuple[str, ...]
    moves: int
    pool: Executor | None

    def at(self, marks: Array) -> Array:
        """Return the numbers at hand of documents, which are there."""
        return np.searchsorted(self.marks, marks)

    def learned_since(self, since: int) -> Array:
        """Return the learned documents that came after ``since`` and before this minibatch."""
        before = self.seen - len(self.arrived)
        new = (self.marks >= since) & ~np.isin(self.marks, self.nursery.waiting)
        return np.flatnonzero(new & (self.marks < before))


def reported(
    stream: Stream,
    born: list[int],
    by: str,
    documents: int,
    figures: dict[str, float],
    shares: Array,
) -> None:
    """Note a birth, with the documents of today that hold most of it."""
    order = np.argsort(-shares, kind="stable").tolist()
    best = [stream.ids[d] for d in order if shares[d] > HOLDS][:DOCUMENT_IDS]
    stream.nursery.events.append(
        Event(BIRTH, documents, topics=born, by=by, figures=figures, ids=best)
    )


def forget(nursery: Nursery) -> None:
    """Drop what knows nothing of a birth."""
    nursery.pending, nursery.pasts, nursery.levels, nursery.excesses = [], [], [], [0.0]


def watch(stream: Stream, learned: Array) -> None:
    """Count which topics documents are about, and report those that end."""
    endings = stream.nursery.endings
    for topic in endings.watch(about_of(stream.live, learned), len(learned)):
        usual, whole, now, silent, _ = endings.figures[:, topic].tolist()
        figures = {"usual": usual / whole, "rate": now / silent, "silent": silent}
        before, since = around(stream, whole, silent)
        rate = share_about(stream.live, before, topic, figures["usual"])
        if not endings.end(topic, rate, share_about(stream.live, since, topic, figures["rate"])):
            continue
        stream.nursery.events.append(
            Event(DEATH, int(now), topics=[topic], by="wagers", figures=figures)
        )


def around(stream: Stream, count: float, silent: float) -> tuple[Array, Array]:
    """Return learned documents at hand: some before the silence of a topic, and those since then.

    Args:
        stream: the stream.
        count: learned documents before the others.
        silent: learned documents, the newest.
    """
    each = 1 / (1 - 1 / stream.nursery.law.apart)
    first = stream.seen - silent * each
    found = stream._replace(arrived=stream.arrived[:0]).learned_since(int(first - count * each))
    is_since = stream.marks[found] >= first
    return found[~is_since], found[is_since]


def share_about(live: State, documents: Array, topic: int, unknown: float) -> float:
    """Return the share of documents that is about a topic today, or ``unknown`` without any."""
    return int(about_of(live, documents)[topic]) / len(documents) if len(documents) else unknown
