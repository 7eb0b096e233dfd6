"""Reweighting and resampling of particles (Canini et al. 2009, section 3.4).

There are three steps: :func:`reweight` normalises the weights and chooses ancestors, the survivors
write the topics that they drew (:mod:`model.learners.particles.kernels.first_pass`), and
:func:`resample` makes every particle a copy of its ancestor. The steps follow each document, or
each token in :mod:`model.learners.particles.kernels.token_filter`. Between them particles are
independent and may run in threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel
from model.learners.particles.kernels.resampling_schemes import (
    ancestors_from_counts,
    draw_offspring,
    normalise_weights,
)
from model.learners.particles.kernels.shared_rows import inherit

RESAMPLINGS, MOVES, SCHEDULED, GENERATIONS = range(4)


class Resampler(NamedTuple):
    """The settings and figures of resampling.

    Attributes:
        threshold: resample when ESS <= threshold. 0: never; particles are then independent chains
            of equal weight.
        scheme: see :mod:`model.learners.particles.kernels.resampling_schemes`.
        evidence: float64[1], the mantissa of the running product of P(document | past).
        evidence_exponent: int64[1].
        ess: float64[1], the ESS after the last reweighting.
        counters: int64[4]: resamplings, topics redrawn and units chosen in this minibatch, and the
            generations given out since the learner began.
    """

    threshold: float
    scheme: int
    evidence: npt.NDArray[np.float64]
    evidence_exponent: npt.NDArray[np.int64]
    ess: npt.NDArray[np.float64]
    counters: npt.NDArray[np.int64]


@kernel
def resample(population: Any, ancestors: Any, counters: Any) -> None:
    """Make every particle p a copy of ``ancestors[p]``, and all weights equal.

    A particle and its ancestor share their rows and get new generations.
    """
    size = len(ancestors)
    shared = np.zeros(size, np.bool_)
    for p in range(size):
        if ancestors[p] != p:
            shared[ancestors[p]] = True
            shared[p] = True
    for p in range(size):
        if ancestors[p] != p:
            parent = ancestors[p]
            population.totals[p, :] = population.totals[parent, :]
            population.topic_tables[p, :] = population.topic_tables[parent, :]
            population.tables[p] = population.tables[parent]
            population.concentration[p, :] = population.concentration[parent, :]
            population.joint[p] = population.joint[parent]
            population.joint_exponent[p] = population.joint_exponent[parent]
        if shared[p]:
            counters[GENERATIONS] += 1
            population.generation[p] = counters[GENERATIONS]
        population.weight[p] = 1.0 / size
        population.weight_exponent[p] = 0
    inherit(population.words, ancestors)
    inherit(population.topics, ancestors)


@kernel
def reweight(population: Any, resampler: Any, draws: Any, ancestors: Any) -> Any:
    """Normalise the weights, multiply the evidence, and choose the ancestors.

    Args:
        population: the particles.
        resampler: threshold, scheme, evidence and counters.
        draws: names the draws.
        ancestors: int64[P], takes the ancestor of each particle, itself where there is no
            resampling.

    Returns:
        Whether the ESS is at or below the threshold.
    """
    size = len(population.weight)
    for p in range(size):
        ancestors[p] = p
    resampler.ess[0] = normalise_weights(
        population.weight,
        population.weight_exponent,
        resampler.evidence,
        resampler.evidence_exponent,
    )
    if resampler.threshold <= 0.0:
        for p in range(size):
            population.weight[p] = 1.0 / size
        return False
    if resampler.ess[0] > resampler.threshold or size == 1:
        return False
    counts = np.empty(size, np.int64)
    number = resampler.counters[RESAMPLINGS]
    draw_offspring(
        population.weight,
        resampler.scheme,
        counts,
        draws.key0,
        draws.key1,
        population.identity[0],
        draws.sequence,
        number,
    )
    ancestors_from_counts(counts, ancestors)
    resampler.counters[RESAMPLINGS] += 1
    return True
