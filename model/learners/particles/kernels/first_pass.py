"""A document arrives: every particle draws topics for its tokens (lines 4 and 5 of Alg. 4), and
those that live on write them down.

Two steps, because of what comes between them. ``first_pass`` draws, and writes only what is each
particle's own anyway: its totals, its weight, its joint. What it drew stays in an
:class:`TokenDraws`. Then the particles meet, and most may die. ``write_draws`` writes the topics
and the words' counts of the survivors into the tables; their children share them. Where a filter
resamples after every document, that is a fifth of the copies that writing at once would cost, and
while particles draw, they read rows that all of them share.

A word that comes several times in a document must see its earlier counts: such words have rows of
    their own meanwhile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel, page_inlined
from model.learners.particles.kernels.draw import draw, draw_discounted
from model.learners.particles.kernels.particles import (
    PAGE,
    base_of,
    normalise,
    page_at,
    tables_of,
    times,
)
from model.learners.particles.kernels.shared_rows import current_row, own_row, prefetch_row
from model.learners.particles.kernels.table_counts import joint_factor, opens_table, update_counts
from model.learners.particles.kernels.workspace import (
    TILE,
    name_draws,
    new_workspace,
    recount,
    start_gain,
    take_counts,
)

ONCE = -1


class TokenDraws(NamedTuple):
    """Tokens begin..stop-1 of the document in ``slot``, and what the particles drew for them.

    words: int32[n]. repeats: int32[n], a number for each word that comes several times, else -1.
    again: bool[n], it came before. repeated: how many such words. topics: int32[n, P]. opened:
    bool[n, P], whether a token opened a table. counts: int32[P, Tp], n_td with these tokens.
    """

    slot: int
    begin: int
    stop: int
    words: npt.NDArray[np.int32]
    repeats: npt.NDArray[np.int32]
    again: npt.NDArray[np.bool_]
    repeated: int
    topics: npt.NDArray[np.int32]
    opened: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.int32]


@kernel
def token_draws(
    pages: Any, slot: Any, begin: Any, stop: Any, particles: Any, tp: Any, together: Any
) -> Any:
    """Tokens begin..stop-1 of a document, before anything is drawn; ``together``: all are drawn
    before any is settled.
    """
    n = stop - begin
    words, repeats, again = np.empty(n, np.int32), np.full(n, ONCE, np.int32), np.zeros(n, np.bool_)
    page = page_at(pages, slot, begin)
    for start in range(begin // PAGE * PAGE, stop, PAGE):
        for k in range(max(begin - start, 0), min(stop - start, PAGE)):
            words[start + k - begin] = pages.words[page, k]
        page = pages.following[page]
    repeated = 0
    order = np.argsort(words if together else words[:0], kind="mergesort")
    for k in range(1, len(order)):
        here, before = order[k], order[k - 1]
        if words[here] == words[before]:
            if repeats[before] == ONCE:
                repeats[before] = repeated
                repeated += 1
            repeats[here] = repeats[before]
            again[here] = True
    topics, opened, counts = (
        np.empty((n, particles), np.int32),
        np.zeros((n, particles), np.bool_),
        np.zeros((particles, tp), np.int32),
    )
    return TokenDraws(slot, begin, stop, words, repeats, again, repeated, topics, opened, counts)


@kernel
def first_pass(
    population: Any,
    prior: Any,
    draws: Any,
    new: Any,
    index: Any,
    evenly: Any,
    first: Any,
    last: Any,
) -> None:
    """Particles first..last-1 draw topics for the tokens of the arrival ``new``; the tables are
    only read.

    ``index`` names the document's first draw. Weights take P(token | past), joints P(token, its
    topic | past). ``evenly`` draws topics evenly, whatever the counts (the random start of Alg. 1).
    """
    tp, topics = len(prior.alpha), 0
    while evenly and topics < tp and prior.alpha[topics] > 0.0:
        topics += 1
    workspace = new_workspace(tp, TILE)
    repeated = np.empty(
        (new.repeated, TILE, population.words.rows.shape[1]), population.words.rows.dtype
    )
    for low in range(first, last, TILE):
        high = min(low + TILE, last)
        take_counts(population, workspace, new.slot, new.begin > 0, low, high)
        start_gain(workspace, population, prior, low, high)
        for start in range(0, len(new.words), PAGE):
            count = min(PAGE, len(new.words) - start)
            name_draws(
                workspace, population, prior, draws, index + new.begin + start, count, low, high
            )
            draw_tokens(
                population,
                prior,
                workspace,
                new,
                repeated,
                start,
                start + count,
                0,
                low,
                high,
                topics,
            )
        for p in range(low, high):
            new.counts[p, :] = workspace.counts[p - low, :]
            normalise(population.weight, population.weight_exponent, p)
            normalise(population.joint, population.joint_exponent, p)


@page_inlined
def draw_tokens(
    population: Any,
    prior: Any,
    workspace: Any,
    new: Any,
    repeated: Any,
    begin: Any,
    stop: Any,
    used: Any,
    low: Any,
    high: Any,
    topics: Any,
) -> None:
    """Tokens begin..stop-1 of the arrival, in particles low..high-1; topics are drawn evenly from
    so many if that is not 0.

    Their draws are on the workspace from place ``used`` on. repeated: [repeats, particles, L], the
    rows of words that come again.
    """
    table, rows, tp, discount = (
        population.words,
        population.words.rows,
        len(prior.alpha),
        prior.discount,
    )
    gain, strength = workspace.gain, workspace.strength
    for k in range(begin, stop):
        w, repeat = new.words[k], new.repeats[k]
        per = 1.0 / (prior.alpha_sum + (new.begin + k))
        for p in range(low, high):
            workspace.row[p - low] = prefetch_row(table, p, w)
        for p in range(low, high):
            i = p - low
            row = rows[current_row(table, workspace.row[i], p, w)]
            if repeat != ONCE:
                if not new.again[k]:
                    for j in range(len(row)):
                        repeated[repeat, i, j] = row[j]
                row = repeated[repeat, i]
            base, u = (
                base_of(population, prior, p, row, w, 0),
                workspace.uniforms[i, used + (k - begin)],
            )
            if discount > 0.0:
                t, total = draw_discounted(
                    workspace.scratch, gain[i], row, discount, strength[i], base, -1, 0.0, u
                )
            else:
                t, total = draw(
                    workspace.scratch, gain[i], row, population.concentration[p, 0] * base, u
                )
            if topics:
                t = np.int64(u * topics)
            n, tables, back = row[t], tables_of(prior, row, t), strength[i, t] * base
            opened = opens_table(
                prior, n, tables, back, workspace.table_uniforms[i, 2 * (used + (k - begin))]
            )
            times(population.weight, population.weight_exponent, p, total * per)
            times(
                population.joint,
                population.joint_exponent,
                p,
                gain[i, t] * joint_factor(prior, n, tables, back, opened) * per,
            )
            recount(population, prior, workspace, p, i, t, 1, opened)
            new.topics[k, p], new.opened[k, p] = t, opened
            if repeat != ONCE:
                update_counts(row, tp, t, 1, opened)


@page_inlined
def write_draws(
    population: Any, pages: Any, new: Any, ancestors: Any, first: Any, last: Any, thread: Any
) -> None:
    """Of particles first..last-1 those that are their own ancestors write what they drew into
    the tables.
    """
    page = page_at(pages, new.slot, new.begin)
    for start in range(new.begin // PAGE * PAGE, new.stop, PAGE):
        begin, stop = max(start, new.begin) - new.begin, min(start + PAGE, new.stop) - new.begin
        write_page_draws(population, new, page, begin, stop, ancestors, first, last, thread)
        page = pages.following[page]
    for p in range(first, last):
        if ancestors[p] == p:
            mine = own_row(
                population.documents, p, new.slot, population.generation[p], thread, False
            )
            for t in range(new.counts.shape[1]):
                population.documents.rows[mine, t] = new.counts[p, t]


@page_inlined
def write_page_draws(
    population: Any,
    new: Any,
    page: Any,
    begin: Any,
    stop: Any,
    ancestors: Any,
    first: Any,
    last: Any,
    thread: Any,
) -> None:
    """The topics and the words' counts of the arrival's tokens begin..stop-1, which lie in this
    page.
    """
    words, topics, column = population.words, population.topics, (new.begin + begin) % PAGE
    for p in range(first, last):
        if ancestors[p] == p:
            place = own_row(topics, p, page, population.generation[p], thread, column > 0)
            for k in range(begin, stop):
                t = new.topics[k, p]
                topics.rows[place, column + (k - begin)] = t
                row = words.rows[
                    own_row(words, p, new.words[k], population.generation[p], thread, True)
                ]
                update_counts(row, new.counts.shape[1], t, 1, new.opened[k, p])
