"""Documents that no topic explains get topics, while ids are unused.

The first documents choose how many topics there are
(:mod:`beam_topics.model.learners.engine.start`), and say nothing about what comes later. Where few
topics stand for much, whatever differs is spread over all of them, and visits to single tokens do
not separate it again. So the documents that fit worst are examined from time to time:

1. *Documents*: the tenth of the newest 3,000 learned documents, at most 240, whose tokens at even
   places have the lowest ln P per token.
2. *Children*. For m = 1, 2, 4, 8 the m children are learned from these documents in 30 sweeps,
   with all topics held. All tokens begin evenly in the children, so that these sort themselves
   out.
3. *Judgement*: ln P(odd tokens | even tokens) of each document, by children that are learned from
   the other two thirds, with the tokens of its own third taken out of the counts: neither side has
   learned it. The smallest good m is taken
   (:func:`~beam_topics.model.learners.engine.start.first_good`). Children get ids if the wager of
   births says that the documents gain, with the same chance of a false alarm, and if they gain .05
   nats a token of *theirs*: for the whole stream that is next to nothing.
4. *Ids*. The children are learned once more from all these documents, and get unused ids. With
   ``--topics=auto`` these are m. With a number T, all up to T are used, because T topics are
   wanted.

The next look is 300 documents later, or a quarter of all documents where none got an id. None of
this is reported, because a stream that does not change has such documents, too. Ids beyond T are
for births.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.learners.engine.candidates import Gain, learn_evenly
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.nursery import Stream, forget
from beam_topics.model.learners.engine.snapshots import Held, Texts, phi_now, phi_of, texts_of
from beam_topics.model.learners.engine.start import first_good
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.engine.stream import visit

# Documents until the next look, and the share of all until then if no child got an id.
EVERY, LATER = 300, 0.25
# The newest documents, the share that is looked at, the most and the fewest.
NEWEST, SHARE, MOST, FEWEST = 3000, 0.1, 240, 24
# Numbers of children, sweeps that learn them, parts of the documents.
CHILDREN, SWEEPS, FOLDS = (1, 2, 4, 8), 30, 3
# Nats a token of these documents.
WORTH = 0.05


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
    old, children = Held.of(nursery.alpha, phi_now(live, texts.ids)), min(count, len(chosen))
    topics, _ = learn_evenly(live, texts, old, nursery.alpha, children, SWEEPS, nursery.names)
    before, width = live.topics, old.phi.shape[1]
    ids = np.full(width + children, NONE, np.uint16)
    ids[:before] = np.arange(before)
    born = live.add_topics(count, nursery.alpha)
    ids[width:] = born[:children]
    live.recount(live.places(chosen)[0], ids[topics])
    for _ in range(2):
        visit(live, chosen, stream.seen, stream.pool)
    forget(nursery)


def worst(stream: Stream) -> Array:
    """Return the documents whose tokens at even places have the least ln P, int64[n], ascending."""
    live = stream.live
    newest = stream.learned_since(stream.seen - NEWEST)
    texts = texts_of(live, newest)
    old, lengths = Held.of(stream.nursery.alpha, phi_now(live, texts.ids)), texts.lengths
    theta = old.mixtures(texts, 2)
    where = np.repeat(np.arange(len(lengths)), lengths)
    even = (np.arange(len(texts.words)) - texts.offsets[where]) % 2 == 0
    masses = (theta[where[even]] * old.phi[texts.words[even]]).sum(axis=1, dtype=np.float64)
    levels = np.bincount(where[even], np.log(masses), len(lengths)) / np.maximum(lengths / 2, 1)
    levels[lengths < 2] = 0.0
    count = min(MOST, max(FEWEST, int(SHARE * len(newest))))
    found: Array = np.sort(newest[np.argsort(levels, kind="stable")[:count]])
    return found


def children_wanted(stream: Stream, texts: Texts, chosen: Array, free: int) -> int:
    """Return m, as documents judge that neither side has learned; 0 if they do not gain."""
    live, alpha, names = stream.live, stream.nursery.alpha, stream.nursery.names
    numbers = [m for m in CHILDREN if m <= free and 2 * m <= len(chosen)]
    found = np.zeros((len(numbers) + 1, len(chosen)))
    for fold in range(FOLDS):
        judges = np.arange(len(chosen)) % FOLDS == fold
        theirs = texts.of(judges)
        old = Held.of(alpha, _phi_without(live, texts, theirs, chosen[judges]))
        found[0, judges] = old.completion(theirs)
        for i, m in enumerate(numbers):
            new = learn_evenly(live, texts.of(~judges), old, alpha, m, SWEEPS, names)[1]
            both = Held.of(alpha, old.phi[:, : live.topics], new)
            found[i + 1, judges] = both.completion(theirs)
    best = first_good(found)
    gain, gains = Gain(), found[best] - found[0]
    gain.add(gains.tolist())
    worth = WORTH * int((texts.lengths // 2).sum())
    wins = gain.log > -float(np.log(stream.nursery.law.level)) and gains.sum() > worth
    return [0, *numbers][best] if wins else 0


def _phi_without(live: State, texts: Texts, some: Texts, chosen: Array) -> Array:
    """Return phi of the topics, float32[V, T], without the tokens of some of the documents."""
    z = live.z[live.places(chosen)[0]]
    counts = live.rows[texts.ids, : live.topics]
    np.subtract.at(counts, (some.words, z), 1)
    totals = live.totals[: live.topics] - np.bincount(z, minlength=live.topics)
    return phi_of(counts, totals, live.base_mean(texts.ids), live.a)
