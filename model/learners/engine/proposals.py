"""Where a new subject is sought: words in excess, and documents that have two of them.

Of the documents D since the snapshot, N_k tokens are in topic k, and word w is in O_w of them. The
expected number is E_w = r_w sum_k N_k phi_wk, where r_w is the number of documents that had w so
far for each of its tokens. w is in excess if O_w is 5 or more and

    z = 2 [sqrt(O_w + 3/8) - sqrt(E_w + 3/8)] > 3.

A stream that does not change has some such words, too, so candidates are learned only if the
excess, the sum of O_w ln((O_w + .5) / (E_w + .5)), is at least .8 of the lowest of the last three.
Then a candidate gathers all documents since the snapshot that hold it.

*Domains*: the topics of many subjects, born at once. A minibatch is an *alarm* if ln p of a token
falls below the mean of the last five by more than .2 nats and by more than four standard deviations
of its differences. ln p is that of the first pass, before anyone has learned the documents.

The minibatch is taken out of the counts again. Of its first half, the documents with two words in
excess, given the current topics, propose half of all topics, or fewer if they are few. Its second
half judges: documents gain by the new topics (the wager of gain; there is no past to compare with).
Then all new topics that the judges hold are born, the most held first, as long as there are ids.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beam_topics.model.kernels.random import COMPARED, uniform
from beam_topics.model.learners.engine.candidates import (
    HOLDS,
    MOST_A,
    Candidate,
    Gain,
    Prior,
    Rise,
    held_shares,
    learn,
    learn_evenly,
)
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.merges import ids_for
from beam_topics.model.learners.engine.nursery import Nursery, Stream, forget, reported
from beam_topics.model.learners.engine.snapshots import (
    Held,
    Past,
    Texts,
    kinds_of,
    phi_now,
    texts_of,
)
from beam_topics.model.learners.engine.state import Array

# z of a word in excess, and its documents.
EXCESS, OFTEN = 3.0, 5
# Of the least excess of the last times, below which nothing is sought.
UNUSUAL, TIMES = 0.8, 3
# The most documents of a candidate, and documents for each new topic.
MOST, PER_TOPIC = 150, 40
# How often a candidate gathers documents: few of a subject near to others have two words in excess.
ROUNDS = 2
# Nats of a token, and standard deviations, that are an alarm; minibatches that are compared.
FALL, SPREAD, KNOWN = 0.2, 4.0, 5
# The most documents that propose; the share of documents that gives half of all topics.
MOST_FIRST, WHOLE = 300, 0.6
# Sweeps that learn a domain, and documents that hold a topic of it.
SWEEPS, OF_DOMAIN = 90, 3
# The share of the judges that a topic has that is born.
PRESENT = 0.002


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
    """Return the words in excess, and at most ``most`` documents with two of them.

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
    usual = min(nursery.excesses, default=float("inf"))
    nursery.excesses = [*nursery.excesses, found.whole][-TIMES:]
    controls = nursery.waiting[nursery.waiting < past.seen]
    is_usual = found.whole < UNUSUAL * usual
    if len(controls) < law.controls or is_usual or found.chosen.sum() < law.least:
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
    candidate.count_words(live, candidate.texts(live, stream.marks))
    for _ in range(ROUNDS):
        gather(stream, candidate, documents, texts, phi)
    nursery.pending.append(candidate)


def gather(
    stream: Stream, candidate: Candidate, documents: Array, texts: Texts, phi: Array
) -> None:
    """Let a candidate learn those of the documents since its snapshot that hold it."""
    live, nursery, old = stream.live, stream.nursery, candidate.past.topics
    both = Held.of(nursery.alpha, phi, candidate.phi(texts.ids, live))
    shares = held_shares(texts, both, old, candidate.count, nursery.shares(texts.ids))
    marks = stream.marks[documents[(shares > HOLDS).any(axis=1)]]
    if len(more := np.setdiff1d(marks, candidate.documents)):
        candidate.learn_on(live, stream.marks, more, nursery.alpha, nursery.names)


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
        topics: int32[N], of their tokens; K8 + j is new.
        new: m.
        texts: the judges.
        old: the current topics.
        both: these and the new ones.
    """

    documents: Array
    topics: Array
    new: int
    texts: Texts
    old: Held
    both: Held


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
    topics, width, new = live.topics, found.old.phi.shape[1], found.new
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
    live.recount(live.places(found.documents)[0], ids[found.topics])
    figures = {"gain": each, "log_gain": gain.log}
    # The judges are the last documents of the minibatch.
    mine = np.concatenate([np.zeros(len(stream.arrived) - len(shares)), shares.sum(axis=1)])
    reported(stream, born, "evidence", int((mine > HOLDS).sum()), figures, mine)
    forget(nursery)
    nursery.changed = stream.seen - len(stream.arrived)


def propose_domain(stream: Stream, now: Array) -> Domain | None:
    """Learn many topics from the first half of the minibatch; None if nothing is in excess."""
    live, nursery = stream.live, stream.nursery
    middle = stream.arrived[len(stream.arrived) // 2]
    first, judges = now[now < middle], stream.arrived[stream.arrived >= middle]
    texts = texts_of(live, np.concatenate([first, judges]))
    is_first = np.arange(len(texts.lengths)) < len(first)
    phi, half = phi_now(live, texts.ids), texts.of(is_first)
    old = Held.of(nursery.alpha, phi)
    uses = (old.mixtures(half)[:, : live.topics] * half.lengths[:, None]).sum(axis=0)
    found = excess(half, expect(stream, texts.ids, phi, uses), MOST_FIRST)
    count = int(min(nursery.most / 2, live.topics) * min(1.0, found.share / WHOLE))
    if found.chosen.sum() < nursery.law.least or count < 1:
        return None
    some = half.of(found.chosen)
    names = nursery.names
    topics, new = learn_evenly(live, some, old, nursery.alpha, count, SWEEPS, names, OF_DOMAIN)
    if not new.shape[1]:
        return None
    both = Held.of(nursery.alpha, phi, new)
    return Domain(first[found.chosen], topics, new.shape[1], texts.of(~is_first), old, both)
