"""Two topics that are one subject become one.

Every 600 documents pairs of topics that have not ended are sought whose words are alike: the cosine
of p / sqrt(G) is above .5. Different subjects do not reach it (none of 50 topics of news or
abstracts does).

The documents that come judge a pair, before anyone has learned them. A document that may hold one
of the two (:func:`~beam_topics.model.learners.engine.candidates.may_hold`) gains

    ln P(odd tokens | even tokens; the two are one) - ln P(odd | even; two),

others gain 0, and each gets .0015 nats for each token predicted. H0: the mean is at most 0, that
is, one topic loses .0015 nats a token of the whole stream or more. The wager is that of births,
with gains cut at one nat, because documents differ little. A learner makes the halves of one
subject different by chance within some hundred documents, and the two then are better than the one
by up to .001 nats: a smaller bound keeps them apart.

A pair that 1,500 documents do not join is left alone for 3,000. The id without tokens counts as
ended, so a birth takes it later. Until then its alpha is 0 while documents are learned, or it would
take the half of another topic.
"""

from __future__ import annotations

import math

import numpy as np

from beam_topics.model.learners.engine.candidates import may_hold
from beam_topics.model.learners.engine.kernels.figures import products
from beam_topics.model.learners.engine.merges import merge
from beam_topics.model.learners.engine.nursery import Pair, Stream, forget
from beam_topics.model.learners.engine.snapshots import Held, Texts, phi_of, texts_of
from beam_topics.model.learners.engine.state import Array
from beam_topics.model.learners.engine.wagers import BOUND

# The cosine from which two topics are judged; nats a token that two of them must bring.
ALIKE, WORTH = 0.5, 0.0015
# Pairs that are judged at once; judges, and documents before the next ones.
PAIRS, PATIENCE, REST = 5, 1500, 3000
# ln of the wealth below which a pair is given up.
HOPELESS = -3.0


def seek_twins(stream: Stream) -> None:
    """Let pairs be judged whose words are alike."""
    live, nursery = stream.live, stream.nursery
    nursery.apart = {p: at for p, at in nursery.apart.items() if at > stream.seen - REST}
    has_tokens = live.totals[: live.topics] > 0
    has_tokens[nursery.endings.ended] = False
    topics = np.flatnonzero(has_tokens)
    cosines = np.empty((len(topics), len(topics)))
    products(live.rows[: live.size], live.base_mean(), topics, cosines)
    lengths = np.sqrt(np.diagonal(cosines))
    cosines = np.triu(cosines / np.outer(lengths, lengths), 1)
    for cell in np.argsort(-cosines, axis=None, kind="stable").tolist():
        i, j = divmod(cell, len(topics))
        x, y = int(topics[i]), int(topics[j])
        if cosines[i, j] <= ALIKE or len(nursery.twins) == PAIRS:
            break
        is_judged = any({x, y} & {pair.x, pair.y} for pair in nursery.twins)
        if not is_judged and (x, y) not in nursery.apart:
            nursery.twins.append(Pair(x, y))


def judge_twins(stream: Stream) -> None:
    """Let the minibatch's documents judge all pairs; merge the first that is one subject."""
    live, nursery = stream.live, stream.nursery
    if not nursery.twins:
        return
    texts, topics = texts_of(live, stream.arrived), live.topics
    counts, totals = live.rows[texts.ids, :topics], live.totals[:topics]
    base, shares = live.base_mean(texts.ids), nursery.shares(texts.ids)
    phi = phi_of(counts, totals, base, live.a)
    for pair in list(nursery.twins):
        both = [pair.x, pair.y]
        one = phi_of(counts[:, both].sum(axis=1)[:, None], totals[both].sum()[None], base, live.a)
        gains = _gains(texts, phi, both, one, shares, nursery.alpha)
        pair.gain.add((BOUND * gains).tolist())
        pair.judges += len(gains)
        if pair.gain.log > -math.log(nursery.law.level):
            gone = merge(stream, *both)
            nursery.endings.ended.append(gone)
            live.alpha[gone] = 0.0
            forget(nursery)
            break
        if pair.judges >= PATIENCE or pair.gain.log < HOPELESS:
            nursery.apart[pair.x, pair.y] = stream.seen
            nursery.twins.remove(pair)


def _gains(
    texts: Texts, phi: Array, both: list[int], one: Array, shares: Array, alpha: float
) -> Array:
    """Return nats that documents gain where two topics are one, and those that this may cost."""
    found = WORTH * (texts.lengths // 2)
    may = may_hold(texts, phi[:, both], shares, 2)
    some = texts.of(may)
    others = np.delete(phi, both, axis=1)
    found[may] += Held.of(alpha, others, one).completion(some)
    found[may] -= Held.of(alpha, phi).completion(some)
    return found
