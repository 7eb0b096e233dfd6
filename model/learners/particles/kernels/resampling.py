"""Reweighting and resampling of particles (Canini et al. 2009, section 3.4).

There are three steps: :func:`reweight` normalises the weights and chooses ancestors, the survivors
write the topics that they drew (:mod:`beam_topics.model.learners.particles.kernels.first_pass`),
and :func:`resample` makes every particle a copy of its ancestor. The steps follow each document, or
each token in :mod:`beam_topics.model.learners.particles.kernels.token_filter`. Between them
particles are independent and may run in threads.

The weights ω_p sum to 1, and ESS = 1 / sum ω_p^2 (Canini et al. 2009, section 3.4). Both
schemes give P children in all, and ω_p P children to particle p in expectation:

* multinomial: P draws with replacement;
* residual (Liu and Chen 1998): floor(P ω_p) children for certain, and multinomial draws from the
  remaining weights.

All sums run in the order of the particles with + - * / alone, so the bits are the same on every
machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import RESAMPLE, uniform
from beam_topics.model.learners.particles.kernels.shared_rows import inherit

SCHEMES = ("residual", "multinomial")
RESIDUAL, MULTINOMIAL = range(2)
RESAMPLINGS, MOVES, SCHEDULED, GENERATIONS = range(4)


class Resampler(NamedTuple):
    """The settings and figures of resampling.

    Attributes:
        threshold: resample when ESS <= threshold. 0: never; particles are then independent chains
            of equal weight.
        scheme: its place in :data:`SCHEMES`.
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


@inlined
def normalise_weights(weight, exponent, evidence, evidence_exponent):
    """Normalise the weights, multiply the evidence by their sum, and return the ESS.

    A particle that falls behind by 2^-1100 has weight 0 and no meaningful exponent, so it is left
    out when the largest exponent is found.

    Args:
        weight: float64[P], mantissas; normalised weights afterwards.
        exponent: int64[P]; 0 afterwards.
        evidence: float64[1], the mantissa of the evidence.
        evidence_exponent: int64[1].
    """
    top, found = exponent[0], False
    for p in range(len(weight)):
        if weight[p] > 0.0 and (not found or exponent[p] > top):
            top, found = exponent[p], True
    total = 0.0
    for p in range(len(weight)):
        if exponent[p] != top:
            weight[p] = math.ldexp(weight[p], max(exponent[p] - top, -1100))
        exponent[p] = 0
        total += weight[p]
    squares = 0.0
    for p in range(len(weight)):
        weight[p] /= total
        squares += weight[p] * weight[p]
    evidence[0], shift = math.frexp(evidence[0] * total)
    evidence_exponent[0] += shift + top
    return 1.0 / squares


@kernel
def draw_offspring(weight, scheme, counts, key0, key1, particle, sequence, index):
    """Draw the number of children of each particle.

    Draw k of resampling ``index`` is the uniform with index ``index * P + k``.

    Args:
        weight: float64[P], normalised.
        scheme: RESIDUAL or MULTINOMIAL.
        counts: int64[P], takes the numbers of children.
        key0: the first half of the stream key.
        key1: the second half of the stream key.
        particle: the identity of the island's first particle.
        sequence: the minibatch.
        index: the number of the resampling in the minibatch.
    """
    size = len(weight)
    counts[:] = 0
    share = np.empty(size)
    left = size
    for p in range(size):
        share[p] = weight[p]
        if scheme == RESIDUAL:
            counts[p] = np.int64(weight[p] * size)
            share[p] = weight[p] * size - counts[p]
            left -= counts[p]
    cumulative = np.empty(size)
    total = 0.0
    for p in range(size):
        total += share[p]
        cumulative[p] = total
    for k in range(left):
        u = uniform(index * size + k, key0, key1, particle, sequence, RESAMPLE)
        p = np.searchsorted(cumulative, u * total, side="right")
        p = min(p, size - 1)
        while share[p] <= 0.0:
            p -= 1
        counts[p] += 1


@kernel
def ancestors_from_counts(counts, ancestors):
    """Fill ``ancestors`` from the numbers of children.

    A particle with children is its own first child. Its other children replace particles without
    children, in order.
    """
    dead = 0
    for p in range(len(counts)):
        if counts[p] > 0:
            ancestors[p] = p
    for p in range(len(counts)):
        for _ in range(counts[p] - 1):
            while counts[dead] > 0:
                dead += 1
            ancestors[dead] = p
            dead += 1


@kernel
def resample(population, ancestors, counters):
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
def reweight(population, resampler, draws, ancestors):
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
