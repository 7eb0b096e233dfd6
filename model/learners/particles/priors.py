"""The topic-word prior of the particle family (DESIGN section 8): what particles begin with, and
what a particle says of its topics.
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
    """The prior before there are words."""
    alpha = np.zeros(padded(settings.topics))
    alpha[: settings.topics] = settings.alpha
    prior = settings.prior
    return Prior(
        alpha=alpha,
        alpha_sum=settings.alpha * settings.topics,
        base=np.zeros(0),
        a=prior.strength(settings.vocabulary.size),
        base_a=prior.base_strength,
        discount=prior.discount,
        tables=prior.table_counting,
        closing=table_counts.closing_probabilities(prior.discount, prior.table_counting),
    )


def base_probabilities(
    settings: ParticleSettings, characters: CharacterModel | None, words: Sequence[str]
) -> FloatArray:
    """float64: G(w) of some words."""
    if characters is None:
        return np.full(len(words), 1.0 / settings.vocabulary.size)
    return characters.probabilities(words)


def row_length(prior: Prior) -> int:
    """Of a word's row, see :class:`model.learners.particles.kernels.particles.Population`; whole
    blocks of eight.
    """
    tp = len(prior.alpha)
    return tp if prior.tables == table_counts.NONE else 2 * tp + padded(1)


def word_rows(population: Population, particle: int, words: LongArray) -> LongArray:
    """int[n, row length]: a particle's rows of some words."""
    table = (
        population.words if not len(words) else with_rows(population.words, int(words.max()) + 1)
    )
    rows: LongArray = table.rows[places_of(table, particle, words)]
    return rows


def shared_tables(
    population: Population, prior: Prior, particle: int, words: LongArray
) -> LongArray:
    """int64[n]: m_w of some words of a particle, for all of which there is room."""
    places = places_of(population.words, particle, words)
    return population.words.rows[places, 2 * len(prior.alpha)].astype(np.int64)


def places_of(table: Table, particle: int, words: LongArray) -> LongArray:
    """int[n]: where a particle's rows of some words (or slots, or pages) are."""
    upper = table.lines[table.line[particle], words // BLOCK**2]
    places: LongArray = table.blocks[table.blocks[upper, words // BLOCK % BLOCK], words % BLOCK]
    return places


def topic_words(
    population: Population, prior: Prior, particle: int, words: LongArray
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """What a particle's topics say of some words, all of the vocabulary or a part.

    Returns:
        float64[n, T]: n_wz - d t_wz. float64[T]: s_z = a + d k_z. float64[n]: B(w). How much of B
        is left to G.
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
    """float64[n, T]: P(w | z) of some words."""
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
    """What :func:`topic_words` says of the whole vocabulary, as a snapshot holds it."""
    if characters is None:
        # A given vocabulary, or the flat prior: W_max words, alike before they are seen.
        others = settings.vocabulary.is_open and settings.vocabulary.size > len(base)
        left = left / settings.vocabulary.size if others else 0.0
    return TopicWordPrior(strength, base, left, characters)
