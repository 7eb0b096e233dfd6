"""Rejuvenation: redraw topics of the past from their conditional distributions.

Each topic is drawn given all others (Canini et al. 2009, eq. 3). Notation:
:mod:`model.learners.particles.kernels.particles`. A move does not take the token out of the counts.
It corrects q of the old topic only, and it writes (and copies shared rows) only if the topic or the
tables change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import kernel, page_inlined
from model.learners.particles.kernels.draw import draw_discounted, draw_without
from model.learners.particles.kernels.particles import (
    GONE,
    PAGE,
    base_with,
    normalise,
    page_at,
    tables_of,
    tables_of_word,
    times,
)
from model.learners.particles.kernels.parts import (
    count_in_word,
    counts_in_part,
    find_parts,
    in_parts,
    prefetch_blocks,
    prefetch_parts,
)
from model.learners.particles.kernels.shared_rows import current_row, own_row, prefetch_row, row_of
from model.learners.particles.kernels.sparse_draw import pick_in_parts, weigh_parts
from model.learners.particles.kernels.table_counts import (
    closes_table,
    joint_factor,
    opens_table,
)
from model.learners.particles.kernels.workspace import (
    TILE,
    compute_gains,
    count_token,
    fill_draws,
    load_counts,
    new_workspace,
)

# Tokens between a word whose row is prefetched and the one whose topic is drawn.
AHEAD = 2


@kernel
def move_units(
    population: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    slots: Any,
    positions: Any,
    index: Any,
    first: Any,
    last: Any,
    thread: Any,
) -> None:
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
        high, number, named, used = min(low + TILE, last), index, 0, 0
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
def _prefetch_unit(
    population: Any, pages: Any, slot: Any, position: Any, low: Any, high: Any
) -> None:
    """Prefetch rows of the next unit while the topics of this one are drawn."""
    page = page_at(pages, slot, position)
    for p in range(low, high if pages.length[slot] else low):
        prefetch_row(population.topics, p, page)
        if pages.words[page, position % PAGE] != GONE:
            prefetch_row(population.words, p, pages.words[page, position % PAGE])


@page_inlined
def _single(positions: Any, unit: Any) -> Any:
    """Return how many units from this one on are single tokens, at most 32."""
    count = 0
    while count < PAGE and unit + count < len(positions) and positions[unit + count] >= 0:
        count += 1
    return count


@page_inlined
def _move_page(
    population: Any,
    prior: Any,
    pages: Any,
    workspace: Any,
    page: Any,
    here: Any,
    there: Any,
    used: Any,
    low: Any,
    high: Any,
    thread: Any,
) -> None:
    """Redraw tokens here..there-1 of a page; ``used`` is the index of their first uniform."""
    parted, tp = in_parts(population.words, len(prior.alpha)), len(prior.alpha)
    for p in range(low, high):
        workspace.topic_row[p - low] = row_of(population.topics, p, page)
    for k in range(here, there):
        w, following = pages.words[page, k], pages.words[page, min(k + AHEAD, there - 1)]
        if parted:
            later = pages.words[page, min(k + 2 * AHEAD, there - 1)]
            for p in range(low, high if later != GONE else low):
                prefetch_blocks(population.words, p, later, tp)
            for p in range(low, high if following != GONE else low):
                prefetch_parts(population.words, p, following, tp)
        else:
            for p in range(low, high if following != GONE else low):
                prefetch_row(population.words, p, following)
        for p in range(low, high if w != GONE else low):
            _move_token(
                population, prior, workspace, page, k, w, used + (k - here), p, p - low, thread
            )


@page_inlined
def _move_token(
    population: Any,
    prior: Any,
    workspace: Any,
    page: Any,
    k: Any,
    w: Any,
    place: Any,
    p: Any,
    i: Any,
    thread: Any,
) -> None:
    """Redraw token k of a page, which has word w, in particle p, which is i-th in the workspace.

    ``place`` is the index of its uniform.
    """
    words, topics = population.words, population.topics
    tp, a, generation = len(prior.alpha), population.concentration[p, 0], population.generation[p]
    workspace.topic_row[i] = current_row(topics, workspace.topic_row[i], p, page)
    u, old = workspace.uniforms[i, place], np.int64(topics.rows[workspace.topic_row[i], k])
    parted, mass = in_parts(words, tp), 0.0
    if parted:
        found, scratch, rows = workspace.parts, workspace.scratch, words.rows
        n, tables = counts_in_part(words, p, w, tp, old)
        find_parts(words, p, w, tp, found)
        mass, shared = weigh_parts(
            scratch, workspace.gain[i], rows, rows.shape[1], found, prior.discount, old
        )
    else:
        row = words.rows[row_of(words, p, w)]
        n, tables, shared = (
            np.int64(row[old]),
            tables_of(prior, row, old),
            tables_of_word(prior, row),
        )
    closed = closes_table(prior, n, tables, workspace.table_uniforms[i, 2 * place])
    base = base_with(population, prior, p, shared, w, closed)
    n, tables = n - 1, tables - closed
    strength = a + prior.discount * (population.topic_tables[p, old] - closed)
    backoff = strength * base
    gain = (prior.alpha[old] + (workspace.counts[i, old] - 1)) / (
        a + (population.totals[p, old] - 1)
    )
    q = gain * ((n - prior.discount * tables) + backoff)
    if parted:
        sums, of_gain, of_strength = workspace.sums[i], workspace.gain[i], workspace.strength[i]
        t, _ = pick_in_parts(
            sums, workspace.scratch, of_gain, of_strength, workspace.parts, mass, base, old, q, u
        )
    else:
        t = _draw_whole(prior, workspace, i, row, a, base, old, q, u)
    gain_t, n_t, tables_t, backoff_t = gain, n, tables, backoff
    if t != old:
        if parted:
            n_t, tables_t = counts_in_part(words, p, w, tp, t)
        else:
            n_t, tables_t = np.int64(row[t]), tables_of(prior, row, t)
        gain_t = workspace.gain[i, t]
        backoff_t = workspace.strength[i, t] * base
    u = workspace.table_uniforms[i, 2 * place + 1]
    opened = opens_table(prior, n_t, tables_t, backoff_t, u)
    if t != old or opened != closed:
        # Here, because most visits change nothing and joint_factor reads a large table.
        factor = gain * joint_factor(prior, n, tables, backoff, closed)
        factor = gain_t * joint_factor(prior, n_t, tables_t, backoff_t, opened) / factor
        times(population.joint, population.joint_exponent, p, factor)
        count_in_word(words, p, w, tp, old, -1, closed, generation, thread)
        count_in_word(words, p, w, tp, t, 1, opened, generation, thread)
        count_token(population, prior, workspace, p, i, old, -1, closed)
        count_token(population, prior, workspace, p, i, t, 1, opened)
    if t != old:
        workspace.topic_row[i] = own_row(topics, p, page, generation, thread, True)
        topics.rows[workspace.topic_row[i], k] = t


@page_inlined
def _draw_whole(
    prior: Any,
    workspace: Any,
    i: Any,
    row: Any,
    a: Any,
    base: Any,
    old: Any,
    q: Any,
    u: Any,
) -> Any:
    """Draw the topic of a token of a word with a whole row; ``q`` is the old topic's weight."""
    gain, scratch, discount = workspace.gain[i], workspace.scratch, prior.discount
    if discount > 0.0:
        strength = workspace.strength[i]
        t, _ = draw_discounted(scratch, gain, row, discount, strength, base, old, q, u)
    else:
        t, _ = draw_without(scratch, gain, row, a * base, old, q, u)
    return t
