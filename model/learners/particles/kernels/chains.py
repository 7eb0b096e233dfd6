"""Chains: particles that never meet. Each goes through a whole minibatch on its own, so one call
serves many documents.

What particles do together is settled before and after: which units of the history are visited when
depends on the documents' lengths and on named draws only, so :func:`plan` says it for all documents
beforehand; each document's weights are written down as they come, and :func:`gather_evidence`
multiplies them afterwards, in the order of the documents, as a meeting after each would have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel
from model.kernels.random import MOVE
from model.learners.particles.kernels.first_pass import first_pass, token_draws, write_draws
from model.learners.particles.kernels.history import TOKENS, admit, schedule
from model.learners.particles.kernels.particles import Draws
from model.learners.particles.kernels.rejuvenation import move_units
from model.learners.particles.kernels.resampling_schemes import normalise_weights

# Tokens that are drawn before they are written down: what is kept meanwhile is P times so many
# numbers.
PART = 4096


class Plan(NamedTuple):
    """Documents and the visits after each, the same for all particles.

    slots: int32[D]. drawn, moved: int64[D], the index of a document's first draw, and of the first
    draw of the visits after it. units: int32[D, R] and positions: int64[D, R], what is visited.
    found: int64[D], how many of these.
    """

    slots: npt.NDArray[np.int32]
    drawn: npt.NDArray[np.int64]
    moved: npt.NDArray[np.int64]
    units: npt.NDArray[np.int32]
    positions: npt.NDArray[np.int64]
    found: npt.NDArray[np.int64]


@kernel
def plan(
    past: Any,
    lengths: Any,
    slots: Any,
    moves: Any,
    choice: Any,
    newest_share: Any,
    decay_sums: Any,
    draws: Any,
    drawn: Any,
    moved: Any,
    scheduled: Any,
) -> Any:
    """Admit the documents to the history one by one and choose ``moves`` units to visit after
    each; the numbers count from those given.
    """
    n = len(slots)
    indices, units = np.empty((3, n), np.int64), np.empty((n, moves), np.int32)
    made = Plan(slots, indices[0], indices[1], units, np.empty((n, moves), np.int64), indices[2])
    for d in range(n):
        made.drawn[d], made.moved[d] = drawn, moved
        for position in range(lengths[slots[d]] if past.sizes[TOKENS] else 1):
            admit(past, slots[d], position if past.sizes[TOKENS] else -1, draws.key0, draws.key1)
        made.found[d] = schedule(
            past,
            choice,
            newest_share,
            decay_sums,
            made.units[d],
            made.positions[d],
            draws.key0,
            draws.key1,
            draws.sequence,
            scheduled,
        )
        scheduled += made.found[d]
        drawn += lengths[slots[d]]
        for unit in range(made.found[d]):
            moved += lengths[made.units[d, unit]] if made.positions[d, unit] < 0 else 1
    return made, moved


@kernel
def run_chains(
    population: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    made: Any,
    weights: Any,
    exponents: Any,
    begin: Any,
    end: Any,
    first: Any,
    last: Any,
    thread: Any,
) -> None:
    """Particles first..last-1 learn the documents begin..end-1 of the plan, each with the visits
    after it.

    weights: float64[D, P] and exponents: int64[D, P], where each document's P(document | past)
        goes, times the weight before.
    """
    size, everyone = len(population.weight), np.arange(len(population.weight))
    moves = Draws(draws.key0, draws.key1, draws.sequence, MOVE)
    for d in range(begin, end):
        slot, length = made.slots[d], pages.length[made.slots[d]]
        for at in range(0, max(length, 1), PART):
            new = token_draws(pages, slot, at, min(at + PART, length), size, len(prior.alpha), True)
            first_pass(population, prior, draws, new, made.drawn[d], False, first, last)
            write_draws(population, pages, new, everyone, first, last, thread)
        for p in range(first, last):
            weights[d, p], exponents[d, p] = population.weight[p], population.weight_exponent[p]
            population.weight[p], population.weight_exponent[p] = 1.0 / size, 0
        if made.found[d]:
            units, positions = made.units[d, : made.found[d]], made.positions[d, : made.found[d]]
            move_units(
                population,
                prior,
                pages,
                moves,
                units,
                positions,
                made.moved[d],
                first,
                last,
                thread,
            )


@kernel
def gather_evidence(resampler: Any, weights: Any, exponents: Any) -> None:
    """The evidence takes each document's mean weight; the ESS is that of the last."""
    for d in range(len(weights)):
        resampler.ess[0] = normalise_weights(
            weights[d], exponents[d], resampler.evidence, resampler.evidence_exponent
        )
