"""Challengers: copies of a particle that learn the newest documents anew and compete with it.

A particle whose topics were formed by other documents gives a new domain one or two topics, and
visits of single tokens do not split them again. A challenger is a copy of the best particle that is
changed in these steps (notation as in
:mod:`beam_topics.model.learners.particles.kernels.particles`):

1. The newest N documents are taken out
   (:func:`beam_topics.model.learners.particles.kernels.restarting.take_out`).
2. A topic that keeps less than a tenth of its tokens was a topic of these documents. The topic for
   which the loss L (:mod:`beam_topics.model.learners.particles.kernels.losses`) is the least
   absorbs the rest.
3. While too few topics are empty, the pair of topics with the least L becomes one. The first
   challenger wants F empty topics until a duel is won after the change, and afterwards takes
   those of step 2. The second wants a quarter of F beside those of step 2.
4. The tokens of the N documents are spread evenly over the empty topics, or over all topics where
   none is empty.
5. The N documents are visited in :data:`SWEEPS` whole sweeps. Few documents are visited more often,
   so that there are about :data:`VISITS` visits of documents. A challenger that predicts the
   judges worse than the particle by :data:`HOPELESS` after a third of its sweeps gives up.

A duel between the particle and its challengers is decided by documents that none of them has
learned. With l the log predictive probability per token by document completion
(:mod:`beam_topics.model.evaluation.kernels.held_out`), a challenger wins if

    G + v G_past - c e  >  :data:`MARGIN`

and the left side is the largest. G = l' - l of the judges, and e is its standard error, from the
differences of single documents: without it a duel of equals would be decided by chance. G_past is
l' - l of a sample of the past, the documents at hand that are older than the newest N. So the
change must pay for what it costs there. A :class:`Rule` has c and v. The duel is a decision by
prediction. It is not a Metropolis-Hastings move and does not leave the posterior invariant: the
full posterior refuses to merge old topics long after they have stopped paying. Between duels
particles are Gibbs samplers.

The documents at hand: the newest ones, and those that stand for the past of the stream.

Topics absorb each other.

Where a challenger needs room, they do so until enough of them are empty. These are steps 2 and 3 of
:mod:`beam_topics.model.learners.particles.challengers`.
The losses of all pairs are computed once
(:mod:`beam_topics.model.learners.particles.kernels.losses`), and after an absorption those of the
topic that absorbed another.

Documents in blocks, so that what their words take in all topics has bounded memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beam_topics.model.evaluation.kernels.held_out import complete, draws_of
from beam_topics.model.kernels.random import COMPLETION, RESTART, RESTART_SWEEP
from beam_topics.model.learners.particles.history import WHOLE_DOCUMENT
from beam_topics.model.learners.particles.kernels.history import HEAD, KEPT, RING, SEEN
from beam_topics.model.learners.particles.kernels.losses import (
    add_losses,
    merge,
    names_of,
    nearest_pair,
    nearest_topics,
    sample_of,
    update_nearest,
)
from beam_topics.model.learners.particles.kernels.particles import Population
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.resampling import MOVES
from beam_topics.model.learners.particles.kernels.restarting import (
    absorb,
    put_back,
    rename_topics,
    take_out,
)
from beam_topics.model.learners.particles.kernels.token_filter import PARTS_EACH
from beam_topics.model.learners.particles.population import (
    best_particle,
    copy_of,
    for_threads,
    replicate,
    with_free_parts,
)
from beam_topics.model.learners.particles.priors import is_even, word_probabilities
from beam_topics.model.learners.particles.rejuvenation import Challengers
from beam_topics.model.learners.particles.state import ParticleState, draws, ensure_capacity
from beam_topics.model.learners.particles.topic_weights import make_even
from beam_topics.model.records import FloatArray, IntArray, LongArray

# How many of the ring's older documents, and how many of the reservoir's, stand for all of them.
SAMPLE, KEPT_SAMPLE = 600, 500


@dataclass(frozen=True)
class Past:
    """Documents at hand that are older than those of a restart.

    Attributes:
        slots: int[D], the documents.
        omega: float64[D], how many documents of the stream each of them stands for.
    """

    slots: IntArray
    omega: FloatArray


def split_history(state: ParticleState, newest: int) -> tuple[IntArray, Past]:
    """Return the slots of the newest documents, and the older documents at hand.

    The latter are a sample of the ring's older documents, and one of the reservoir.
    """
    past = state.history.past
    ring, kept = int(past.marks[RING]), int(past.marks[KEPT])
    ages = np.arange(ring)
    by_age = past.newest_slot[(past.marks[HEAD] - 1 - ages) % max(1, len(past.newest_slot))]
    restarted, older = by_age[:newest], by_age[newest:]
    sample, reservoir = spread(older, SAMPLE), spread(past.kept_slot[:kept], KEPT_SAMPLE)
    omega = np.concatenate(
        [
            np.full(len(sample), len(older) / max(1, len(sample))),
            np.full(len(reservoir), past.marks[SEEN] / max(1, len(reservoir))),
        ]
    )
    return restarted, Past(np.concatenate([sample, reservoir]), omega)


def spread(slots: IntArray, most: int) -> IntArray:
    """Return at most so many of some slots, at equal distances."""
    return slots[np.linspace(0, len(slots) - 1, min(most, len(slots))).astype(int)]


LEFT, ADDED = 0.1, 0.25
# A topic with a smaller share of the tokens is absorbed where topics have learned weights.
DUST = 0.0002


class Merger:
    """A particle whose topics absorb each other.

    Attributes:
        population: the particle, alone in it; changed.
        losses: float64[T, T], the losses of pairs; symmetric.
    """

    def __init__(self, state: ParticleState, population: Population, past: Past) -> None:
        self._state, self.population = state, population
        topics = state.settings.topic_count
        self.losses = np.zeros((topics, topics))
        # Seeded topics have the first numbers, and absorb others only.
        self._seeded = np.arange(topics) < len(state.settings.seeds)
        pages = state.history.pages
        self._sample = sample_of(population, state.prior, pages, past.slots, past.omega)
        add_losses(population, state.prior, self._sample, -1, self.losses)

    def totals(self) -> LongArray:
        """Return int64[T], the tokens of each topic."""
        found: LongArray = self.population.totals[0, : len(self.losses)]
        return found

    def absorb(self, old: int, new: int) -> None:
        """Give the tokens of topic ``old`` to ``new``."""
        state, words = self._state, len(self._state.vocabulary)
        # A word moves to another part and leaves one.
        self.population = with_free_parts(self.population, PARTS_EACH * words)
        absorb(self.population, state.prior, words, old, new)
        self.losses[[old, new], :] = 0.0
        self.losses[:, [old, new]] = 0.0
        merge(self.population, state.prior, self._sample, old, new)
        add_losses(self.population, state.prior, self._sample, new, self.losses)

    def absorb_remains(self, before: LongArray) -> None:
        """Let the nearest topics absorb those that lost most of the tokens that they had before."""
        totals = self.totals()
        leaving = (totals > 0) & (totals < LEFT * before)
        if self._state.settings.learns_topics:
            leaving |= (totals > 0) & (totals < DUST * totals.sum())
        leaving &= ~self._seeded
        staying = np.flatnonzero((totals > 0) & ~leaving)
        for old in np.flatnonzero(leaving) if len(staying) else ():
            self.absorb(int(old), int(staying[np.argmin(self.losses[old, staying])]))

    def absorb_nearest(self, wanted: float) -> None:
        """Let the pairs that lose the least become one topic until so many topics are empty."""
        pairs = self.absorptions()
        while np.count_nonzero(self.totals() == 0) + 1 <= wanted:
            if next(pairs, None) is None:
                break

    def absorptions(self) -> Iterator[tuple[int, int]]:
        """Let the pair that loses the least become one topic, and yield (its old topic, its new).

        The next pair follows until one topic has all tokens.
        """
        live = self.totals() > 0
        joins = live & ~self._seeded
        nearest = nearest_topics(self.losses, live, joins)
        while np.count_nonzero(live) > 1:
            first, second = nearest_pair(self.losses, nearest)
            if first < 0:
                return
            old, new = (second, first) if self._seeded[first] else (first, second)
            self.absorb(int(old), int(new))
            live[old] = joins[old] = False
            update_nearest(self.losses, live, joins, nearest, int(new))
            yield int(old), int(new)

    def renamed(self) -> Population:
        """Return the particle, with the topics of its tokens as they are now."""
        history = self._state.history
        rename_topics(self.population, history.pages, history.slots(), names_of(self._sample))
        return self.population


def make_empty(
    state: ParticleState,
    population: Population,
    past: Past,
    before: LongArray,
    number: int,
    free: int,
) -> Population:
    """Return a challenger with room.

    Args:
        state: the learner's state.
        population: the challenger without the newest documents; changed.
        past: the older documents at hand.
        before: int64[T], the tokens of each topic with the newest documents.
        number: the challenger, 0 or 1.
        free: F.
    """
    merger = Merger(state, population, past)
    merger.absorb_remains(before)
    added = ADDED * room_of(state) * state.settings.topic_count
    merger.absorb_nearest(free if number == 0 else np.count_nonzero(merger.totals() == 0) + added)
    return merger.renamed()


def room_of(state: ParticleState) -> float:
    """Return the share of the topics that a challenger empties after a change."""
    challengers = state.settings.rejuvenation.challengers
    return challengers.room if isinstance(challengers, Challengers) else 0.0


# Tokens x T of a block, unless a single document has more.
LARGEST = 1 << 22


class Block(NamedTuple):
    """Some documents.

    Attributes:
        words: int64[V], their distinct words.
        tokens: int32[N], the documents' tokens as places in ``words``.
        lengths: the tokens of each document.
    """

    words: LongArray
    tokens: IntArray
    lengths: list[int]


def in_blocks(documents: Sequence[IntArray], topics: int) -> Iterator[Block]:
    """Iterate over documents of word numbers in blocks, in their order."""
    some: list[IntArray] = []
    for document in documents:
        if some and (sum(map(len, some)) + len(document)) * topics > LARGEST:
            yield _block(some)
            some = []
        some.append(document)
    if some:
        yield _block(some)


def _block(documents: list[IntArray]) -> Block:
    words, tokens = np.unique(np.concatenate(documents), return_inverse=True)
    return Block(words.astype(np.int64), tokens.astype(np.int32), [len(one) for one in documents])


CHALLENGERS = 2
SWEEPS, MOST_SWEEPS, VISITS = 30, 200, 20_000
# Nats a token. Of 62 challengers that were scored while they were swept, none won from further
# behind (docs/lessons.md).
HOPELESS = 0.05
MARGIN = 0.01
# How many documents of the past judge.
PAST_JUDGES = 200


@dataclass(frozen=True)
class Rule:
    """What a challenger has to show.

    Attributes:
        errors: c, the standard errors by which it must be better.
        past_weight: v, the weight of a token of the past beside one of the judges.
    """

    errors: float
    past_weight: float


@dataclass(frozen=True)
class Verdict:
    """The result of a duel.

    Attributes:
        winner: the number of the challenger that won; -1 for the particle itself.
        gains: (gain on the judges, its standard error, gain on the past) of each challenger, in
            nats a token.
    """

    winner: int
    gains: tuple[tuple[float, float, float], ...]


def duel(
    state: ParticleState, judges: list[IntArray], newest: int, free: int, rule: Rule
) -> Verdict:
    """Compare the best particle with its challengers; if one wins, all particles go on from it.

    Args:
        state: the learner's state.
        judges: documents as word numbers, which no particle has learned.
        newest: N.
        free: F.
        rule: when a challenger wins.
    """
    ensure_capacity(state, 0, 0, 0)
    restarted, past = split_history(state, newest)
    judging = spread(past.slots, PAST_JUDGES)
    remembered = [known_of(state.history.words_of(int(slot))) for slot in judging]
    best = best_particle(state.population)
    own = (
        completed(state, state.population, best, judges),
        completed(state, state.population, best, remembered),
    )
    gains, winner, most, before = [], -1, MARGIN, (state.prior, state.gamma)

    def is_hopeless(population: Population) -> bool:
        return gain_of(judges, own[0], completed(state, population, 0, judges))[0] < -HOPELESS

    for number in range(challengers_of(state, best, free)):
        state.prior, state.gamma = before
        population = challenger(state, best, number, restarted, past, free)
        population = visit(state, population, restarted, is_hopeless)
        gain = (
            *gain_of(judges, own[0], completed(state, population, 0, judges)),
            gain_of(remembered, own[1], completed(state, population, 0, remembered))[0],
        )
        gains.append(gain)
        worth = gain[0] - rule.errors * gain[1] + rule.past_weight * gain[2]
        if worth > most:
            winner, most, chosen = number, worth, population
            won = state.prior, state.gamma
    state.prior, state.gamma = won if winner >= 0 else before
    if winner >= 0:
        particles, generations = len(state.population.weight), int(state.resampler.counters[-1])
        identity = int(state.population.identity[0])
        state.population = for_threads(replicate(chosen, 0, particles, identity), state.threads)
        state.resampler.counters[-1] = max(generations, int(state.population.generation.max()))
    return Verdict(winner, tuple(gains))


def challengers_of(state: ParticleState, best: int, free: int) -> int:
    """Return how many challengers there are: one where there is room already."""
    return 1 if not free and takes_unused(state, best) else CHALLENGERS


def takes_unused(state: ParticleState, particle: int) -> bool:
    """Return whether topics have learned weights and one of a particle's topics is empty."""
    totals = state.population.totals[particle, : state.settings.topic_count]
    return state.settings.learns_topics and not totals.all()


def challenger(
    state: ParticleState, particle: int, number: int, restarted: IntArray, past: Past, free: int
) -> Population:
    """Return a challenger, by steps 1 to 4 of the module's docstring.

    Args:
        state: the learner's state.
        particle: the particle that is challenged.
        number: the challenger, 0 or 1.
        restarted: the slots of the newest N documents.
        past: the older documents at hand.
        free: F.
    """
    history, topics = state.history, state.settings.topic_count
    population = copy_of(
        state.population,
        particle,
        len(state.vocabulary),
        len(history.pages.words),
        number,
    )
    before = population.totals[0, :topics].copy()
    tokens = int(history.pages.length[restarted].sum())
    population = with_free_parts(population, tokens)
    take_out(population, state.prior, history.pages, restarted, draws(state, RESTART))
    population = make_empty(state, population, past, before, number, free)
    population = with_free_parts(population, tokens)
    empty = np.flatnonzero(population.totals[0, :topics] == 0)
    chosen = empty if len(empty) else np.arange(topics)
    put_back(population, state.prior, history.pages, restarted, chosen, draws(state, RESTART))
    return population


def visit(
    state: ParticleState,
    population: Population,
    restarted: IntArray,
    is_hopeless: Callable[[Population], bool],
) -> Population:
    """Return the challenger after visits to the restarted documents, by step 5 of the docstring.

    Args:
        state: the learner's state; the visits are counted.
        population: the challenger; changed.
        restarted: the slots of the newest N documents.
        is_hopeless: asked once, after a third of the sweeps.
    """
    pages, sweeps = state.history.pages, sweeps_of(len(restarted))
    positions = np.full(len(restarted), WHOLE_DOCUMENT, np.int64)
    if not is_even(state.prior):
        make_even(state, population)
    tokens, done, source = int(pages.length[restarted].sum()), 0, draws(state, RESTART_SWEEP)
    while done < sweeps and not (done == -(-sweeps // 3) and is_hopeless(population)):
        population = with_free_parts(population, PARTS_EACH * tokens)
        move_units(
            population, state.prior, pages, source, restarted, positions, done * tokens, 0, 1, 0
        )
        done += 1
    state.resampler.counters[MOVES] += done * tokens // len(state.population.weight)
    return population


def sweeps_of(documents: int) -> int:
    """Return the number of sweeps over so many documents."""
    return max(SWEEPS, min(MOST_SWEEPS, VISITS // max(documents, 1)))


def gain_of(
    documents: Sequence[IntArray], before: FloatArray, after: FloatArray
) -> tuple[float, float]:
    """Return how much better documents are predicted, and the standard error of that.

    Args:
        documents: D documents as word numbers.
        before: float64[D], ln p of each document's scored tokens.
        after: float64[D], the same of a challenger.

    Returns:
        The gain and its standard error, in nats a token; 0 and 0 where no token is scored.
    """
    tokens = sum(len(document) // 2 for document in documents)
    if not tokens:
        return 0.0, 0.0
    gains = (after - before).tolist()
    count, total = len(gains), math.fsum(gains)
    squares = math.fsum((gain - total / count) ** 2 for gain in gains)
    error = math.sqrt(squares * count / max(count - 1, 1))
    return total / tokens, error / tokens


def completed(
    state: ParticleState, population: Population, particle: int, documents: list[IntArray]
) -> FloatArray:
    """Return float64[D], ln p of each document's scored tokens in one particle."""
    prior, scores, drawn = state.prior, [np.zeros(0)], 0
    topics, source = state.settings.topic_count, draws(state, COMPLETION)
    for block in in_blocks(documents, topics):
        phi = word_probabilities(population, prior, particle, block.words)
        offsets = np.cumsum([0, *block.lengths])
        alpha, tokens = prior.alpha[: phi.shape[1]], block.tokens
        scores.append(complete(tokens, offsets, phi, alpha, prior.alpha_sum, source, drawn))
        drawn += draws_of(block.lengths)
    return np.concatenate(scores)


def known_of(tokens: IntArray) -> IntArray:
    """Return the tokens of a document that are in the vocabulary."""
    return tokens[tokens >= 0]
