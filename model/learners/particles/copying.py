"""One particle of a population as a population of its own, which shares no memory with it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from model.learners.particles.kernels.copy_on_write import (
    BLOCK,
    BLOCKS_EACH,
    Table,
    replicate,
    reserve,
)
from model.learners.particles.kernels.particles import Population
from model.learners.particles.kernels.shared_rows import Rows
from model.learners.particles.priors import parts_each, places_of


def copy_of(
    population: Population, particle: int, words: int, pages: int, identity: int
) -> Population:
    """Return one particle as a population that has a row of its own for everything.

    Words in parts have rows of their own where the particle has tokens.

    Args:
        population: the particles.
        particle: the particle to copy.
        words: words that get a row.
        pages: pages that get a row.
        identity: names the draws of the copy.
    """
    chosen, generation = slice(particle, particle + 1), int(population.generation.max())
    is_parted = parts_each(population) > 0
    return population._replace(
        words=_with_stretches(replicate(population.words, particle, 1), 1)
        if is_parted
        else _own_rows(population.words, particle, words, generation),
        topics=_own_rows(population.topics, particle, pages, generation),
        totals=population.totals[chosen].copy(),
        topic_tables=population.topic_tables[chosen].copy(),
        tables=population.tables[chosen].copy(),
        concentration=population.concentration[chosen].copy(),
        weight=np.ones(1),
        weight_exponent=np.zeros(1, np.int64),
        joint=population.joint[chosen].copy(),
        joint_exponent=population.joint_exponent[chosen].copy(),
        generation=np.full(1, generation),
        identity=np.full(1, identity),
    )


def with_free_parts(population: Population, parts: int) -> Population:
    """Return a population of one thread with free rows for so many parts of words.

    Whole rows of a copy belong to its particle, so none is needed.
    """
    if not parts_each(population):
        return population
    words = reserve(population.words, parts, BLOCKS_EACH * parts)
    return population._replace(words=words)


def for_threads(population: Population, threads: int) -> Population:
    """Return the population with a stretch of free rows for each thread.

    Args:
        population: particles without free rows.
        threads: the number of threads.
    """
    return population._replace(
        words=_with_stretches(population.words, threads),
        topics=_with_stretches(_table(population.topics), threads),
    )


def _with_stretches(table: Table, threads: int) -> Table:
    return table._replace(cursors=np.zeros((threads, 4), np.int64))


def _table(rows: Rows) -> Table:
    """Return the rows as a table; only the full history, which is refused earlier, has trees."""
    if not isinstance(rows, Table):
        raise TypeError("particles with the full history cannot be copied")
    return rows


def _own_rows(rows: Rows, particle: int, count: int, generation: int) -> Table:
    """Return a table of one particle that owns its rows; row n is at place n + 1.

    Args:
        rows: the rows of all particles.
        particle: the particle to copy.
        count: how many rows to copy.
        generation: the owner of the rows.
    """
    places = places_of(_table(rows), particle, np.arange(count))
    lower, upper = -(-count // BLOCK), -(-count // BLOCK**2)
    blocks = np.concatenate(
        [np.zeros((1, BLOCK), np.uint32), _numbered(1, count, lower), _numbered(1, lower, upper)]
    )
    lines = np.zeros((2, max(upper, 1)), np.uint32)
    lines[0, :upper] = 1 + lower + np.arange(upper)
    return Table(
        line=np.zeros(1, np.int64),
        spare=np.ones(1, np.int64),
        lines=lines,
        blocks=blocks,
        rows=np.concatenate(
            [np.zeros((1, rows.rows.shape[1]), rows.rows.dtype), rows.rows[places]]
        ),
        line_owner=np.array([generation, -1]),
        block_owner=np.append(np.int64(-1), np.full(lower + upper, generation)),
        row_owner=np.append(np.int64(-1), np.full(count, generation)),
        free_blocks=np.zeros(len(blocks), np.uint32),
        free_rows=np.zeros(count + 1, np.uint32),
        cursors=np.zeros((1, 4), np.int64),
    )


def _numbered(first: int, count: int, blocks: int) -> npt.NDArray[np.uint32]:
    """Return uint32[blocks, 32]: first, first + 1, ... (``count`` numbers), then zeros."""
    numbers = np.zeros(blocks * BLOCK, np.uint32)
    numbers[:count] = np.arange(first, first + count)
    return numbers.reshape(blocks, BLOCK)
