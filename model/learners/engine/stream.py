"""Learn a stream: documents come in minibatches, and all of them stay in reach or a sample does.

:func:`learn` takes a minibatch of n documents, after which D have come.

1. *First pass*: an epoch over the n documents gives their tokens their first topics. The
   probability of their words in it is a prediction, because no later document has been seen.
2. *Visits*: (R + 50,000 / D) n visits of documents are owed. They are made once 1,000 are owed, or
   as many as there are documents in reach, in equal epochs of evenly drawn documents. The documents
   of an epoch are distinct, and at most half of those in reach or 1,000, because what shards do not
   see of each other grows with the share of an epoch.

A version lacks fewer than 1,000 visits, those of ten arriving documents; each document has topics.
So what is learned depends on the sequence of minibatches alone, not on versions.

The first 600 documents are one sequence, S = 1: from nothing, shards would learn models whose
topics do not agree. Later a shard has at least 250 documents, and there are at most 4 shards: each
copies the rows of the words that it meets, and many copies do not fit into a processor's cache.

Tables and what they decide are drawn again once so many tokens have been visited that the tables,
which span all words, cost little. alpha is fixed: learned, it was worse in every measure.

:func:`keep_sample` bounds the documents in reach. Document i of all that came has a named uniform,
and those with the lowest stay: a uniform sample of all that came, and in addition the few that came
after the last ones left.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor

import numpy as np

from beam_topics.model.kernels.random import KEPT, VISITED, fill_uniforms, uniform
from beam_topics.model.learners.engine.epoch import epoch
from beam_topics.model.learners.engine.state import Array, State

# Documents that are learned in one sequence.
START = 600
# Documents of a shard, and the most shards. A visit of a token takes 67, 74, 81, 93 and 106 ns with
# 1, 2, 4, 8 and 16 shards of 4,000 posts.
PART, MOST_SHARDS = 250, 4
# Visits that all documents get together in addition to R of each, for each doubling of D, without
# the factor ln 2; D below FEW counts as FEW.
EARLY, FEW = 50_000, 500
# Visits of the documents that chose a model: the total, and the least and most for each.
CHOSEN, AGAIN = 9000, (30, 200)
# An epoch of visits has at most this share of the documents in reach, or SMALL. Fewer are not paid:
# an epoch costs as much as hundreds of visits before its first draw.
SHARE, SMALL = 0.5, 1000
# Visited tokens for each word between two draws of tables. With 4, tables and G take a fifth of the
# seconds of a stream, and two seeds of two corpora are within their noise.
RESEAT = 16


def learn(
    state: State,
    arrived: Array,
    seen: int,
    moves: int,
    pool: Executor | None,
    reach: Array | None = None,
) -> float:
    """Learn a minibatch, and visit earlier documents again.

    Args:
        state: changed.
        arrived: int64[n], the numbers of the minibatch's documents, which have no topics.
        seen: D.
        moves: R; with 0 no document is visited again.
        pool: threads for the work.
        reach: int64[m], the documents that may be visited again, ascending; all if not given.

    Returns:
        The sum of ln P(words | what its shard has seen) over the minibatch's tokens.
    """
    fit = visit(state, arrived, seen, pool)
    owe(state, len(arrived), seen, moves)
    reach = np.arange(state.documents) if reach is None else reach
    if is_due(state, len(reach)):
        pay(state, seen, pool, [(1.0, reach)])
    return fit


def settle(state: State, documents: Array, pool: Executor | None) -> None:
    """Visit the documents that chose a model: it has learned most of them, but in a short chain."""
    least, most = AGAIN
    for _ in range(max(least, min(most, CHOSEN // len(documents)))):
        visit(state, documents, len(documents), pool)


def visit(state: State, chosen: Array, seen: int, pool: Executor | None) -> float:
    """Visit documents in an epoch; return the sum of ln P over the tokens without a topic."""
    due = state.visits + state.tokens_of(chosen) - state.reseated >= RESEAT * state.size
    return epoch(state, chosen, shards_of(len(chosen), seen), pool, reseats=due)


def owe(state: State, arrived: int, seen: int, moves: int) -> None:
    """Owe the visits that ``arrived`` documents call for, n of D; R = ``moves``."""
    if moves:
        state.owed += round((moves + EARLY / max(seen, FEW)) * arrived)


def is_due(state: State, documents: int) -> bool:
    """Return whether enough visits are owed, given the number of documents in reach."""
    return state.owed >= min(SMALL, documents)


def pay(state: State, seen: int, pool: Executor | None, parts: list[tuple[float, Array]]) -> None:
    """Visit documents again, as often as is owed.

    Args:
        state: changed.
        seen: D.
        pool: threads for the work.
        parts: shares of the visits, which sum to 1, and whose they are: int64[m], documents in
            ascending order.
    """
    due, state.owed = state.owed, 0
    for share, reach in parts:
        for chosen in visits(state, round(share * due), reach):
            visit(state, chosen, seen, pool)


def shards_of(documents: int, seen: int) -> int:
    """Return S of an epoch."""
    return 1 if seen <= START else min(MOST_SHARDS, max(1, documents // PART))


def visits(state: State, due: int, reach: Array) -> Iterator[Array]:
    """Yield the documents of each epoch of ``due`` visits, int64[*], ascending.

    The number of the epoch names a draw, so each is asked for when the one before has ended.
    """
    most = min(len(reach), max(SMALL, int(SHARE * len(reach))))
    epochs = -(-due // most) if most else 0
    for number in range(epochs):
        yield drawn(state, due * (number + 1) // epochs - due * number // epochs, reach)


def drawn(state: State, count: int, reach: Array) -> Array:
    """Return some of the documents in reach, drawn evenly without replacement, ascending."""
    if count == len(reach):
        return reach
    places = np.empty(state.documents)
    fill_uniforms(places, len(places), 0, *state.key, 0, state.epochs, VISITED)
    return np.sort(reach[np.argpartition(places[reach], count - 1)[:count]])


def places_of(state: State, numbers: Array) -> Array:
    """Return the uniforms of documents by which they stay in reach, float64[n].

    Args:
        state: names the draws.
        numbers: int64[n], for each document how many came before it.
    """
    names = *state.key, 0, 0, KEPT
    return np.array([uniform(number, *names) for number in numbers.tolist()], np.float64)


def keep_sample(state: State, places: Array, most: int, wanted: Array | None = None) -> Array:
    """Drop documents, so that at most ``most`` stay in reach in addition to those that are wanted.

    Args:
        state: changed.
        places: float64[D], the uniform of each document in reach, as :func:`places_of` gives it.
        most: 0 or more.
        wanted: bool[D], whether a document must stay.

    Returns:
        int64[m], the numbers of those that stay, ascending.
    """
    if len(places) <= most:
        return np.arange(len(places))
    stays = np.zeros(len(places), np.bool_)
    stays[np.argpartition(places, most)[:most]] = True
    staying: Array = np.flatnonzero(stays if wanted is None else stays | wanted)
    if len(staying) < len(places):
        state.keep_documents(staying)
    return staying
