"""The first pass over a document: every particle draws topics for its tokens.

These are the two inner lines of Alg. 4 of Canini et al. (2009): the weight is multiplied by
P(w_i | z, w), and z_i is drawn from P(z_i | z, w_i). Drawing and writing are separate steps,
because resampling comes between them. :func:`first_pass` writes only what belongs to one particle
anyway: totals, weight and joint. The drawn topics stay in :class:`TokenDraws`. After the ancestors
are known, :func:`write_draws` writes the topics and the words' counts of the survivors to the
shared rows, which their children inherit. Where a filter resamples after every document, this makes
a fifth of the copies of rows that writing at once makes, and particles read rows that all of them
share while they draw.

A word that occurs several times in a document must see its earlier counts. Such words have separate
rows during the first pass.
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
from model.learners.particles.kernels.parts import (
    count_in_word,
    gather,
    in_parts,
    insert_part,
)
from model.learners.particles.kernels.shared_rows import current_row, own_row, prefetch_row
from model.learners.particles.kernels.sparse_draw import draw_in_parts
from model.learners.particles.kernels.table_counts import joint_factor, opens_table, update_counts
from model.learners.particles.kernels.workspace import (
    TILE,
    compute_gains,
    count_token,
    fill_draws,
    load_counts,
    new_workspace,
)

NOT_REPEATED = -1


class TokenDraws(NamedTuple):
    """Tokens begin..stop-1 of the document in ``slot``, and what the particles drew for them.

    Attributes:
        slot: the document.
        begin: the first token.
        stop: the token after the last one.
        words: int32[n].
        repeat_number: int32[n], a number for each word that occurs several times, else
            NOT_REPEATED.
        is_repeat: bool[n], whether the word occurred before.
        repeated_words: how many words occur several times.
        topics: int32[n, P], the drawn topics.
        opened: bool[n, P], whether a token opened a table.
        tp: the padded number of topics.
    """

    slot: int
    begin: int
    stop: int
    words: npt.NDArray[np.int32]
    repeat_number: npt.NDArray[np.int32]
    is_repeat: npt.NDArray[np.bool_]
    repeated_words: int
    topics: npt.NDArray[np.int32]
    opened: npt.NDArray[np.bool_]
    tp: int


@kernel
def new_token_draws(
    pages: Any, slot: Any, begin: Any, stop: Any, particles: Any, tp: Any, find_repeats: Any
) -> Any:
    """Return tokens begin..stop-1 of a document before any topic is drawn.

    ``find_repeats`` says that all tokens are drawn before any is written, so words that occur
    several times need rows of their own.
    """
    n = stop - begin
    words, repeat_number, is_repeat = (
        np.empty(n, np.int32),
        np.full(n, NOT_REPEATED, np.int32),
        np.zeros(n, np.bool_),
    )
    page = page_at(pages, slot, begin)
    for start in range(begin // PAGE * PAGE, stop, PAGE):
        for k in range(max(begin - start, 0), min(stop - start, PAGE)):
            words[start + k - begin] = pages.words[page, k]
        page = pages.following[page]
    repeated_words = 0
    order = np.argsort(words if find_repeats else words[:0], kind="mergesort")
    for k in range(1, len(order)):
        here, before = order[k], order[k - 1]
        if words[here] == words[before]:
            if repeat_number[before] == NOT_REPEATED:
                repeat_number[before] = repeated_words
                repeated_words += 1
            repeat_number[here] = repeat_number[before]
            is_repeat[here] = True
    topics, opened = np.empty((n, particles), np.int32), np.zeros((n, particles), np.bool_)
    return TokenDraws(
        slot, begin, stop, words, repeat_number, is_repeat, repeated_words, topics, opened, tp
    )


@kernel
def first_pass(
    population: Any,
    prior: Any,
    pages: Any,
    draws: Any,
    new: Any,
    index: Any,
    evenly: Any,
    first: Any,
    last: Any,
) -> None:
    """Draw topics for the tokens of ``new`` in particles first..last-1.

    Rows are only read. The weight takes P(token | past), the joint P(token, its topic | past).

    Args:
        population: the particles.
        prior: the prior.
        pages: the tokens of the history.
        draws: names the draws.
        new: the tokens; takes the topics.
        index: the index of the document's first draw.
        evenly: draw each topic with probability 1 / T (the random start of Alg. 1).
        first: the first particle.
        last: the particle after the last one.
    """
    tp, topics = len(prior.alpha), 0
    while evenly and topics < tp and prior.alpha[topics] > 0.0:
        topics += 1
    size = min(TILE, last - first)
    workspace = new_workspace(tp, size, population.words)
    length = max(len(workspace.row), population.words.rows.shape[1])
    repeated_rows = np.empty((new.repeated_words, size, length), population.words.rows.dtype)
    for low in range(first, last, TILE):
        high = min(low + TILE, last)
        load_counts(population, pages, workspace, new.slot, new.begin, low, high)
        compute_gains(workspace, population, prior, low, high)
        for start in range(0, len(new.words), PAGE):
            count = min(PAGE, len(new.words) - start)
            fill_draws(
                workspace, population, prior, draws, index + new.begin + start, count, low, high
            )
            draw_tokens(
                population,
                prior,
                workspace,
                new,
                repeated_rows,
                start,
                start + count,
                0,
                low,
                high,
                topics,
            )
        for p in range(low, high):
            normalise(population.weight, population.weight_exponent, p)
            normalise(population.joint, population.joint_exponent, p)


@page_inlined
def draw_tokens(
    population: Any,
    prior: Any,
    workspace: Any,
    new: Any,
    repeated_rows: Any,
    begin: Any,
    stop: Any,
    used: Any,
    low: Any,
    high: Any,
    topics: Any,
) -> None:
    """Draw topics for tokens begin..stop-1 of ``new`` in particles low..high-1.

    Args:
        population: the particles.
        prior: the prior.
        workspace: counts, gains and uniforms of these particles.
        new: the tokens; takes the topics.
        repeated_rows: [repeated words, particles, L], rows of words that occur several times.
        begin: the first token, counted from ``new.begin``.
        stop: the token after the last one.
        used: the index of the first token's uniform in the workspace.
        low: the first particle.
        high: the particle after the last one.
        topics: 0, or T to draw each topic with probability 1 / T.
    """
    for k in range(begin, stop):
        w, place = new.words[k], used + (k - begin)
        normaliser = 1.0 / (prior.alpha_sum + (new.begin + k))
        for p in range(low, high):
            workspace.word_row[p - low] = prefetch_row(population.words, p, w)
        for p in range(low, high):
            _draw_token(
                population,
                prior,
                workspace,
                new,
                repeated_rows,
                k,
                place,
                normaliser,
                p,
                p - low,
                topics,
            )


@page_inlined
def _draw_token(
    population: Any,
    prior: Any,
    workspace: Any,
    new: Any,
    repeated_rows: Any,
    k: Any,
    place: Any,
    normaliser: Any,
    p: Any,
    i: Any,
    topics: Any,
) -> None:
    """Draw the topic of token k of ``new`` in particle p, which is i-th in the workspace.

    ``place`` is the index of its uniform, ``normaliser`` 1 / (sum of alpha + tokens before it).
    """
    w, repeat, discount = new.words[k], new.repeat_number[k], prior.discount
    gain, strength, scratch = workspace.gain, workspace.strength, workspace.scratch
    parted = in_parts(population.words, len(prior.alpha))
    if parted:
        if not new.is_repeat[k]:
            gather(population.words, p, w, len(prior.alpha), workspace.row)
        row = workspace.row
    else:
        row = population.words.rows[current_row(population.words, workspace.word_row[i], p, w)]
    if repeat != NOT_REPEATED:
        if not new.is_repeat[k]:
            for j in range(len(row)):
                repeated_rows[repeat, i, j] = row[j]
        row = repeated_rows[repeat, i]
    base, u = base_of(population, prior, p, row, w, 0), workspace.uniforms[i, place]
    if parted:
        t, total = draw_in_parts(
            workspace.sums[i], workspace.marks, gain[i], strength[i], row, discount, base, u
        )
    elif discount > 0.0:
        t, total = draw_discounted(scratch, gain[i], row, discount, strength[i], base, -1, 0.0, u)
    else:
        t, total = draw(scratch, gain[i], row, population.concentration[p, 0] * base, u)
    if topics:
        t = np.int64(u * topics)
    n, tables, backoff = row[t], tables_of(prior, row, t), strength[i, t] * base
    opened = opens_table(prior, n, tables, backoff, workspace.table_uniforms[i, 2 * place])
    times(population.weight, population.weight_exponent, p, total * normaliser)
    factor = gain[i, t] * joint_factor(prior, n, tables, backoff, opened) * normaliser
    times(population.joint, population.joint_exponent, p, factor)
    count_token(population, prior, workspace, p, i, t, 1, opened)
    new.topics[k, p], new.opened[k, p] = t, opened
    if repeat != NOT_REPEATED:
        update_counts(row, len(prior.alpha), t, 1, opened)
        if parted:
            insert_part(row, t, len(prior.alpha))


@page_inlined
def write_draws(
    population: Any, pages: Any, new: Any, ancestors: Any, first: Any, last: Any, thread: Any
) -> None:
    """Write the drawn topics of the survivors among particles first..last-1.

    A survivor is a particle that is its own ancestor.
    """
    page = page_at(pages, new.slot, new.begin)
    for start in range(new.begin // PAGE * PAGE, new.stop, PAGE):
        begin, stop = max(start, new.begin) - new.begin, min(start + PAGE, new.stop) - new.begin
        write_page_draws(population, new, page, begin, stop, ancestors, first, last, thread)
        page = pages.following[page]


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
    """Write the topics and the words' counts of tokens begin..stop-1, which lie in one page."""
    words, topics, column = population.words, population.topics, (new.begin + begin) % PAGE
    for p in range(first, last):
        if ancestors[p] == p:
            place = own_row(topics, p, page, population.generation[p], thread, column > 0)
            for k in range(begin, stop):
                t = new.topics[k, p]
                topics.rows[place, column + (k - begin)] = t
                count_in_word(
                    words,
                    p,
                    new.words[k],
                    new.tp,
                    t,
                    1,
                    new.opened[k, p],
                    population.generation[p],
                    thread,
                )
