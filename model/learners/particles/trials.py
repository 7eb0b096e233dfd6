"""When a particle is challenged, and which documents wait for the decision.

A trial is due when the documents learned since the last change reach one of the multiples
:data:`~beam_topics.model.learners.particles.following.AFTER_CHANGE` of the number of judges (after
100, 250 and 500 documents). Two more, at the multiples
:data:`~beam_topics.model.learners.particles.following.AGAIN` (1,000 and 2,000 documents), make room
again whether one was won or not. Before the first change trials are due at the multiples
:data:`~beam_topics.model.learners.particles.following.AT_START` (400, 800 and 1,600 documents).
Afterwards a trial is due whenever the number of documents has grown fourfold. Its challengers learn
anew :data:`REPEATED` times as many documents as there are judges, and make room for them, because a
stream may change so slowly that no change is told.

The documents that come next are the judges. They wait, unlearned, until there are enough of them.
Then the duel takes place (:mod:`beam_topics.model.learners.particles.challengers`), and they are
learned.

What is pending is a list of documents and a few numbers
(:class:`~beam_topics.model.learners.particles.following.Following`). They are part of the state and
of its bytes, so a learner that is restored in the middle of a trial comes to the same decision. A
minibatch of at least as many documents as there are judges does not wait. A version that is
published while documents wait has learned them without a duel, on a copy.

Each island decides by itself. Where there are several particles, the one with the largest joint
probability is challenged, and if a challenger wins, all particles go on from it.

Turn changes of a stream and duels into events (:mod:`beam_topics.model.events`).

Let n be the tokens of each word and topic before a duel and n' those after it, and let
o_z = sum over w of min(n_wz, n'_wz). A topic number z is born if more than half of its tokens were
not there before: o_z < n'_z / 2. What it was has ended if more than half of its tokens are
elsewhere now: o_z < n_z / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beam_topics.model.events import CHANGE, DOCUMENT_IDS, TOPICS_REPLACED, Event
from beam_topics.model.learners.particles.challengers import (
    Rule,
    duel,
    room_of,
    split_history,
    takes_unused,
)
from beam_topics.model.learners.particles.following import STEADY, Following, Told
from beam_topics.model.learners.particles.history import Documents
from beam_topics.model.learners.particles.kernels.arrivals import sum_of_shares
from beam_topics.model.learners.particles.population import best_particle
from beam_topics.model.learners.particles.priors import word_cells
from beam_topics.model.learners.particles.state import ParticleState, ensure_capacity
from beam_topics.model.records import LongArray
from beam_topics.model.scaled import Scaled


def change_told(told: Told, ids: Sequence[str]) -> Event:
    """Return the event of a change.

    Args:
        told: what the blocks tell.
        ids: the ids of the documents of the last minibatch of the block.
    """
    return Event(
        CHANGE,
        told.documents,
        told.tokens,
        list(told.rose),
        told.by,
        told.figures,
        list(ids[-DOCUMENT_IDS:]),
    )


class TopicCounts(NamedTuple):
    """The tokens of words in topics, where there are any.

    Attributes:
        places: int64[n], w T + z, ascending.
        tokens: int64[n], n_wz.
        topics: T.
    """

    places: LongArray
    tokens: LongArray
    topics: int


def topic_counts(state: ParticleState, particle: int) -> TopicCounts:
    """Return the tokens of each word in each topic of a particle."""
    # Words that came with this minibatch may have no rows yet.
    ensure_capacity(state, 0, 0, 0)
    cells = word_cells(state.population, state.prior, particle, len(state.vocabulary))
    topics = state.settings.topic_count
    return TopicCounts(cells[:, 0] * topics + cells[:, 1], cells[:, 2], topics)


def topics_replaced(
    before: TopicCounts,
    after: TopicCounts,
    documents: int,
    gains: tuple[float, float, float],
    *,
    ids: Sequence[str],
) -> Event:
    """Return the event of a duel that a challenger won.

    Args:
        before: the tokens of each word in each topic before the duel.
        after: the same after it.
        documents: documents that the challenger learned anew.
        gains: gain on the judges, its standard error, gain on the past.
        ids: the ids of the documents of the minibatch that completed the judges.
    """
    both, at, there = np.intersect1d(
        before.places, after.places, assume_unique=True, return_indices=True
    )
    kept = _by_topic(both, np.minimum(before.tokens[at], after.tokens[there]), before.topics)
    old, new = (_by_topic(*counts) for counts in (before, after))
    born, ended = np.flatnonzero(2 * kept < new), np.flatnonzero(2 * kept < old)
    figures = dict(zip(("gain", "standard_error", "gain_on_past"), gains, strict=True))
    figures |= {"born": len(born), "ended": len(ended)}
    return Event(
        TOPICS_REPLACED,
        documents,
        int(new[born].sum()),
        born.tolist(),
        "duel",
        figures,
        list(ids[-DOCUMENT_IDS:]),
    )


def _by_topic(places: LongArray, tokens: LongArray, topics: int) -> LongArray:
    """Return int64[T], the sums of tokens."""
    sums = np.zeros(topics, np.int64)
    np.add.at(sums, places % topics, tokens)
    return sums


# Documents that are learned anew in a later trial, as a multiple of the judges.
REPEATED = 10.0
# At the start the model has little to lose. Where a change was told, the past counts less than what
# comes. Where none was told, both count alike.
AT_START = Rule(errors=1.0, past_weight=0.25)
AFTER_CHANGE = Rule(errors=2.0, past_weight=0.25)
LATER = Rule(errors=2.0, past_weight=1.0)


def release(
    state: ParticleState, following: Following, documents: Documents, *, ids: Sequence[str]
) -> Documents:
    """Return the documents to learn now, after a duel where one is due.

    Args:
        state: the learner's state; a challenger may take the place of its particles.
        following: what is remembered of the stream; documents that have to wait join it.
        documents: the documents that came, as word numbers with labels.
        ids: the ids of the minibatch's documents.

    Returns:
        All documents that waited and came; none while judges are missing.
    """
    following.steady = takes_unused(state, best_particle(state.population))
    if not following.due(state.documents):
        return documents
    following.held += documents
    if len(following.held) < following.judges:
        return []
    documents, following.held = following.held, []
    free = int(room_of(state) * state.settings.topic_count)
    makes_room, newest = following.makes_room, state.documents - following.changed
    rule = AFTER_CHANGE if following.changes else AT_START
    if following.repeated:
        newest, rule = min(newest, int(repeated(following) * following.judges)), LATER
    judges = [tokens for tokens, _ in documents[: following.judges]]
    best = best_particle(state.population)
    before = topic_counts(state, best)
    if following.repeated and takes_unused(state, best):
        makes_room = False
    verdict = duel(state, judges, newest, free if makes_room else 0, rule)
    if verdict.winner >= 0:
        gains = verdict.gains[verdict.winner]
        after = topic_counts(state, 0)
        state.events.append(topics_replaced(before, after, newest, gains, ids=ids))
    following.trial_held(state.documents, verdict.winner >= 0)
    return documents


def repeated(following: Following) -> float:
    """Return the documents that are learned anew in a later trial, in units of the judges."""
    return STEADY if following.steady else REPEATED


def observe(
    state: ParticleState,
    following: Following,
    evidence: Scaled,
    scored: int,
    learned: int,
    *,
    ids: Sequence[str],
) -> None:
    """Take note of a step, and of the change of the stream that it may tell.

    Args:
        state: the learner's state after the step.
        following: what is remembered of the stream.
        evidence: P(scored tokens | everything before).
        scored: tokens in the evidence.
        learned: documents that the step has learned.
        ids: the ids of the minibatch's documents.
    """
    newest, _ = split_history(state, learned)
    shares = sum_of_shares(
        state.population, state.history.pages, 0, newest, state.settings.topic_count
    )
    told = following.notice(evidence, scored, learned, shares, state.documents)
    if told:
        state.history.count_as_newest(state.documents - following.changed)
        state.events.append(change_told(told, ids))
