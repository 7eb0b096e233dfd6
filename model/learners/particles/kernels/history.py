"""The units of the past that can be visited: the newest, and a uniform sample of all before them.

A unit is a document (position -1) or a token (slot, position). ``newest`` is a ring of the last K
units. A unit that leaves the ring (every unit if K = 0) is offered to a reservoir of N units by
Vitter's algorithm R, so each unit offered so far is in the reservoir with the same probability (May
et al. 2014, section 4). The reservoir is in order of arrival, for choices by age.

A document keeps its slot while one of its units is in the ring or in the reservoir; ``held`` counts
these units. A move of one token needs the counts of its whole document, tokens outside the
reservoir included, so documents are kept whole.

After a change of the stream (:mod:`beam_topics.model.learners.particles.following`) most visits go
to the units since the change, in the ring and in the reservoir. Otherwise most of them would go to
documents of the time before, and these would take the topics of the new ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.kernels.random import RESERVOIR, SCHEDULE, uniform

# Places in Past.marks and Past.sizes.
HEAD, RING, KEPT, SEEN, RELEASED = range(5)
TOKENS, LONGEST, RECENT, LATER = range(4)


class Past(NamedTuple):
    """The units, and the slots that they refer to.

    Attributes:
        newest_slot: int32[K], the ring's documents.
        newest_position: int64[K], the ring's positions.
        kept_slot: int32[N], the reservoir's documents in order of arrival.
        kept_position: int64[N], the reservoir's positions.
        held: int32[slots], units that refer to each slot.
        released: int32[slots]; the first ``marks[RELEASED]`` are slots that no unit refers to.
        marks: int64[5]: the ring's next place, units in the ring, units in the reservoir, units
            that were offered to the reservoir, released slots.
        sizes: int64[4]: 1 where units are tokens; tokens of the longest unit; units since the last
            change of the stream, 0 if there was none; how many of these are in the reservoir.
    """

    newest_slot: npt.NDArray[np.int32]
    newest_position: npt.NDArray[np.int64]
    kept_slot: npt.NDArray[np.int32]
    kept_position: npt.NDArray[np.int64]
    held: npt.NDArray[np.int32]
    released: npt.NDArray[np.int32]
    marks: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]


class Choice(NamedTuple):
    """How units are chosen.

    Attributes:
        newest_share: the share of the ring in the visits since the last change.
        change_share: the share of visits that go to units since the last change.
    """

    newest_share: float
    change_share: float


@kernel
def _release_unit(past, slot):
    """Count one unit less for a slot, and release the slot at 0."""
    past.held[slot] -= 1
    if past.held[slot] == 0:
        past.released[past.marks[RELEASED]] = slot
        past.marks[RELEASED] += 1


@kernel
def _offer(past, slot, position, since, key0, key1):
    """Offer a unit to the reservoir by algorithm R, and release the unit that has no place.

    ``since`` says whether it came since the last change.
    """
    capacity = len(past.kept_slot)
    place = past.marks[SEEN]
    past.marks[SEEN] += 1
    if place >= capacity:
        # The number of units offered so far names the draw, so it does not depend on minibatches
        # or islands.
        place = np.int64(uniform(place, key0, key1, 0, 0, RESERVOIR) * past.marks[SEEN])
        if place >= capacity:
            _release_unit(past, slot)
            return
        _release_unit(past, past.kept_slot[place])
        past.sizes[LATER] -= place >= capacity - past.sizes[LATER]
        for k in range(place, capacity - 1):
            past.kept_slot[k] = past.kept_slot[k + 1]
            past.kept_position[k] = past.kept_position[k + 1]
        place = capacity - 1
    else:
        past.marks[KEPT] += 1
    past.kept_slot[place] = slot
    past.kept_position[place] = position
    past.sizes[LATER] += since


@kernel
def admit(past, slot, position, key0, key1):
    """Add a unit to the ring; the unit that leaves the ring is offered to the reservoir."""
    past.held[slot] += 1
    if past.sizes[RECENT]:
        past.sizes[RECENT] += 1
    ring = len(past.newest_slot)
    since = past.sizes[RECENT] > ring
    if ring == 0:
        _offer(past, slot, position, since, key0, key1)
        return
    place = past.marks[HEAD]
    if past.marks[RING] == ring:
        _offer(past, past.newest_slot[place], past.newest_position[place], since, key0, key1)
    else:
        past.marks[RING] += 1
    past.newest_slot[place] = slot
    past.newest_position[place] = position
    past.marks[HEAD] = (place + 1) % ring


@kernel
def choose_units(past, choice, slots, positions, key0, key1, sequence, number):
    """Choose ``len(slots)`` units to visit, with replacement, the same for all particles.

    Unit m takes two uniforms. The first chooses a group: units of the ring since the last change,
    units of the reservoir since then, or units before it. Where there was no change, all units came
    since then. The second chooses a unit of the group.

    Args:
        past: the units.
        choice: a :class:`Choice`.
        slots: int32[R], takes the documents.
        positions: int64[R], takes the positions.
        key0: the first half of the stream key.
        key1: the second half of the stream key.
        sequence: the minibatch.
        number: units chosen in this minibatch so far.

    Returns:
        How many units are chosen; 0 if there is no past.
    """
    ring, kept = past.marks[RING], past.marks[KEPT]
    if ring + kept == 0:
        return 0
    told = past.sizes[RECENT] > 0
    newest = min(ring, past.sizes[RECENT]) if told else ring
    later = past.sizes[LATER] if told else kept
    before = ring - newest + kept - later
    since_share = choice.change_share if before and newest + later else 1.0 * (before == 0)
    newest_share = since_share * (choice.newest_share if newest and later else 1.0 * (newest > 0))
    for m in range(len(slots)):
        u = uniform(2 * (number + m), key0, key1, 0, sequence, SCHEDULE)
        from_newest, since = u < newest_share, u < since_share
        count = newest if from_newest else later if since else before
        u = uniform(2 * (number + m) + 1, key0, key1, 0, sequence, SCHEDULE)
        age = np.int64(u * count)
        if since and not from_newest:
            age += ring
        elif not since:
            age += newest
            age += later if age >= ring else 0
        if age < ring:
            place = (past.marks[HEAD] - 1 - age) % len(past.newest_slot)
            slots[m], positions[m] = past.newest_slot[place], past.newest_position[place]
        else:
            place = kept - 1 - (age - ring)
            slots[m], positions[m] = past.kept_slot[place], past.kept_position[place]
    return len(slots)
