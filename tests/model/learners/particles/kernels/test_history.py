"""The units that can be visited, the reservoir, and the choice of units."""

import numpy as np
import pytest
from alarm import agrees_in_counts
from twins import uniform

from beam_topics.model.kernels.random import RESERVOIR, SCHEDULE
from beam_topics.model.learners.particles.kernels import history
from beam_topics.model.learners.particles.kernels.history import (
    HEAD,
    KEPT,
    LATER,
    RECENT,
    RELEASED,
    RING,
    SEEN,
    Choice,
)


def new_past(newest, kept, slots):
    return history.Past(
        np.zeros(newest, np.int32),
        np.zeros(newest, np.int64),
        np.zeros(kept, np.int32),
        np.zeros(kept, np.int64),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
        np.zeros(5, np.int64),
        np.array([0, 1, 0, 0], np.int64),
    )


class SlowPast:
    """The twin of the units: two lists."""

    def __init__(self, newest, kept, bug=None):
        self.newest, self.kept, self.seen, self.sizes, self.bug = [], [], 0, (newest, kept), bug

    def admit(self, unit, key):
        self.newest.append(unit)
        if len(self.newest) > self.sizes[0]:
            self.offer(self.newest.pop(0), key)

    def offer(self, unit, key):
        self.seen += 1
        if len(self.kept) < self.sizes[1]:
            self.kept.append(unit)
            return
        u = uniform(self.seen - 1, key, 0, 0, RESERVOIR)
        place = int(u * (self.seen - (self.bug == "one too few")))
        if self.bug == "always kept":
            place = int(u * self.sizes[1])
        if place < self.sizes[1]:
            del self.kept[place]
            self.kept.append(unit)


def units_of(past):
    ring = int(past.marks[RING])
    newest = [(past.marks[HEAD] - ring + i) % max(1, len(past.newest_slot)) for i in range(ring)]
    kept = range(int(past.marks[KEPT]))
    return (
        [(int(past.newest_slot[i]), int(past.newest_position[i])) for i in newest],
        [(int(past.kept_slot[i]), int(past.kept_position[i])) for i in kept],
    )


@pytest.mark.parametrize(("newest", "kept"), [(4, 3), (0, 5), (6, 0), (1, 1), (100, 100)])
@pytest.mark.parametrize("per_slot", [1, 3])
def test_admission_equals_its_twin(newest, kept, per_slot):
    past, slow, key = new_past(newest, kept, 60), SlowPast(newest, kept), (3, 4)
    units = [(n // per_slot, n % per_slot) for n in range(60 * per_slot)]
    # As History.begin does; this test never calls release, so each slot is released at most once.
    past.held[:] = 1
    for number, unit in enumerate(units):
        history.admit(past, *unit, *key)
        slow.admit(unit, key)
        assert units_of(past) == (slow.newest, slow.kept)
        held = np.bincount([slot for slot, _ in slow.newest + slow.kept], minlength=60)
        assert (past.held - 1).tolist() == held.tolist()
        assert past.marks[SEEN] == slow.seen == max(0, number + 1 - newest)
    assert not past.marks[RELEASED]


def test_a_slot_that_no_unit_holds_is_released_once():
    past, slow = new_past(2, 2, 60), SlowPast(2, 2)
    for slot in range(60):
        history.admit(past, slot, -1, 3, 4)
        slow.admit((slot, -1), (3, 4))
    released = past.released[: past.marks[RELEASED]].tolist()
    assert len(set(released)) == len(released)
    assert set(range(60)) - set(released) == {slot for slot, _ in slow.newest + slow.kept}


def inclusions(admit_all, streams=6000, units=12):
    """Count how often each unit ends in the reservoir."""
    hits = np.zeros(units)
    for stream in range(streams):
        hits[admit_all((stream, 1), units)] += 1
    return hits


def by_kernel(key, units):
    past = new_past(0, 3, units)
    for unit in range(units):
        history.admit(past, unit, -1, *key)
    return past.kept_slot.copy()


def by_twin(bug):
    def admit_all(key, units):
        past = SlowPast(0, 3, bug)
        for unit in range(units):
            past.admit(unit, key)
        return past.kept

    return admit_all


def test_every_unit_is_in_the_reservoir_as_often():
    assert agrees_in_counts(inclusions(by_kernel), np.full(12, 1 / 12))


@pytest.mark.parametrize("bug", ["one too few", "always kept"])
def test_a_planted_bug_in_the_reservoir_is_found(bug):
    assert not agrees_in_counts(inclusions(by_twin(bug)), np.full(12, 1 / 12))


def filled(newest, kept, units=40):
    past = new_past(newest, kept, units)
    for unit in range(units):
        history.admit(past, unit, unit % 3, 3, 4)
    return past


def scheduled(past, share, moves, number=0, sequence=9, change_share=0.8):
    slots, positions = np.empty(moves, np.int32), np.empty(moves, np.int64)
    how = Choice(share, change_share)
    found = history.choose_units(past, how, slots, positions, 3, 4, sequence, number)
    return list(zip(slots[:found].tolist(), positions[:found].tolist(), strict=True))


@pytest.mark.parametrize("recent", [0, 3, 20, 50])
@pytest.mark.parametrize(("newest", "kept"), [(7, 9), (0, 9), (9, 0)])
def test_the_schedule_equals_its_twin(newest, kept, recent):
    past = filled(newest, kept)
    first = 40 - recent if recent else 0
    past.sizes[RECENT], past.sizes[LATER] = recent, np.sum(past.kept_slot >= first)
    ring, reservoir = units_of(past)
    in_ring = [unit for unit in ring if unit[0] >= first]
    in_reservoir = [unit for unit in reservoir if unit[0] >= first]
    past_units = [unit for unit in reservoir + ring if unit[0] < first]
    expected = []
    for m in range(50):
        pick, u = (uniform(2 * (5 + m) + k, (3, 4), 0, 9, SCHEDULE) for k in (0, 1))
        since = not past_units or (bool(in_ring + in_reservoir) and pick < 0.8)
        share = (0.8 if past_units else 1.0) * 0.7
        source = past_units
        if since:
            source = in_ring if in_ring and (not in_reservoir or pick < share) else in_reservoir
        expected.append(source[::-1][int(u * len(source))])
    assert scheduled(past, 0.7, 50, number=5) == expected


def test_units_since_a_change_are_counted_as_they_come():
    past = filled(5, 3)
    past.sizes[RECENT] = 2
    for unit in (0, 1):
        history.admit(past, unit, -1, 3, 4)
    newest = {39, 38, 0, 1}
    drawn = scheduled(past, 1.0, 200, change_share=1.0)
    assert {slot for slot, _ in drawn} == newest


@pytest.mark.parametrize(("newest", "kept"), [(5, 3), (3, 8), (0, 6)])
def test_units_of_the_reservoir_since_a_change_are_counted(newest, kept):
    past = new_past(newest, kept, 80)
    for unit in range(80):
        if unit == 20:
            past.sizes[RECENT] = 1
        history.admit(past, unit, -1, 3, 4)
        # The unit before the change is the first of the time since then.
        reservoir = past.kept_slot[: past.marks[KEPT]]
        assert past.sizes[LATER] == (np.sum(reservoir >= 19) if unit >= 20 else 0)
    assert 0 < past.sizes[LATER] <= kept


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_the_share_of_the_units_since_a_change(share):
    past = filled(6, 6)
    past.sizes[RECENT], past.sizes[LATER] = 20, np.sum(past.kept_slot >= 20)
    drawn = scheduled(past, 0.5, 20_000, change_share=share)
    since = sum(slot >= 20 for slot, _ in drawn)
    assert agrees_in_counts([since, 20_000 - since], [0.3, 0.7]) == (share == 0.3)


def test_no_past_no_visits():
    assert scheduled(new_past(3, 3, 5), 0.5, 4) == []


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_the_share_of_the_newest(share):
    drawn = [slot for slot, _ in scheduled(filled(6, 6), share, 20_000)]
    newest = np.sum(np.array(drawn) >= 34)
    assert agrees_in_counts([newest, 20_000 - newest], [0.3, 0.7]) == (share == 0.3)
