"""Topics end, and come back.

A document is *about* a topic if more than .4 of its tokens have it. Posts of other groups hold a
topic with less, a quarter as often as its own group does, so a smaller share never tells of an end.
Documents that wait are not counted. r is the rate of such documents, with a half-life of 1,700
documents. A topic is *settled* once its documents count as 600 with this half-life, some 900 of the
stream after its birth. A topic is *known* if ten of these documents are about it: what fewer
documents hold is not told.

H0 of a known topic: its rate is at least r / 2. A document that is about it adds ln(1/6) to a sum,
and any other adds

    ln[(1 - r/12) / (1 - r/2)],

but the sum does not fall below 0: it is a CUSUM, the log likelihood ratio of a rate of r/12 beside
one of r/2 since some document. Documents under a sum above 0 are not part of r until the sum is 0
again, so r is the rate from before the silence. Above 10 nats, and after 850 documents, the topic
*seems* to end. Where the rate is exactly r/2, the mean time until then is e^10 = 22,000 documents;
where it is r, it is far longer.

A young model dissolves some of its topics, and topics merge: what documents were about is not what
they are about today. A topic that seems to end has *ended* if the sum since its silence is above 10
nats, too, with what the documents at hand are about today; else their share before is r.

An ended topic stays in the model, so that what comes back takes it again. The mirror sum, above
ln 100, says that it is back: a false return costs only an id. A birth that needs an id takes that
of the topic that ended first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.publishing.events import LEAST_DOCUMENTS

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
        """Know nothing of topics any more."""
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
