"""Moves of tokens whose words are in parts, in one particle (eq. 3 of Canini et al. 2009).

They are those of :mod:`beam_topics.model.learners.particles.kernels.row_moves`, with draws in the
time of the parts that have tokens
(:mod:`beam_topics.model.learners.particles.kernels.sparse_draw`). The parts of a word are listed
some tokens before its turn, and prefetched. A list that a write of the same word in between has
made wrong is made anew.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import page_inlined
from beam_topics.model.learners.particles.kernels.particles import GONE, base_with
from beam_topics.model.learners.particles.kernels.parts import (
    count_in_part,
    counts_in_part,
    find_parts,
    prefetch_blocks,
    prefetch_found,
)
from beam_topics.model.learners.particles.kernels.seats import (
    change_seat,
    seat_at,
    seat_left,
    weight_of,
)
from beam_topics.model.learners.particles.kernels.sparse_draw import (
    add_up_both,
    pick_in_parts,
    weigh_parts,
)
from beam_topics.model.learners.particles.kernels.table_counts import (
    opens_table,
    probability_to_close,
)
from beam_topics.model.learners.particles.kernels.workspace import AHEAD, LISTS


@page_inlined
def move_tokens(population, prior, workspace, desk, text, topics, here, there, used, p, thread):
    """Redraw tokens here..there-1 of a page in particle p, and return whether a topic changed.

    The arguments are those of
    :func:`beam_topics.model.learners.particles.kernels.row_moves.move_tokens`.
    """
    words, tp, changed = population.words, len(prior.alpha), False
    for k in range(here, min(here + AHEAD, there)):
        _list_parts(words, workspace.lists, text, k, p, tp)
    for k in range(here, there):
        later = text[min(k + 2 * AHEAD, there - 1)]
        if later != GONE:
            prefetch_blocks(words, p, later, tp)
        if k + AHEAD < there:
            _list_parts(words, workspace.lists, text, k + AHEAD, p, tp)
        if text[k] != GONE:
            old = np.uint32(topics[k])
            t = _move_token(
                population,
                prior,
                workspace,
                desk,
                text,
                old,
                k,
                there,
                used + (k - here),
                p,
                thread,
            )
            topics[k] = t
            changed = changed or t != old
    return changed


@page_inlined
def _list_parts(words, lists, text, k, p, tp):
    """List and prefetch the parts of the word of token k."""
    if text[k] != GONE:
        found = lists[np.uint64(k % LISTS)]
        find_parts(words, p, text[k], tp, found)
        prefetch_found(words, found)


@page_inlined
def _move_token(population, prior, workspace, desk, text, old, k, there, place, p, thread):
    """Redraw the topic of token k, and return it; ``place`` is the index of its uniform."""
    words, tp, w, scratch = population.words, len(prior.alpha), text[k], workspace.scratch
    found, rows = workspace.lists[np.uint64(k % LISTS)], words.rows
    n, tables = counts_in_part(words, p, w, tp, old)
    mass, shared = weigh_parts(
        scratch, desk.gain, rows, rows.shape[1], found, prior.discount, np.int64(old)
    )
    closing = probability_to_close(prior, n, tables)
    closed = desk.table_uniforms[np.uint64(2 * place)] < closing
    base = base_with(population, prior, p, shared, w, closed)
    left = seat_left(prior, desk, n, tables, base, closed, old)
    q, u = weight_of(prior, left), desk.uniforms[np.uint64(place)]
    t, _ = pick_in_parts(
        desk.sums, scratch, desk.gain, desk.strength, found, mass, base, np.int64(old), q, u
    )
    t = np.uint32(t)
    taken = left
    if t != old:
        n, tables = counts_in_part(words, p, w, tp, t)
        taken = seat_at(desk, n, tables, base, t)
    u = desk.table_uniforms[np.uint64(2 * place + 1)]
    opened = opens_table(prior, taken.n, taken.tables, taken.backoff, u)
    if t != old or opened != closed:
        # Here, because most visits change nothing and the factor reads a large table.
        change_seat(population, prior, desk, p, left, closed, closing, old, taken, opened, t)
        generation = population.generation[p]
        count_in_part(words, p, w, tp, old, -1, closed, generation, thread)
        count_in_part(words, p, w, tp, t, 1, opened, generation, thread)
        add_up_both(desk.sums, desk.gain, desk.strength, old, t)
        for j in range(k + 1, min(k + AHEAD + 1, there)):
            if text[j] == w:
                find_parts(words, p, w, tp, workspace.lists[np.uint64(j % LISTS)])
    return t
