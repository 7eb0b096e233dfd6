"""The loss in the prediction of a particle's documents when two topics become one.

The loss of topics x and y is the fall of the log predictive probability of the tokens that have
either (nats), each left out in turn:

    L(x, y) = sum_d omega_d sum_{i in d, z_i in {x, y}}
              ln [ ((d_x + alpha_x) phi_x(w) + (d_y + alpha_y) phi_y(w)) / ((d_x + d_y + alpha_x +
              alpha_y) phi_xy(w)) ]

with d_x the tokens of document d in topic x, token i left out of all counts, phi_x(w) = P(w | x),
and phi_xy = (n_x phi_x + n_y phi_y) / (n_x + n_y). omega_d is how many documents of the stream
document d stands for.

Many losses of the same documents are asked for while topics absorb each other. So their tokens and
the counts of their words are gathered once, topic by topic and word by word, in a :class:`Sample`.
The loops then read arrays from begin to end. The logarithm is taken of the product of many ratios
that have one omega.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel, page_kernel
from model.learners.particles.kernels.logarithm import ln
from model.learners.particles.kernels.particles import (
    GONE,
    PAGE,
    Pages,
    Population,
    Prior,
    base_of,
    tables_of,
)
from model.learners.particles.kernels.parts import gather, in_parts, row_buffer
from model.learners.particles.kernels.shared_rows import row_of

_SMALL, _LARGE = 2.0**-400, 2.0**400


class Sample(NamedTuple):
    """Documents of particle 0, arranged by topic.

    Tokens are ordered by the topic that they had when the sample was made, then by omega, then by
    word. A topic that another has absorbed keeps its stretch of tokens.

    Attributes:
        slots: int32[D], the documents' slots.
        omega: float64[D].
        numbers: int64[V], the distinct words, as word numbers.
        word: int32[N], the word of each token, as an index of ``numbers``.
        document: int32[N], the document of each token, as an index of ``slots``.
        begin: int64[T + 1], where the tokens of each topic begin.
        topic: int64[T], which topic the tokens of a stretch have now.
        held: float64[T, V], n_wt - d t_wt.
        left: float64[T, V], the same when one token has left.
        base: float64[V], B(w).
        counts: int64[T, D], n_td.
    """

    slots: npt.NDArray[np.int32]
    omega: npt.NDArray[np.float64]
    numbers: npt.NDArray[np.int64]
    word: npt.NDArray[np.int32]
    document: npt.NDArray[np.int32]
    begin: npt.NDArray[np.int64]
    topic: npt.NDArray[np.int64]
    held: npt.NDArray[np.float64]
    left: npt.NDArray[np.float64]
    base: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]


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
    found = Sample(
        slots,
        omega,
        numbers,
        word[order].astype(np.int32),
        document[order],
        np.cumsum(np.append(0, np.bincount(drawn, minlength=topics))),
        np.arange(topics),
        np.zeros((topics, len(numbers))),
        np.zeros((topics, len(numbers))),
        np.zeros(len(numbers)),
        np.zeros((topics, len(slots)), np.int64),
    )
    load_topics(population, prior, found, 0, topics)
    return found


@kernel
def _tokens(population: Any, pages: Any, slots: Any, most: Any) -> Any:
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
def load_topics(population: Any, prior: Any, sample: Any, first: Any, last: Any) -> None:
    """Read the counts of topics first..last-1, and all B(w), from the particle.

    Args:
        population: a population of one particle.
        prior: the prior.
        sample: is changed.
        first: the first topic.
        last: the topic after the last one.
    """
    words, tp = population.words, len(prior.alpha)
    buffer = row_buffer(words, tp)
    for v in range(len(sample.numbers)):
        if in_parts(words, tp):
            gather(words, 0, sample.numbers[v], tp, buffer)
            row = buffer
        else:
            row = words.rows[row_of(words, 0, sample.numbers[v])]
        sample.base[v] = base_of(population, prior, 0, row, sample.numbers[v], 0)
        for t in range(first, last):
            n, tables = np.int64(row[t]), tables_of(prior, row, t)
            sample.held[t, v] = n - prior.discount * tables
            sample.left[t, v] = n - 1 - prior.discount * min(tables, n - 1)
    for d in range(len(sample.slots)):
        row = population.documents.rows[row_of(population.documents, 0, sample.slots[d])]
        for t in range(first, last):
            sample.counts[t, d] = row[t]


@kernel
def add_losses(population: Any, prior: Any, sample: Any, only: Any, losses: Any) -> None:
    """Add to losses[x, y] the part of L(x, y) that comes from tokens of topic x.

    Args:
        population: the population of the sample.
        prior: the prior.
        sample: the documents.
        only: the topic whose pairs are computed; -1 for all pairs.
        losses: float64[T, T], is added to.
    """
    for x in range(len(losses)):
        for y in range(len(losses)):
            asked = only < 0 or x == only or y == only
            if asked and x != y and population.totals[0, y] and population.totals[0, x]:
                losses[x, y] += _loss(population, prior, sample, x, y)


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
def _loss(population: Any, prior: Any, sample: Any, x: Any, y: Any) -> Any:
    """Return the part of L(x, y) that comes from tokens of x."""
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
    left, held, loss = sample.left[x], sample.held[y], 0.0
    in_x, in_y = sample.counts[x], sample.counts[y]
    for stretch in range(len(sample.topic)):
        if sample.topic[stretch] == x:
            begin, end = sample.begin[stretch], sample.begin[stretch + 1]
            document, word = sample.document[begin:end], sample.word[begin:end]
            loss += _of_tokens(
                pair, document, word, sample.omega, left, held, sample.base, in_x, in_y
            )
    return loss


@page_kernel
def _of_tokens(
    pair: Any,
    document: Any,
    word: Any,
    omega: Any,
    left: Any,
    held: Any,
    base: Any,
    in_x: Any,
    in_y: Any,
) -> Any:
    """Return the part of L(x, y) that comes from some tokens of x."""
    loss, product, weight, both = 0.0, 1.0, 0.0, pair.n_x + pair.n_y
    for i in range(len(word)):
        d, v = document[i], word[i]
        if omega[d] != weight or product < _SMALL or product > _LARGE:
            loss += weight * ln(product)
            product, weight = 1.0, omega[d]
        d_x, d_y = pair.in_x + in_x[d], pair.in_y + in_y[d]
        phi_x = (left[v] + pair.back_x * base[v]) * pair.scale_x
        phi_y = (held[v] + pair.back_y * base[v]) * pair.scale_y
        product *= ((d_x * phi_x + d_y * phi_y) * both) / (
            (d_x + d_y) * (pair.n_x * phi_x + pair.n_y * phi_y)
        )
    return loss + weight * ln(product)
