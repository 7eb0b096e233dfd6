"""Moves of tokens whose words have whole rows, in one particle (eq. 3 of Canini et al. 2009).

A move does not take the token out of the counts. It corrects q of the old topic only, and it writes
(and copies shared rows) only if the topic or the tables change. The rows of all words of a page are
found before its first token, so the processor waits for them once.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.gibbs.kernels.packed_rows import prefetch
from beam_topics.model.kernels.jit import page_inlined
from beam_topics.model.learners.particles.kernels.copy_on_write import fresh_row, row_of
from beam_topics.model.learners.particles.kernels.draw import draw_discounted_without, draw_without
from beam_topics.model.learners.particles.kernels.particles import (
    GONE,
    base_with,
    tables_of,
    tables_of_word,
)
from beam_topics.model.learners.particles.kernels.seats import (
    change_seat,
    seat_at,
    seat_left,
    weight_of,
)
from beam_topics.model.learners.particles.kernels.table_counts import (
    NONE,
    opens_table,
    probability_to_close,
)
from beam_topics.model.learners.particles.kernels.workspace import AHEAD

# Counts in a cache line.
_LINE = 16


@page_inlined
def move_tokens(population, prior, workspace, desk, text, topics, here, there, used, p, thread):
    """Redraw tokens here..there-1 of a page in particle p, and return whether a topic changed.

    Args:
        population: the particles.
        prior: the prior.
        workspace: for ``places`` and ``scratch``.
        desk: what belongs to p.
        text: int32[32], the words of the page.
        topics: int32[32], takes the topics.
        here: the first token.
        there: the token after the last one.
        used: the index of the first token's uniform.
        p: the particle.
        thread: the thread, whose free rows are used.
    """
    _find_rows(population.words, workspace.places, text, here, there, p)
    changed = False
    for k in range(here, there):
        if text[np.uint64(k)] != GONE:
            place = workspace.places[np.uint64(min(k + AHEAD, there - 1))]
            for at in range(0, population.words.rows.shape[1], _LINE):
                prefetch(population.words.rows, place * population.words.rows.shape[1] + at)
            old = np.uint32(topics[np.uint64(k)])
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
            topics[np.uint64(k)] = t
            changed = changed or t != old
    return changed


@page_inlined
def _find_rows(words, places, text, here, there, p):
    """Find the physical rows of the words of a page."""
    for k in range(here, there):
        w = text[np.uint64(k)]
        places[np.uint64(k)] = row_of(words, p, w) if w != GONE else 0


@page_inlined
def _move_token(population, prior, workspace, desk, text, old, k, there, place, p, thread):
    """Redraw the topic of token k, and return it; ``place`` is the index of its uniform."""
    words, w = population.words, text[np.uint64(k)]
    row = words.rows[np.uint64(workspace.places[np.uint64(k)])]
    n, tables, shared = np.int64(row[old]), tables_of(prior, row, old), tables_of_word(prior, row)
    closing = probability_to_close(prior, n, tables)
    closed = desk.table_uniforms[np.uint64(2 * place)] < closing
    base = base_with(population, prior, p, shared, w, closed)
    left = seat_left(prior, desk, n, tables, base, closed, old)
    q, u = weight_of(prior, left), desk.uniforms[np.uint64(place)]
    t = np.uint32(_draw(prior, workspace.scratch, desk, row, base, np.int64(old), q, u))
    taken = left
    if t != old:
        taken = seat_at(desk, np.int64(row[t]), tables_of(prior, row, t), base, t)
    u = desk.table_uniforms[np.uint64(2 * place + 1)]
    opened = opens_table(prior, taken.n, taken.tables, taken.backoff, u)
    if t != old or opened != closed:
        # Here, because most visits change nothing and the factor reads a large table.
        change_seat(population, prior, desk, p, left, closed, closing, old, taken, opened, t)
        row = words.rows[_own_word(population, workspace.places, text, k, there, p, thread)]
        _move_in_row(prior, row, old, closed, t, opened)
    return t


@page_inlined
def _move_in_row(prior, row, old, closed, t, opened):
    """Count a token of a word that moves from a topic to another, with its table."""
    row[old] -= 1
    row[t] += 1
    if prior.tables != NONE:
        # Without branches, which the processor could not predict.
        tp, closed, opened = len(prior.alpha), np.int64(closed), np.int64(opened)
        row[np.uint64(tp + old)] -= closed
        row[np.uint64(tp + t)] += opened
        row[np.uint64(2 * tp)] += opened - closed


@page_inlined
def _own_word(population, places, text, k, there, p, thread):
    """Return the row that p owns for the word of token k; tokens of the word behind it take it."""
    words, place = population.words, places[np.uint64(k)]
    if words.row_owner[np.uint64(place)] != population.generation[np.uint64(p)]:
        place = fresh_row(words, p, text[k], population.generation[np.uint64(p)], thread, True)
        for j in range(k, there):
            if text[j] == text[k]:
                places[j] = place
    return np.uint64(place)


@page_inlined
def _draw(prior, scratch, desk, row, base, old, q, u):
    """Draw the topic of a token; ``q`` is the old topic's weight."""
    if prior.discount > 0.0:
        t = draw_discounted_without(
            scratch, desk.gain, row, prior.discount, desk.strength, base, old, q, u
        )
    else:
        t = draw_without(scratch, desk.gain, row, desk.a * base, old, q, u)
    return t
