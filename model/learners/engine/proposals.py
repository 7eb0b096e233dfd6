"""Where a new subject is sought: words in excess, and documents that have two of them.

Of the documents D since the snapshot, N_k tokens are in topic k, and word w is in O_w of them.
Expected are E_w = r_w sum_k N_k phi_wk, where r_w is the documents that had w so far for each of
its tokens. w is in excess if O_w is 5 or more and

    z = 2 [sqrt(O_w + 3/8) - sqrt(E_w + 3/8)] > 3.

A stream that does not change has some such words, and so candidates are learned only if the excess,
the sum of O_w ln((O_w + .5) / (E_w + .5)), is no less than .8 of the least of the last three. Then
a candidate gathers all documents since the snapshot that hold it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beam_topics.model.kernels.random import COMPARED, uniform
from beam_topics.model.learners.engine.candidates import (
    HOLDS,
    MOST_A,
    Candidate,
    Prior,
    held_shares,
    learn,
)
from beam_topics.model.learners.engine.nursery import Stream
from beam_topics.model.learners.engine.snapshots import Held, Past, Texts, kinds_of, texts_of
from beam_topics.model.learners.engine.state import Array
from beam_topics.model.learners.engine.wagers import Rise

# z of a word in excess, and its documents.
EXCESS, OFTEN = 3.0, 5
# Of the least excess of the last times, below which nothing is sought.
UNUSUAL, TIMES = 0.8, 3
# The most documents of a candidate, and documents for each new topic.
MOST, PER_TOPIC = 150, 40
# How often a candidate gathers documents: few of a subject near to others have two words in excess.
ROUNDS = 2


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
