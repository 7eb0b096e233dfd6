"""The topic-word prior of the particle family, and the topics of a particle.

:mod:`beam_topics.model.learners.particles.topic_priors` has the settings. The notation (n_wz, t_wz,
k_z, m_w, B, G, a, a_0, d) is that of :mod:`beam_topics.model.learners.particles.kernels.particles`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beam_topics.model.learners.particles.kernels import parts, table_counts
from beam_topics.model.learners.particles.kernels.copy_on_write import BLOCK, Table, with_rows
from beam_topics.model.learners.particles.kernels.draw import padded
from beam_topics.model.learners.particles.kernels.particles import Population, Prior
from beam_topics.model.learners.particles.settings import ParticleSettings
from beam_topics.model.records import FloatArray, IntArray, LongArray
from beam_topics.model.snapshot import TopicWordPrior
from beam_topics.model.words.character_model import CharacterModel

# From so many topics on, the counts of words are in parts. With fewer, visits to whole rows are
# faster under the hierarchical prior (python -m benchmarks many_topics).
PARTED_FROM = 257


def new_prior(settings: ParticleSettings) -> Prior:
    """Return the prior before the first word."""
    alpha = np.zeros(padded(settings.topic_count))
    alpha[: settings.topic_count] = settings.topic_alpha
    prior = settings.prior
    made = Prior(
        alpha=alpha,
        alpha_sum=settings.topic_alpha * settings.topic_count,
        base=np.zeros(0),
        a=prior.strength(settings.vocabulary.size, settings.vocabulary.size),
        base_a=prior.base_strength,
        discount=prior.discount,
        tables=prior.table_counting,
        closing=table_counts.closing_probabilities(prior.discount, prior.table_counting),
    )
    # A sum that is learned has the bits of one that is read from a stored state.
    return with_alpha(made, alpha[: settings.topic_count]) if settings.learns_topics else made


def sum_of(alpha: FloatArray) -> float:
    """Return the sum of Dirichlet parameters, added one by one in one order on every machine."""
    return float(sum(alpha.tolist()))


def with_alpha(prior: Prior, alpha: FloatArray) -> Prior:
    """Return the prior with other Dirichlet parameters of topics, float64[T]."""
    padded = np.zeros(len(prior.alpha))
    padded[: len(alpha)] = alpha
    return prior._replace(alpha=padded, alpha_sum=sum_of(alpha))


def is_even(prior: Prior) -> bool:
    """Return whether all topics have the same Dirichlet parameter."""
    alpha = prior.alpha[: np.count_nonzero(prior.alpha)]
    return bool((alpha == alpha[0]).all())


def base_probabilities(
    settings: ParticleSettings, characters: CharacterModel | None, words: Sequence[str]
) -> FloatArray:
    """Return G(w) of some words, as float64[n]."""
    if characters is None:
        return np.full(len(words), 1.0 / settings.vocabulary.size)
    return characters.probabilities(words)


def row_length(prior: Prior) -> int:
    """Return the length of a word's row, a multiple of eight.

    :class:`beam_topics.model.learners.particles.kernels.particles.Population` describes the row.
    """
    tp = len(prior.alpha)
    return tp if prior.tables == table_counts.NONE else 2 * tp + padded(1)


def stored_length(prior: Prior) -> int:
    """Return the length of the rows in which words are stored: whole rows, or parts."""
    if len(prior.alpha) < PARTED_FROM:
        return row_length(prior)
    return parts.PART if prior.tables == table_counts.NONE else 2 * parts.PART


def parts_each(population: Population) -> int:
    """Return how many logical rows of the table belong to a word in parts; 0 for whole rows."""
    tp = population.totals.shape[1]
    is_parted = parts.in_parts.py_func(population.words, tp)
    return int(parts.parts_of.py_func(tp)) if is_parted else 0


def with_words(population: Population, words: int) -> Table:
    """Return the table of words with logical rows for so many words."""
    return with_rows(population.words, words * max(1, parts_each(population)))


def word_rows(population: Population, particle: int, words: LongArray) -> LongArray:
    """Return a particle's whole rows of some words, as int[n, row length]."""
    table = with_words(population, int(words.max(initial=-1)) + 1)
    rows: LongArray
    if not parts_each(population):
        rows = table.rows[places_of(table, particle, words)]
        return rows
    tp = population.totals.shape[1]
    length = tp if table.rows.shape[1] == parts.PART else 2 * tp + parts.PART
    rows = np.zeros((len(words), length + parts.list_length.py_func(tp)), table.rows.dtype)
    parts.gather_words(table, particle, words.astype(np.int64), tp, rows)
    return rows[:, :length]


def word_cells(population: Population, prior: Prior, particle: int, words: int) -> LongArray:
    """Return the counts of words in topics that are not 0, by word and topic.

    Args:
        population: the particles.
        prior: the prior.
        particle: the particle's number.
        words: the words 0 to ``words`` - 1.

    Returns:
        int64[cells, 4]: word, topic, n_wt, t_wt.
    """
    tp = len(prior.alpha)
    if parts_each(population):
        cells: LongArray = parts.cells_in_parts(with_words(population, words), particle, words, tp)
        return cells
    rows = word_rows(population, particle, np.arange(words))
    found = np.nonzero(rows[:, :tp])
    tables = rows[found[0], tp + found[1]] if prior.tables else np.zeros_like(found[0])
    return np.stack([*found, rows[found], tables], axis=1).astype(np.int64)


def shared_tables(
    population: Population, prior: Prior, particle: int, words: LongArray
) -> LongArray:
    """Return m_w of words 0 to n - 1 in a particle; the table must have these words.

    Args:
        population: the particles.
        prior: the prior, with tables.
        particle: the particle's number.
        words: int64[n], 0 to n - 1.
    """
    if parts_each(population):
        cells, tables = word_cells(population, prior, particle, len(words)), np.zeros(len(words))
        np.add.at(tables, cells[:, 0], cells[:, 3])
        return tables.astype(np.int64)
    places = places_of(population.words, particle, words)
    return population.words.rows[places, 2 * len(prior.alpha)].astype(np.int64)


def places_of(table: Table, particle: int, words: LongArray) -> LongArray:
    """Return the physical rows of some words, slots or pages of a particle, as int[n]."""
    upper = table.lines[table.line[particle], words // BLOCK**2]
    places: LongArray = table.blocks[table.blocks[upper, words // BLOCK % BLOCK], words % BLOCK]
    return places


def topic_words(
    population: Population, prior: Prior, particle: int, words: LongArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return the terms of P(w | z) for some words in a particle.

    P(w | z) = (n_wz - d t_wz + s_z B(w)) / (a + n_z), with s_z = a + d k_z.

    Args:
        population: the particles.
        prior: the prior.
        particle: the particle's number.
        words: int64[n], word numbers.

    Returns:
        n_wz - d t_wz as float64[n, T]; s_z as float64[T]; B(w) as float64[n]; the weight of G in B.
    """
    topics, tp = np.count_nonzero(prior.alpha), len(prior.alpha)
    rows = word_rows(population, particle, words)
    counts, strength = rows[:, :topics].astype(np.float64), strengths(population, prior, particle)
    if prior.tables == table_counts.NONE:
        return counts, strength, prior.base[words], 1.0
    counts -= prior.discount * rows[:, tp : tp + topics]
    base, left = shared_base(population, particle, rows[:, 2 * tp], prior.base[words])
    return counts, strength, base, left


def strengths(population: Population, prior: Prior, particle: int) -> FloatArray:
    """Return s_z = a + d k_z of a particle's topics, as float64[T]."""
    tables = population.topic_tables[particle, : np.count_nonzero(prior.alpha)]
    found: FloatArray = population.concentration[particle, 0] + prior.discount * tables
    return found


def shared_base(
    population: Population, particle: int, tables: LongArray, base: FloatArray
) -> tuple[FloatArray, float]:
    """Return B(w) where topics share words, and the weight of G in B.

    Args:
        population: the particles.
        particle: the particle's number.
        tables: int[n], m_w of some words.
        base: float64[n], G(w).
    """
    a_0 = population.concentration[particle, 1]
    whole = population.tables[particle] + a_0
    return (tables + a_0 * base) / whole, float(a_0 / whole)


def word_probabilities(
    population: Population, prior: Prior, particle: int, words: LongArray
) -> FloatArray:
    """Return P(w | z) of some words in a particle, as float64[n, T]."""
    counts, strength, base, _ = topic_words(population, prior, particle, words)
    found: FloatArray = (counts + np.multiply.outer(base, strength)) / (
        population.concentration[particle, 0] + population.totals[particle, : len(strength)]
    )
    return found


class Counts(NamedTuple):
    """n_wz - d t_wz as a snapshot has them (:class:`beam_topics.model.snapshot.Snapshot`)."""

    offsets: LongArray
    topics: IntArray
    counts: FloatArray


def published_counts(
    population: Population, prior: Prior, particle: int, words: int, factors: FloatArray
) -> tuple[Counts, FloatArray, FloatArray, float]:
    """Return the terms of P(w | z) of the first words in a particle, as :func:`topic_words` does.

    Args:
        population: the particles.
        prior: the prior.
        particle: the particle's number.
        words: the number of words.
        factors: float64[T], scale the counts and s_z of each topic.

    Returns:
        n_wz - d t_wz where they are not 0; s_z as float64[T]; B(w) as float64[words]; the weight of
        G in B.
    """
    word, topic, tokens, tables = word_cells(population, prior, particle, words).T
    counts = tokens.astype(np.float64)
    strength, base, left = strengths(population, prior, particle), prior.base[:words], 1.0
    if prior.tables != table_counts.NONE:
        counts -= prior.discount * tables
        shared = shared_tables(population, prior, particle, np.arange(words))
        base, left = shared_base(population, particle, shared, base)
    offsets = np.zeros(words + 1, np.int64)
    np.cumsum(np.bincount(word, minlength=words), out=offsets[1:])
    found = Counts(offsets, topic.astype(np.int32), counts * factors[topic])
    return found, strength * factors, base, left


def published_prior(
    settings: ParticleSettings,
    characters: CharacterModel | None,
    strength: FloatArray,
    base: FloatArray,
    left: float,
) -> TopicWordPrior:
    """Return the prior as a snapshot stores it.

    Args:
        settings: the learner's settings.
        characters: G as a distribution over strings, or None.
        strength: s_z of :func:`topic_words`.
        base: B(w) of the whole vocabulary.
        left: the weight of G in B.
    """
    if characters is None:
        # G is uniform over the W words that the vocabulary can have.
        others = settings.vocabulary.is_open and settings.vocabulary.size > len(base)
        left = left / settings.vocabulary.size if others else 0.0
    return TopicWordPrior(strength, base, left, characters)
