"""Topics are born one at a time, while a stream is learned.

What one minibatch does (:func:`follow`), besides what :mod:`beam_topics.model.learners.engine.
stream` does anyway:

1. *Judge*. The pending candidate (:mod:`beam_topics.model.learners.engine.candidates`) predicts the
   documents before anyone has learned them. Two wagers (:mod:`beam_topics.model.learners.engine.
   wagers`): documents gain by it, and those of today hold it more often than those of the past.
2. *Bear*. If it wins both, the topics that rise together are one topic with the next number, which
   gets their tokens. It is told (``StepInfo.events``).
3. *Learn*. Of what comes, every eighth document waits 4,000 documents: a past that nobody has
   learned. Documents that a model has learned hold a candidate less, also if nothing changes.
4. *Alarm*. Where ln p of a token falls far below that of the last minibatches, the minibatch is
   taken out again. Its first half proposes many topics, and its second half judges, by gain alone.
5. *Propose*, every 600 documents, if nothing is pending: words that come oftener than the snapshot
   of 1,200 documents ago expects, and topics learned from documents that have two of them.

The words in excess: of the documents D since the snapshot, N_k tokens are in topic k, and word w is
in O_w of them. It is expected in E_w = r_w sum_k N_k phi_wk, r_w the documents that had w for each
token of w so far. z = 2 [sqrt(O + 3/8) - sqrt(E + 3/8)] is above 3, and O at least 5.

Waiting begins after 2,000 documents, so a version of small data lacks none. Later ones lack at most
500 of the last 4,000 documents, which are learned when their time has come. The newest 3,000
documents stay at hand beside the sample.

T topics are there at the start, and up to T are born. alpha of a topic is a number, so the sum of
alpha is at most twice that of the start. Topics do not split, merge, end or come back.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from beam_topics.model.events import BIRTH, DOCUMENT_IDS, Event
from beam_topics.model.kernels.random import COMPARED, uniform
from beam_topics.model.learners.engine.candidates import (
    HOLDS,
    MOST_A,
    Candidate,
    Held,
    Names,
    Past,
    Prior,
    Texts,
    held_shares,
    kinds_of,
    learn,
    may_hold,
    phi_of,
    texts_of,
)
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.settings import LocalBirths
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.engine.stream import SMALL, again, visit
from beam_topics.model.learners.engine.wagers import BLOCK, Gain, Rise

# z of a word in excess, and its documents.
EXCESS, OFTEN = 3.0, 5
# Of the least excess of the last times, below which nothing is sought.
UNUSUAL, TIMES = 0.8, 3
# The most documents of a candidate and of a domain, and documents for each new topic.
MOST, MOST_DOMAIN, PER_TOPIC = 150, 300, 40
# A new domain has half of all topics if this share of its documents has words in excess.
WHOLE = 0.6
# Nats of a token, and standard deviations, that are an alarm; minibatches that are compared.
FALL, SPREAD, KNOWN = 0.2, 4.0, 5
# ln of the wealth of a rise below which a candidate ends; above which topics are one birth.
HOPE, TOGETHER = 0.5, 1.0
# The share of documents that a topic of a domain has.
PRESENT = 0.002
# For so many documents after a domain is born, this share of all visits is to it.
CHANGED, OF_CHANGED = 2000, 0.65


@dataclass(eq=False)
class Nursery:
    """What births need beside the model.

    Attributes:
        law: the numbers.
        alpha: of each topic.
        most: topics that there can be.
        names: of the draws.
        waiting: int64[n], the documents that wait, by how many came before.
        uses: int64[2, W], for each word the documents and tokens that were learned.
        pasts: snapshots, the oldest first.
        due: documents after which candidates are sought.
        levels: ln p of a token in the last minibatches.
        excesses: the excess of the last times.
        changed: documents before the last birth of a domain; -1 without one.
        pending: the candidate.
        events: what the last step told; not saved.
    """

    law: LocalBirths
    alpha: float
    most: int
    names: Names
    waiting: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    uses: Array = field(default_factory=lambda: np.zeros((2, 0), np.int64))
    pasts: list[Past] = field(default_factory=list)
    due: int = 0
    levels: list[float] = field(default_factory=list)
    excesses: list[float] = field(default_factory=list)
    changed: int = -1
    pending: Candidate | None = None
    events: list[Event] = field(default_factory=list)

    def waits(self, marks: Array) -> Array:
        """Return which documents wait when they come, bool[n]."""
        return (marks >= self.law.begins) & (marks % self.law.apart == 0)

    def wanted(self, marks: Array, seen: int) -> Array:
        """Return which documents must stay at hand, bool[D]."""
        needed = [self.waiting]
        if self.pending:
            needed += [self.pending.documents, self.pending.controls[self.pending.used :]]
        return (marks >= seen - self.law.window) | np.isin(marks, np.concatenate(needed))

    def keep_words(self, staying: Array) -> None:
        """Let words leave; a candidate, whose documents are others now, is given up."""
        self.pending = None
        self.uses = self.uses[:, staying[staying < self.uses.shape[1]]]
        for past in self.pasts:
            kept = staying[staying < len(past.base)]
            past.counts, past.base = past.counts[kept], past.base[kept]

    def shares(self, ids: Array) -> Array:
        """Return the share of words in the stream, float64[V]."""
        tokens = self.uses[1] + 1
        found: Array = tokens[ids] / tokens.sum()
        return found

    @property
    def nbytes(self) -> int:
        """Return the memory of the arrays."""
        pasts = self.pasts + ([self.pending.past] if self.pending else [])
        own = self.uses.nbytes + self.waiting.nbytes
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

    def tokens(self, chosen: Array) -> int:
        """Return the tokens of documents."""
        return int((self.live.offsets[chosen + 1] - self.live.offsets[chosen]).sum())


def follow(stream: Stream) -> tuple[float, int]:
    """Learn a minibatch, and let topics be born.

    Returns:
        The sum of ln P of the tokens that were learned at once, and their number.
    """
    live, nursery, arrived, marks = stream.live, stream.nursery, stream.arrived, stream.marks
    nursery.events = []
    missing = live.size - nursery.uses.shape[1]
    nursery.uses = np.pad(nursery.uses, ((0, 0), (0, missing)))
    judge(stream)
    waits = nursery.waits(marks[arrived])
    now = arrived[~waits]
    fit, tokens = visit(live, now, stream.seen, stream.pool), stream.tokens(now)
    if is_alarm(nursery, fit, tokens, len(now)):
        live.recount(live.places(now)[0], np.full(stream.tokens(now), NONE, np.uint16))
        propose_domain(stream, now)
        visit(live, now, stream.seen, stream.pool)
    due = nursery.waiting < stream.seen - nursery.law.delay
    late = stream.at(nursery.waiting[due])
    if len(late):
        visit(live, late, stream.seen, stream.pool)
    nursery.waiting = np.concatenate([nursery.waiting[~due], marks[arrived[waits]]])
    revisit(stream, len(now) + len(late))
    remember(stream, np.concatenate([now, late]))
    return fit, tokens


def labelled(stream: Stream) -> Array:
    """Return float64[2, T], the tokens and documents of each topic of what came and waits.

    Nobody has learned it: its topics are those of its mixtures.
    """
    live, nursery = stream.live, stream.nursery
    found = np.zeros((2, nursery.most))
    chosen = stream.arrived[np.isin(stream.marks[stream.arrived], nursery.waiting)]
    if len(chosen):
        texts = texts_of(live, chosen)
        counts, totals = live.rows[texts.ids, : live.topics], live.totals[: live.topics]
        held = Held.of(nursery.alpha, phi_of(counts, totals, live.base[texts.ids], live.a))
        theta, lengths = held.mixtures(texts)[:, : live.topics].astype(np.float64), texts.lengths
        theta /= theta.sum(axis=1, keepdims=True)
        found[0, : live.topics] = (theta * lengths[:, None]).sum(axis=0)
        found[1] = np.bincount(theta[lengths > 0].argmax(axis=1), minlength=nursery.most)
    return found


def revisit(stream: Stream, count: int) -> None:
    """Visit earlier documents again; after a change, those since it above all."""
    marks, nursery = stream.marks, stream.nursery
    learned = np.flatnonzero(~np.isin(marks, nursery.waiting))
    since = nursery.changed
    parts = [(1.0, learned)]
    if since >= 0 and stream.seen < since + CHANGED:
        newest = learned[marks[learned] >= since]
        parts = [(OF_CHANGED, newest), (1.0 - OF_CHANGED, learned)]
    for share, reach in parts:
        again(stream.live, share * count, stream.seen, stream.moves, stream.pool, reach)


def remember(stream: Stream, learned: Array) -> None:
    """Count the words of what was learned; when it is due, seek candidates and take a snapshot."""
    live, nursery, law = stream.live, stream.nursery, stream.nursery.law
    if len(learned):
        texts = texts_of(live, learned)
        words, _ = kinds_of(texts)
        nursery.uses[0, texts.ids] += np.bincount(words, minlength=len(texts.ids))
        nursery.uses[1, texts.ids] += np.bincount(texts.words, minlength=len(texts.ids))
    if stream.seen < nursery.due:
        return
    nursery.due = stream.seen + law.every
    after = stream._replace(arrived=stream.arrived[:0])
    if nursery.pending is None and len(nursery.pasts) == law.pasts and live.topics < nursery.most:
        propose(after, nursery.pasts[0])
    nursery.pasts = [*nursery.pasts, Past.of(live, stream.seen)][-law.pasts :]


# ------------------------------------------------------------------------------ propose


class Excess(NamedTuple):
    """Words in excess, and the documents with two of them.

    Attributes:
        logs: float64[V], ln((O + .5) / (E + .5)); 0 of words that are not in excess.
        chosen: bool[D], the documents.
        share: of all.
        whole: sum of O_w ln((O_w + .5) / (E_w + .5)).
    """

    logs: Array
    chosen: Array
    share: float
    whole: float


def excess(texts: Texts, expected: Array, most: int) -> Excess:
    """Return the words in excess, and at most so many documents with two of them.

    Args:
        texts: the documents.
        expected: float64[V], E.
        most: documents.
    """
    words, where = kinds_of(texts)
    observed = np.bincount(words, minlength=len(texts.ids))
    z = 2.0 * (np.sqrt(observed + 0.375) - np.sqrt(expected + 0.375))
    logs = np.log((observed + 0.5) / (expected + 0.5))
    logs[(z <= EXCESS) | (observed < OFTEN)] = 0.0
    two = np.bincount(where, logs[words] > 0, len(texts.lengths)) >= 2
    scores = np.bincount(where, logs[words], len(texts.lengths)) / np.sqrt(texts.lengths + 10)
    order = np.argsort(-np.where(two, scores, -1.0), kind="stable")[: min(most, int(two.sum()))]
    chosen = np.zeros(len(two), np.bool_)
    chosen[order] = True
    return Excess(logs, chosen, float(two.mean()), float((logs * observed).sum()))


def expect(stream: Stream, ids: Array, phi: Array, uses: Array) -> Array:
    """Return E of words, given the tokens of each topic."""
    documents, tokens = stream.nursery.uses[:, ids] + 1
    found: Array = (phi * uses).sum(axis=1) * documents / tokens
    return found


def propose(stream: Stream, past: Past) -> None:
    """Seek a candidate in the documents since a snapshot."""
    live, nursery, law = stream.live, stream.nursery, stream.nursery.law
    documents = stream.learned_since(past.seen)
    if not len(documents):
        return
    texts = texts_of(live, documents)
    z = live.z[live.places(documents)[0]]
    uses = np.bincount(z, minlength=live.topics)[: past.topics]
    phi = past.phi(texts.ids, live)
    found = excess(texts, expect(stream, texts.ids, phi, uses), MOST)
    usual = min(nursery.excesses, default=np.inf)
    nursery.excesses = [*nursery.excesses, found.whole][-TIMES:]
    controls = nursery.waiting[nursery.waiting < past.seen]
    unusual = np.isinf(usual) or found.whole >= UNUSUAL * usual
    if len(controls) < law.controls or not unusual or found.chosen.sum() < law.least:
        return
    count = max(1, round(int(found.chosen.sum()) / PER_TOPIC))
    prior = Prior(past.prior(texts.ids, live), min(past.a, MOST_A), nursery.alpha)
    old, some = Held.of(nursery.alpha, phi), texts.of(found.chosen)
    made = learn(some, old, prior, found.logs > 0, count, nursery.names, law.least)
    if made is None:
        return
    places = [uniform(d, *live.key, 0, nursery.names.used, COMPARED) for d in controls.tolist()]
    controls = controls[np.argsort(np.array(places), kind="stable")]
    own = stream.marks[documents[found.chosen][made.stays]]
    rises = [Rise() for _ in range(made.new + 1)]
    candidate = Candidate(past, own, made.topics, made.near, made.new, controls, rises=rises)
    candidate.count_words(live, stream.marks)
    nursery.pending = candidate


# ------------------------------------------------------------------------------ judge


def judge(stream: Stream) -> None:
    """Let the minibatch's documents judge the pending candidate; bear it, drop it, or go on."""
    nursery, law, arrived = stream.nursery, stream.nursery.law, stream.arrived
    candidate = nursery.pending
    if candidate is None:
        return
    first = candidate.used
    blocks = min(len(arrived) // BLOCK, len(candidate.controls) - first)
    candidate.used += blocks
    controls = stream.at(candidate.controls[first : candidate.used])
    shares = bet(stream, candidate, np.concatenate([arrived, controls]))
    best = max(rise.log for rise in candidate.rises)
    limit = -float(np.log(law.level))
    hopeless = candidate.judges >= law.hope_after and best < HOPE
    if min(candidate.gain.log, best) > limit and candidate.gained > 0:
        bear(stream, candidate, shares)
    elif hopeless or candidate.judges >= law.patience or len(candidate.controls) == candidate.used:
        nursery.pending = None
    else:
        marks = stream.marks[arrived]
        more = marks[(shares > HOLDS).any(axis=1) & ~nursery.waits(marks)]
        if len(more):
            names = nursery.names
            candidate.learn_on(stream.live, stream.marks, more, nursery.alpha, names)


def bet(stream: Stream, candidate: Candidate, documents: Array) -> Array:
    """Bet on the documents of today and those of the past after them.

    Returns:
        float32[n, m], the shares of today's documents in the new topics.
    """
    live, nursery, today = stream.live, stream.nursery, len(stream.arrived)
    texts, old = texts_of(live, documents), candidate.past.topics
    phi, shares = candidate.past.phi(texts.ids, live), nursery.shares(texts.ids)
    new = candidate.phi(texts.ids, live)
    both = Held.of(nursery.alpha, phi, new)
    may = may_hold(texts, new, shares, 2)
    may[today:] = False
    gains = np.zeros(today)
    some = texts.of(may)
    gains[may[:today]] = both.completion(some) - Held.of(nursery.alpha, phi).completion(some)
    candidate.gain.add(gains.tolist())
    candidate.gained += float(gains.sum())
    candidate.tokens += int((texts.lengths[:today] // 2).sum())
    candidate.judges += today
    found = held_shares(texts, both, old, candidate.count, shares)
    held = found > HOLDS
    held = np.concatenate([held, held.any(axis=1, keepdims=True)], axis=1)
    for i, row in enumerate(held[today:].tolist()):
        now = held[BLOCK * i : BLOCK * (i + 1)].sum(axis=0).tolist()
        for rise, count, then in zip(candidate.rises, now, row, strict=True):
            rise.add(count, int(then))
    return found[:today]


def bear(stream: Stream, candidate: Candidate, shares: Array) -> None:
    """Give a number to the topics that rise together, and the tokens that they have."""
    live, logs = stream.live, [rise.log for rise in candidate.rises]
    rising = [j for j, log in enumerate(logs[:-1]) if log > TOGETHER]
    if not rising:
        rising = [int(np.argmax([rise.now for rise in candidate.rises[:-1]]))]
    born = live.add_topics(1, stream.nursery.alpha)
    ids = np.full(candidate.width + candidate.count, NONE, np.uint16)
    ids[: candidate.past.topics] = np.arange(candidate.past.topics)
    ids[candidate.width + np.array(rising)] = born[0]
    live.recount(live.places(stream.at(candidate.documents))[0], ids[candidate.topics])
    recent = stream.learned_since(candidate.past.seen)
    for _ in range(2):
        for part in range(0, len(recent), SMALL):
            visit(live, recent[part : part + SMALL], stream.seen, stream.pool)
    rise = max(candidate.rises, key=lambda one: one.log)
    figures = {
        "gain": candidate.gained / max(candidate.tokens, 1),
        "rise": rise.now / max(rise.today, 1),
        "usual": rise.then / max(rise.past, 1),
        "log_gain": candidate.gain.log,
        "log_rise": rise.log,
    }
    mine = shares[:, rising].sum(axis=1)
    told(stream, born, "wagers", rise.now, figures, mine)
    forget(stream.nursery)


def told(
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
    nursery.pending, nursery.pasts, nursery.levels, nursery.excesses = None, [], [], [0.0]


# ------------------------------------------------------------------------------ at once


def is_alarm(nursery: Nursery, fit: float, tokens: int, documents: int) -> bool:
    """Return whether documents are predicted far worse than those of the last minibatches."""
    if documents < nursery.law.judges or not tokens:
        return False
    known, level = nursery.levels, fit / tokens
    nursery.levels = [*known, level][-2 * KNOWN - 1 :]
    if len(known) < KNOWN or nursery.most == 0:
        return False
    spread = float(np.std(np.diff(known)))
    return level < float(np.mean(known[-KNOWN:])) - max(FALL, SPREAD * spread)


def propose_domain(stream: Stream, now: Array) -> None:
    """Let the minibatch's first half propose many topics, and its second half judge them.

    Args:
        stream: the stream; the documents of the minibatch have no topics.
        now: int64[n], those that do not wait.
    """
    live, nursery, law = stream.live, stream.nursery, stream.nursery.law
    past, middle = Past.of(live, stream.seen), stream.arrived[len(stream.arrived) // 2]
    first, judges = now[now < middle], stream.arrived[stream.arrived >= middle]
    room = nursery.most - live.topics
    texts = texts_of(live, np.concatenate([first, judges]))
    is_first = np.arange(len(texts.lengths)) < len(first)
    phi = past.phi(texts.ids, live)
    old, half = Held.of(nursery.alpha, phi), texts.of(is_first)
    uses = (old.mixtures(half)[:, : past.topics] * half.lengths[:, None]).sum(axis=0)
    found = excess(half, expect(stream, texts.ids, phi, uses), MOST_DOMAIN)
    count = min(room, int(nursery.most / 2 * min(1.0, found.share / WHOLE)))
    if found.chosen.sum() < law.least or count < 1:
        return
    some = half.of(found.chosen)
    words = np.bincount(kinds_of(some)[0], minlength=len(texts.ids)) + 0.01
    base = (past.prior(texts.ids, live) + words / words.sum()) / 2.0
    prior = Prior(base, min(past.a, MOST_A), nursery.alpha)
    everything = np.ones(len(texts.ids), np.bool_)
    made = learn(some, old, prior, everything, count, nursery.names, 0)
    if made is None:
        return
    counts = some.counts(made.topics, old.phi.shape[1], made.new)
    new = (counts + prior.a * base[:, None]) / (counts.sum(axis=0) + prior.a)
    both, rest = Held.of(nursery.alpha, phi, new.astype(np.float32)), texts.of(~is_first)
    gain, gains = Gain(), both.completion(rest) - old.completion(rest)
    gain.add(gains.tolist())
    if gain.log <= -float(np.log(law.level)) or gains.sum() <= 0:
        return
    shares = both.mixtures(rest, 2)[:, past.topics : past.topics + made.new]
    kept = np.flatnonzero(shares.sum(axis=0) > PRESENT * len(judges))
    born = live.add_topics(len(kept), nursery.alpha)
    ids = np.full(old.phi.shape[1] + made.new, NONE, np.uint16)
    ids[: past.topics] = np.arange(past.topics)
    ids[old.phi.shape[1] + kept] = born
    live.recount(live.places(first[found.chosen])[0], ids[made.topics])
    # Later documents alone have ids that this step knows.
    mine = np.concatenate([np.zeros(len(stream.arrived) - len(judges)), shares.sum(axis=1)])
    figures = {"gain": float(gains.sum()) / max(int((rest.lengths // 2).sum()), 1)}
    figures["log_gain"] = gain.log
    documents = int((mine > HOLDS).sum())
    told(stream, born, "evidence", documents, figures, mine)
    forget(nursery)
    nursery.changed = stream.seen - len(stream.arrived)
