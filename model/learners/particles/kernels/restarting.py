"""Take documents out of a particle, merge topics, and put documents back with even topics.

Notation as in :mod:`beam_topics.model.learners.particles.kernels.particles`. The kernels work on
particle 0 of a population that has a row of its own for every word, slot and page
(:func:`beam_topics.model.learners.particles.population.copy_of`), so no row is copied and no
capacity is needed. Words in parts are the exception: each call needs free rows for the parts that
it may write.

* :func:`take_out` removes tokens one by one. A token closes its table with the probability that it
  sits alone, as in a visit (:mod:`beam_topics.model.learners.particles.kernels.rejuvenation`), so
  what remains is a state of the same law. The joint is divided by each token's conditional
  probability.
* :func:`put_back` adds tokens one by one, with topics drawn evenly from a list. A token opens a
  table as in the first pass. The joint is multiplied by each token's conditional probability.
* :func:`absorb` gives the tokens and the tables of one topic to another: n and t add. The joint
  stays as it is: the documents that are not at hand any more have a part in it that cannot be
  known.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import TABLE_DRAWS, uniform
from beam_topics.model.learners.particles.kernels.arrivals import count_tokens
from beam_topics.model.learners.particles.kernels.particles import (
    GONE,
    PAGE,
    base_of,
    normalise,
    tables_of,
    times,
)
from beam_topics.model.learners.particles.kernels.parts import (
    count_in_part,
    in_parts,
    note_part,
    row_buffer,
    scatter,
    tokens_in,
    whole_row,
)
from beam_topics.model.learners.particles.kernels.shared_rows import row_of
from beam_topics.model.learners.particles.kernels.table_counts import (
    MINIMAL,
    NONE,
    closes_table,
    joint_factor,
    opens_table,
    update_counts,
)


@kernel
def take_out(population, prior, pages, slots, draws):
    """Remove the tokens of documents from the counts.

    Args:
        population: a population of one particle; changed.
        prior: the prior.
        pages: the tokens of the history.
        slots: int[D], the documents.
        draws: names one draw for each token, which decides whether its table closes.
    """
    words, tp, index = population.words, len(prior.alpha), 0
    buffer, counts = row_buffer(words, tp), np.zeros(tp, np.int32)
    for slot in slots:
        page = pages.first[slot]
        count_tokens(population, pages, 0, slot, pages.length[slot], counts)
        left = 0
        for each in range(tp):
            left += counts[each]
        for start in range(0, pages.length[slot], PAGE):
            topics = population.topics.rows[row_of(population.topics, 0, page)]
            for k in range(min(PAGE, pages.length[slot] - start)):
                w, t = pages.words[page, k], np.int64(topics[k])
                if w == GONE:
                    continue
                row = whole_row(words, 0, w, tp, buffer)
                u = _uniform(population, draws, draws.purpose + TABLE_DRAWS, index)
                index += 1
                closed = closes_table(prior, row[t], tables_of(prior, row, t), u)
                _step(population, tp, row, counts, t, -1, closed)
                if in_parts(words, tp):
                    count_in_part(words, 0, w, tp, t, -1, closed, population.generation[0], 0)
                left -= 1
                factor = _conditional(population, prior, row, counts, w, t, closed)
                times(
                    population.joint,
                    population.joint_exponent,
                    0,
                    (prior.alpha_sum + left) / factor,
                )
            page = pages.following[page]
    normalise(population.joint, population.joint_exponent, 0)


@kernel
def put_back(population, prior, pages, slots, chosen, draws):
    """Add the tokens of documents that are not in the counts, with topics drawn evenly.

    Args:
        population: a population of one particle; changed.
        prior: the prior.
        pages: the tokens of the history.
        slots: int[D], the documents.
        chosen: int64, the topics to draw from.
        draws: names the draws.
    """
    words, tp, index = population.words, len(prior.alpha), 0
    buffer, counts = row_buffer(words, tp), np.zeros(tp, np.int32)
    for slot in slots:
        page = pages.first[slot]
        counts[:] = 0
        before = 0
        for start in range(0, pages.length[slot], PAGE):
            topics = population.topics.rows[row_of(population.topics, 0, page)]
            for k in range(min(PAGE, pages.length[slot] - start)):
                w = pages.words[page, k]
                if w == GONE:
                    continue
                u = _uniform(population, draws, draws.purpose, index)
                v = _uniform(population, draws, draws.purpose + TABLE_DRAWS, index)
                index += 1
                t = chosen[np.int64(u * len(chosen))]
                row = whole_row(words, 0, w, tp, buffer)
                back = (
                    population.concentration[0, 0] + prior.discount * population.topic_tables[0, t]
                ) * base_of(population, prior, 0, row, w, 0)
                opened = opens_table(prior, row[t], tables_of(prior, row, t), back, v)
                factor = _conditional(population, prior, row, counts, w, t, opened)
                times(
                    population.joint,
                    population.joint_exponent,
                    0,
                    factor / (prior.alpha_sum + before),
                )
                _step(population, tp, row, counts, t, 1, opened)
                if in_parts(words, tp):
                    note_part(row, t, tp)
                    count_in_part(words, 0, w, tp, t, 1, opened, population.generation[0], 0)
                before += 1
                topics[k] = t
            page = pages.following[page]
    normalise(population.joint, population.joint_exponent, 0)


@inlined
def _uniform(population, draws, purpose, index):
    """Return draw ``index`` of a purpose."""
    return uniform(index, draws.key0, draws.key1, population.identity[0], draws.sequence, purpose)


@kernel
def _step(population, tp, row, counts, t, step, tables):
    """Let a token join (1) or leave (-1) topic t, and with it a table if ``tables``."""
    update_counts(row, tp, t, step, tables)
    counts[t] += step
    population.totals[0, t] += step
    if tables:
        population.topic_tables[0, t] += step
        population.tables[0] += step


@kernel
def _conditional(population, prior, row, counts, w, t, opened):
    """Return the factor of the joint when a token of w, not counted yet, joins topic t."""
    a = population.concentration[0, 0]
    back = (a + prior.discount * population.topic_tables[0, t]) * base_of(
        population, prior, 0, row, w, 0
    )
    gain = (prior.alpha[t] + counts[t]) / (a + population.totals[0, t])
    return gain * joint_factor(prior, row[t], tables_of(prior, row, t), back, opened)


@kernel
def absorb(population, prior, words, old, new):
    """Give the counts and the tables of one topic to another.

    The tokens at hand keep the topic's number until :func:`rename_topics`.

    Args:
        population: a population of one particle; changed.
        prior: the prior.
        words: the size of the vocabulary.
        old: the topic that becomes empty.
        new: the topic that absorbs it.
    """
    tp = len(prior.alpha)
    parted, buffer = in_parts(population.words, tp), row_buffer(population.words, tp)
    for w in range(words):
        if not tokens_in(population.words, 0, w, tp, old):
            continue
        row = whole_row(population.words, 0, w, tp, buffer)
        if parted:
            note_part(row, new, tp)
        row[new] += row[old]
        row[old] = 0
        if prior.tables != NONE:
            _absorb_tables(population, prior, row, tp, old, new)
        if parted:
            scatter(population.words, 0, w, tp, row, population.generation[0], 0)
    population.totals[0, new] += population.totals[0, old]
    population.totals[0, old] = 0


@kernel
def rename_topics(population, pages, slots, names):
    """Give the tokens of documents the topics that have absorbed theirs.

    Args:
        population: a population of one particle; changed.
        pages: the tokens of the history.
        slots: int[D], every document at hand.
        names: int64[T], the topic that has the tokens of each topic now.
    """
    for slot in slots:
        page = pages.first[slot]
        for start in range(0, pages.length[slot], PAGE):
            topics = population.topics.rows[row_of(population.topics, 0, page)]
            for k in range(min(PAGE, pages.length[slot] - start)):
                if pages.words[page, k] != GONE:
                    topics[k] = names[topics[k]]
            page = pages.following[page]


@kernel
def _absorb_tables(population, prior, row, tp, old, new):
    """Add the tables of a word; where there is one for each word and topic, two become one."""
    moved = row[tp + old]
    row[tp + old] = 0
    population.topic_tables[0, old] -= moved
    if prior.tables == MINIMAL and row[tp + new]:
        row[2 * tp] -= moved
        population.tables[0] -= moved
        return
    row[tp + new] += moved
    population.topic_tables[0, new] += moved
