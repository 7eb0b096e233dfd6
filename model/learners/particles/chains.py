"""Chains learn a minibatch: particles that never meet need no word from each other from its
beginning to its end.

As :mod:`model.learners.particles.stepping` does document by document, and to the same bits, but
each thread goes through many documents in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from model.kernels.random import FIRST_PASS
from model.learners.particles.kernels.chains import Plan, gather_evidence, plan, run_chains
from model.learners.particles.kernels.history import LONGEST
from model.learners.particles.kernels.resampling import MOVES, SCHEDULED
from model.learners.particles.population import ROWS_AT_ONCE, over_slices
from model.learners.particles.state import ParticleState, draws, make_room
from model.records import FloatArray, IntArray, LongArray

# Fewer tokens than this, each as often as it is drawn, are learned sooner by one thread.
_SIDE_BY_SIDE = 2000


def learn_by_chains(state: ParticleState, documents: Sequence[tuple[IntArray, str | None]]) -> None:
    """Documents as word numbers, with their labels."""
    visits, history, counters = state.settings.rejuvenation, state.history, state.resampler.counters
    slots = history.begin_all(documents)
    made, moved = plan(
        history.past,
        history.pages.length,
        slots,
        visits.moves if visits.after_document(False) else 0,
        visits.choice.number,
        visits.history.newest_share,
        state.decay_sums,
        draws(state, FIRST_PASS),
        state.drawn,
        int(counters[MOVES]),
        int(counters[SCHEDULED]),
    )
    weights = np.empty((len(slots), len(state.population.weight)))
    exponents = np.empty(weights.shape, np.int64)
    _run(state, made, weights, exponents)
    gather_evidence(state.resampler, weights, exponents)
    counters[MOVES], counters[SCHEDULED] = moved, counters[SCHEDULED] + made.found.sum()
    history.release(slots.tolist())
    tokens = int(history.pages.length[slots].sum())
    state.drawn += tokens
    state.documents += len(slots)
    state.tokens += tokens
    state.scored += tokens


def _run(state: ParticleState, made: Plan, weights: FloatArray, exponents: LongArray) -> None:
    """As many documents at a time as there is room for."""
    particles, length = len(state.population.weight), state.history.pages.length
    visits = 1 + made.units.shape[1]
    longest = int(state.history.past.sizes[LONGEST])
    at_once = max(1, ROWS_AT_ONCE // (visits * max(longest, 1) * particles))
    for begin in range(0, len(made.slots), at_once):
        end = min(begin + at_once, len(made.slots))
        make_room(
            state,
            particles,
            (end - begin) * visits,
            max(longest, int(length[made.slots[begin:end]].max())),
        )
        run = partial(
            run_chains,
            state.population,
            state.prior,
            state.history.pages,
            draws(state, FIRST_PASS),
            made,
            weights,
            exponents,
        )
        tokens = int(length[made.slots[begin:end]].sum()) * visits
        over_slices(
            particles, state.threads, partial(run, begin, end), side_by_side=tokens >= _SIDE_BY_SIDE
        )
