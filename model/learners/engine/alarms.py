"""A new domain: the topics of many subjects, born at once.

A minibatch is an *alarm* if ln p of a token falls below the mean of the last five by more than .2
nats and by more than four standard deviations of its differences. ln p is that of the first pass,
before anyone has learned the documents.

The minibatch is taken out of the counts again. Of its first half, the documents with two words in
excess beside the topics of now propose half of all topics, or fewer if they are few. Its second
half judges: documents gain by the new topics (the wager of gain; there is no past to compare with).
Then all new topics are born that the judges hold, those first that they hold most, as long as there
are ids.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beam_topics.model.learners.engine.candidates import HOLDS, MOST_A, Learned, Prior, learn
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.merges import ids_for
from beam_topics.model.learners.engine.nursery import Nursery, Stream, forget, told
from beam_topics.model.learners.engine.proposals import excess, expect
from beam_topics.model.learners.engine.snapshots import (
    Held,
    Past,
    Texts,
    kinds_of,
    phi_of,
    texts_of,
)
from beam_topics.model.learners.engine.state import Array
from beam_topics.model.learners.engine.wagers import Gain

# Nats of a token, and standard deviations, that are an alarm; minibatches that are compared.
FALL, SPREAD, KNOWN = 0.2, 4.0, 5
# The most documents that propose; the share of documents that gives half of all topics.
MOST, WHOLE = 300, 0.6
# The share of the judges that a topic has that is born.
PRESENT = 0.002


def is_alarm(nursery: Nursery, fit: float, tokens: int, documents: int) -> bool:
    """Return whether documents are predicted far worse than those of the last minibatches."""
    if documents < nursery.law.judges or not tokens:
        return False
    known, level = nursery.levels, fit / tokens
    nursery.levels = [*known, level][-2 * KNOWN - 1 :]
    if len(known) < KNOWN:
        return False
    spread = float(np.std(np.diff(known)))
    return level < float(np.mean(known[-KNOWN:])) - max(FALL, SPREAD * spread)


class Domain(NamedTuple):
    """What the first half of a minibatch proposes.

    Attributes:
        documents: int64[n], the documents that were learned from.
        texts: the judges.
        old: the topics of now.
        both: these and the new ones.
        made: the new ones.
    """

    documents: Array
    texts: Texts
    old: Held
    both: Held
    made: Learned


def bear_domain(stream: Stream, now: Array) -> None:
    """Let the minibatch's first half propose many topics, and its second half judge them.

    Args:
        stream: the stream; the documents of the minibatch have no topics.
        now: int64[n], those that do not wait.
    """
    live, nursery = stream.live, stream.nursery
    found = propose_domain(stream, now)
    if found is None:
        return
    gain, gains = Gain(), found.both.completion(found.texts) - found.old.completion(found.texts)
    gain.add(gains.tolist())
    if gain.log <= -float(np.log(nursery.law.level)) or gains.sum() <= 0:
        return
    topics, width, new = live.topics, found.old.phi.shape[1], found.made.new
    shares = found.both.mixtures(found.texts, 2)[:, topics : topics + new]
    held = shares.sum(axis=0)
    order = np.argsort(-held, kind="stable")
    each = float(gains.sum()) / max(int((found.texts.lengths // 2).sum()), 1)
    born = ids_for(stream, int((held > PRESENT * len(shares)).sum()), each)
    if not born:
        return
    ids = np.full(width + new, NONE, np.uint16)
    ids[:topics] = np.arange(topics)
    ids[born], ids[width + order[: len(born)]] = NONE, born
    live.recount(live.places(found.documents)[0], ids[found.made.topics])
    figures = {"gain": each, "log_gain": gain.log}
    # The judges are the last documents of the minibatch.
    mine = np.concatenate([np.zeros(len(stream.arrived) - len(shares)), shares.sum(axis=1)])
    told(stream, born, "evidence", int((mine > HOLDS).sum()), figures, mine)
    forget(nursery)
    nursery.changed = stream.seen - len(stream.arrived)


def propose_domain(stream: Stream, now: Array) -> Domain | None:
    """Learn many topics from the first half of the minibatch; None if nothing is in excess."""
    live, nursery = stream.live, stream.nursery
    past, middle = Past.of(live, stream.seen), stream.arrived[len(stream.arrived) // 2]
    first, judges = now[now < middle], stream.arrived[stream.arrived >= middle]
    texts = texts_of(live, np.concatenate([first, judges]))
    is_first = np.arange(len(texts.lengths)) < len(first)
    phi, half = past.phi(texts.ids, live), texts.of(is_first)
    old = Held.of(nursery.alpha, phi)
    uses = (old.mixtures(half)[:, : past.topics] * half.lengths[:, None]).sum(axis=0)
    found = excess(half, expect(stream, texts.ids, phi, uses), MOST)
    count = int(min(nursery.most / 2, live.topics) * min(1.0, found.share / WHOLE))
    if found.chosen.sum() < nursery.law.least or count < 1:
        return None
    some = half.of(found.chosen)
    words = np.bincount(kinds_of(some)[0], minlength=len(texts.ids)) + 0.01
    base = (past.prior(texts.ids, live) + words / words.sum()) / 2.0
    prior = Prior(base, min(past.a, MOST_A), nursery.alpha)
    made = learn(some, old, prior, np.ones(len(base), np.bool_), count, nursery.names, 0)
    if made is None:
        return None
    counts = some.counts(made.topics, old.phi.shape[1], made.new)
    new = phi_of(counts, counts.sum(axis=0), base, prior.a)
    both = Held.of(nursery.alpha, phi, new)
    return Domain(first[found.chosen], texts.of(~is_first), old, both, made)
