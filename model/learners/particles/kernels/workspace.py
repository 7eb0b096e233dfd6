"""The workspace of a kernel: the counts and factors of one document in a tile of particles.

``gain`` holds (alpha_t + n_td) / (a + n_t). A move changes it in two topics only, so q needs one
product for each topic (notation: :mod:`beam_topics.model.learners.particles.kernels.particles`). A
document's counts are made from the topics of its tokens
(:mod:`beam_topics.model.learners.particles.kernels.arrivals`).

The first pass loops over tokens outside and over a tile of 16 particles inside. The draw of a token
needs the gain that the token before it wrote, but the draws of different particles do not depend on
each other, so the processor overlaps them. Moves go through a page of one particle at a time
(:mod:`beam_topics.model.learners.particles.kernels.rejuvenation`). The order changes no result,
since every draw has a name. The arrays of sixteen particles fit into the first-level cache. Where
particles are resampled after every token there is one workspace for all of them
(:mod:`beam_topics.model.learners.particles.kernels.token_filter`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel, page_inlined
from beam_topics.model.kernels.random import TABLE_DRAWS, fill_uniforms
from beam_topics.model.learners.particles.kernels.arrivals import count_tokens
from beam_topics.model.learners.particles.kernels.draw import aligned, new_scratch
from beam_topics.model.learners.particles.kernels.particles import PAGE
from beam_topics.model.learners.particles.kernels.parts import found_length, in_parts
from beam_topics.model.learners.particles.kernels.sparse_draw import (
    add_up,
    add_up_again,
    sums_length,
)
from beam_topics.model.learners.particles.kernels.table_counts import SAMPLED

TILE = 16
# Tokens between a word whose row or parts are prefetched and the one whose topic is drawn.
AHEAD = 2
# Lists of parts at hand in moves; a power of two above AHEAD.
LISTS = 4


class Workspace(NamedTuple):
    """The arrays for a tile of particles; a particle's place in the tile is its first index.

    Attributes:
        scratch: float64, a buffer for :mod:`beam_topics.model.learners.particles.kernels.draw`.
        gain: float64[16, Tp], (alpha_t + n_td) / (a + n_t).
        strength: float64[16, Tp], a + d k_t.
        counts: int32[16, Tp], n_td.
        uniforms: float64[16, 32], one for each token's topic.
        table_uniforms: float64[16, 64], two for each token's tables.
        word_row: int64[16], the physical row of the current word.
        places: int64[32], the physical rows of the words of a page, in moves.
        drawn: int32[32], the topics of a page, in moves.
        lists: int64[4, n], lists of the parts of words that come next, in moves.
        parts: int64, a list of the parts of a word
            (:mod:`beam_topics.model.learners.particles.kernels.parts`).
        sums: float64[16, n], the sums of
            :mod:`beam_topics.model.learners.particles.kernels.sparse_draw`; n is 0 where words are
            not in parts.
    """

    scratch: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    strength: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int32]
    uniforms: npt.NDArray[np.float64]
    table_uniforms: npt.NDArray[np.float64]
    word_row: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    drawn: npt.NDArray[np.int32]
    lists: npt.NDArray[np.int64]
    parts: npt.NDArray[np.int64]
    sums: npt.NDArray[np.float64]


@kernel
def new_workspace(tp, size, words):
    """Return a workspace for ``tp`` padded topics and ``size`` particles, a tile or all.

    ``words`` is the table of words.

    Arrays that are read by vector loads begin on cache lines.
    """
    length = sums_length(tp) if in_parts(words, tp) else 0
    return Workspace(
        new_scratch(tp),
        aligned(size * tp).reshape((size, tp)),
        aligned(size * tp).reshape((size, tp)),
        np.zeros((size, tp), np.int32),
        np.zeros((size, PAGE)),
        np.zeros((size, 2 * PAGE)),
        np.zeros(size, np.int64),
        np.zeros(PAGE, np.int64),
        np.zeros(PAGE, np.int32),
        np.zeros((LISTS, found_length(tp)), np.int64),
        np.zeros(found_length(tp), np.int64),
        np.zeros((size, length)),
    )


@page_inlined
def load_counts(population, pages, workspace, slot, stop, low, high):
    """Count the first ``stop`` tokens of a document in particles low..high-1."""
    for p in range(low, high):
        count_tokens(population, pages, p, slot, stop, workspace.counts[p - low])


@page_inlined
def compute_gains(workspace, population, prior, low, high):
    """Compute gain, strength and sums of particles low..high-1 from the counts."""
    for p in range(low, high):
        i = p - low
        for t in range(len(prior.alpha)):
            workspace.gain[i, t] = (prior.alpha[t] + workspace.counts[i, t]) / (
                population.concentration[p, 0] + population.totals[p, t]
            )
            workspace.strength[i, t] = (
                population.concentration[p, 0] + prior.discount * population.topic_tables[p, t]
            )
        if workspace.sums.shape[1]:
            add_up(workspace.sums[i], workspace.gain[i], workspace.strength[i])


@page_inlined
def fill_draws(workspace, population, prior, draws, number, count, low, high):
    """Fill the uniforms of particles low..high-1 for the draws number..number + count - 1."""
    for p in range(low, high):
        fill_uniforms(
            workspace.uniforms[p - low],
            count,
            number,
            draws.key0,
            draws.key1,
            population.identity[p],
            draws.sequence,
            draws.purpose,
        )
        if prior.tables == SAMPLED:
            purpose = draws.purpose + TABLE_DRAWS
            fill_uniforms(
                workspace.table_uniforms[p - low],
                2 * count,
                2 * number,
                draws.key0,
                draws.key1,
                population.identity[p],
                draws.sequence,
                purpose,
            )


@inlined
def compute_gain(population, prior, workspace, p, i, t):
    """Compute gain, strength and sums of one topic, as :func:`compute_gains` does of all."""
    workspace.gain[i, t] = (prior.alpha[t] + workspace.counts[i, t]) / (
        population.concentration[p, 0] + population.totals[p, t]
    )
    workspace.strength[i, t] = (
        population.concentration[p, 0] + prior.discount * population.topic_tables[p, t]
    )
    if workspace.sums.shape[1]:
        add_up_again(workspace.sums[i], workspace.gain[i], workspace.strength[i], t)


@inlined
def count_token(population, prior, workspace, p, i, t, step, tables):
    """Count a token that joins (step 1) or leaves (-1) topic t, with ``tables`` tables.

    The counts change, and so do the gain, the strength and the sums that depend on them.
    """
    population.totals[p, t] += step
    workspace.counts[i, t] += step
    if tables:
        population.topic_tables[p, t] += step
        population.tables[p] += step
    compute_gain(population, prior, workspace, p, i, t)
