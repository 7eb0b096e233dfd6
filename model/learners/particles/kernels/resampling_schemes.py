"""Weights, the effective sample size, and which particles have children (Canini et al. 2009,
section 3.4).

omega_p are the particles' weights, normalised to sum to 1; ESS = 1 / sum omega_p^2. Four schemes
say how many children each particle has, P in all, omega_p P in expectation:

* multinomial: P draws with replacement;
* residual (Liu and Chen 1998): floor(P omega_p) for certain, the rest by multinomial draws from
  what is left over;
* stratified (Kitagawa 1996): one draw in each of the P equal parts of [0, 1);
* systematic: the same draw in each part.

All sums run in the order of the particles, and nothing but + - * / is used, so the bits are the
same everywhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from model.kernels.jit import inlined, kernel
from model.kernels.random import RESAMPLE, uniform

SCHEMES = ("residual", "multinomial", "stratified", "systematic")
RESIDUAL, MULTINOMIAL, STRATIFIED, SYSTEMATIC = range(4)


@inlined
def normalise_weights(weight: Any, exponent: Any, evidence: Any, evidence_exponent: Any) -> Any:
    """Make the weights sum to 1; what they summed to goes into the scaled product ``evidence[0]``.
    Returns the ESS.

    A weight of 0, of a particle that once fell 2^-1100 behind, has no exponent, so it does not take
    part in the choice of the greatest.

    weight, exponent: float64[P], int64[P], scaled; exponents are 0 afterwards. evidence: float64[1]
        beside int64[1].
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
def children(
    weight: Any,
    scheme: Any,
    counts: Any,
    key0: Any,
    key1: Any,
    particle: Any,
    sequence: Any,
    index: Any,
) -> None:
    """counts[p] = number of children of particle p; float64[P] normalised weights, int64[P].
    ``index`` numbers the resampling.

    Draw k of resampling ``index`` is the uniform of index ``index * P + k``; ``particle`` is the
    first of the island.
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
    one = uniform(index * size, key0, key1, particle, sequence, RESAMPLE)
    for k in range(left):
        u = (
            one
            if k == 0 or scheme == SYSTEMATIC
            else uniform(index * size + k, key0, key1, particle, sequence, RESAMPLE)
        )
        if scheme >= STRATIFIED:
            u = (k + u) / size
        p = np.searchsorted(cumulative, u * total, side="right")
        p = min(p, size - 1)
        while share[p] <= 0.0:
            p -= 1
        counts[p] += 1


@kernel
def ancestors_of(counts: Any, ancestors: Any) -> None:
    """Who each particle descends from: one that has children is its own first child; the others
    take the places of the dead, in order.
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
