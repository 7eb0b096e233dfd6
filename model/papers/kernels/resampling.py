"""Weights and resampling of particles (Canini et al. 2009, section 3.4).

The weights ω_p sum to 1, and ESS = 1 / sum ω_p^2. Both schemes give P children in all, and ω_p P
children to particle p in expectation:

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

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.kernels.random import RESAMPLE, uniform
from beam_topics.model.papers.kernels.copy_on_write import inherit

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


@kernel
def normalise_weights(particles, resampler):
    """Normalise the weights, multiply the evidence by their sum, and return the ESS.

    Particles that are never resampled are independent chains: their weights are equal afterwards.
    A particle that falls behind by 2^-1100 has weight 0 and no meaningful exponent, so it is left
    out when the largest exponent is found.

    Args:
        particles: weights and exponents are changed.
        resampler: evidence and ESS are changed.
    """
    weight, exponent = particles.weight, particles.weight_exponent
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
    resampler.evidence[0], shift = math.frexp(resampler.evidence[0] * total)
    resampler.evidence_exponent[0] += shift + top
    resampler.ess[0] = 1.0 / squares
    if resampler.threshold <= 0.0:
        weight[:] = 1.0 / len(weight)
    return resampler.ess[0]


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
def resample(particles, resampler, draws):
    """Replace each particle by a copy of an ancestor drawn by weight; then all weights are equal.

    A particle and its ancestor share their rows and get new generations.
    """
    size, counters = len(particles.weight), resampler.counters
    counts, ancestors = np.empty(size, np.int64), np.arange(size)
    first, number = particles.identity[0], counters[RESAMPLINGS]
    names = draws.key0, draws.key1, first, draws.sequence, number
    draw_offspring(particles.weight, resampler.scheme, counts, *names)
    ancestors_from_counts(counts, ancestors)
    counters[RESAMPLINGS] += 1
    shared = np.zeros(size, np.bool_)
    for p in range(size):
        if ancestors[p] != p:
            shared[ancestors[p]], shared[p] = True, True
            particles.totals[p, :] = particles.totals[ancestors[p], :]
            particles.joint[p] = particles.joint[ancestors[p]]
            particles.joint_exponent[p] = particles.joint_exponent[ancestors[p]]
    for p in range(size):
        if shared[p]:
            counters[GENERATIONS] += 1
            particles.generation[p] = counters[GENERATIONS]
        particles.weight[p] = 1.0 / size
    inherit(particles.words, ancestors)
    inherit(particles.topics, ancestors)
