"""A topic of several subjects becomes several topics, while ids are unused.

The first documents choose how many topics there are
(:mod:`beam_topics.model.learners.engine.start`), and say nothing of what comes later. Visits of
single tokens do not split a topic that is too full. So every 300 documents the three topics with
most tokens of the newest documents are looked at:

1. *Documents*: the newest 300 learned documents that have .3 of their tokens in the topic. Every
   third one judges, and is taken out of the counts. The others are learned anew.
2. *Children*. For m = 1, 2, 3, 5, 8 the m children are learned in 30 sweeps beside the other
   topics, which are held. All tokens begin evenly in the children, so that these sort themselves
   out.
3. *Judgement*: ln P(odd tokens | even tokens) of the judges, whom neither side has learned. The one
   side is the topic as it is, or one child, whichever is better; the other is the least m > 1 that
   is as good as the best (:func:`~beam_topics.model.learners.engine.start.least_good`). The topic
   splits if the wager of births says that the judges gain, with the same chance of a false alarm,
   and if they gain .02 nats a token of *theirs*: what the whole stream gains by a split of a rare
   topic is next to nothing.
4. *Split*. The largest child keeps the topic's id, and the others get unused ones. Documents with
   tokens of the topic are visited twice.

A topic that does not split is left alone for 3,000 documents. Splits are not told, because nothing
in the stream has changed. They fill T topics, or ``--max_topics`` of ``--topics=auto``; ids beyond
T are for births.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beam_topics.model.learners.engine.candidates import (
    MOST_A,
    Prior,
    first,
    nearest,
    sweep_beside,
)
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.nursery import Stream, forget
from beam_topics.model.learners.engine.snapshots import Held, Texts, kinds_of, phi_of, texts_of
from beam_topics.model.learners.engine.start import least_good
from beam_topics.model.learners.engine.state import Array
from beam_topics.model.learners.engine.stream import SMALL, visit
from beam_topics.model.learners.engine.wagers import Gain

# Documents between two looks, topics of a look, and documents for which a topic is left alone.
EVERY, TOPICS, REST = 300, 3, 3000
# The newest documents of a look; the share of a document in the topic; the most and fewest such.
NEWEST, SHARE, MOST, FEWEST = 3000, 0.3, 300, 24
# Numbers of children, sweeps that learn them, and documents that hold a child which stays.
CHILDREN, SWEEPS, HELD = (1, 2, 3, 5, 8), 30, 3
# Nats a token of the topic's documents.
WORTH = 0.02


class Family(NamedTuple):
    """A topic, and what its documents say of it.

    Attributes:
        topic: k.
        learned: int64[n], documents that children learn.
        texts: these.
        judges: the others.
        old: all topics without what the judges' tokens say.
        others: the same without k.
        prior: of children.
    """

    topic: int
    learned: Array
    texts: Texts
    judges: Texts
    old: Held
    others: Held
    prior: Prior


class Split(NamedTuple):
    """Children that are better than their topic.

    Attributes:
        topics: int32[N], of the tokens of the family's learned documents; K8 + j is a child.
        children: int64[m], the j of those that stay, the largest first.
    """

    topics: Array
    children: Array


def split_topics(stream: Stream) -> None:
    """Look at the topics with most tokens, when it is due, and split those that are several.

    Args:
        stream: the stream after its minibatch; no candidate is pending.
    """
    live, nursery = stream.live, stream.nursery
    nursery.tried = {k: at for k, at in nursery.tried.items() if at > stream.seen - REST}
    newest = stream.learned_since(stream.seen - NEWEST)
    uses = np.bincount(live.z[live.places(newest)[0]], minlength=live.topics)
    uses[list(nursery.tried)] = 0
    for topic in np.argsort(-uses, kind="stable")[:TOPICS].tolist():
        if live.topics == nursery.full:
            return
        family = family_of(stream, newest, topic) if uses[topic] else None
        found = judged(stream, family) if family else None
        if family and found:
            split(stream, family, found)
        else:
            nursery.tried[topic] = stream.seen


def family_of(stream: Stream, newest: Array, topic: int) -> Family | None:
    """Return a topic's documents, and the topics beside which children are learned."""
    live, alpha = stream.live, stream.nursery.alpha
    places, offsets = live.places(newest)
    where, lengths = np.repeat(np.arange(len(newest)), np.diff(offsets)), np.diff(offsets)
    mine = np.bincount(where, live.z[places] == topic, len(newest))
    chosen = newest[mine > SHARE * lengths][-MOST:]
    if len(chosen) < FEWEST:
        return None
    is_judge = np.arange(len(chosen)) % 3 == 0
    texts, size = texts_of(live, chosen), live.topics
    judges, learned = texts.of(is_judge), texts.of(~is_judge)
    counts, totals = live.rows[texts.ids, :size].copy(), live.totals[:size].copy()
    z = live.z[live.places(chosen[is_judge])[0]]
    np.subtract.at(counts, (judges.words, z), 1)
    totals -= np.bincount(z, minlength=size)
    base = live.base_mean()[texts.ids]
    phi = phi_of(counts, totals, base, live.a)
    words = np.bincount(kinds_of(learned)[0], minlength=len(base)) + 0.01
    prior = Prior((base + words / words.sum()) / 2.0, min(live.a, MOST_A), alpha)
    old, others = Held.of(alpha, phi), Held.of(alpha, np.delete(phi, topic, axis=1))
    return Family(topic, chosen[~is_judge], learned, judges, old, others, prior)


def judged(stream: Stream, family: Family) -> Split | None:
    """Return the children that the judges prefer to their topic, or None."""
    nursery, width = stream.nursery, family.others.phi.shape[1]
    free = nursery.full - stream.live.topics
    numbers = [m for m in CHILDREN if m - 1 <= free and m * 2 * HELD <= len(family.learned)]
    learned = [children_of(stream, family, m) for m in numbers]
    found = np.array([completion(family, *one) for one in zip(learned, numbers, strict=True)])
    alone = family.old.completion(family.judges)
    alone = max(alone, found[0], key=lambda row: float(row.sum()))
    if len(numbers) < 2:
        return None
    best = 1 + least_good(found[1:])
    gain, gains = Gain(), found[best] - alone
    gain.add(gains.tolist())
    worth = WORTH * int((family.judges.lengths // 2).sum())
    if gain.log <= -float(np.log(nursery.law.level)) or gains.sum() <= worth:
        return None
    held = family.texts.of_topics(learned[best], width, numbers[best])
    counts = (held > SHARE * family.texts.lengths[:, None]).sum(axis=0)
    order = np.argsort(-held.sum(axis=0), kind="stable")
    children = order[counts[order] >= HELD]
    return Split(learned[best], children) if len(children) > 1 else None


def children_of(stream: Stream, family: Family, count: int) -> Array:
    """Return the topics of tokens after children were learned, int32[N]; K8 + j is a child."""
    texts, others, names = family.texts, family.others, stream.nursery.names
    theta = others.mixtures(texts)
    topics = first(texts, others, theta, np.ones(len(texts.ids), np.bool_), count, True, names)
    near = nearest(theta)
    sweep_beside(texts, topics, others, near, family.prior, count, SWEEPS, names)
    return topics


def completion(family: Family, topics: Array, count: int) -> Array:
    """Return ln P(odd tokens | even tokens) of the judges with children, float64[D]."""
    counts = family.texts.counts(topics, family.others.phi.shape[1], count)
    new = phi_of(counts, counts.sum(axis=0), family.prior.base, family.prior.a)
    return Held.of(family.prior.alpha, family.others.phi, new).completion(family.judges)


def split(stream: Stream, family: Family, found: Split) -> None:
    """Give ids to the children, and their tokens."""
    live, nursery, topic = stream.live, stream.nursery, family.topic
    width, count = family.others.phi.shape[1], len(found.children)
    before = live.topics
    born = [topic, *live.add_topics(count - 1, nursery.alpha)]
    ids = np.full(width + max(CHILDREN), NONE, np.uint16)
    ids[: before - 1] = np.delete(np.arange(before), topic)
    ids[width + found.children] = born
    theirs = np.flatnonzero(live.z[: live.tokens] == topic)
    live.recount(theirs, np.full(len(theirs), NONE, np.uint16))
    live.recount(live.places(family.learned)[0], ids[found.topics])
    starts = live.offsets[: live.documents + 1]
    own = np.searchsorted(starts, theirs, "right") - 1
    for _ in range(2):
        for part in np.array_split(np.unique(own), -(-len(own) // SMALL) or 1):
            visit(live, part, stream.seen, stream.pool)
    nursery.leave([topic])
    forget(nursery)
