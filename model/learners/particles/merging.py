"""Topics absorb each other.

Where a challenger needs room, they do so until enough of them are empty. These are steps 2 and 3 of
:mod:`model.learners.particles.challengers`. :mod:`model.learners.particles.uniting` looks for
the number of topics with which learning begins. The losses of all pairs are computed once
(:mod:`model.learners.particles.kernels.losses`), and after an absorption those of the topic that
absorbed another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from model.learners.particles.copying import with_free_parts
from model.learners.particles.kernels.losses import (
    add_losses,
    merge,
    names_of,
    nearest_pair,
    nearest_topics,
    sample_of,
    update_nearest,
)
from model.learners.particles.kernels.particles import Population
from model.learners.particles.kernels.restarting import absorb, rename_topics
from model.learners.particles.kernels.token_filter import PARTS_EACH
from model.learners.particles.past_documents import Past
from model.learners.particles.rejuvenation import Challengers
from model.learners.particles.state import ParticleState
from model.records import LongArray

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
