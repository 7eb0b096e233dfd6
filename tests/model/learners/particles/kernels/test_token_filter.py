"""The filter by tokens against the kernels of whole documents, bit by bit."""

import numpy as np
import pytest
from populations import KEY, new_prior

from beam_topics.model.kernels.random import FIRST_PASS, MOVE
from beam_topics.model.learners.particles.history import History
from beam_topics.model.learners.particles.kernels.first_pass import (
    first_pass,
    new_token_draws,
    write_draws,
)
from beam_topics.model.learners.particles.kernels.history import Choice, admit, choose_units
from beam_topics.model.learners.particles.kernels.particles import Draws
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.resampling import (
    MOVES,
    MULTINOMIAL,
    RESAMPLINGS,
    SCHEDULED,
    Resampler,
    resample,
    reweight,
)
from beam_topics.model.learners.particles.kernels.shared_rows import row_of
from beam_topics.model.learners.particles.kernels.token_filter import (
    EXTRA_UNITS,
    Rejuvenation,
    filter_tokens,
)
from beam_topics.model.learners.particles.population import new_population, with_capacity
from beam_topics.model.learners.particles.rejuvenation import (
    NOTHING,
    DirectedTree,
    Reservoir,
)

WORDS, PARTICLES = 30, 5
UNIFORMLY = Choice(0.65, 0.0)


class Filter:
    """A filter that resamples after any token, in one of two ways."""

    def __init__(self, kind, whole_past, every):
        self.history = History(
            DirectedTree() if whole_past else Reservoir(newest=0, reservoir=40), tokens=True
        )
        self.prior = new_prior(3, WORDS, 0.3 if kind else 0.0, kind)
        self.population = new_population(
            self.prior, PARTICLES, 1, 0, DirectedTree() if whole_past else NOTHING
        )
        counters = np.array([0, 0, 0, PARTICLES], np.int64)
        self.resampler = Resampler(
            4.0, MULTINOMIAL, np.full(1, 0.5), np.ones(1, np.int64), np.zeros(1), counters
        )
        self.rejuvenation = Rejuvenation(every, 6, UNIFORMLY)
        self.drawn = self.calls = 0

    def begin(self, text):
        """Store a document, and return its slot and the index of its first draw."""
        slot = self.history.begin(np.array(text, np.int32), None)
        self.drawn += len(text)
        return slot, self.drawn - len(text)

    def room(self):
        pages = len(self.history.pages.words)
        self.population = with_capacity(
            self.population,
            writers=PARTICLES,
            units=self.rejuvenation.moves + EXTRA_UNITS,
            longest=1,
            words=WORDS,
            pages=pages,
            threads=1,
        )

    def learn(self, text):
        slot, index = self.begin(text)
        at, draws = 0, Draws(*KEY, 1, FIRST_PASS)
        while at < len(text):
            self.room()
            pages, past = self.history.pages, self.history.past
            at = filter_tokens(
                self.population,
                self.prior,
                pages,
                draws,
                self.resampler,
                self.rejuvenation,
                past,
                slot,
                at,
                index,
                index,
            )
            self.calls += 1

    def learn_slowly(self, text):
        """Learn with the kernels of whole documents, each token as a part of its own."""
        slot, index = self.begin(text)
        pages, past, counters = self.history.pages, self.history.past, self.resampler.counters
        draws, ancestors = Draws(*KEY, 1, FIRST_PASS), np.empty(PARTICLES, np.int64)
        for i in range(len(text)):
            self.room()
            new = new_token_draws(pages, slot, i, i + 1, PARTICLES, len(self.prior.alpha), True)
            first_pass(self.population, self.prior, pages, draws, new, index, False, 0, PARTICLES)
            resampled = reweight(self.population, self.resampler, draws, ancestors)
            write_draws(self.population, pages, new, ancestors, 0, PARTICLES, 0)
            if resampled:
                resample(self.population, ancestors, counters)
            admit(past, slot, i, *KEY)
            if (
                (index + i + 1) % self.rejuvenation.every == 0
                if self.rejuvenation.every
                else resampled
            ):
                units, positions = np.empty(6, np.int32), np.empty(6, np.int64)
                counters[SCHEDULED] += choose_units(
                    past, UNIFORMLY, units, positions, *KEY, 1, counters[SCHEDULED]
                )
                pages.length[slot] = i + 1
                move_units(
                    self.population,
                    self.prior,
                    pages,
                    Draws(*KEY, 1, MOVE),
                    units,
                    positions,
                    counters[MOVES],
                    0,
                    PARTICLES,
                    0,
                )
                pages.length[slot] = len(text)
                counters[MOVES] += 6

    def seen(self):
        """Yield all that a particle holds, and the figures of resampling."""
        tables, everyone = self.population[:2], range(PARTICLES)
        sizes = (WORDS, len(self.history.pages.words))
        for table, size in zip(tables, sizes, strict=True):
            yield [
                [table.rows[row_of.py_func(table, p, i)].tolist() for i in range(size)]
                for p in everyone
            ]
        for name in (
            "totals",
            "topic_tables",
            "tables",
            "weight",
            "weight_exponent",
            "joint",
            "joint_exponent",
        ):
            yield getattr(self.population, name).tolist()
        yield [part.tolist() for part in self.resampler[2:]]


@pytest.mark.parametrize("every", [0, 1, 7])
@pytest.mark.parametrize("whole_past", [False, True])
@pytest.mark.parametrize("kind", [None, "sampled"])
def test_a_document_token_by_token_is_its_tokens_one_after_the_other(kind, whole_past, every):
    generator = np.random.default_rng(6)
    fast, slow = Filter(kind, whole_past, every), Filter(kind, whole_past, every)
    lengths = [5, 64, 1, 70, 33, 32]
    for length in lengths:
        text = generator.integers(0, WORDS, length).tolist()
        fast.learn(text)
        slow.learn_slowly(text)
        for ours, theirs in zip(fast.seen(), slow.seen(), strict=True):
            assert ours == theirs
    assert fast.resampler.counters[RESAMPLINGS] > 5
    assert fast.calls > len(lengths), "it should have run out of room, and gone on"
