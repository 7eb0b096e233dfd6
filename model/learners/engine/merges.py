"""Two topics become one, and a birth finds an id.

A birth takes an unused id; without any, that of the topic that ended first
(:mod:`beam_topics.model.learners.engine.nursery`); without any, that of the cheapest merge, if it
costs less than the birth gains.

What a merge costs follows from a sample of the documents at hand. With p = phi_wx and q = phi_wy,
and n_dx and n_dy without the token itself, a token of topic x has the probability

    two   (n_dx + alpha) p + (n_dy + alpha) q
    one   (n_dx + n_dy + 2 alpha) (n_x p + n_y q) / (n_x + n_y),

up to a factor, and the cost is the mean of ln(two / one), 0 for tokens of other topics, in nats
per token of all that came. Only settled topics merge: what a young one becomes is unknown.

*Twins*: two topics that are one subject become one. Every 600 documents, pairs of topics that have
not ended and whose words are alike are sought: the cosine of p / sqrt(G) is above .5. Different
subjects do not reach it (none of 50 topics of news or abstracts does).

New documents judge a pair before anyone has learned them. A document that may hold one of the two
(:func:`~beam_topics.model.learners.engine.candidates.may_hold`) gains

    ln P(odd tokens | even tokens; the two are one) - ln P(odd | even; two),

others gain 0, and each gets .0015 nats for each token predicted. H0: the mean is at most 0, that
is, one topic loses .0015 nats a token of the whole stream or more. The wager is that of births,
with gains cut at one nat, because documents differ little. A learner makes the halves of one
subject differ by chance within a few hundred documents, and the two are then better than the one by
up to .001 nats: a smaller bound would keep them apart.

A pair that 1,500 documents do not join is left alone for 3,000. The id without tokens counts as
ended, so a birth takes it later. Until then its alpha is 0 while documents are learned, so that it
takes no half of another topic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from beam_topics.model.learners.engine.candidates import BOUND, may_hold
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.kernels.figures import products
from beam_topics.model.learners.engine.nursery import Pair, Stream, forget
from beam_topics.model.learners.engine.snapshots import Held, Texts, phi_now, phi_of, texts_of
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.engine.stream import SMALL, drawn, visit

# Documents that tell what merges cost: some ten tokens of each pair. PART of them take memory.
SAMPLE, PART = 800, 100
# The cosine from which two topics are judged; nats a token that two of them must bring.
ALIKE, WORTH = 0.5, 0.0015
# Pairs that are judged at once; judges, and documents before the next ones.
PAIRS, PATIENCE, REST = 5, 1500, 3000
# ln of the wealth below which a pair is given up.
HOPELESS = -3.0


def ids_for(stream: Stream, count: int, gain: float) -> list[int]:
    """Return ids of topics without tokens for births, fewer where merges cost too much.

    Args:
        stream: the stream.
        count: births.
        gain: nats a token that they bring together.
    """
    live, nursery = stream.live, stream.nursery
    unused = min(count, nursery.most - live.topics)
    found = nursery.endings.ended[: count - unused]
    if found:
        empty(stream, found)
    if unused:
        found += live.add_topics(unused, nursery.alpha)
    if len(found) < count:
        for cost, x, y in cheapest(stream):
            if len(found) == count or cost > gain / count:
                break
            found.append(merge(stream, x, y))
    return found


def empty(stream: Stream, topics: list[int]) -> None:
    """Take all tokens from topics; those in reach get other topics."""
    live, nursery = stream.live, stream.nursery
    theirs = np.flatnonzero(np.isin(live.z[: live.tokens], topics))
    documents = np.unique(np.searchsorted(live.offsets[: live.documents + 1], theirs, "right") - 1)
    live.z[theirs] = NONE
    live.rows[:, topics], live.totals[topics] = 0, 0
    # The draws of these tokens must not choose the topics again.
    live.alpha[topics] = 0.0
    for part in range(0, len(documents), SMALL):
        visit(live, documents[part : part + SMALL], stream.seen, stream.pool)
    live.alpha[topics] = nursery.alpha
    nursery.leave(topics)


def merge(stream: Stream, x: int, y: int) -> int:
    """Give the tokens of the smaller of two topics to the other; return the one without tokens."""
    live = stream.live
    into, gone = (x, y) if live.totals[x] >= live.totals[y] else (y, x)
    live.z[: live.tokens][live.z[: live.tokens] == gone] = into
    for counts in (live.rows, live.totals):
        counts[..., into] += counts[..., gone]
        counts[..., gone] = 0
    stream.nursery.endings.join(into, gone)
    stream.nursery.unpair([into, gone])
    return gone


def cheapest(stream: Stream) -> Iterator[tuple[float, int, int]]:
    """Yield (cost, x, y) of merges of settled topics, the cheapest first; no topic comes twice."""
    live, nursery = stream.live, stream.nursery
    learned = stream.learned_since(0)
    if not len(learned):
        return
    sample = drawn(live, min(SAMPLE, len(learned)), learned)
    settled = np.flatnonzero(nursery.endings.settled[: live.topics])
    table = costs(live, sample, nursery.alpha)[np.ix_(settled, settled)]
    left, right = np.triu_indices(len(settled), 1)
    values, used = table[left, right], set[int]()
    for k in np.argsort(values, kind="stable").tolist():
        x, y = int(settled[left[k]]), int(settled[right[k]])
        if not {x, y} & used:
            used |= {x, y}
            yield float(values[k]), x, y


def costs(live: State, documents: Array, alpha: float) -> Array:
    """Return what each merge costs, nats a token, float64[T, T].

    Args:
        live: the model.
        documents: int64[D], the sample; all are learned.
        alpha: of each topic.
    """
    found, tokens = np.zeros((live.topics, live.topics)), 0
    for first in range(0, len(documents), PART):
        z, losses = _losses(live, documents[first : first + PART], alpha)
        order = np.argsort(z, kind="stable")
        topics, starts = np.unique(z[order], return_index=True)
        if len(z):
            found[topics] += np.add.reduceat(losses[order], starts, axis=0)
        tokens += len(z)
    return (found + found.T) / max(tokens, 1)


def _losses(live: State, documents: Array, alpha: float) -> tuple[Array, Array]:
    """Return z of all tokens, and ln(two / one) given each other topic, float64[N, T]."""
    (places, offsets), topics = live.places(documents), live.topics
    words, z = live.words[places], live.z[places].astype(np.int64)
    where, each = np.repeat(np.arange(len(documents)), np.diff(offsets)), np.arange(len(z))
    cells = np.bincount(where * topics + z, minlength=len(documents) * topics)
    inside = cells.reshape(-1, topics)[where] + alpha
    totals, q = live.totals[:topics].astype(np.float64), phi_now(live, words)
    own, p = inside[each, z, None] - 1.0, q[each, z, None].astype(np.float64)
    mine = totals[z, None]
    mixed = (mine * p + totals * q) / (mine + totals)
    found = np.log((own * p + inside * q) / ((own + inside) * mixed))
    found[each, z] = 0.0
    return z, found


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
    texts, totals = texts_of(live, stream.arrived), live.totals
    base, shares = live.base_mean(texts.ids), nursery.shares(texts.ids)
    phi = phi_now(live, texts.ids)
    for pair in list(nursery.twins):
        both = [pair.x, pair.y]
        counts = live.rows[texts.ids[:, None], both].sum(axis=1)
        one = phi_of(counts[:, None], totals[both].sum()[None], base, live.a)
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
