"""Forget tokens at random: each one survives with the same probability, whatever it is.

Notation as in :mod:`beam_topics.model.learners.particles.kernels.particles`.

* :func:`choose_forgotten` chooses tokens, the same for all particles. The tokens of the history are
  chosen one by one. Of the others a particle knows only how many of each word there are, so it
  counts how many of these go.
* :func:`forget_tokens` takes them out of the counts of particles. A token of the history leaves its
  topic. Of the other tokens of its word, all are equally likely to be the one that goes, so its
  topic is drawn in proportion to their numbers. A token that leaves closes its table with the
  probability that it sits alone, so what remains is a state of the same law
  (:mod:`beam_topics.model.learners.particles.kernels.table_counts`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from beam_topics.model.kernels.jit import inlined, kernel
from beam_topics.model.kernels.random import TABLE_DRAWS, uniform
from beam_topics.model.kernels.special import ln
from beam_topics.model.learners.particles.kernels.particles import PAGE, tables_of
from beam_topics.model.learners.particles.kernels.parts import gather, in_parts, row_buffer, scatter
from beam_topics.model.learners.particles.kernels.shared_rows import own_row, row_of
from beam_topics.model.learners.particles.kernels.table_counts import closes_table, update_counts

# More survivors between two forgotten tokens than any stream has.
_ENDLESS = 2.0**60


@inlined
def _survivors(index, draws, log_survival):
    """Return the number of tokens that survive before the next one that is forgotten."""
    u = uniform(index, draws.key0, draws.key1, 0, draws.sequence, draws.purpose)
    return np.int64(min(np.floor(ln(1.0 - u) / log_survival), _ENDLESS))


@kernel
def choose_forgotten(population, begins, log_survival, draws):
    """Choose the tokens that are forgotten, each independently.

    Args:
        population: the particles. All have the same tokens, so the first one is counted.
        begins: int64[W + 1]; the history has begins[w + 1] - begins[w] tokens of word w
            (:func:`beam_topics.model.learners.particles.kernels.canonical_rows.tokens_by_word`).
        log_survival: ln of the probability that a token survives, below 0.
        draws: names one draw for each token that is forgotten.

    Returns:
        The tokens of the history, int64 in ascending order, from 0 to begins[W] - 1; and int64[W],
        how many other tokens of each word.
    """
    words, tp = len(begins) - 1, population.totals.shape[1]
    chosen, used = np.empty(begins[words], np.int64), 0
    others = np.zeros(words, np.int64)
    index, following = 1, _survivors(0, draws, log_survival)
    buffer = row_buffer(population.words, tp)
    for w in range(words):
        if in_parts(population.words, tp):
            gather(population.words, 0, w, tp, buffer)
            row = buffer
        else:
            row = population.words.rows[row_of(population.words, 0, w)]
        count: Any = 0
        for t in range(tp):
            count += np.int64(row[t])
        while following < count:
            if following < begins[w + 1] - begins[w]:
                chosen[used] = begins[w] + following
                used += 1
            else:
                others[w] += 1
            following += 1 + _survivors(index, draws, log_survival)
            index += 1
        following -= count
    return chosen[:used], others


@kernel
def forget_tokens(population, prior, begins, places, chosen, others, draws, first, last, thread):
    """Take tokens out of the counts of words in particles first..last-1.

    The pages and the counts of documents stay as they are.

    Args:
        population: the particles.
        prior: the prior.
        begins: int64[W + 1].
        places: int64[N], the tokens of the history by word, each as page * 32 + column.
        chosen: int64, indices into ``places`` in ascending order.
        others: int64[W], how many other tokens of each word go.
        draws: names two draws for each token: of its topic, and of its table.
        first: the first particle.
        last: the particle after the last one.
        thread: the thread, whose free rows are used.
    """
    words, tp = population.words, len(prior.alpha)
    held, buffer = np.empty(tp, np.int64), row_buffer(words, tp)
    for p in range(first, last):
        at, index = 0, 0
        for w in range(len(others)):
            kept = at < len(chosen) and chosen[at] < begins[w + 1]
            if not kept and not others[w]:
                continue
            if in_parts(words, tp):
                gather(words, p, w, tp, buffer)
                row = buffer
            else:
                row = words.rows[own_row(words, p, w, population.generation[p], thread, True)]
            _count_held(population, p, places, begins[w], begins[w + 1], held)
            index = _forget_others(population, prior, p, row, held, others[w], draws, index)
            while at < len(chosen) and chosen[at] < begins[w + 1]:
                t = _topic_at(population, p, places[chosen[at]])
                _forget_token(population, prior, p, row, t, draws, index)
                at, index = at + 1, index + 1
            if in_parts(words, tp):
                scatter(words, p, w, tp, row, population.generation[p], thread)


@inlined
def _topic_at(population, p, place):
    """Return the topic of a token of the history."""
    row = row_of(population.topics, p, place // PAGE)
    return np.int64(population.topics.rows[row, place % PAGE])


@kernel
def _count_held(population, p, places, begin, end, held):
    """Count the topics of a word's tokens in the history."""
    held[:] = 0
    for k in range(begin, end):
        held[_topic_at(population, p, places[k])] += 1


@kernel
def _forget_others(population, prior, p, row, held, count, draws, index):
    """Take out ``count`` of a word's tokens that the history does not have.

    Args:
        population: the particles.
        prior: the prior.
        p: the particle.
        row: the counts of the word.
        held: int64[Tp], the topics of the word's tokens in the history.
        count: how many tokens go.
        draws: names the draws.
        index: the index of the first draw.

    Returns:
        The index of the next draw.
    """
    left = 0
    for t in range(len(held)):
        left += np.int64(row[t]) - held[t]
    for _ in range(min(count, left)):
        u = uniform(
            index, draws.key0, draws.key1, population.identity[p], draws.sequence, draws.purpose
        )
        x, t = min(np.int64(u * left), left - 1), 0
        while x >= np.int64(row[t]) - held[t]:
            x -= np.int64(row[t]) - held[t]
            t += 1
        _forget_token(population, prior, p, row, t, draws, index)
        left, index = left - 1, index + 1
    return index


@kernel
def _forget_token(population, prior, p, row, t, draws, index):
    """Let a token leave topic t, and with it its table if it sits alone."""
    v = uniform(
        index,
        draws.key0,
        draws.key1,
        population.identity[p],
        draws.sequence,
        draws.purpose + TABLE_DRAWS,
    )
    closed = closes_table(prior, row[t], tables_of(prior, row, t), v)
    update_counts(row, len(prior.alpha), t, -1, closed)
    population.totals[p, t] -= 1
    if closed:
        population.topic_tables[p, t] -= 1
        population.tables[p] -= 1
