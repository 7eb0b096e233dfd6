"""The topic-word prior of the particle family, and the topics of a particle.

:mod:`model.learners.particles.topic_priors` has the settings. The notation (n_wz, t_wz, k_z, m_w,
B, G, a, a_0, d) is that of :mod:`model.learners.particles.kernels.particles`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.learners.particles.kernels import table_counts
from model.learners.particles.kernels.copy_on_write import BLOCK, Table, with_rows
from model.learners.particles.kernels.draw import padded
from model.learners.particles.kernels.particles import Population, Prior
from model.learners.particles.settings import ParticleSettings
from model.records import FloatArray, LongArray
from model.snapshot import TopicWordPrior
from model.words.character_model import CharacterModel


def new_prior(settings: ParticleSettings) -> Prior:
    """Return the prior before the first word."""
    alpha = np.zeros(padded(settings.topic_count))
    alpha[: settings.topic_count] = settings.alpha
    prior = settings.prior
    made = Prior(
        alpha=alpha,
        alpha_sum=settings.alpha * settings.topic_count,
        base=np.zeros(0),
        a=prior.strength(settings.vocabulary.size),
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


def base_probabilities(
    settings: ParticleSettings, characters: CharacterModel | None, words: Sequence[str]
) -> FloatArray:
    """Return G(w) of some words, as float64[n]."""
    if characters is None:
        return np.full(len(words), 1.0 / settings.vocabulary.size)
    return characters.probabilities(words)


def row_length(prior: Prior) -> int:
    """Return the length of a word's row, a multiple of eight.

    :class:`model.learners.particles.kernels.particles.Population` describes the row.
    """
    tp = len(prior.alpha)
    return tp if prior.tables == table_counts.NONE else 2 * tp + padded(1)


def word_rows(population: Population, particle: int, words: LongArray) -> LongArray:
    """Return a particle's rows of some words, as int[n, row length]."""
    table = (
        population.words if not len(words) else with_rows(population.words, int(words.max()) + 1)
    )
    rows: LongArray = table.rows[places_of(table, particle, words)]
    return rows


def shared_tables(
    population: Population, prior: Prior, particle: int, words: LongArray
) -> LongArray:
    """Return m_w of some words in a particle, as int64[n]; the table must have these words."""
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
    """Return the parts of P(w | z) for some words in a particle.

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
    counts = rows[:, :topics].astype(np.float64)
    strength = (
        population.concentration[particle, 0]
        + prior.discount * population.topic_tables[particle, :topics]
    )
    if prior.tables == table_counts.NONE:
        return counts, strength, prior.base[words], 1.0
    counts -= prior.discount * rows[:, tp : tp + topics]
    a_0 = population.concentration[particle, 1]
    whole = population.tables[particle] + a_0
    return counts, strength, (rows[:, 2 * tp] + a_0 * prior.base[words]) / whole, float(a_0 / whole)


def word_probabilities(
    population: Population, prior: Prior, particle: int, words: LongArray
) -> FloatArray:
    """Return P(w | z) of some words in a particle, as float64[n, T]."""
    counts, strength, base, _ = topic_words(population, prior, particle, words)
    found: FloatArray = (counts + np.multiply.outer(base, strength)) / (
        population.concentration[particle, 0] + population.totals[particle, : len(strength)]
    )
    return found


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
