"""Independent chains: particles that are never resampled. One call takes many documents.

Each particle goes through all documents without regard to the others. What particles have in common
is computed before or after: which units are visited depends only on the documents' lengths and on
named draws, so :func:`schedule_visits` chooses them for all documents beforehand. Each document's
weights are stored, and :func:`gather_evidence` multiplies them afterwards, in the order of the
documents, as :func:`~beam_topics.model.learners.particles.kernels.resampling.reweight` does after
each document. The documents may be of several minibatches. Indices of draws and the evidence begin
anew with each minibatch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.kernels.random import MOVE
from beam_topics.model.learners.particles.kernels.first_pass import (
    first_pass,
    new_token_draws,
    write_draws,
)
from beam_topics.model.learners.particles.kernels.history import TOKENS, admit, choose_units
from beam_topics.model.learners.particles.kernels.particles import Draws
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.resampling import normalise_weights

# Tokens that are drawn before they are written. Their topics take P times as many numbers.
TOKENS_AT_ONCE = 4096


class VisitSchedule(NamedTuple):
    """Documents, and the units that are visited after each, the same for all particles.

    Attributes:
        slots: int32[D], the documents.
        sequences: int64[D], the number of each document's minibatch, which names its draws.
        drawn: int64[D], the index of the first draw of each document.
        moved: int64[D], the index of the first draw of the visits after each document.
        units: int32[D, R], the documents of the units.
        positions: int64[D, R], the positions of the units.
        found: int64[D], how many units are visited after each document.
    """

    slots: npt.NDArray[np.int32]
    sequences: npt.NDArray[np.int64]
    drawn: npt.NDArray[np.int64]
    moved: npt.NDArray[np.int64]
    units: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int64]
    found: npt.NDArray[np.int64]


@kernel
def schedule_visits(past, lengths, slots, sequences, moves, choice, draws, drawn, moved, scheduled):
    """Admit documents to the history one by one, and choose ``moves`` units to visit after each.

    Args:
        past: the history's units; changed.
        lengths: int64[slots], tokens of each document.
        slots: int32[D], the documents.
        sequences: int64[D], the numbers of their minibatches, ascending.
        moves: R.
        choice: how units are chosen.
        draws: names the draws.
        drawn: the index of the next first-pass draw of the first minibatch.
        moved: the index of the next draw of a visit.
        scheduled: units chosen in the first minibatch so far.

    Returns:
        The schedule, and the index of the next draw of a visit in the last minibatch.
    """
    n = len(slots)
    indices = np.empty((3, n), np.int64)
    schedule = VisitSchedule(
        slots,
        sequences,
        indices[0],
        indices[1],
        np.empty((n, moves), np.int32),
        np.empty((n, moves), np.int64),
        indices[2],
    )
    for d in range(n):
        if d and sequences[d] != sequences[d - 1]:
            drawn, moved, scheduled = 0, 0, 0
        schedule.drawn[d], schedule.moved[d] = drawn, moved
        for position in range(lengths[slots[d]] if past.sizes[TOKENS] else 1):
            admit(past, slots[d], position if past.sizes[TOKENS] else -1, draws.key0, draws.key1)
        units, positions = schedule.units[d], schedule.positions[d]
        schedule.found[d] = choose_units(
            past, choice, units, positions, draws.key0, draws.key1, sequences[d], scheduled
        )
        scheduled += schedule.found[d]
        drawn += lengths[slots[d]]
        for unit in range(schedule.found[d]):
            moved += lengths[schedule.units[d, unit]] if schedule.positions[d, unit] < 0 else 1
    return schedule, moved


@kernel
def draw_document(
    population, prior, pages, draws, slot, index, evenly, everyone, first, last, thread
):
    """Draw and write the topics of a document in particles first..last-1.

    Args:
        population: the particles.
        prior: the prior.
        pages: the tokens of the history.
        draws: names the draws.
        slot: the document.
        index: the index of its first draw.
        evenly: draw each topic with probability 1 / T, whatever the counts.
        everyone: int64[P], 0 .. P - 1.
        first: the first particle.
        last: the particle after the last one.
        thread: the thread, whose free rows are used.
    """
    length, size = pages.length[slot], len(population.weight)
    for at in range(0, max(length, 1), TOKENS_AT_ONCE):
        stop = min(at + TOKENS_AT_ONCE, length)
        new = new_token_draws(pages, slot, at, stop, size, len(prior.alpha), True)
        first_pass(population, prior, pages, draws, new, index, evenly, first, last)
        write_draws(population, pages, new, everyone, first, last, thread)


@kernel
def draw_documents(population, prior, pages, draws, slots, index, evenly, first, last, thread):
    """Do the same for several documents; ``index`` is that of the first draw of the first."""
    everyone = np.arange(len(population.weight))
    for slot in slots:
        draw_document(
            population, prior, pages, draws, slot, index, evenly, everyone, first, last, thread
        )
        index += pages.length[slot]


@kernel
def run_chains(
    population, prior, pages, draws, schedule, weights, exponents, begin, end, first, last, thread
):
    """Learn the schedule's documents begin..end-1 in particles first..last-1, with the visits.

    Args:
        population: the particles.
        prior: the prior.
        pages: the tokens of the history.
        draws: names the draws of the first pass; the schedule has the numbers of the minibatches.
        schedule: the documents and visits.
        weights: float64[D, P], takes the weight after each document, P(document | past) / P.
        exponents: int64[D, P], their exponents.
        begin: the first document.
        end: the document after the last one.
        first: the first particle.
        last: the particle after the last one.
        thread: the thread, whose free rows are used.
    """
    size, everyone = len(population.weight), np.arange(len(population.weight))
    # A literal False would compile the first pass a second time.
    evenly = np.bool_(False)
    for d in range(begin, end):
        named = Draws(draws.key0, draws.key1, schedule.sequences[d], draws.purpose)
        slot, index = schedule.slots[d], schedule.drawn[d]
        draw_document(
            population, prior, pages, named, slot, index, evenly, everyone, first, last, thread
        )
        for p in range(first, last):
            weights[d, p], exponents[d, p] = population.weight[p], population.weight_exponent[p]
            population.weight[p], population.weight_exponent[p] = 1.0 / size, 0
        found = schedule.found[d]
        if found:
            named = Draws(draws.key0, draws.key1, schedule.sequences[d], MOVE)
            units, positions = schedule.units[d, :found], schedule.positions[d, :found]
            index = schedule.moved[d]
            move_units(
                population, prior, pages, named, units, positions, index, first, last, thread
            )


@kernel
def gather_evidence(resampler, sequences, weights, exponents, figures, powers):
    """Multiply the evidence of each minibatch by its documents' mean weights.

    The ESS is that of the last document of the minibatch.

    Args:
        resampler: takes the evidence of the last minibatch. What it has before belongs to the first
            one.
        sequences: int64[D], the numbers of the documents' minibatches, ascending.
        weights: float64[D, P], see :func:`run_chains`; changed.
        exponents: int64[D, P]; changed.
        figures: float64[M, 2], takes the mantissa of the evidence of each minibatch, and its ESS.
        powers: int64[M], takes the exponent of the evidence.
    """
    minibatch = 0
    for d in range(len(weights)):
        if d and sequences[d] != sequences[d - 1]:
            minibatch += 1
            resampler.evidence[0], resampler.evidence_exponent[0] = 0.5, 1
        resampler.ess[0] = normalise_weights(
            weights[d], exponents[d], resampler.evidence, resampler.evidence_exponent
        )
        figures[minibatch, 0], figures[minibatch, 1] = resampler.evidence[0], resampler.ess[0]
        powers[minibatch] = resampler.evidence_exponent[0]
