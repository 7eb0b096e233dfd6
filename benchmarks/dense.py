"""The filter's first pass on dense tables that particles never share.

:mod:`benchmarks.speed` compares the kernels with it. Each of P particles has a whole table of W
rows. To resample it would have to copy them, and it never does. The uniforms, the draw, the weights
and the joint probabilities are those of
:func:`beam_topics.model.learners.particles.kernels.first_pass.first_pass`.

Word w of particle p is row ``w * word_step + p * particle_step``. (P, 1) puts the rows of a word
side by side, int32[W, P, Tp], so that a token reads contiguous memory. This is the fastest layout
for a filter without resampling. (1, W) gives each particle a table of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.kernels.jit import kernel, page_kernel
from beam_topics.model.kernels.random import FIRST_PASS, fill_uniforms
from beam_topics.model.learners.particles.kernels.draw import draw, new_scratch, padded
from beam_topics.model.learners.particles.kernels.particles import PAGE, normalise, times
from beam_topics.model.learners.particles.kernels.resampling import normalise_weights


class Dense(NamedTuple):
    """Dense tables of P particles.

    Attributes:
        rows: int32[W * P, Tp], n_wt at w * P + p.
        totals: int64[P, Tp], n_t.
        weight: float64[P], the mantissa.
        weight_exponent: int64[P].
        joint: float64[P], the mantissa.
        joint_exponent: int64[P].
    """

    rows: Any
    totals: Any
    weight: Any
    weight_exponent: Any
    joint: Any
    joint_exponent: Any


def new_dense(words: int, particles: int, topics: int) -> Dense:
    """Return zero counts in touched memory, so that no page is mapped during a run."""
    rows = np.empty((words * particles, padded(topics)), np.int32)
    rows.fill(0)
    exponents = np.zeros(particles, np.int64)
    return Dense(
        rows=rows,
        totals=np.zeros((particles, padded(topics)), np.int64),
        weight=np.full(particles, 1.0 / particles),
        weight_exponent=exponents,
        joint=np.full(particles, 0.5),
        joint_exponent=exponents + 1,
    )


@kernel
def filter_documents(
    rows: Any,
    totals: Any,
    weight: Any,
    weight_exponent: Any,
    joint: Any,
    joint_exponent: Any,
    word_step: Any,
    particle_step: Any,
    alpha: Any,
    beta: Any,
    tokens: Any,
    offsets: Any,
    key0: Any,
    key1: Any,
    sequence: Any,
) -> Any:
    """Learn all documents in all particles without resampling, and return the last ESS."""
    size, tp = totals.shape
    a = len(rows) // size * beta
    scratch, gain, uniforms = new_scratch(tp), np.empty((size, tp)), np.empty((size, PAGE))
    counts = np.zeros((size, tp), np.int32)
    evidence, evidence_exponent = np.full(1, 0.5), np.ones(1, np.int64)
    drawn = np.zeros((PAGE, size), np.int32)
    ess, alpha_sum = 0.0, alpha.sum()
    for d in range(len(offsets) - 1):
        counts[:] = 0
        for p in range(size):
            for t in range(tp):
                gain[p, t] = alpha[t] / (a + totals[p, t])
        for start in range(offsets[d], offsets[d + 1], PAGE):
            stop = min(start + PAGE, offsets[d + 1])
            n, index = stop - start, start - offsets[0]
            for p in range(size):
                fill_uniforms(uniforms[p], n, index, key0, key1, p, sequence, FIRST_PASS)
            _page(
                rows,
                totals,
                weight,
                weight_exponent,
                joint,
                joint_exponent,
                word_step,
                particle_step,
                alpha,
                beta,
                a,
                tokens[start:stop],
                alpha_sum + (start - offsets[d]),
                drawn,
                counts,
                gain,
                scratch,
                uniforms,
            )
        for p in range(size):
            normalise(weight, weight_exponent, p)
            normalise(joint, joint_exponent, p)
        ess = normalise_weights(weight, weight_exponent, evidence, evidence_exponent)
    return ess


@page_kernel
def _page(
    rows: Any,
    totals: Any,
    weight: Any,
    weight_exponent: Any,
    joint: Any,
    joint_exponent: Any,
    word_step: Any,
    particle_step: Any,
    alpha: Any,
    beta: Any,
    a: Any,
    tokens: Any,
    seen: Any,
    drawn: Any,
    counts: Any,
    gain: Any,
    scratch: Any,
    uniforms: Any,
) -> None:
    """Draw topics for the tokens of a page in all particles."""
    size = len(totals)
    for k in range(len(tokens)):
        first, per = np.int64(tokens[k]) * word_step, 1.0 / (seen + k)
        for p in range(size):
            t, total = draw(scratch, gain[p], rows[first + p * particle_step], beta, uniforms[p, k])
            times(weight, weight_exponent, p, total * per)
            times(
                joint,
                joint_exponent,
                p,
                gain[p, t] * (rows[first + p * particle_step, t] + beta) * per,
            )
            rows[first + p * particle_step, t] += 1
            totals[p, t] += 1
            counts[p, t] += 1
            gain[p, t] = (alpha[t] + counts[p, t]) / (a + totals[p, t])
            drawn[k, p] = t
