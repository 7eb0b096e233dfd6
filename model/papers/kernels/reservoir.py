"""The units of the past that can be visited: all of them, or a reservoir (May et al. 2014).

A unit is a document (position :data:`WHOLE`) or a token (slot, position). A unit that comes is
offered to a reservoir of N units by Vitter's algorithm R, so each unit so far is in the reservoir
with the same probability (section 4). With the whole past N grows, and no unit leaves.

A document keeps its slot while one of its units is in the reservoir; ``held`` counts these units. A
move of one token needs the counts of its whole document, tokens outside the reservoir included, so
documents are kept whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.kernels.random import RESERVOIR, SCHEDULE, uniform

# The position of a unit that is a whole document.
WHOLE = -1
# Places in Past.marks.
KEPT, SEEN, RELEASED = range(3)


class Past(NamedTuple):
    """The units, and the slots that they refer to.

    Attributes:
        slot: int32[N], the reservoir's documents.
        position: int64[N], the reservoir's positions.
        held: int32[slots], units that refer to each slot.
        released: int32[slots]; the first ``marks[RELEASED]`` are slots that no unit refers to.
        marks: int64[3]: units in the reservoir, units that were offered, released slots.
    """

    slot: npt.NDArray[np.int32]
    position: npt.NDArray[np.int64]
    held: npt.NDArray[np.int32]
    released: npt.NDArray[np.int32]
    marks: npt.NDArray[np.int64]


@kernel
def release_unit(past, slot):
    """Count one unit less for a slot, and release the slot at 0."""
    past.held[slot] -= 1
    if past.held[slot] == 0:
        past.released[past.marks[RELEASED]] = slot
        past.marks[RELEASED] += 1


@kernel
def admit(past, slot, position, key0, key1):
    """Offer a unit to the reservoir by algorithm R, and release the unit that has no place.

    The number of units so far names the draw, so it does not depend on minibatches or islands.
    """
    capacity, place = len(past.slot), past.marks[SEEN]
    past.marks[SEEN] += 1
    if place >= capacity:
        place = np.int64(uniform(place, key0, key1, 0, 0, RESERVOIR) * past.marks[SEEN])
        if place >= capacity:
            return
    # Units of erased documents have left, and others take their places.
    if place < past.marks[KEPT]:
        release_unit(past, past.slot[place])
    else:
        place = past.marks[KEPT]
        past.marks[KEPT] += 1
    past.slot[place], past.position[place] = slot, position
    past.held[slot] += 1


@kernel
def choose_units(past, slots, positions, draws, number):
    """Choose ``len(slots)`` units to visit, evenly with replacement, the same for all particles.

    Args:
        past: the units.
        slots: int32[R], takes the documents.
        positions: int64[R], takes the positions.
        draws: names the draws.
        number: units chosen in this minibatch so far.

    Returns:
        How many units are chosen; 0 if there is no past.
    """
    kept = past.marks[KEPT]
    if kept == 0:
        return 0
    for m in range(len(slots)):
        u = uniform(number + m, draws.key0, draws.key1, 0, draws.sequence, SCHEDULE)
        place = np.int64(u * kept)
        slots[m], positions[m] = past.slot[place], past.position[place]
    return len(slots)
