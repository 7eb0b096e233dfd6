"""Particles as arrays: allocation, replication, copies, and kernels over slices of them in threads.

A particle that is alone writes a row in place. It needs a free row only for a word at hand whose
row it does not own: a new word, or one that shares its row
(:mod:`beam_topics.model.learners.particles.kernels.equal_rows`). When free rows run short, words
with equal rows come to share one, and the pool is made anew with an eighth of its rows free. So
memory follows the words at hand and the number of different rows, and not the size of the
vocabulary.

:func:`copy_of` returns one particle as a population that shares no memory with the others.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from beam_topics.model.learners.particles.history import History
from beam_topics.model.learners.particles.kernels import copy_on_write, shared_rows
from beam_topics.model.learners.particles.kernels.copy_on_write import (
    BLOCK,
    BLOCKS_EACH,
    Table,
    adopt,
    blocks_needed,
    free_rows,
    on_lines,
    reserve,
    sweep,
    with_rows,
)
from beam_topics.model.learners.particles.kernels.equal_rows import (
    count_unowned,
    merge_equal_rows,
    renumber_rows,
    words_at_hand,
)
from beam_topics.model.learners.particles.kernels.particles import PAGE, Population, Prior
from beam_topics.model.learners.particles.kernels.shared_rows import Rows
from beam_topics.model.learners.particles.kernels.token_filter import PARTS_EACH, rows_needed
from beam_topics.model.learners.particles.priors import parts_each, places_of, stored_length
from beam_topics.model.learners.particles.rejuvenation import (
    NOTHING,
    DirectedTree,
    HistorySettings,
)
from beam_topics.model.scaled import Scaled

Words = npt.NDArray[np.bool_]
# The part of a pool that is free when it is made anew.
_FREE = 8


@dataclass
class AtHand:
    """The words of the documents at hand, and how many of them may need a free row.

    Attributes:
        history: the documents.
        unowned: how many of the words had no row of their own when they were counted last.
        counted: the tokens that had arrived then.
    """

    history: History
    unowned: int = 0
    counted: int = 0

    def most_unowned(self) -> int:
        """Return the number of words without a row of their own, or more.

        Each token that has arrived since they were counted may have brought such a word.
        """
        return self.unowned + self.history.received - self.counted

    def count(self, table: Table, words: int, generation: int) -> Words:
        """Count the words at hand without a row of their own.

        Args:
            table: the table of the only particle.
            words: the number of words.
            generation: the particle's generation.

        Returns:
            bool[words], the words at hand.
        """
        history = self.history
        found: Words = words_at_hand(history.pages, history.arrival, words)
        self.unowned = int(count_unowned(table, found, generation))
        self.counted = history.received
        return found


def with_free_rows(table: Table, words: int, count: int, generation: int, at_hand: AtHand) -> Table:
    """Return the table of the only particle with free rows for the words that it may write.

    Args:
        table: the table.
        words: the number of words.
        count: how many rows may be written.
        generation: the particle's generation.
        at_hand: the words that may be written.
    """
    table = with_rows(table, words)
    if table.line_owner[table.line[0]] != generation:
        adopt(table, generation)
        at_hand.count(table, words, generation)
    # Where there is row 0 alone, no rows can become one.
    if len(table.rows) > 1 and free_rows(table) < min(count, at_hand.most_unowned()):
        own = at_hand.count(table, words, generation)
        if free_rows(table) < min(count, at_hand.unowned):
            table = _made_anew(table, own, min(count, at_hand.unowned))
    count = min(count, at_hand.most_unowned())
    return reserve(table, count, int(blocks_needed.py_func(table, count, 1)), shared=False)


def _made_anew(table: Table, own: Words, count: int) -> Table:
    """Return the table with a row for each word in ``own`` and each different row of the others."""
    merge_equal_rows(table, own)
    left, _ = sweep(table)
    kept = np.ones(len(table.rows), np.bool_)
    kept[table.free_rows[:left]] = False
    renumber_rows(table, (np.cumsum(kept) - 1).astype(np.uint32))
    used = len(table.rows) - left
    size = used + max(len(table.cursors) * (count + 1), used // _FREE)
    rows = on_lines([size, table.rows.shape[1]], table.rows.dtype)
    # Another mode than "raise" writes to the pool without a copy between.
    np.take(table.rows, np.flatnonzero(kept), axis=0, out=rows[:used], mode="clip")
    owner = np.full(size, -1, np.int64)
    owner[:used] = table.row_owner[kept]
    table = table._replace(rows=rows, row_owner=owner, free_rows=np.zeros(size, np.uint32))
    sweep(table)
    return table


# Rows that one kernel call may write; more makes the pools larger without a gain. A token in parts
# takes longer, and may write two parts.
ROWS_AT_ONCE, PARTS_AT_ONCE = 1 << 17, 1 << 15
MAX_INT32 = 2**31 - 1


def new_population(
    prior: Prior,
    particles: int,
    threads: int,
    first_identity: int = 0,
    history: HistorySettings = NOTHING,
) -> Population:
    """Return particles of equal weight that have learned nothing.

    Args:
        prior: the prior, which gives the padded number of topics and the concentrations.
        particles: P.
        threads: how many threads write rows.
        first_identity: the number of the first particle in the whole learner.
        history: says how the rows of topics are shared.
    """
    tp = len(prior.alpha)
    return Population(
        words=copy_on_write.new_table(particles, 1, stored_length(prior), threads),
        topics=_page_rows(history, particles, threads),
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


def _page_rows(history: HistorySettings, particles: int, threads: int) -> Rows:
    """Return zero rows of topics, one for each page of the history."""
    if isinstance(history, DirectedTree):
        return importlib.import_module(history.module).new_tree(particles, PAGE)
    return copy_on_write.new_table(particles, 1, PAGE, threads)


def replicate(
    population: Population, chosen: int, particles: int, first_identity: int
) -> Population:
    """Return ``particles`` particles that all share what particle ``chosen`` has learned."""
    if particles == len(population.weight) == 1:
        # Nothing is shared, so nothing is copied, and the particle goes on writing what it has.
        identity = np.full(1, first_identity, np.int64)
        return population._replace(
            weight=np.ones(1), weight_exponent=np.zeros(1, np.int64), identity=identity
        )
    take = np.full(particles, chosen)
    old = int(population.generation.max())
    return population._replace(
        words=copy_on_write.replicate(population.words, chosen, particles),
        topics=shared_rows.replicate(population.topics, chosen, particles),
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


def with_capacity(
    population: Population,
    *,
    writers: int,
    units: int,
    longest: int,
    words: int,
    pages: int,
    threads: int,
    by_tokens: bool = False,
    at_hand: AtHand | None = None,
) -> Population:
    """Return the population with free rows for coming visits and counts that cannot overflow.

    Args:
        population: the particles.
        writers: how many particles write.
        units: how many units each of them visits before the next call.
        longest: tokens of the longest unit.
        words: rows that the table of words needs for each particle.
        pages: the same for topics.
        threads: how many threads write.
        by_tokens: whether the kernel counts the rows that it may write for each token.
        at_hand: the words of the history. With it, words of a particle that is alone share equal
            rows.
    """
    each = min(writers, -(-len(population.weight) // threads))
    count, page_rows = rows_needed.py_func(
        each, units, max(longest, 1), words, pages, parts_each(population) > 0
    )
    alone = None
    if len(population.weight) == 1 and not (by_tokens or parts_each(population)):
        alone = int(population.generation[0])
    before = population.words, population.topics
    after = (
        with_free_rows(population.words, words, count, alone, at_hand)
        if alone is not None and at_hand
        else copy_on_write.with_capacity(
            population.words, words * max(1, parts_each(population)), count, each
        ),
        shared_rows.with_capacity(population.topics, pages, page_rows, each, alone),
    )
    if any(old is not new for old, new in zip(before, after, strict=True)):
        population = population._replace(words=after[0], topics=after[1])
    if (
        population.words.rows.dtype == np.int32
        and int(population.totals.max()) + units * longest > MAX_INT32
    ):
        # Rows of 32 bits are half as long. A stream that outgrows them continues with 64 bits;
        # every draw has the same bits.
        population = population._replace(
            words=population.words._replace(rows=population.words.rows.astype(np.int64))
        )
    return population


def tokens_at_once(population: Population) -> int:
    """Return how many tokens one kernel call may draw in all particles together."""
    if parts_each(population):
        return PARTS_AT_ONCE // PARTS_EACH
    return ROWS_AT_ONCE


def joint(population: Population, particle: int) -> Scaled:
    """Return P(w, z) of a particle."""
    return Scaled.of(float(population.joint[particle]), int(population.joint_exponent[particle]))


def best_particle(population: Population) -> int:
    """Return the particle with the largest joint probability, the first of equals."""
    if len(population.joint) == 1:
        return 0
    return max(range(len(population.joint)), key=lambda p: (joint(population, p).order(), -p))


def nbytes(population: Population) -> int:
    """Return the memory of the population in bytes."""
    shared = sum(shared_rows.nbytes(rows) for rows in (population.words, population.topics))
    return shared + sum(part.nbytes for part in population[2:])


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
        words=_with_stretches(copy_on_write.replicate(population.words, particle, 1), 1)
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
        topics=_with_stretches(population.topics, threads),
    )


def _with_stretches(table: Table, threads: int) -> Table:
    return table._replace(cursors=np.zeros((threads, 4), np.int64))


def _own_rows(rows: Table, particle: int, count: int, generation: int) -> Table:
    """Return a table of one particle that owns its rows; row n is at place n + 1.

    Args:
        rows: the rows of all particles.
        particle: the particle to copy.
        count: how many rows to copy.
        generation: the owner of the rows.
    """
    places = places_of(rows, particle, np.arange(count))
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
