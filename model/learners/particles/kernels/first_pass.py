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

Copies of the counts of words that occur several times in a document.

The first pass draws all tokens of a document before it writes any. A word that comes again must see
the counts that its earlier tokens make, so it is copied at its first token. A copy is a whole row;
or the parts of the word one after the other, with a list of them as
:func:`beam_topics.model.learners.particles.kernels.parts.find_parts` makes it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import kernel, page_inlined, page_kernel
from beam_topics.model.learners.particles.kernels.draw import draw, draw_discounted
from beam_topics.model.learners.particles.kernels.particles import (
    PAGE,
    base_of,
    base_with,
    normalise,
    page_at,
    tables_of,
    times,
)
from beam_topics.model.learners.particles.kernels.parts import (
    PART,
    count_in_word,
    counts_in_word,
    find_parts,
    found_length,
    in_parts,
    prefetch_parts,
)
from beam_topics.model.learners.particles.kernels.shared_rows import own_row, prefetch_row
from beam_topics.model.learners.particles.kernels.sparse_draw import pick_in_parts, weigh_parts
from beam_topics.model.learners.particles.kernels.table_counts import (
    joint_factor,
    opens_table,
    update_counts,
)
from beam_topics.model.learners.particles.kernels.workspace import (
    TILE,
    compute_gains,
    count_token,
    fill_draws,
    load_counts,
    new_workspace,
)


class RepeatedWords(NamedTuple):
    """The copies of the words of a document; the words are numbered by their first tokens.

    Attributes:
        rows: int32 or int64[words, particles, L], whole rows, or the parts.
        parts: int64[words, particles, n], the lists of the parts.
    """

    rows: npt.NDArray[Any]
    parts: npt.NDArray[np.int64]


@kernel
def new_repeated_words(count, particles, words, tp):
    """Return room for the copies of ``count`` words; ``words`` is the table of words."""
    length, listed = words.rows.shape[1], 0
    if in_parts(words, tp):
        length, listed = length * (tp // PART + 1), found_length(tp)
    shape = (max(count, 1), particles)
    return RepeatedWords(
        np.empty((*shape, length), words.rows.dtype), np.empty((*shape, listed), np.int64)
    )


@page_inlined
def copy_word(words, p, w, place, tp, own, parts):
    """Copy a word of particle p; ``place`` is its row where it is not in parts.

    ``own`` and ``parts`` are the rows and the list of the copy.
    """
    if in_parts(words, tp):
        find_parts(words, p, w, tp, parts)
        _copy_parts(words.rows, own, parts)
    else:
        for j in range(len(own)):
            own[j] = words.rows[place, j]


@page_kernel
def _copy_parts(rows, own, parts):
    """Copy the parts of a list, which then has their places in the copy."""
    length = rows.shape[1]
    for c in range(parts[0]):
        for j in range(length):
            own[c * length + j] = rows[parts[2 + 2 * c], j]
        parts[2 + 2 * c] = c


@page_kernel
def _part_in_copy(length, own, parts, t):
    """Return where the counts of t's part begin in a copy; a part that is missing is added."""
    part, count = t // PART, parts[0]
    c = count
    while c > 0 and parts[2 * c - 1] > part:
        c -= 1
    if c > 0 and parts[2 * c - 1] == part:
        return parts[2 * c] * length
    for place in range(2 * count, 2 * c, -1):
        parts[place + 2] = parts[place]
    parts[0], parts[2 * c + 1], parts[2 * c + 2] = count + 1, part, count
    for j in range(length):
        own[count * length + j] = 0
    return count * length


@page_inlined
def counts_in_copy(words, prior, own, parts, t):
    """Return (n_wt, t_wt) of a copy."""
    length = words.rows.shape[1]
    if in_parts(words, len(prior.alpha)):
        begin = _part_in_copy(length, own, parts, t) + t % PART
        n, tables = np.int64(own[begin]), np.int64(own[begin + PART]) if length > PART else 0
    else:
        n, tables = np.int64(own[t]), tables_of(prior, own, t)
    return n, tables


@page_inlined
def count_in_copy(words, tp, own, parts, t, opened):
    """Count a token that joins topic t of a copy, and a table if it opened one."""
    if in_parts(words, tp):
        begin = _part_in_copy(words.rows.shape[1], own, parts, t) + t % PART
        own[begin] += 1
        if opened:
            own[begin + PART] += 1
    else:
        update_counts(own, tp, t, 1, opened)


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
def new_token_draws(pages, slot, begin, stop, particles, tp, find_repeats):
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
def first_pass(population, prior, pages, draws, new, index, evenly, first, last):
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
    repeated = new_repeated_words(new.repeated_words, size, population.words, tp)
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
                repeated,
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
def draw_tokens(population, prior, workspace, new, repeated, begin, stop, used, low, high, topics):
    """Draw topics for tokens begin..stop-1 of ``new`` in particles low..high-1.

    Args:
        population: the particles.
        prior: the prior.
        workspace: counts, gains and uniforms of these particles.
        new: the tokens; takes the topics.
        repeated: words that occur several times.
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
        if in_parts(population.words, len(prior.alpha)):
            following = new.words[min(k + 2, stop - 1)]
            for p in range(low, high):
                prefetch_parts(population.words, p, following, len(prior.alpha))
        else:
            for p in range(low, high):
                workspace.word_row[p - low] = prefetch_row(population.words, p, w)
        for p in range(low, high):
            _draw_token(
                population,
                prior,
                workspace,
                new,
                repeated,
                k,
                place,
                normaliser,
                p,
                p - low,
                topics,
            )


@page_inlined
def _draw_token(population, prior, workspace, new, repeated, k, place, normaliser, p, i, topics):
    """Draw the topic of token k of ``new`` in particle p, which is i-th in the workspace.

    ``place`` is the index of its uniform, ``normaliser`` 1 / (sum of alpha + tokens before it).
    """
    words, w, tp, repeat = population.words, new.words[k], len(prior.alpha), new.repeat_number[k]
    at = repeat if repeat != NOT_REPEATED else 0
    own, listed = repeated.rows[at, i], repeated.parts[at, i]
    if repeat != NOT_REPEATED and not new.is_repeat[k]:
        copy_word(words, p, w, workspace.word_row[i], tp, own, listed)
    u = workspace.uniforms[i, place]
    if in_parts(words, tp):
        if repeat != NOT_REPEATED:
            t, total, base = _draw_in_parts(population, prior, workspace, own, listed, w, p, i, u)
        else:
            find_parts(words, p, w, tp, workspace.parts)
            t, total, base = _draw_in_parts(
                population, prior, workspace, words.rows, workspace.parts, w, p, i, u
            )
    else:
        row = own if repeat != NOT_REPEATED else words.rows[workspace.word_row[i]]
        t, total, base = _draw_whole(population, prior, workspace, row, w, p, i, u)
    if topics:
        t = np.int64(u * topics)
    if repeat != NOT_REPEATED:
        n, tables = counts_in_copy(words, prior, own, listed, t)
    else:
        n, tables = counts_in_word(words, prior, p, w, t)
    backoff = workspace.strength[i, t] * base
    opened = opens_table(prior, n, tables, backoff, workspace.table_uniforms[i, 2 * place])
    times(population.weight, population.weight_exponent, p, total * normaliser)
    factor = workspace.gain[i, t] * joint_factor(prior, n, tables, backoff, opened) * normaliser
    times(population.joint, population.joint_exponent, p, factor)
    count_token(population, prior, workspace, p, i, t, 1, opened)
    new.topics[k, p], new.opened[k, p] = t, opened
    if repeat != NOT_REPEATED:
        count_in_copy(words, tp, own, listed, t, opened)


@page_inlined
def _draw_in_parts(population, prior, workspace, rows, parts, w, p, i, u):
    """Draw the topic of a word whose listed parts are in ``rows``; return (t, total, B(w))."""
    scratch, gain, length = workspace.scratch, workspace.gain[i], population.words.rows.shape[1]
    mass, tables = weigh_parts(scratch, gain, rows, length, parts, prior.discount, -1)
    base = base_with(population, prior, p, tables, w, 0)
    t, total = pick_in_parts(
        workspace.sums[i],
        scratch,
        gain,
        workspace.strength[i],
        parts,
        mass,
        base,
        -1,
        0.0,
        u,
    )
    return t, total, base


@page_inlined
def _draw_whole(population, prior, workspace, row, w, p, i, u):
    """Draw the topic of a word with a whole row, and return (t, total, B(w))."""
    gain, scratch, discount = workspace.gain[i], workspace.scratch, prior.discount
    base = base_of(population, prior, p, row, w, 0)
    if discount > 0.0:
        t, total = draw_discounted(scratch, gain, row, discount, workspace.strength[i], base, u)
    else:
        t, total = draw(scratch, gain, row, population.concentration[p, 0] * base, u)
    return t, total, base


@page_inlined
def write_draws(population, pages, new, ancestors, first, last, thread):
    """Write the drawn topics of the survivors among particles first..last-1.

    A survivor is a particle that is its own ancestor.
    """
    page = page_at(pages, new.slot, new.begin)
    for start in range(new.begin // PAGE * PAGE, new.stop, PAGE):
        begin, stop = max(start, new.begin) - new.begin, min(start + PAGE, new.stop) - new.begin
        write_page_draws(population, new, page, begin, stop, ancestors, first, last, thread)
        page = pages.following[page]


@page_inlined
def write_page_draws(population, new, page, begin, stop, ancestors, first, last, thread):
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
