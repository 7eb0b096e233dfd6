"""Candidates, a few new topics added to those of a snapshot, and the wagers that judge them.

A *snapshot* is what the topics were some time ago. A subject that is new since then is sought given
the snapshot. The current model has meanwhile learned the subject into topics that it takes over,
so nothing would be left to see.

The snapshot has n_wk, G and a. Its K topics are held at phi_wk = (n_wk + a G_w) / (n_k + a). The m
new topics have the counts n_wj of the candidate's documents and the strength min(a, 100):

1. Tokens of words in excess begin in one new topic for each document, the others in old ones, by
   the document's mixture.
2. Five sweeps; documents with less than .05 of their tokens in new topics leave; ten more sweeps.
3. New topics are one if their words are alike: the cosine of n_wj / sqrt(G_w) is above .2.
4. Topics that at least six of the documents hold stay. A document *holds* a topic if more than .1
   of its mixture is the topic's.

The many topics of a new domain, and those of documents that no topic explains, begin evenly, token
by token, so that they sort themselves out (:func:`learn_evenly`). Their G is half that of the
documents.

A document *may* hold a candidate if a tenth of it explains the tokens better than the stream's
words alone: sum over its tokens of ln(.9 + .1 max_j phi_wj / share of w) > 0. Few do, and mixtures
are computed for these only.

Two wagers decide whether a topic is born. A *test martingale* is a wealth that begins at 1 and that
a bet multiplies by a number whose mean is at most 1 if the hypothesis H0 holds, whatever happened
before. By Ville's inequality

    P(the wealth is ever 1 / q or more) <= q    under H0.

So one may look after each document, stop at any time, and still have a false alarm with probability
at most q. The stakes of a bet may depend on everything before it, and on nothing in it.

*Gain*: g nats that a document gains by new topics, cut to [-b, b]. H0: the mean of g is at most 0,
given the past. The wealth is the mean over some stakes s of prod(1 + s g / b).

*Rise*: blocks of n documents of today and one of the past. Of the n, x hold a topic; of the one, y
do. H0: both have the same rate. With guesses p and q of the two rates, from earlier blocks, p >= q,
and m = (n p + q) / (n + 1), a block multiplies the wealth by

    p^x (1 - p)^(n - x) q^y (1 - q)^(1 - y) / [m^(x + y) (1 - m)^(n + 1 - x - y)].

Its mean under H0 is at most 1 for any common rate (Turner, Ly and Grünwald 2021). Where nothing has
risen, p = q = m, and nothing is bet.

>>> gain = Gain()
>>> gain.add([0.0, 0.0])
>>> gain.log
0.0
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from beam_topics.model.learners.engine.kernels import held_topics
from beam_topics.model.learners.engine.kernels.draw import LANES
from beam_topics.model.learners.engine.snapshots import (
    Held,
    Past,
    Texts,
    kinds_of,
    phi_of,
    texts_of,
)
from beam_topics.model.learners.engine.state import Array, State, with_room

STAKES = (0.05, 0.1, 0.2, 0.45)
# b, in nats.
BOUND = 8.0
# The documents of today in a block.
BLOCK = 3
# A rate is guessed as if GUESS of GUESSED more documents had held a topic. A topic near others is
# held by a hundredth of the past; if none were expected, the first would cost too much.
GUESS, GUESSED = 0.5, 20
# Old topics that are told apart; the most of a new topic's prior.
NEAR, MOST_A = 8, 100.0
# Sweeps of a candidate: at first, then, and after each minibatch.
FIRST, LATER, ON = 5, 10, 3
# Of a document's tokens, so that it stays; of its mixture, so that it holds a topic.
STAYS, HOLDS = 0.05, 0.1
# The cosine from which two candidates are one.
ALIKE = 0.2


@dataclass
class Gain:
    """H0: documents do not gain.

    Attributes:
        logs: of each stake, the logarithm of its wealth.
    """

    logs: list[float] = field(default_factory=lambda: [0.0] * len(STAKES))

    def add(self, gains: Iterable[float]) -> None:
        """Bet on documents, one after the other."""
        for gain in gains:
            share = min(1.0, max(-1.0, gain / BOUND))
            for k, stake in enumerate(STAKES):
                self.logs[k] += math.log1p(stake * share)

    @property
    def log(self) -> float:
        """Return the logarithm of the wealth."""
        most = max(self.logs)
        return most + math.log(sum(math.exp(log - most) for log in self.logs) / len(self.logs))


@dataclass
class Rise:
    """H0: documents of today hold a topic as often as those of the past.

    Attributes:
        log: the logarithm of the wealth.
        now: documents of today that held it, of ``today``.
        today: documents of today.
        then: documents of the past that held it, of ``past``.
        past: documents of the past.
    """

    log: float = 0.0
    now: int = 0
    today: int = 0
    then: int = 0
    past: int = 0

    def add(self, now: int, then: int) -> None:
        """Bet on a block, of whose documents of today ``now`` hold it, and of the past ``then``."""
        q = (self.then + GUESS) / (self.past + GUESSED)
        p = max((self.now + GUESS) / (self.today + GUESSED), q)
        if p > q:
            m = (BLOCK * p + q) / (BLOCK + 1)
            self.log += now * math.log(p / m) + (BLOCK - now) * math.log((1 - p) / (1 - m))
            self.log += math.log(q / m if then else (1 - q) / (1 - m))
        self.now, self.today = self.now + now, self.today + BLOCK
        self.then, self.past = self.then + then, self.past + 1


@dataclass
class Names:
    """The names of draws.

    Attributes:
        key: of the model.
        used: sweeps so far.
    """

    key: tuple[int, int]
    used: int = 0

    def take(self, sweeps: int) -> tuple[int, int, int]:
        """Return the names of the first of ``sweeps`` sweeps."""
        self.used += sweeps
        return (*self.key, self.used - sweeps)


class Prior(NamedTuple):
    """The prior of new topics, and alpha.

    Attributes:
        base: float64[V], G.
        a: the strength.
        alpha: of each topic in a document.
    """

    base: Array
    a: float
    alpha: float


class Learned(NamedTuple):
    """New topics.

    Attributes:
        stays: bool[D], the documents that they were learned from in the end.
        topics: int32[N], of the tokens of these; K8 + j is new.
        near: int64[D, n], the old topics that are told apart in these.
        new: m.
    """

    stays: Array
    topics: Array
    near: Array
    new: int


def learn(
    texts: Texts, old: Held, prior: Prior, new: Array, count: int, names: Names, least: int
) -> Learned | None:
    """Learn new topics, given old ones.

    Args:
        texts: the documents.
        old: the old topics.
        prior: of the new ones.
        new: bool[V], the words that begin in new topics.
        count: m.
        names: of the draws.
        least: documents that hold a topic that stays.

    Returns:
        None if no new topic stays.
    """
    theta, width = old.mixtures(texts), old.phi.shape[1]
    near = nearest(theta)
    topics = first(texts, old, theta, new, count, False, names)
    sweep_new(texts, topics, old, near, prior, count, FIRST, names)
    tokens = texts.of_topics(topics, width, count).sum(axis=1)
    stays = tokens >= np.maximum(1, STAYS * texts.lengths)
    if not stays.any():
        return None
    topics = topics[np.repeat(stays, texts.lengths)]
    texts, near, theta = texts.of(stays), near[stays], theta[stays]
    sweep_new(texts, topics, old, near, prior, count, LATER, names)
    _join(texts.counts(topics, width, count), prior.base, width, topics)
    held = texts.of_topics(topics, width, count) > HOLDS * texts.lengths[:, None]
    good = held.sum(axis=0) >= least
    if not good.any():
        return None
    return Learned(stays, _only(texts, old, theta, topics, good, names), near, int(good.sum()))


def learn_evenly(
    live: State,
    texts: Texts,
    old: Held,
    alpha: float,
    count: int,
    sweeps: int,
    names: Names,
    least: int = 0,
) -> tuple[Array, Array]:
    """Learn new topics, given old ones, in which all tokens begin evenly.

    Args:
        live: the model.
        texts: the documents.
        old: the topics of the model.
        alpha: of each topic.
        count: the most new topics.
        sweeps: their number.
        names: of the draws.
        least: documents with .05 of their tokens in a topic that stays.

    Returns:
        int32[N], the topics of tokens, where K8 + j is new; float32[V, m], P(w | j).
    """
    words = np.bincount(kinds_of(texts)[0], minlength=len(texts.ids)) + 0.01
    base = (live.base_mean(texts.ids) + words / words.sum()) / 2.0
    prior, theta = Prior(base, min(live.a, MOST_A), alpha), old.mixtures(texts)
    topics = first(texts, old, theta, np.ones(len(words), np.bool_), count, True, names)
    sweep_new(texts, topics, old, nearest(theta), prior, count, sweeps, names)
    if least:
        held = texts.of_topics(topics, old.phi.shape[1], count) > STAYS * texts.lengths[:, None]
        good = held.sum(axis=0) >= least
        if not good.any():
            return topics, np.zeros((len(words), 0), np.float32)
        topics, count = _only(texts, old, theta, topics, good, names), int(good.sum())
    counts = texts.counts(topics, old.phi.shape[1], count)
    return topics, phi_of(counts, counts.sum(axis=0), base, prior.a)


def _only(texts: Texts, old: Held, theta: Array, topics: Array, good: Array, names: Names) -> Array:
    """Return the topics of tokens with those of the new ones alone that are good, bool[m]."""
    width = old.phi.shape[1]
    place = np.concatenate([np.arange(width), np.where(good, width + np.cumsum(good) - 1, -1)])
    others = first(texts, old, theta, np.zeros(len(texts.ids), np.bool_), 0, False, names)
    found: Array = np.where(place[topics] < 0, others, place[topics]).astype(np.int32)
    return found


def nearest(theta: Array) -> Array:
    """Return the most probable topics of documents, int64[D, n]."""
    return np.argsort(-theta, axis=1, kind="stable")[:, :NEAR].copy()


def first(
    texts: Texts, held: Held, theta: Array, new: Array, count: int, evenly: bool, names: Names
) -> Array:
    """Return first topics of all tokens, int32[N]."""
    topics = np.zeros(len(texts.words), np.int32)
    drawn = new, count, evenly, *names.take(1), topics
    held_topics.first_topics(texts.words, texts.offsets, held.phi, theta, *drawn)
    return topics


def sweep_new(
    texts: Texts,
    topics: Array,
    old: Held,
    near: Array,
    prior: Prior,
    count: int,
    sweeps: int,
    names: Names,
) -> None:
    """Draw the topics of all tokens several times, given old topics that are held.

    Args:
        texts: the documents.
        topics: int32[N], changed; K8 + j is new.
        old: the old topics.
        near: int64[D, n], the old topics that are told apart in each document.
        prior: of the new ones.
        count: m.
        sweeps: their number.
        names: of the draws.
    """
    counts = texts.counts(topics, old.phi.shape[1], count)
    shares = prior.a * prior.base
    parts = texts.words, texts.offsets, topics, old.phi, near, counts, shares, prior.a
    held_topics.learn_new(*parts, prior.alpha, sweeps, *names.take(sweeps))


def _join(counts: Array, base: Array, width: int, topics: Array) -> None:
    """Let new topics be one whose words are alike; the greater one takes the tokens."""
    rows = counts.T / np.sqrt(base)
    lengths = np.sqrt((rows * rows).sum(axis=1))
    order = np.argsort(-counts.sum(axis=0), kind="stable").tolist()
    gone: set[int] = set()
    for i, x in enumerate(order):
        for y in order[i + 1 :]:
            alike = (rows[x] * rows[y]).sum() > ALIKE * lengths[x] * lengths[y]
            if alike and not {x, y} & gone:
                topics[topics == width + y] = width + x
                gone.add(y)


@dataclass(eq=False)
class Candidate:
    """New topics that are judged.

    Attributes:
        past: the snapshot.
        documents: int64[D], how many documents came before each of those learned from.
        topics: int32[N], of their tokens; K8 + j is new.
        near: int64[D, n], the old topics that are told apart.
        count: m.
        controls: int64[c], unlearned documents of the past, by how many came before.
        used: of these.
        judges: documents that have judged.
        tokens: of these, that were predicted.
        gained: nats.
        gain: wager that they predict better.
        rises: m + 1 wagers that they are held more often; the last that any is.
        odd: of the last documents, fewer than a block, what they hold of the m + 1.
        counts, totals: int32[room, m] and int64[m], n_wj and n_j; not saved.
    """

    past: Past
    documents: Array
    topics: Array
    near: Array
    count: int
    controls: Array
    used: int = 0
    judges: int = 0
    tokens: int = 0
    gained: float = 0.0
    gain: Gain = field(default_factory=Gain)
    rises: list[Rise] = field(default_factory=list)
    odd: list[list[bool]] = field(default_factory=list)
    counts: Array = field(default_factory=lambda: np.zeros((0, 0), np.int32))
    totals: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def width(self) -> int:
        """Return K8."""
        return -(-self.past.topics // LANES) * LANES

    def compare(self, today: list[list[bool]], past: list[list[bool]]) -> None:
        """Bet on blocks: what documents of today, and one of the past for a block, hold."""
        today = self.odd + today
        for i, row in enumerate(past):
            block = today[BLOCK * i : BLOCK * (i + 1)]
            for j, rise in enumerate(self.rises):
                rise.add(sum(held[j] for held in block), int(row[j]))
        self.odd = today[BLOCK * len(past) :][: BLOCK - 1]

    def texts(self, live: State, marks: Array) -> Texts:
        """Return the documents, which are at hand; ``marks`` are those of all at hand."""
        return texts_of(live, np.searchsorted(marks, self.documents))

    def count_words(self, live: State, texts: Texts) -> None:
        """Set the counts from the topics of the documents, ``texts``."""
        counts = texts.counts(self.topics, self.width, self.count)
        self.counts, self.totals = np.zeros((live.size, self.count), np.int32), counts.sum(axis=0)
        self.counts[texts.ids] = counts

    def prior(self, ids: Array, live: State, alpha: float) -> Prior:
        """Return the prior of the new topics."""
        return Prior(self.past.prior(ids, live), min(self.past.a, MOST_A), alpha)

    def phi(self, ids: Array, live: State) -> Array:
        """Return P(w | j) of the new topics, float32[V, m]."""
        self.counts = with_room(self.counts, len(self.counts), live.size)
        prior = self.prior(ids, live, 0.0)
        return phi_of(self.counts[ids], self.totals, prior.base, prior.a)

    def learn_on(self, live: State, marks: Array, more: Array, alpha: float, names: Names) -> None:
        """Learn documents that have judged; let go of those without a token in new topics.

        Args:
            live: the model.
            marks: of the documents at hand.
            more: int64[n], the documents, by how many came before.
            alpha: of each topic.
            names: of the draws.
        """
        texts, width = texts_of(live, np.searchsorted(marks, more)), self.width
        both = Held.of(alpha, self.past.phi(texts.ids, live), self.phi(texts.ids, live))
        theta = both.mixtures(texts)
        none = np.zeros(len(texts.ids), np.bool_)
        topics = first(texts, both, theta, none, 0, False, names)
        topics[topics >= self.past.topics] += width - self.past.topics
        before = self.texts(live, marks)
        stays = before.of_topics(self.topics, width, self.count).sum(axis=1) > 0
        kept = self.topics[np.repeat(stays, before.lengths)]
        self.documents = np.concatenate([self.documents[stays], more])
        olds = np.pad(theta[:, : self.past.topics], ((0, 0), (0, width - self.past.topics)))
        self.near = np.concatenate([self.near[stays], nearest(olds)])
        self.topics = np.concatenate([kept, topics]).astype(np.int32)
        texts = self.texts(live, marks)
        old = Held.of(alpha, self.past.phi(texts.ids, live))
        prior = self.prior(texts.ids, live, alpha)
        sweep_new(texts, self.topics, old, self.near, prior, self.count, ON, names)
        self.count_words(live, texts)


def held_shares(texts: Texts, both: Held, old: int, new: int, shares: Array) -> Array:
    """Return of documents their shares in new topics, float32[D, m]; 0 where few words are theirs.

    Args:
        texts: the documents.
        both: old and new topics.
        old: K.
        new: m.
        shares: float64[V], of each word in the stream.
    """
    found = np.zeros((len(texts.lengths), new), np.float32)
    may = may_hold(texts, both.phi[:, old : old + new], shares, 1)
    found[may] = both.mixtures(texts.of(may))[:, old : old + new]
    return found


def may_hold(texts: Texts, new: Array, shares: Array, stride: int) -> Array:
    """Return which documents may hold new topics, bool[D], by their tokens at 0, stride, ..."""
    found, ratio = np.zeros(len(texts.lengths)), new.max(axis=1).astype(np.float64) / shares
    of_word = np.log(0.9 + 0.1 * ratio)
    held_topics.scores(texts.words, texts.offsets, of_word, stride, found)
    return found > 0.0
