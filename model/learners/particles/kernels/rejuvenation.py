"""Rejuvenation: redraw topics of the past from their conditional distributions.

Each topic is drawn given all others (Canini et al. 2009, eq. 3). Notation:
:mod:`beam_topics.model.learners.particles.kernels.particles`. A move does not take the token out of
the counts. It corrects q of the old topic only, and it writes (and copies shared rows) only if the
topic or the tables change. The tokens of a page are moved in one particle after the other, by
:mod:`~beam_topics.model.learners.particles.kernels.row_moves` or, where words are in parts,
:mod:`~beam_topics.model.learners.particles.kernels.part_moves`. One kernel for both holds more
values than there are registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from beam_topics.model.kernels.jit import kernel, page_inlined
from beam_topics.model.learners.particles.kernels import part_moves, row_moves
from beam_topics.model.learners.particles.kernels.particles import GONE, PAGE, normalise, page_at
from beam_topics.model.learners.particles.kernels.parts import in_parts
from beam_topics.model.learners.particles.kernels.seats import desk_of
from beam_topics.model.learners.particles.kernels.shared_rows import own_row, prefetch_row, row_of
from beam_topics.model.learners.particles.kernels.workspace import (
    TILE,
    compute_gains,
    fill_draws,
    load_counts,
    new_workspace,
)

_move_in_rows, _move_in_parts = row_moves.move_tokens, part_moves.move_tokens


@kernel
def move_units(population, prior, pages, draws, slots, positions, index, first, last, thread):
    """Redraw the topics of units in particles first..last-1, unit by unit (eq. 3).

    The joint is multiplied by the ratio of the new and the old topic's probability.

    Args:
        population: the particles.
        prior: the prior.
        pages: the tokens of the history.
        draws: names the draws.
        slots: int32[n], the units' documents.
        positions: int64[n], the units' tokens; -1 for whole documents.
        index: the index of the first draw. Each unit takes as many as it has tokens.
        first: the first particle.
        last: the particle after the last one.
        thread: the thread, whose free rows are used.
    """
    workspace = new_workspace(len(prior.alpha), min(TILE, last - first), population.words)
    for low in range(first, last, TILE):
        high, number = min(low + TILE, last), index
        # Literals would compile the visit of a page a second time.
        named: Any = np.int64(0)
        used: Any = np.int64(0)
        for unit in range(len(slots)):
            slot = slots[unit]
            begin = max(positions[unit], 0)
            end = pages.length[slot] if positions[unit] < 0 else begin + 1
            if unit + 1 < len(slots):
                _prefetch_unit(
                    population, pages, slots[unit + 1], max(positions[unit + 1], 0), low, high
                )
            load_counts(population, pages, workspace, slot, pages.length[slot], low, high)
            compute_gains(workspace, population, prior, low, high)
            page = page_at(pages, slot, begin)
            for start in range(begin // PAGE * PAGE, end, PAGE):
                here, there = max(begin - start, 0), min(end - start, PAGE)
                if used == named:
                    # For a page, or for single tokens that follow each other.
                    named, used = (
                        there - here if positions[unit] < 0 else _single(positions, unit),
                        0,
                    )
                    fill_draws(workspace, population, prior, draws, number, named, low, high)
                _move_page(
                    population, prior, pages, workspace, page, here, there, used, low, high, thread
                )
                number, used = number + (there - here), used + (there - here)
                page = pages.following[page]
        for p in range(low, high):
            normalise(population.joint, population.joint_exponent, p)


@page_inlined
def _prefetch_unit(population, pages, slot, position, low, high):
    """Prefetch rows of the next unit while the topics of this one are drawn."""
    page = page_at(pages, slot, position)
    for p in range(low, high if pages.length[slot] else low):
        prefetch_row(population.topics, p, page)
        if pages.words[page, position % PAGE] != GONE:
            prefetch_row(population.words, p, pages.words[page, position % PAGE])


@page_inlined
def _single(positions, unit):
    """Return how many units from this one on are single tokens, at most 32."""
    count = 0
    while count < PAGE and unit + count < len(positions) and positions[unit + count] >= 0:
        count += 1
    return count


@page_inlined
def _move_page(population, prior, pages, workspace, page, here, there, used, low, high, thread):
    """Redraw tokens here..there-1 of a page; ``used`` is the index of their first uniform."""
    text, drawn, parted = (
        pages.words[page],
        workspace.drawn,
        in_parts(population.words, len(prior.alpha)),
    )
    for p in range(low, high):
        desk = desk_of(population, workspace, p, p - low)
        topics = population.topics.rows[row_of(population.topics, p, page)]
        for k in range(here, there):
            drawn[k] = topics[k]
        if parted:
            changed = _move_in_parts(
                population, prior, workspace, desk, text, drawn, here, there, used, p, thread
            )
        else:
            changed = _move_in_rows(
                population, prior, workspace, desk, text, drawn, here, there, used, p, thread
            )
        if changed:
            generation = population.generation[p]
            own = own_row(population.topics, p, page, generation, thread, True)
            for k in range(here, there):
                population.topics.rows[own, k] = drawn[k]
