"""Particles as arrays: making them, letting them share, and running kernels over slices of them
in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from model.learners.particles.kernels import copy_on_write as sharing
from model.learners.particles.kernels import shared_rows as tables
from model.learners.particles.kernels.particles import PAGE, Population, Prior
from model.learners.particles.kernels.token_filter import rows_needed
from model.learners.particles.priors import row_length
from model.scaled import Scaled

# A visit's worth of rows is reserved at once; more would only make the pools larger.
ROWS_AT_ONCE = 1 << 17
WIDEST = 2**31 - 1


def new_population(
    prior: Prior, particles: int, threads: int, first_identity: int = 0, whole_past: bool = False
) -> Population:
    """Particles that have seen nothing, of equal weight; with ``whole_past`` for documents that
    never leave.
    """
    tp = len(prior.alpha)
    return Population(
        words=sharing.new_table(particles, 1, row_length(prior), threads),
        documents=tables.new_rows(particles, tp, threads, whole_past),
        topics=tables.new_rows(particles, PAGE, threads, whole_past),
        totals=np.zeros((particles, tp), np.int64),
        topic_tables=np.zeros((particles, tp), np.int64),
        tables=np.zeros(particles, np.int64),
        concentration=np.tile([prior.a, prior.base_a], (particles, 1)),
        weight=np.full(particles, 1.0 / particles),
        weight_exponent=np.zeros(particles, np.int64),
        joint=np.full(particles, 0.5),
        joint_exponent=np.ones(particles, np.int64),
        generation=np.arange(1, particles + 1, dtype=np.int64),
        identity=np.arange(first_identity, first_identity + particles, dtype=np.int64),
    )


def spread(population: Population, chosen: int, particles: int, first_identity: int) -> Population:
    """``particles`` particles that all share what one of a population has learned."""
    take = np.full(particles, chosen)
    old = int(population.generation.max())

    return population._replace(
        words=sharing.spread(population.words, chosen, particles),
        documents=tables.spread(population.documents, chosen, particles),
        topics=tables.spread(population.topics, chosen, particles),
        totals=population.totals[take],
        topic_tables=population.topic_tables[take],
        tables=population.tables[take],
        concentration=population.concentration[take],
        weight=np.full(particles, 1.0 / particles),
        weight_exponent=np.zeros(particles, np.int64),
        joint=population.joint[take],
        joint_exponent=population.joint_exponent[take],
        generation=np.arange(old + 1, old + 1 + particles, dtype=np.int64),
        identity=np.arange(first_identity, first_identity + particles, dtype=np.int64),
    )


def with_room(
    population: Population,
    writers: int,
    units: int,
    longest: int,
    words: int,
    slots: int,
    pages: int,
    threads: int,
) -> Population:
    """The population with room for ``writers`` particles to visit units of at most ``longest``
    tokens, and counts that cannot overflow.
    """
    each = min(writers, -(-len(population.weight) // threads))
    needed = rows_needed.py_func(each, units, max(longest, 1), words, slots, pages)
    count, slot_rows, page_rows = map(int, needed)
    population = population._replace(
        words=sharing.reserve(
            sharing.with_rows(population.words, words), count, sharing.BLOCKS_EACH * count
        ),
        documents=tables.with_room(population.documents, slots, slot_rows, each),
        topics=tables.with_room(population.topics, pages, page_rows, each),
    )
    if (
        population.words.rows.dtype == np.int32
        and int(population.totals.max()) + units * longest > WIDEST
    ):
        # 32 bits make rows half as long; a stream that outgrows them goes on with 64, to the same
        # bits of every draw.
        population = population._replace(
            words=population.words._replace(rows=population.words.rows.astype(np.int64))
        )
    return population


def over_slices(
    particles: int, threads: int, run: Callable[[int, int, int], object], side_by_side: bool = True
) -> None:
    """run(first, last, thread) for even slices of the particles, side by side; kernels release the
    interpreter's lock.

    With ``side_by_side=False`` one slice after the other, for work that takes less time than
    handing it to another thread.
    """
    bounds = [particles * thread // threads for thread in range(threads + 1)]
    if threads == 1 or not side_by_side:
        for thread in range(threads):
            run(bounds[thread], bounds[thread + 1], thread)
        return
    futures = [_pool(threads).submit(run, bounds[k], bounds[k + 1], k) for k in range(threads)]
    for future in futures:
        future.result()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="particles")


def joint(population: Population, particle: int) -> Scaled:
    """A particle's P(w, z)."""
    return Scaled.of(float(population.joint[particle]), int(population.joint_exponent[particle]))


def best_particle(population: Population) -> int:
    """The one with the largest joint probability; the first of equals."""
    return max(range(len(population.joint)), key=lambda p: (joint(population, p).order(), -p))


def nbytes(population: Population) -> int:
    """Memory that the population holds."""
    shared = sum(
        tables.nbytes(rows) for rows in (population.words, population.documents, population.topics)
    )
    return shared + sum(part.nbytes for part in population[3:])
