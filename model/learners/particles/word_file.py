"""The counts of words in a learner's state: whole rows, or parts where there are many topics.

``docs/formats.md`` lists the fields. Whole rows are also read where words are in parts now, because
earlier releases wrote them for any number of topics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model import checks
from model.errors import DamagedDataError
from model.learners.particles import population as populations
from model.learners.particles.kernels.particles import Prior
from model.learners.particles.kernels.parts import PART, filled_parts
from model.learners.particles.kernels.table_counts import MINIMAL, NONE
from model.learners.particles.packing import (
    Packed,
    in_parts,
    pack_numbers,
    pack_table,
    unpack_numbers,
    unpack_table,
)
from model.learners.particles.priors import parts_each, row_length, with_words
from model.learners.particles.state import ParticleState
from model.records import LongArray


def words_to_bytes(state: ParticleState) -> list[bytes]:
    """Return the table of words.

    Of words in parts, the parts with tokens: their number for each word, then which they are.
    """
    population, words = state.population, len(state.vocabulary)
    table, each = with_words(population, words), parts_each(population)
    if not each:
        length = state.settings.topic_count
        length = length if state.prior.tables == NONE else row_length(state.prior)
        return pack_table(table, np.arange(words), np.full(words, length))
    filled = filled_parts(table, 0, words * each)
    length = table.rows.shape[1]
    return [
        pack_numbers(np.bincount(filled // each, minlength=words)),
        pack_numbers(filled % each),
        *pack_table(table, filled, np.full(len(filled), length)),
    ]


def words_from_bytes(state: ParticleState, parts: list[bytes], blobs: list[bytes]) -> None:
    """Read what :func:`words_to_bytes` wrote.

    Args:
        state: the learner's state, with its words and the totals of its topics; changed.
        parts: the number and the places of each word's parts; none for whole rows.
        blobs: the table.

    Raises:
        DamagedDataError: no learner can have such words.
    """
    if parts:
        _read_parts(state, parts, blobs)
    else:
        _read_rows(state, blobs)


def _read_rows(state: ParticleState, blobs: list[bytes]) -> None:
    """Read words in whole rows, also of a learner whose words are in parts."""
    population, prior, topics, count = (
        state.population,
        state.prior,
        state.settings.topic_count,
        len(state.vocabulary),
    )
    tp, width = len(prior.alpha), topics if prior.tables == NONE else row_length(prior)
    packed = Packed.of(blobs, count, len(population.weight), width, checks.LARGEST)
    _check_rows(state, packed)
    sums = packed.sums()
    if (sums[:, :topics] != population.totals[:, :topics]).any():
        raise DamagedDataError("the tokens of the state's topics are not the sums over its words")
    if (
        prior.tables != NONE
        and (sums[:, tp : tp + topics] != population.topic_tables[:, :topics]).any()
    ):
        raise DamagedDataError("the tables of the state's topics are not the sums over its words")
    logical, each = np.arange(count), parts_each(population)
    if each:
        logical, packed = in_parts(packed, each, tp)
    _unpack_words(state, logical, packed)


def _read_parts(state: ParticleState, parts: list[bytes], blobs: list[bytes]) -> None:
    """Read words in parts."""
    population, prior = state.population, state.prior
    each, count, tp = parts_each(population), len(state.vocabulary), len(prior.alpha)
    if not each:
        raise DamagedDataError(
            f"the words of the state are in parts, which {state.settings.topic_count} topics do not"
            " need"
        )
    filled, which = map(unpack_numbers, parts)
    checks.sized("numbers of parts of words", filled, count)
    checks.within("numbers of parts of words", filled, 0, tp // PART + 1)
    checks.sized("parts of words", which, int(filled.sum()))
    checks.within("parts of words", which, 0, tp // PART)
    logical = np.repeat(np.arange(count), filled) * each + which
    checks.ascending("parts of words", logical, strictly=True)
    width = population.words.rows.shape[1]
    packed = Packed.of(blobs, len(logical), len(population.weight), width, checks.LARGEST)
    _check_parts(state, which, packed)
    _unpack_words(state, logical, packed)


def _check_parts(state: ParticleState, which: LongArray, packed: Packed) -> None:
    """Refuse parts whose tables do not fit their counts, or whose sums are not the totals."""
    population, topics, prior = state.population, state.settings.topic_count, state.prior
    counts, tables = packed.contents[:, :PART], packed.contents[:, PART:]
    if prior.tables != NONE:
        _check_tables(prior, counts, tables)
    several = np.diff(packed.starts, append=len(packed.contents))
    topic = np.repeat(which, several)[:, None] * PART + np.arange(PART)
    filled: npt.NDArray[np.bool_] = np.any(counts, axis=1)
    if len(filled) and not np.logical_or.reduceat(filled, packed.starts).all():
        raise DamagedDataError("a part of a word of the state has no tokens")
    if counts[topic >= topics].any():
        raise DamagedDataError("a word of the state has counts outside the topics")
    owner = np.zeros((len(which), len(population.weight)), np.int64)
    owner[packed.differing] = packed.owner
    for particle in range(len(population.weight)):
        rows = packed.starts + owner[:, particle]
        # Sums of whole numbers that fit a total are exact in float64.
        for name, part, totals in (
            ("tokens", counts, population.totals),
            ("tables", tables, population.topic_tables),
        ):
            sums = np.zeros((len(prior.alpha) // PART, PART))
            np.add.at(sums, which, part[rows] if part.shape[1] else 0.0)
            if (sums.reshape(-1) != totals[particle]).any():
                raise DamagedDataError(
                    f"the {name} of the state's topics are not the sums over its words"
                )


def _unpack_words(state: ParticleState, logical: LongArray, packed: Packed) -> None:
    population = state.population
    empty = population.words
    if int(population.totals.max()) > populations.MAX_INT32:
        empty = empty._replace(rows=empty.rows.astype(np.int64))
    count = len(state.vocabulary) * max(1, parts_each(population))
    words = unpack_table(empty, logical, count, packed)
    state.population = population._replace(words=words)


def _check_rows(state: ParticleState, packed: Packed) -> None:
    """Refuse rows of words whose tables do not fit their counts (the second law)."""
    prior, topics, contents = state.prior, state.settings.topic_count, packed.contents
    if prior.tables == NONE:
        return
    tp = len(prior.alpha)
    counts, tables, shared = (
        contents[:, :topics],
        contents[:, tp : tp + topics],
        contents[:, 2 * tp],
    )
    if (
        contents[:, topics:tp].any()
        or contents[:, tp + topics : 2 * tp].any()
        or contents[:, 2 * tp + 1 :].any()
    ):
        raise DamagedDataError("a word of the state has counts outside the topics")
    _check_tables(prior, counts, tables)
    if (tables.sum(axis=1, dtype=np.int64) != shared).any():
        raise DamagedDataError("the tables of a word of the state are not the sum over its topics")


def _check_tables(prior: Prior, counts: npt.NDArray[Any], tables: npt.NDArray[Any]) -> None:
    most = counts > 0 if prior.tables == MINIMAL else counts
    if ((tables > 0) != (counts > 0)).any() or (tables > most).any():
        raise DamagedDataError(
            "a word of the state has no tables for its tokens, or more tables than tokens"
        )
