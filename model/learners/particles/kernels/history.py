"""Which of the past can be visited again: the newest units, and a uniform sample of all that came
before them.

A unit is a document (position -1) or a token (slot, position). ``newest`` is a ring of the last K
units. A unit that leaves it (or, with K = 0, every unit) is offered to the reservoir of N units by
Vitter's algorithm R, so each of the units offered so far is in it with the same probability (May et
al. 2014, section 4). The reservoir stays in order of arrival, for choices by age.

A document stays in its slot while any unit of it is in either; ``held`` counts them. (To redraw a
token the counts of its whole document are needed, tokens outside the reservoir included, so the
document stays whole.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel
from model.kernels.random import RESERVOIR, SCHEDULE, uniform

UNIFORM, DECAYED, NEWEST = range(3)
CHOICES = ("uniform", "decayed", "newest")

# Places in Past.marks and Past.sizes.
HEAD, RING, KEPT, SEEN, RELEASED = range(5)
TOKENS, LONGEST = 0, 1


class Past(NamedTuple):
    """newest_slot, newest_position: int32[K], int64[K]; a ring. kept_slot, kept_position: int32[N],
    int64[N]; in order of arrival.

    held: int32[slots]. released: int32[slots], slots that no unit holds any more, the first
    ``marks[RELEASED]``. marks: int64[5]: the ring's next place, units in it, units in the
    reservoir, units offered to the reservoir so far, released. sizes: int64[2]: 1 where units are
    tokens; the most tokens that a visit can redraw.
    """

    newest_slot: npt.NDArray[np.int32]
    newest_position: npt.NDArray[np.int64]
    kept_slot: npt.NDArray[np.int32]
    kept_position: npt.NDArray[np.int64]
    held: npt.NDArray[np.int32]
    released: npt.NDArray[np.int32]
    marks: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]


@kernel
def _let_go(past: Any, slot: Any) -> None:
    past.held[slot] -= 1
    if past.held[slot] == 0:
        past.released[past.marks[RELEASED]] = slot
        past.marks[RELEASED] += 1


@kernel
def _offer(past: Any, slot: Any, position: Any, key0: Any, key1: Any) -> None:
    """Algorithm R; the unit is held already and let go of if it is not kept."""
    capacity = len(past.kept_slot)
    place = past.marks[SEEN]
    past.marks[SEEN] += 1
    if place >= capacity:
        # The draw is named by the number of units offered so far, so no minibatch and no island
        # comes into it.
        place = np.int64(uniform(place, key0, key1, 0, 0, RESERVOIR) * past.marks[SEEN])
        if place >= capacity:
            _let_go(past, slot)
            return
        _let_go(past, past.kept_slot[place])
        for k in range(place, capacity - 1):
            past.kept_slot[k] = past.kept_slot[k + 1]
            past.kept_position[k] = past.kept_position[k + 1]
        place = capacity - 1
    else:
        past.marks[KEPT] += 1
    past.kept_slot[place] = slot
    past.kept_position[place] = position


@kernel
def admit(past: Any, slot: Any, position: Any, key0: Any, key1: Any) -> None:
    """A new unit joins the newest; the unit that it pushes out is offered to the reservoir."""
    past.held[slot] += 1
    ring = len(past.newest_slot)
    if ring == 0:
        _offer(past, slot, position, key0, key1)
        return
    place = past.marks[HEAD]
    if past.marks[RING] == ring:
        _offer(past, past.newest_slot[place], past.newest_position[place], key0, key1)
    else:
        past.marks[RING] += 1
    past.newest_slot[place] = slot
    past.newest_position[place] = position
    past.marks[HEAD] = (place + 1) % ring


@kernel
def schedule(
    past: Any,
    choice: Any,
    newest_share: Any,
    decay_sums: Any,
    slots: Any,
    positions: Any,
    key0: Any,
    key1: Any,
    sequence: Any,
    number: Any,
) -> Any:
    """Choose ``len(slots)`` units to visit, with replacement, the same for all particles; how many
    (0 while there is no past).

    Unit m takes two uniforms: one for the source, one for the rank by age in it (0 is the newest):
    even, or by decay_sums[r] = sum over r' <= r of (r' + 1)^-decay (Marthi et al. 2002), or rank m
    itself. ``number`` counts the minibatch's units so far.
    """
    ring, kept = past.marks[RING], past.marks[KEPT]
    if ring + kept == 0:
        return 0
    for m in range(len(slots)):
        from_newest = kept == 0 or (
            ring > 0 and uniform(2 * (number + m), key0, key1, 0, sequence, SCHEDULE) < newest_share
        )
        count = ring if from_newest else kept
        u = uniform(2 * (number + m) + 1, key0, key1, 0, sequence, SCHEDULE)
        if choice == UNIFORM:
            rank = np.int64(u * count)
        elif choice == DECAYED:
            rank = min(
                np.searchsorted(decay_sums[:count], u * decay_sums[count - 1], side="right"),
                count - 1,
            )
        else:
            rank = m % count
        if from_newest:
            place = (past.marks[HEAD] - 1 - rank) % len(past.newest_slot)
            slots[m], positions[m] = past.newest_slot[place], past.newest_position[place]
        else:
            slots[m], positions[m] = (
                past.kept_slot[kept - 1 - rank],
                past.kept_position[kept - 1 - rank],
            )
    return len(slots)
