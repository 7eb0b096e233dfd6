"""The one step of the engine, :func:`epoch`, and its law.

Topics of documents, topics over words and their shared base have the prior

    theta_d ~ Dirichlet(alpha),  phi_t ~ Dirichlet(a G),  G ~ Dirichlet(a0 G0).

Given G, phi and theta are summed out, and a token i of word w in document d has the distribution

    P(z_i = t | all others) ~ (alpha_t + n_td) (n_wt + a G_w) / (n_t + a),    counts without i.

An epoch visits some documents once. G, a, a0 and alpha are fixed during it.

1. *Sample*. Shard s of S takes the documents s, s + S, s + 2 S, ... of the list. It draws their
   tokens one after the other, given the counts at the start of the epoch and its own changes.
2. *Merge*. The changes of all shards are added to the counts.
3. *Reseat*. Tables, a, a0 and G are drawn from their conditional distributions given z.

S, the list and its order are part of the law. The number of threads is not: it changes no bit. With
S = 1 an epoch is a Gibbs step, so the law of z is the posterior. With S > 1 a shard does not see
what the others change in the same epoch. The law then differs, and the difference grows with the
share of all tokens that an epoch visits, more than with S: two shards pass tokens of a rare word
between their topics, so rare words stay spread over more topics, with more tables and a greater a.
Several epochs, each over a part of the documents, are closer to S = 1. The first documents of a
model need S = 1, because shards that begin with nothing learn S models whose topic numbers do not
agree.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from beam_topics.model.errors import LimitError
from beam_topics.model.kernels.threads import each
from beam_topics.model.learners.engine.kernels.draw import Shard, Topics, draw, merge
from beam_topics.model.learners.engine.kernels.tables import draw_base, draw_strengths, seat
from beam_topics.model.learners.engine.state import Array, State

# The largest count of 32 bits.
MOST_COUNT = 2**31 - 1
# G of a word is at least this share of its mean, so that a word without tokens does not vanish.
FLOOR = 1e-3
# Ranges of words: at least RANGE words in each, and at most RANGES.
RANGE, RANGES = 500, 32


def epoch(
    state: State,
    documents: Array,
    shards: int | None = None,
    pool: Executor | None = None,
    reseats: bool = True,
) -> float:
    """Visit documents once in shards, merge, and draw what topics share.

    Args:
        state: changed.
        documents: int[n], the numbers of distinct documents, in the order of the draws.
        shards: S; the state's if not given.
        pool: threads for the work; without it, this thread does all.
        reseats: whether tables, a, a0 and G are drawn; else they stay.

    Returns:
        The sum of ln P(words | what its shard has seen) over the tokens that had no topic.

    Raises:
        ValueError: a document is not in reach, or is there twice, or S is below 1.
        LimitError: a word may get more tokens in a topic than a count holds.
    """
    chosen = _checked(state, documents)
    if shards is not None and shards < 1:
        raise ValueError(f"shards: {shards} is below 1")
    state.a = state.strength
    fit = sample_and_merge(state, chosen, shards or state.shards, pool)
    state.epochs += 1
    if reseats:
        reseat(state, pool)
    return fit


def sample_and_merge(state: State, chosen: Array, shards: int, pool: Executor | None) -> float:
    """Do steps 1 and 2 of an epoch; return the sum of ln P of tokens that had no topic."""
    work = state.room_for(shards)
    slots, totals = work.slots[:shards], work.totals[:shards]
    lengths = state.offsets[chosen + 1] - state.offsets[chosen]
    longest, names = int(lengths.max(initial=0)), (*state.key, state.epochs)
    _check_room(state, int(lengths.sum()))
    state.visits += int(lengths.sum())
    shares = (state.a * state.base).astype(np.float32)
    topics = Topics(state.rows, state.totals, shares, state.alpha.astype(np.float32), state.a)

    def sample(s: int) -> float:
        shard = Shard(slots[s], work.pools[s], totals[s])
        part = np.ascontiguousarray(chosen[s::shards])
        return float(draw(state.reach, topics, shard, work.scratch(longest), part, *names))

    fits = each(pool, sample, shards)
    # Sums of integers have no order, so one call does all without threads.
    ranges = ranges_of(state.size) if pool else [(0, state.size)]
    each(pool, lambda r: merge(*ranges[r], state.rows, slots, work.pools), len(ranges))
    state.totals += (totals - state.totals).sum(axis=0)
    return sum(fits)


def reseat(state: State, pool: Executor | None) -> None:
    """Do step 3: draw tables, then a and a0, then G, given z."""
    ranges, names = ranges_of(state.size), (*state.key, state.epochs)
    state.reseated = state.visits
    shares, width = state.a * state.base, len(state.totals)
    of_topics = np.zeros((len(ranges), width), np.int64)
    above = state.base_share

    def seated(r: int) -> int:
        return int(seat(*ranges[r], state.rows, shares, above, state.tables, of_topics[r], *names))

    opened = sum(each(pool, seated, len(ranges)))
    everyone = int(state.tables[: state.size].sum())
    if everyone and state.learns_strengths:
        totals, seats = state.totals[: state.topics], of_topics.sum(axis=0)[: state.topics]
        strengths = draw_strengths(state.a, totals, seats, state.a0, everyone, opened, names)
        state.a, state.a0 = map(float, strengths)
    draw_shared(state, ranges, names, pool)


def draw_shared(
    state: State, ranges: list[tuple[int, int]], names: tuple[int, ...], pool: Executor | None
) -> None:
    """Draw G given the tables; no word gets less than a share of its mean."""
    above, base = state.base_share, state.base

    def drawn(r: int) -> float:
        return float(draw_base(*ranges[r], state.tables, above, base, *names))

    # The ranges depend on W alone, so the sum has one order.
    total = sum(each(pool, drawn, len(ranges)))
    scaled = base[: state.size] / total * state.known_share
    base[: state.size] = np.maximum(scaled, FLOOR * state.base_mean())


def ranges_of(words: int) -> list[tuple[int, int]]:
    """Return ranges (first, last + 1) that cover all words; they depend on W alone."""
    count = max(1, min(RANGES, words // RANGE))
    cuts = [words * r // count for r in range(count + 1)]
    return list(zip(cuts, cuts[1:], strict=False))


def _check_room(state: State, tokens: int) -> None:
    """Refuse an epoch in which a count might exceed 32 bits.

    Raises:
        LimitError: a word may get more tokens in a topic.
    """
    # A topic's total is at least each of its counts, and is looked at in no time.
    if int(state.totals.max()) + tokens <= MOST_COUNT:
        return
    most = int(state.rows[: state.size].max(initial=0))
    if most + tokens > MOST_COUNT:
        raise LimitError(
            f"a word has {most} tokens in a topic, and {tokens} more may come; allowed are"
            f" {MOST_COUNT}. Begin a new model with another --model_store."
        )


def _checked(state: State, documents: Array) -> Array:
    """Return the documents as int64[n]; each is in reach, and there once."""
    chosen = np.ascontiguousarray(documents, np.int64)
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < state.documents):
        raise ValueError(
            f"documents {chosen.min()} to {chosen.max()} are not in [0, {state.documents})"
        )
    visited = np.zeros(state.documents, np.bool_)
    visited[chosen] = True
    if np.count_nonzero(visited) < len(chosen):
        raise ValueError("a document is twice in an epoch: two shards would draw the same tokens")
    return chosen
