"""Documents that no topic explains get topics, while ids are unused.

The first documents choose how many topics there are
(:mod:`beam_topics.model.learners.engine.start`), and say nothing of what comes later. Where few
topics stand for much, what is different is spread over all of them, and visits of single tokens do
not get it out again. So from time to time the worst documents are looked at:

1. *Documents*: the tenth of the newest 3,000 learned documents, at most 240, whose tokens at even
   places have the least ln P for each token.
2. *Children*. For m = 1, 2, 4, 8 the m children are learned from these documents in 30 sweeps
   beside all topics, which are held. All tokens begin evenly in the children, so that these sort
   themselves out.
3. *Judgement*: ln P(odd tokens | even tokens) of each document by children that are learned from
   the other two thirds, with its third's tokens taken out of the counts: neither side has
   learned it. The least good m is taken
   (:func:`~beam_topics.model.learners.engine.start.first_good`). Children get ids if the wager of
   births says that the documents gain, with the same chance of a false alarm, and if they gain .05
   nats a token of *theirs*: for the whole stream that is next to nothing.
4. *Ids*. The children are learned once more from all these documents, and get unused ids. Of
   ``--topics=auto`` these are m. Of a number T, all up to T are used, because so many topics are
   wanted.

The next look is 300 documents later, or a quarter of all documents where none got an id. Nothing of
it is told, because a stream that does not change has such documents, too. Ids beyond T are for
births.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beam_topics.model.learners.engine.candidates import (
    MOST_A,
    Gain,
    Prior,
    first,
    nearest,
    sweep_beside,
)
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.nursery import Stream, forget
from beam_topics.model.learners.engine.snapshots import Held, Texts, kinds_of, phi_of, texts_of
from beam_topics.model.learners.engine.start import first_good
from beam_topics.model.learners.engine.state import Array
from beam_topics.model.learners.engine.stream import visit

# Documents until the next look, and the share of all until then if no child got an id.
EVERY, LATER = 300, 0.25
# The newest documents, the share that is looked at, the most and the fewest.
NEWEST, SHARE, MOST, FEWEST = 3000, 0.1, 240, 24
# Numbers of children, sweeps that learn them, parts of the documents.
CHILDREN, SWEEPS, FOLDS = (1, 2, 4, 8), 30, 3
# Nats a token of these documents.
WORTH = 0.05


class Learned(NamedTuple):
    """Children that are learned beside all topics.

    Attributes:
        old: the topics.
        prior: of the children.
        topics: int32[N], of the tokens of the documents; K8 + j is a child.
        new: float32[V, m], P(w | j).
    """

    old: Held
    prior: Prior
    topics: Array
    new: Array


def look(stream: Stream) -> None:
    """Look at the worst documents, and give ids to children that they gain by.

    Args:
        stream: the stream after its minibatch; ids are unused.
    """
    live, nursery = stream.live, stream.nursery
    nursery.look = stream.seen + max(EVERY, int(LATER * stream.seen))
    chosen = worst(stream)
    if len(chosen) < FEWEST:
        return
    texts, free = texts_of(live, chosen), nursery.full - live.topics
    count = children_wanted(stream, texts, chosen, free)
    if not count:
        return
    nursery.look = stream.seen + EVERY
    count = count if nursery.grows else free
    found = children(stream, texts, texts, min(count, len(chosen)))
    before, width = live.topics, found.old.phi.shape[1]
    ids = np.full(width + found.new.shape[1], NONE, np.uint16)
    ids[:before] = np.arange(before)
    born = live.add_topics(count, nursery.alpha)
    ids[width:] = born[: found.new.shape[1]]
    live.recount(live.places(chosen)[0], ids[found.topics])
    for _ in range(2):
        visit(live, chosen, stream.seen, stream.pool)
    forget(nursery)


def worst(stream: Stream) -> Array:
    """Return the documents whose tokens at even places have the least ln P, int64[n], ascending."""
    live = stream.live
    newest = stream.learned_since(stream.seen - NEWEST)
    texts = texts_of(live, newest)
    old, lengths = topics_of(stream, texts), texts.lengths
    theta = old.mixtures(texts, 2)
    where = np.repeat(np.arange(len(lengths)), lengths)
    even = (np.arange(len(texts.words)) - texts.offsets[where]) % 2 == 0
    masses = (theta[where[even]] * old.phi[texts.words[even]]).sum(axis=1, dtype=np.float64)
    levels = np.bincount(where[even], np.log(masses), len(lengths)) / np.maximum(lengths / 2, 1)
    levels[lengths < 2] = 0.0
    count = min(MOST, max(FEWEST, int(SHARE * len(newest))))
    found: Array = np.sort(newest[np.argsort(levels, kind="stable")[:count]])
    return found


def topics_of(
    stream: Stream, texts: Texts, without: Texts | None = None, z: Array | None = None
) -> Held:
    """Return all topics, held, without the tokens of some of the documents."""
    live = stream.live
    counts, totals = live.rows[texts.ids, : live.topics], live.totals[: live.topics].copy()
    if without is not None and z is not None:
        np.subtract.at(counts, (without.words, z), 1)
        totals -= np.bincount(z, minlength=live.topics)
    phi = phi_of(counts, totals, live.base_mean(texts.ids), live.a)
    return Held.of(stream.nursery.alpha, phi)


def children_wanted(stream: Stream, texts: Texts, chosen: Array, free: int) -> int:
    """Return m, as documents judge that neither side has learned; 0 if they do not gain."""
    live = stream.live
    numbers = [m for m in CHILDREN if m <= free and 2 * m <= len(chosen)]
    found = np.zeros((len(numbers) + 1, len(chosen)))
    for fold in range(FOLDS):
        judges = np.arange(len(chosen)) % FOLDS == fold
        theirs = texts.of(judges)
        old = topics_of(stream, texts, theirs, live.z[live.places(chosen[judges])[0]])
        found[0, judges] = old.completion(theirs)
        for i, m in enumerate(numbers):
            new = children(stream, texts, texts.of(~judges), m, old).new
            both = Held.of(stream.nursery.alpha, old.phi[:, : live.topics], new)
            found[i + 1, judges] = both.completion(theirs)
    best = first_good(found)
    gain, gains = Gain(), found[best] - found[0]
    gain.add(gains.tolist())
    worth = WORTH * int((texts.lengths // 2).sum())
    wins = gain.log > -float(np.log(stream.nursery.law.level)) and gains.sum() > worth
    return [0, *numbers][best] if wins else 0


def children(
    stream: Stream, texts: Texts, some: Texts, count: int, old: Held | None = None
) -> Learned:
    """Learn children beside all topics.

    Args:
        stream: the stream.
        texts: the documents.
        some: those that children are learned from, with the same words.
        count: m.
        old: the topics; those of now if not given.
    """
    live, nursery = stream.live, stream.nursery
    old = old or topics_of(stream, texts)
    words = np.bincount(kinds_of(some)[0], minlength=len(texts.ids)) + 0.01
    base = (live.base_mean(texts.ids) + words / words.sum()) / 2.0
    prior, names = Prior(base, min(live.a, MOST_A), nursery.alpha), nursery.names
    theta = old.mixtures(some)
    topics = first(some, old, theta, np.ones(len(base), np.bool_), count, True, names)
    sweep_beside(some, topics, old, nearest(theta), prior, count, SWEEPS, names)
    counts = some.counts(topics, old.phi.shape[1], count)
    return Learned(old, prior, topics, phi_of(counts, counts.sum(axis=0), base, prior.a))
