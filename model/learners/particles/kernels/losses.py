"""The loss in the prediction of a particle's documents when two topics become one.

The loss of topics x and y is the fall of the log predictive probability of the tokens that have
either (nats), each left out in turn:

    L(x, y) = sum_d omega_d sum_{i in d, z_i in {x, y}}
              ln [ ((d_x + alpha_x) phi_x(w) + (d_y + alpha_y) phi_y(w)) / ((d_x + d_y + alpha_x +
              alpha_y) phi_xy(w)) ]

with d_x the tokens of document d in topic x, token i left out of all counts, phi_x(w) = P(w | x),
and phi_xy = (n_x phi_x + n_y phi_y) / (n_x + n_y). omega_d is how many documents of the stream
document d stands for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import kernel
from model.learners.particles.kernels.logarithm import ln
from model.learners.particles.kernels.particles import GONE, PAGE, base_of, tables_of
from model.learners.particles.kernels.shared_rows import row_of

EVERY = -1


@kernel
def add_losses(
    population: Any,
    prior: Any,
    pages: Any,
    slots: Any,
    omega: Any,
    topics: Any,
    only: Any,
    losses: Any,
) -> None:
    """Add to losses[x, y] the part of L(x, y) that comes from tokens of topic x in particle 0.

    Args:
        population: a population of one particle.
        prior: the prior.
        pages: the tokens of the history.
        slots: int[D], documents.
        omega: float64[D].
        topics: T.
        only: the topic whose pairs are computed; :data:`EVERY` for all pairs.
        losses: float64[T, T], is added to.
    """
    a, phi = population.concentration[0, 0], np.empty(topics)
    for d in range(len(slots)):
        slot = slots[d]
        counts, page = (
            population.documents.rows[row_of(population.documents, 0, slot)],
            pages.first[slot],
        )
        for start in range(0, pages.length[slot], PAGE):
            drawn = population.topics.rows[row_of(population.topics, 0, page)]
            for k in range(min(PAGE, pages.length[slot] - start)):
                w, x = pages.words[page, k], np.int64(drawn[k])
                if w == GONE:
                    continue
                row = population.words.rows[row_of(population.words, 0, w)]
                base = base_of(population, prior, 0, row, w, 0)
                first, last = (0, topics) if only == EVERY or x == only else (only, only + 1)
                n = row[x] - 1
                held = n - prior.discount * min(tables_of(prior, row, x), n)
                total, in_document = population.totals[0, x] - 1, prior.alpha[x] + (counts[x] - 1)
                own = (held + (a + prior.discount * population.topic_tables[0, x]) * base) / (
                    a + total
                )
                for y in range(first, last):
                    back = (a + prior.discount * population.topic_tables[0, y]) * base
                    phi[y] = (row[y] - prior.discount * tables_of(prior, row, y) + back) / (
                        a + population.totals[0, y]
                    )
                for y in range(first, last):
                    if y != x and population.totals[0, y]:
                        other = prior.alpha[y] + counts[y]
                        apart = (in_document * own + other * phi[y]) * (
                            total + population.totals[0, y]
                        )
                        together = (in_document + other) * (
                            total * own + population.totals[0, y] * phi[y]
                        )
                        losses[x, y] += omega[d] * ln(apart / together)
            page = pages.following[page]
