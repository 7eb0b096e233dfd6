"""The loss in the prediction of a particle's documents when two topics become one.

The loss of topics x and y is the fall of the log predictive probability of the tokens that have
either (nats), each left out in turn:

    L(x, y) = sum_d omega_d sum_{i in d, z_i in {x, y}}
              ln [ ((d_x + alpha_x) phi_x(w) + (d_y + alpha_y) phi_y(w)) / ((d_x + d_y + alpha_x +
              alpha_y) phi_xy(w)) ]

with d_x the tokens of document d in topic x, token i left out of all counts, phi_x(w) = P(w | x),
and phi_xy = (n_x phi_x + n_y phi_y) / (n_x + n_y). omega_d is how many documents of the stream
document d stands for.

Many losses of the same documents are asked for while topics absorb each other. So their tokens, and
the topics in which their words have tokens, are gathered once in a :class:`Sample`. The loops then
read arrays from begin to end. The logarithm is taken of the product of many ratios that have one
omega. Memory follows the tokens of the documents and of their words, and not T x V.

:func:`nearest_topics` and :func:`update_nearest` find the pair that loses the least, while topics
absorb each other one after another. For each topic x that has tokens, nearest[x] is the topic y > x
with the least losses[x, y], the first of equals; -1 where there is none. After an absorption only
the rows that it concerns are searched again, so many absorptions take little more time than one
search. ``losses`` is symmetric.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import kernel, page_kernel
from beam_topics.model.kernels.special import ln
from beam_topics.model.learners.particles.kernels.particles import (
    GONE,
    PAGE,
    Pages,
    Population,
    Prior,
    base_with,
    tables_of,
)
from beam_topics.model.learners.particles.kernels.parts import row_buffer, whole_row
from beam_topics.model.learners.particles.kernels.shared_rows import row_of
from beam_topics.model.learners.particles.kernels.table_counts import NONE

_SMALL, _LARGE = 2.0**-400, 2.0**400


class Sample(NamedTuple):
    """Documents of particle 0, arranged by topic.

    Tokens are ordered by the topic that they had when the sample was made, then by omega, then by
    word; entries by topic, then by word. The tokens and entries of one topic are a stretch. A topic
    that another has absorbed leaves its stretch to it.

    Attributes:
        omega: float64[D].
        numbers: int64[V], the distinct words, as word numbers.
        word: int32[N], the word of each token, as an index of ``numbers``.
        document: int32[N], the document of each token.
        begin: int64[T + 1], where the tokens of each stretch begin.
        left: float64[N], n_wt - d t_wt of each token's word and topic when the token has left.
        entry_word: int32[E], the word of each entry.
        entry_begin: int64[T + 1], where the entries of each stretch begin.
        held: float64[E], n_wt - d t_wt of each entry's word and topic.
        first: int64[T], the first stretch of each topic; -1 for none.
        following: int64[T], the next stretch of the same topic; -1 behind the last one.
        tables: int64[V], m_w where there are tables.
        base: float64[V], B(w).
        counts: int32[T, D], n_td.
    """

    omega: npt.NDArray[np.float64]
    numbers: npt.NDArray[np.int64]
    word: npt.NDArray[np.int32]
    document: npt.NDArray[np.int32]
    begin: npt.NDArray[np.int64]
    left: npt.NDArray[np.float64]
    entry_word: npt.NDArray[np.int32]
    entry_begin: npt.NDArray[np.int64]
    held: npt.NDArray[np.float64]
    first: npt.NDArray[np.int64]
    following: npt.NDArray[np.int64]
    tables: npt.NDArray[np.int64]
    base: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int32]


def sample_of(
    population: Population,
    prior: Prior,
    pages: Pages,
    slots: npt.NDArray[np.int32],
    omega: npt.NDArray[np.float64],
) -> Sample:
    """Return the sample of some documents of a population of one particle.

    Args:
        population: the particle.
        prior: the prior; its alpha has an entry for each topic, and pads.
        pages: the tokens of the history.
        slots: int[D], the documents.
        omega: float64[D], how many documents of the stream each of them stands for.
    """
    topics, slots = population.totals.shape[1], slots.astype(np.int32)
    document, words, drawn = _tokens(population, pages, slots, int(pages.length[slots].sum()))
    numbers, word = np.unique(words, return_inverse=True)
    order = np.lexsort((word, omega[document], drawn))
    entry_word, entry_topic = _entries(population, prior, numbers)
    by_topic = np.argsort(entry_topic, kind="stable")
    counts = np.zeros((topics, len(slots)), np.int32)
    np.add.at(counts, (drawn, document), 1)
    found = Sample(
        omega,
        numbers,
        word[order].astype(np.int32),
        document[order],
        np.cumsum(np.append(0, np.bincount(drawn, minlength=topics))),
        np.zeros(len(order)),
        entry_word[by_topic],
        np.cumsum(np.append(0, np.bincount(entry_topic, minlength=topics))),
        np.zeros(len(by_topic)),
        np.arange(topics),
        np.full(topics, -1),
        np.zeros(len(numbers), np.int64),
        np.zeros(len(numbers)),
        counts,
    )
    for topic in range(topics):
        _read_counts(population, prior, found, topic)
    _compute_base(population, prior, found)
    return found


def merge(population: Population, prior: Prior, sample: Sample, old: int, new: int) -> None:
    """Give the tokens of topic ``old`` to ``new``, which has absorbed it in the population.

    Args:
        population: the population of the sample.
        prior: the prior.
        sample: is changed.
        old: the topic that became empty.
        new: the topic that absorbed it.
    """
    stretches = sorted([*_stretches(sample, old), *_stretches(sample, new)])
    sample.first[old] = -1
    sample.first[new] = stretches[0]
    sample.following[stretches] = [*stretches[1:], -1]
    sample.counts[new] += sample.counts[old]
    sample.counts[old] = 0
    _read_counts(population, prior, sample, new)
    _compute_base(population, prior, sample)


def _stretches(sample: Sample, topic: int) -> list[int]:
    found, stretch = [], int(sample.first[topic])
    while stretch >= 0:
        found.append(stretch)
        stretch = int(sample.following[stretch])
    return found


def names_of(sample: Sample) -> npt.NDArray[np.int64]:
    """Return int64[T], the topic that has the tokens of each topic now."""
    names = np.arange(len(sample.first))
    for topic in range(len(names)):
        names[_stretches(sample, topic)] = topic
    return names


@kernel
def _tokens(population, pages, slots, most):
    """Return the document, the word number and the topic of each token, at most ``most``."""
    document, count = np.empty(most, np.int32), 0
    words, drawn = np.empty(most, np.int64), np.empty(most, np.int64)
    for d in range(len(slots)):
        page = pages.first[slots[d]]
        for start in range(0, pages.length[slots[d]], PAGE):
            topics = population.topics.rows[row_of(population.topics, 0, page)]
            for k in range(min(PAGE, pages.length[slots[d]] - start)):
                if pages.words[page, k] != GONE:
                    document[count], words[count] = d, pages.words[page, k]
                    drawn[count] = topics[k]
                    count += 1
            page = pages.following[page]
    return document[:count], words[:count], drawn[:count]


@kernel
def _entries(population, prior, numbers):
    """Return the word and the topic of each pair that has tokens, in the order of words."""
    words, tp, buffer = (
        population.words,
        len(prior.alpha),
        row_buffer(population.words, len(prior.alpha)),
    )
    entry_word, entry_topic = np.empty(1024, np.int32), np.empty(1024, np.int32)
    count: Any = 0
    for v in range(len(numbers)):
        row = whole_row(words, 0, numbers[v], tp, buffer)
        if count + tp > len(entry_word):
            more = np.empty(len(entry_word) + tp, np.int32)
            entry_word, entry_topic = np.append(entry_word, more), np.append(entry_topic, more)
        for t in range(tp):
            if row[t]:
                entry_word[count], entry_topic[count] = v, t
                count += 1
    return entry_word[:count], entry_topic[:count]


@kernel
def _read_counts(population, prior, sample, t):
    """Read the counts of the words of one topic, and their m_w, from the particle.

    Args:
        population: a population of one particle.
        prior: the prior.
        sample: is changed.
        t: the topic.
    """
    words, tp = population.words, len(prior.alpha)
    buffer, left = row_buffer(words, tp), np.zeros(len(sample.numbers))
    stretch = sample.first[t]
    while stretch >= 0:
        for e in range(sample.entry_begin[stretch], sample.entry_begin[stretch + 1]):
            v = sample.entry_word[e]
            row = whole_row(words, 0, sample.numbers[v], tp, buffer)
            sample.tables[v] = row[2 * tp] if prior.tables != NONE else 0
            n, tables = np.int64(row[t]), tables_of(prior, row, t)
            sample.held[e] = n - prior.discount * tables
            left[v] = n - 1 - prior.discount * min(tables, n - 1)
        stretch = sample.following[stretch]
    stretch = sample.first[t]
    while stretch >= 0:
        for i in range(sample.begin[stretch], sample.begin[stretch + 1]):
            sample.left[i] = left[sample.word[i]]
        stretch = sample.following[stretch]


@kernel
def _compute_base(population, prior, sample):
    """Compute B(w) of all words, which depends on the tables of all."""
    for v in range(len(sample.numbers)):
        w = sample.numbers[v]
        sample.base[v] = prior.base[w]
        if prior.tables != NONE:
            sample.base[v] = base_with(population, prior, 0, sample.tables[v], w, 0)


@kernel
def add_losses(population, prior, sample, only, losses):
    """Add L(x, y) to losses[x, y] and to losses[y, x].

    Args:
        population: the population of the sample.
        prior: the prior.
        sample: the documents.
        only: the topic whose pairs are computed; -1 for all pairs.
        losses: float64[T, T], is added to.
    """
    topics, held = len(losses), np.zeros(len(sample.numbers))
    for y in range(topics):
        if not population.totals[0, y]:
            continue
        _spread_held(sample, y, held, True)
        first, last = (0, topics) if only < 0 or y == only else (only, only + 1)
        for x in range(first, last):
            if x != y and population.totals[0, x]:
                loss = _loss(population, prior, sample, held, x, y)
                losses[x, y] += loss
                losses[y, x] += loss
        _spread_held(sample, y, held, False)


@kernel
def _spread_held(sample, t, held, kept):
    """Write n_wt - d t_wt of one topic to ``held``, float64[V], or zeros where it is not kept."""
    stretch = sample.first[t]
    while stretch >= 0:
        for e in range(sample.entry_begin[stretch], sample.entry_begin[stretch + 1]):
            held[sample.entry_word[e]] = sample.held[e] if kept else 0.0
        stretch = sample.following[stretch]


class _Pair(NamedTuple):
    """What the ratio of a token needs of its topic x and of another topic y.

    Attributes:
        in_x: alpha_x without the token.
        in_y: alpha_y.
        back_x: a + d k_x.
        back_y: a + d k_y.
        n_x: n_x without the token.
        n_y: n_y.
        scale_x: 1 / (a + n_x) without the token.
        scale_y: 1 / (a + n_y).
    """

    in_x: float
    in_y: float
    back_x: float
    back_y: float
    n_x: float
    n_y: float
    scale_x: float
    scale_y: float


@kernel
def _loss(population, prior, sample, held, x, y):
    """Return the part of L(x, y) that comes from tokens of x; ``held`` is that of y."""
    a, k = population.concentration[0, 0], population.topic_tables[0]
    n_x, n_y = population.totals[0, x] - 1.0, 1.0 * population.totals[0, y]
    pair = _Pair(
        prior.alpha[x] - 1.0,
        prior.alpha[y],
        a + prior.discount * k[x],
        a + prior.discount * k[y],
        n_x,
        n_y,
        1.0 / (a + n_x),
        1.0 / (a + n_y),
    )
    loss, in_x, in_y, stretch = 0.0, sample.counts[x], sample.counts[y], sample.first[x]
    while stretch >= 0:
        begin, end = sample.begin[stretch], sample.begin[stretch + 1]
        document, word = sample.document[begin:end], sample.word[begin:end]
        left = sample.left[begin:end]
        loss += _of_tokens(pair, document, word, sample.omega, left, held, sample.base, in_x, in_y)
        stretch = sample.following[stretch]
    return loss


@page_kernel
def _of_tokens(pair, document, word, omega, left, held, base, in_x, in_y):
    """Return the part of L(x, y) that comes from some tokens of x."""
    loss, product, weight, both = 0.0, 1.0, 0.0, pair.n_x + pair.n_y
    for i in range(len(word)):
        d, v = document[i], word[i]
        if omega[d] != weight or product < _SMALL or product > _LARGE:
            loss += weight * ln(product)
            product, weight = 1.0, omega[d]
        d_x, d_y = pair.in_x + in_x[d], pair.in_y + in_y[d]
        phi_x = (left[i] + pair.back_x * base[v]) * pair.scale_x
        phi_y = (held[v] + pair.back_y * base[v]) * pair.scale_y
        product *= ((d_x * phi_x + d_y * phi_y) * both) / (
            (d_x + d_y) * (pair.n_x * phi_x + pair.n_y * phi_y)
        )
    return loss + weight * ln(product)


@kernel
def nearest_topics(losses, live, joins):
    """Return nearest as int64[T].

    Args:
        losses: float64[T, T].
        live: bool[T], the topics that have tokens.
        joins: bool[T], those of them that another topic may absorb, or that may absorb it, as the
            second one of a pair.
    """
    nearest = np.full(len(losses), -1)
    for x in range(len(losses)):
        if live[x]:
            nearest[x] = _nearest(losses, joins, x)
    return nearest


@kernel
def _nearest(losses, joins, x):
    found = -1
    for y in range(x + 1, len(losses)):
        if joins[y] and (found < 0 or losses[x, y] < losses[x, found]):
            found = y
    return found


@kernel
def update_nearest(losses, live, joins, nearest, new):
    """Search again after ``new`` absorbed a topic: the losses of ``new`` are others.

    Args:
        losses: as in :func:`nearest_topics`.
        live: likewise, without the topic that was absorbed.
        joins: likewise.
        nearest: int64[T], is changed.
        new: the topic that absorbed another.
    """
    for x in range(len(losses)):
        y = nearest[x]
        if not live[x]:
            nearest[x] = -1
        elif x == new or y == new or (y >= 0 and not joins[y]):
            nearest[x] = _nearest(losses, joins, x)
        elif x < new and joins[new]:
            less = y < 0 or losses[x, new] < losses[x, y]
            if less or (losses[x, new] == losses[x, y] and new < y):
                nearest[x] = new


@kernel
def nearest_pair(losses, nearest):
    """Return the pair (x, y) with the least loss, the first of equals; (-1, -1) where none is."""
    found = -1
    for x in range(len(losses)):
        y = nearest[x]
        if y >= 0 and (found < 0 or losses[x, y] < losses[found, nearest[found]]):
            found = x
    return found, (nearest[found] if found >= 0 else -1)
