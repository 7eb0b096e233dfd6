"""The filter by tokens against the kernels of whole documents, bit by bit."""

import numpy as np
import pytest
from clouds import KEY, new_prior

from model.kernels.arrivals import arrival, first_pass, settle
from model.kernels.filter import BESIDE, Rejuvenation, filter_tokens
from model.kernels.history import UNIFORM, admit, schedule
from model.kernels.meeting import MOVES, RESAMPLINGS, SCHEDULED, Meeting, become, meet
from model.kernels.moves import move_units
from model.kernels.particles import Draws
from model.kernels.random import FIRST_PASS, MOVE
from model.kernels.resampling import MULTINOMIAL
from model.kernels.tables import row_of
from model.learners.cloud import new_cloud, with_room
from model.learners.history import FullHistory, History, Reservoir

WORDS, PARTICLES = 30, 5


class Filter:
    """A filter that resamples after any token, in one of two ways."""

    def __init__(self, kind, whole_past, every):
        self.history = History(FullHistory() if whole_past else Reservoir(newest=0, reservoir=40), tokens=True)
        self.prior = new_prior(3, WORDS, 0.3 if kind else 0.0, kind)
        self.cloud = new_cloud(self.prior, PARTICLES, 1, 0, whole_past)
        counters = np.array([0, 0, 0, PARTICLES], np.int64)
        self.meeting = Meeting(4.0, MULTINOMIAL, np.full(1, 0.5), np.ones(1, np.int64), np.zeros(1), counters)
        self.rejuvenation = Rejuvenation(every, 6, UNIFORM, 0.0, np.zeros(0))
        self.drawn = self.calls = 0

    def begin(self, text):
        """A document's slot, and what the kernels call its draws."""
        slot = self.history.begin(np.array(text, np.int32), None)
        self.drawn += len(text)
        return slot, self.drawn - len(text)

    def room(self):
        slots, pages = len(self.history.labels), len(self.history.pages.words)
        self.cloud = with_room(self.cloud, PARTICLES, self.rejuvenation.moves + BESIDE, 1, WORDS, slots, pages, 1)

    def learn(self, text):
        slot, index = self.begin(text)
        at, draws = 0, Draws(*KEY, 1, FIRST_PASS)
        while at < len(text):
            self.room()
            pages, past = self.history.pages, self.history.past
            at = filter_tokens(self.cloud, self.prior, pages, draws, self.meeting, self.rejuvenation, past, slot, at, index, index)
            self.calls += 1

    def learn_slowly(self, text):
        """By the kernels of whole documents: each token is a part of its own, and everything is read from the tables again."""
        slot, index = self.begin(text)
        pages, past, counters = self.history.pages, self.history.past, self.meeting.counters
        draws, ancestors = Draws(*KEY, 1, FIRST_PASS), np.empty(PARTICLES, np.int64)
        for i in range(len(text)):
            self.room()
            new = arrival(pages, slot, i, i + 1, PARTICLES, len(self.prior.alpha), True)
            first_pass(self.cloud, self.prior, draws, new, index, False, 0, PARTICLES)
            resampled = meet(self.cloud, self.meeting, draws, ancestors)
            settle(self.cloud, pages, new, ancestors, 0, PARTICLES, 0)
            if resampled:
                become(self.cloud, ancestors, counters)
            admit(past, slot, i, *KEY)
            if (index + i + 1) % self.rejuvenation.every == 0 if self.rejuvenation.every else resampled:
                units, positions = np.empty(6, np.int32), np.empty(6, np.int64)
                counters[SCHEDULED] += schedule(past, UNIFORM, 0.0, np.zeros(0), units, positions, *KEY, 1, counters[SCHEDULED])
                move_units(self.cloud, self.prior, pages, Draws(*KEY, 1, MOVE), units, positions, counters[MOVES], 0, PARTICLES, 0)
                counters[MOVES] += 6

    def seen(self):
        """All that a particle knows, and what the meetings counted."""
        tables, everyone = self.cloud[:3], range(PARTICLES)
        sizes = (WORDS, len(self.history.labels), len(self.history.pages.words))
        for table, size in zip(tables, sizes, strict=True):
            yield [[table.rows[row_of.py_func(table, p, i)].tolist() for i in range(size)] for p in everyone]
        for name in ("totals", "kinds", "tables", "weight", "weight_exponent", "joint", "joint_exponent"):
            yield getattr(self.cloud, name).tolist()
        yield [part.tolist() for part in self.meeting[2:]]


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
    assert fast.meeting.counters[RESAMPLINGS] > 5
    assert fast.calls > len(lengths), "it should have run out of room, and gone on"
