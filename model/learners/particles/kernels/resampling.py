"""Where particles meet: weights, and who descends from whom (Canini et al. 2009, section 3.4).

A meeting has three steps: :func:`reweight` says who descends from whom, the survivors settle what
they drew (:mod:`model.learners.particles.kernels.first_pass`), and all :func:`resample` what their
ancestors are. It comes after each document, or, in
:mod:`model.learners.particles.kernels.token_filter`, after each token. Between two meetings
particles are independent and may run in threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel
from model.learners.particles.kernels.resampling_schemes import (
    ancestors_of,
    children,
    normalise_weights,
)
from model.learners.particles.kernels.shared_rows import inherit

RESAMPLINGS, MOVES, SCHEDULED, GENERATIONS = range(4)


class Resampler(NamedTuple):
    """What a meeting needs beside the population.

    threshold: resample when ESS <= threshold; 0: never, and then the particles are chains of equal
    weight. scheme: see :mod:`resampling`. evidence, evidence_exponent: float64[1], int64[1], the
    running product of P(document | past). ess: float64[1], after the last meeting. counters:
    int64[4], of this minibatch: resamplings, moves drawn, units scheduled; and, over the whole
    life, generations given.
    """

    threshold: float
    scheme: int
    evidence: npt.NDArray[np.float64]
    evidence_exponent: npt.NDArray[np.int64]
    ess: npt.NDArray[np.float64]
    counters: npt.NDArray[np.int64]


@kernel
def resample(population: Any, ancestors: Any, counters: Any) -> None:
    """Every particle becomes a child of ``ancestors[p]``, sharing what it had; weights are even
    afterwards.
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
    inherit(population.documents, ancestors)
    inherit(population.topics, ancestors)


@kernel
def reweight(population: Any, resampler: Any, draws: Any, ancestors: Any) -> Any:
    """Normalise the weights, take the evidence; whether the ESS asks for resampling, and who
    descends from whom: int64[P].
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
    children(
        population.weight,
        resampler.scheme,
        counts,
        draws.key0,
        draws.key1,
        population.identity[0],
        draws.sequence,
        number,
    )
    ancestors_of(counts, ancestors)
    resampler.counters[RESAMPLINGS] += 1
    return True
