"""Topics are born one at a time, while a stream is learned.

A minibatch does the following (:func:`follow`), besides what
:mod:`beam_topics.model.learners.engine.stream` does anyway:

1. *Judge*. Each pending candidate (:mod:`beam_topics.model.learners.engine.candidates`) predicts
   the documents before anyone has learned them. It makes two wagers: that documents gain by it, and
   that those of today hold it more often than those of the past. A document counts as holding it
   only if it gains more than 5 nats, too, or half a nat per predicted token: others touch it by
   chance, more often than a rare subject comes.
2. *Bear*. If one wins both, the topics that rise together become one topic with the next number,
   which gets their tokens. The birth is reported (``StepInfo.events``).
3. *Learn*. Every fourth document that comes waits for 3,200 documents: a past that nobody has
   learned. Documents that a model has learned hold a candidate less even if nothing changes,
   because a candidate has the words that are rarer in them.
4. *Alarm* (:mod:`beam_topics.model.learners.engine.proposals`). Where ln p of a token falls far
   below that of the last minibatches, its first half proposes many topics, and its second half
   judges.
5. *Watch* (:mod:`beam_topics.model.learners.engine.nursery`). Topics that hardly any document is
   about any longer have ended, and are reported.
6. *Propose*, every 600 documents (:mod:`beam_topics.model.learners.engine.proposals`): words that
   come more often than the snapshot of 1,200 documents ago expects, and topics learned from the
   documents that have two of them. Pairs of topics that may be one are sought then, too, and judged
   after candidates (:mod:`beam_topics.model.learners.engine.merges`).

Waiting begins after 2,000 documents, so a version of a small collection lacks none. Later versions
lack at most 800 of the last 3,200 documents, which are learned when they are due. The newest 3,000
documents stay at hand in addition to the sample.

The model starts with T topics, or with fewer where fewer are better
(:mod:`beam_topics.model.learners.engine.start`), and documents that none explains get the rest
(:mod:`beam_topics.model.learners.engine.splits`). T more ids are for births. After that, a birth
takes the id of an ended topic or of a merge (:mod:`beam_topics.model.learners.engine.merges`).
alpha of a topic is a number, so the sum of alpha is at most twice that of T topics.
"""

from __future__ import annotations

import math

import numpy as np

from beam_topics.model.learners.engine.candidates import (
    BLOCK,
    HOLDS,
    Candidate,
    held_shares,
    may_hold,
)
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.merges import ids_for, judge_twins, seek_twins
from beam_topics.model.learners.engine.nursery import Stream, forget, reported, watch
from beam_topics.model.learners.engine.proposals import bear_domain, is_alarm, propose
from beam_topics.model.learners.engine.snapshots import Held, Past, phi_now, texts_of
from beam_topics.model.learners.engine.splits import look
from beam_topics.model.learners.engine.state import Array
from beam_topics.model.learners.engine.stream import SMALL, is_due, owe, pay, visit

# ln of the wealth of a rise above which topics are one birth.
TOGETHER = 1.0
# Nats that a document gains which clearly holds a topic, and nats for each token predicted.
CLEAR, CLEAR_TOKEN = 5.0, 0.5
# Tokens of documents that wait are multiples of this, so their sums have the same bits however
# minibatches are added up.
GRID = 2.0**-30
# For this many documents after a domain is born, this share of all visits goes to it.
CHANGED, OF_CHANGED = 2000, 0.65


def follow(stream: Stream) -> tuple[float, int]:
    """Learn a minibatch, and let topics be born.

    Returns:
        The sum of ln P of the tokens that were learned at once, and their number.
    """
    live, nursery, arrived, marks = stream.live, stream.nursery, stream.arrived, stream.marks
    nursery.events = []
    live.alpha[[t for t in nursery.endings.ended if not live.totals[t]]] = 0.0
    if missing := live.size - nursery.uses.shape[1]:
        nursery.uses = np.pad(nursery.uses, ((0, 0), (0, missing)))
    judge(stream)
    judge_twins(stream)
    waits = nursery.waits(marks[arrived])
    now = arrived[~waits]
    fit, tokens = visit(live, now, stream.seen, stream.pool), live.tokens_of(now)
    if is_alarm(nursery, fit, tokens, len(now)):
        live.recount(live.places(now)[0], np.full(live.tokens_of(now), NONE, np.uint16))
        bear_domain(stream, now)
        visit(live, now, stream.seen, stream.pool)
    due = nursery.waiting < stream.seen - nursery.law.delay
    late = stream.at(nursery.waiting[due])
    if len(late):
        visit(live, late, stream.seen, stream.pool)
    nursery.waiting = np.concatenate([nursery.waiting[~due], marks[arrived[waits]]])
    revisit(stream, len(now) + len(late))
    watch(stream, now)
    remember(stream, np.concatenate([now, late]))
    if stream.seen >= nursery.look and live.topics < nursery.full:
        look(stream._replace(arrived=arrived[:0]))
    # Topics have one alpha between minibatches.
    live.alpha[: live.topics] = nursery.alpha
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
        held = Held.of(nursery.alpha, phi_now(live, texts.ids))
        theta, lengths = held.mixtures(texts)[:, : live.topics].astype(np.float64), texts.lengths
        theta /= theta.sum(axis=1, keepdims=True)
        tokens = (theta * lengths[:, None]).sum(axis=0)
        found[0, : live.topics] = np.round(tokens / GRID) * GRID
        found[1] = np.bincount(theta[lengths > 0].argmax(axis=1), minlength=nursery.most)
    return found


def revisit(stream: Stream, count: int) -> None:
    """Visit earlier documents again; after a change, those since it above all."""
    marks, nursery = stream.marks, stream.nursery
    owe(stream.live, count, stream.seen, stream.moves)
    if not is_due(stream.live, len(marks) - len(nursery.waiting)):
        return
    learned = np.flatnonzero(~np.isin(marks, nursery.waiting))
    since = nursery.changed
    parts = [(1.0, learned)]
    if since >= 0 and stream.seen < since + CHANGED:
        newest = learned[marks[learned] >= since]
        parts = [(OF_CHANGED, newest), (1.0 - OF_CHANGED, learned)]
    pay(stream.live, stream.seen, stream.pool, parts)


def remember(stream: Stream, learned: Array) -> None:
    """Count the words of what was learned; when it is due, seek candidates and take a snapshot."""
    live, nursery, law = stream.live, stream.nursery, stream.nursery.law
    if len(learned):
        nursery.count_uses(live, learned, 1)
    if stream.seen < nursery.due:
        return
    nursery.due = stream.seen + law.every
    after = stream._replace(arrived=stream.arrived[:0])
    seek_twins(after)
    if len(nursery.pasts) == law.pasts:
        propose(after, nursery.pasts[0])
    nursery.pasts = [*nursery.pasts, Past.of(live, stream.seen)][-law.pasts :]


def judge(stream: Stream) -> None:
    """Let documents judge the pending candidates; bear one, and drop what ends.

    Neither a snapshot nor a candidate learns from the documents of small minibatches before some
    dozens of them have come, so these judge together.
    """
    nursery, law, going_on = stream.nursery, stream.nursery.law, []
    since = nursery.judged if nursery.pending else stream.seen
    today = np.flatnonzero(stream.marks >= since)
    if len(today) < law.judges and stream.seen < nursery.due:
        return
    nursery.judged = stream.seen
    for candidate in nursery.pending:
        shares = bet(stream, candidate, today)
        best = max(rise.log for rise in candidate.rises)
        gains, rises = candidate.gain.log > -math.log(law.level), best > -math.log(law.rise_level)
        if gains and rises and candidate.gained > 0:
            if bear(stream, candidate, shares):
                return
        elif candidate.judges < law.patience and candidate.used < len(candidate.controls):
            marks = stream.marks[today]
            more = marks[(shares > HOLDS).any(axis=1) & ~nursery.waits(marks)]
            if len(more):
                candidate.learn_on(stream.live, stream.marks, more, nursery.alpha, nursery.names)
            going_on.append(candidate)
    nursery.pending = going_on


def bet(stream: Stream, candidate: Candidate, documents: Array) -> Array:
    """Bet on the documents of today, and for each block of them on one of the past.

    Args:
        stream: the stream.
        candidate: changed.
        documents: int64[n], the numbers at hand of today's documents.

    Returns:
        float32[n, m], the shares of today's documents in the new topics.
    """
    live, nursery, today = stream.live, stream.nursery, len(documents)
    first, controls = candidate.used, candidate.controls
    candidate.used += min((len(candidate.odd) + today) // BLOCK, len(controls) - first)
    past = stream.at(controls[first : candidate.used])
    texts, old = texts_of(live, np.concatenate([documents, past])), candidate.past.topics
    phi, shares = candidate.past.phi(texts.ids, live), nursery.shares(texts.ids)
    new = candidate.phi(texts.ids, live)
    both = Held.of(nursery.alpha, phi, new)
    may, predicted = may_hold(texts, new, shares, 2), texts.lengths // 2
    gains, some = np.zeros(len(may)), texts.of(may)
    gains[may] = both.completion(some) - Held.of(nursery.alpha, phi).completion(some)
    candidate.gain.add(gains[:today].tolist())
    candidate.gained += float(gains[:today].sum())
    candidate.tokens += int(predicted[:today].sum())
    candidate.judges += today
    found = held_shares(texts, both, old, candidate.count, shares)
    clear = gains > np.minimum(CLEAR, CLEAR_TOKEN * predicted)
    held = (found > HOLDS) & clear[:, None]
    held = np.concatenate([held, held.any(axis=1, keepdims=True)], axis=1)
    candidate.compare(held[:today].tolist(), held[today:].tolist())
    return found[:today]


def bear(stream: Stream, candidate: Candidate, shares: Array) -> bool:
    """Give an id to the topics that rise together, and the tokens they have; False without one."""
    live, logs = stream.live, [rise.log for rise in candidate.rises]
    rising = [j for j, log in enumerate(logs[:-1]) if log > TOGETHER]
    if not rising:
        rising = [int(np.argmax([rise.now for rise in candidate.rises[:-1]]))]
    gain = candidate.gained / max(candidate.tokens, 1)
    born = ids_for(stream, 1, gain)
    if not born:
        return False
    ids = np.full(candidate.width + candidate.count, NONE, np.uint16)
    ids[: candidate.past.topics] = np.arange(candidate.past.topics)
    # Tokens of the topic that had the id are drawn again.
    ids[born] = NONE
    ids[candidate.width + np.array(rising)] = born[0]
    live.recount(live.places(stream.at(candidate.documents))[0], ids[candidate.topics])
    recent = stream.learned_since(candidate.past.seen)
    for _ in range(2):
        for part in range(0, len(recent), SMALL):
            visit(live, recent[part : part + SMALL], stream.seen, stream.pool)
    rise = max(candidate.rises, key=lambda one: one.log)
    figures = {
        "gain": gain,
        "rise": rise.now / max(rise.today, 1),
        "usual": rise.then / max(rise.past, 1),
        "log_gain": candidate.gain.log,
        "log_rise": rise.log,
    }
    mine = shares[len(shares) - len(stream.arrived) :, rising].sum(axis=1)
    reported(stream, born, "wagers", rise.now, figures, mine)
    forget(stream.nursery)
    return True
