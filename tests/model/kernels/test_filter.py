"""Meetings against a twin: weights, evidence, who has children, and what the children hold."""

import math

import numpy as np
import pytest
from clouds import KEY, Pair, new_prior
from twins import uniform

from model.kernels.arrivals import arrival, first_pass, settle
from model.kernels.filter import BESIDE, MOVES, RESAMPLINGS, SCHEDULED, Meeting, Rejuvenation, become, filter_tokens, meet
from model.kernels.history import UNIFORM, admit, schedule
from model.kernels.moves import move_units
from model.kernels.particles import Draws
from model.kernels.random import FIRST_PASS, MOVE, RESAMPLE
from model.kernels.resampling import MULTINOMIAL
from model.kernels.tables import row_of
from model.learners.cloud import new_cloud, with_room
from model.learners.history import History
from model.settings import LearnerSettings

THRESHOLD = 2.0
WORDS, PARTICLES = 30, 5


def slow_meeting(twins, evidence, threshold):
    """(weights, evidence, ESS) of the twins' scaled weights, in the order of the particles."""
    top = max(exponent for _, exponent in (twin.weight for twin in twins))
    weights = [math.ldexp(twin.weight[0], max(twin.weight[1] - top, -1100)) for twin in twins]
    total = 0.0
    for weight in weights:
        total += weight
    weights = [weight / total for weight in weights]
    squares = 0.0
    for weight in weights:
        squares += weight * weight
    fraction, shift = math.frexp(evidence[0] * total)
    return weights, (fraction, evidence[1] + shift + top), 1.0 / squares


def slow_ancestors(weights, number):
    """Multinomial draws; a survivor is its own first child, the others take the places of the dead in order."""
    size, counts = len(weights), [0] * len(weights)
    ends = np.cumsum(weights).tolist()
    for k in range(size):
        u = uniform(number * size + k, KEY, 0, 1, RESAMPLE) * ends[-1]
        counts[next(p for p, end in enumerate(ends) if end > u)] += 1
    spare = iter([p for p, count in enumerate(counts) for _ in range(count - 1)])
    return [p if counts[p] else next(spare) for p in range(size)]


@pytest.mark.parametrize("threshold", [0.0, THRESHOLD])
def test_meetings_equal_their_twin(threshold):
    generator, pair = np.random.default_rng(4), Pair(3, 20)
    meeting = Meeting(threshold, MULTINOMIAL, np.full(1, 0.5), np.ones(1, np.int64), np.full(1, 3.0), pair.generations)
    evidence, resamplings = (0.5, 1), 0
    for length in [6, 1, 0, 40, 9, 9, 30, 2, 2, 17] * 2:
        slot = pair.learn(generator.integers(0, 20, length).tolist())
        weights, evidence, ess = slow_meeting(pair.twins, evidence, threshold)
        ancestors = np.empty(3, np.int64)
        resampled = meet(pair.cloud, meeting, Draws(*KEY, 1, FIRST_PASS), ancestors)
        if resampled:
            become(pair.cloud, ancestors, meeting.counters)
        assert (meeting.evidence[0], meeting.evidence_exponent[0], meeting.ess[0]) == (*evidence, ess)
        assert resampled == (ess <= threshold)
        if resampled:
            ancestors = slow_ancestors(weights, resamplings)
            pair.twins = [twin if p == a else pair.twins[a].child() for p, (twin, a) in enumerate(zip(pair.twins, ancestors, strict=True))]
            resamplings += 1
        for twin, weight in zip(pair.twins, weights, strict=True):
            twin.weight = (1 / 3 if resampled or not threshold else weight, 0)
        pair.assert_same()
        pair.move([(slot, -1)])
        pair.assert_same()
    assert meeting.counters[0] == resamplings
    assert (resamplings > 2) == (threshold > 0)


class Filter:
    """A filter that resamples after any token, in one of two ways."""

    def __init__(self, kind, whole_past, every):
        past = {"history": "full"} if whole_past else {"newest": 0, "reservoir": 40}
        self.history = History(LearnerSettings(unit="token", **past))
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
