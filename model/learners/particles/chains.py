"""Learning minibatches with independent chains, which are particles that are never resampled.

The result has the same bits as :mod:`model.learners.particles.stepping`, which learns document by
document. Here one kernel call takes many documents in each thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from model.kernels.random import FIRST_PASS
from model.learners.particles.arrivals import note_arrivals
from model.learners.particles.kernels.chains import (
    VisitSchedule,
    gather_evidence,
    run_chains,
    schedule_visits,
)
from model.learners.particles.kernels.history import LONGEST
from model.learners.particles.kernels.resampling import MOVES, SCHEDULED
from model.learners.particles.population import over_slices, tokens_at_once
from model.learners.particles.state import ParticleState, choice_of, draws, ensure_capacity
from model.records import FloatArray, IntArray, LongArray
from model.scaled import Scaled

# Below so many draws one thread is faster than several.
_SIDE_BY_SIDE = 2000


def learn_by_chains(state: ParticleState, documents: Sequence[tuple[IntArray, str | None]]) -> None:
    """Learn documents of the current minibatch, given as word numbers with their labels."""
    learn_minibatches(state, documents, np.full(len(documents), state.sequence, np.int64))


def learn_minibatches(
    state: ParticleState, documents: Sequence[tuple[IntArray, str | None]], sequences: LongArray
) -> list[tuple[Scaled, float]]:
    """Learn documents of several minibatches; the first of these minibatches has begun.

    Args:
        state: the learner's state.
        documents: the word numbers and the label of each document.
        sequences: int64[D], the numbers of the documents' minibatches, ascending.

    Returns:
        The evidence and the effective sample size of each minibatch.
    """
    rejuvenation, history, counters = (
        state.settings.rejuvenation,
        state.history,
        state.resampler.counters,
    )
    slots = history.begin_all(documents)
    schedule, moved = schedule_visits(
        history.past,
        history.pages.length,
        slots,
        sequences,
        rejuvenation.moves if rejuvenation.after_document(False) else 0,
        choice_of(state),
        draws(state, FIRST_PASS),
        state.drawn,
        int(counters[MOVES]),
        int(counters[SCHEDULED]),
    )
    weights = np.empty((len(slots), len(state.population.weight)))
    exponents = np.empty(weights.shape, np.int64)
    _run(state, schedule, weights, exponents)
    minibatches = 1 + int(np.count_nonzero(np.diff(sequences)))
    figures, powers = np.empty((minibatches, 2)), np.empty(minibatches, np.int64)
    gather_evidence(state.resampler, sequences, weights, exponents, figures, powers)
    last = sequences == sequences[-1]
    scheduled = 0 if sequences[0] != sequences[-1] else counters[SCHEDULED]
    counters[MOVES], counters[SCHEDULED] = moved, scheduled + schedule.found[last].sum()
    note_arrivals(state, slots)
    history.release(slots.tolist())
    lengths = history.pages.length[slots]
    tokens = int(lengths.sum())
    state.drawn = int(lengths[last].sum()) + (state.drawn if last[0] else 0)
    state.sequence = int(sequences[-1])
    state.documents += len(slots)
    state.tokens += tokens
    state.scored += tokens
    return [
        (Scaled(mantissa, power), ess)
        for (mantissa, ess), power in zip(figures.tolist(), powers.tolist(), strict=True)
    ]


def _run(
    state: ParticleState, schedule: VisitSchedule, weights: FloatArray, exponents: LongArray
) -> None:
    """Run the chains over as many documents at a time as there are free rows for."""
    particles, length = len(state.population.weight), state.history.pages.length
    visits = 1 + schedule.units.shape[1]
    longest = int(state.history.past.sizes[LONGEST])
    at_once = max(1, tokens_at_once(state.population) // (visits * max(longest, 1) * particles))
    for begin in range(0, len(schedule.slots), at_once):
        end = min(begin + at_once, len(schedule.slots))
        ensure_capacity(
            state,
            particles,
            (end - begin) * visits,
            max(longest, int(length[schedule.slots[begin:end]].max())),
        )
        run = partial(
            run_chains,
            state.population,
            state.prior,
            state.history.pages,
            draws(state, FIRST_PASS),
            schedule,
            weights,
            exponents,
        )
        tokens = int(length[schedule.slots[begin:end]].sum()) * visits
        over_slices(
            particles, state.threads, partial(run, begin, end), side_by_side=tokens >= _SIDE_BY_SIDE
        )
