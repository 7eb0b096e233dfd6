"""The prior tokens of seeds (:mod:`model.learners.particles.seeds`) in the counts of particles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from model.learners.particles.kernels.table_counts import NONE
from model.learners.particles.packing import Packed, in_parts, unpack_table
from model.learners.particles.priors import parts_each, row_length
from model.learners.particles.seeds import seeds_of, words_of

if TYPE_CHECKING:
    from model.learners.particles.kernels.particles import Population, Prior
    from model.learners.particles.settings import ParticleSettings
    from model.records import FloatArray, LongArray


def seed_counts(settings: ParticleSettings) -> LongArray:
    """Return the prior tokens of the words of seeds, by word and topic.

    Returns:
        int64[S, T]; row i is that of the i-th of :func:`words_of`.
    """
    rows = {word: row for row, word in enumerate(words_of(settings.seeds))}
    counts = np.zeros((len(rows), settings.topic_count), np.int64)
    for topic, seed in enumerate(seeds_of(settings.seeds)):
        numbers = [rows[word] for word in seed.tokens]
        counts[numbers, topic] = [given or settings.seed_strength for given in seed.tokens.values()]
    return counts


def plant(
    settings: ParticleSettings, prior: Prior, population: Population, numbers: Sequence[int]
) -> Population:
    """Return particles that have learned nothing but the prior tokens of the seeds.

    Args:
        settings: the learner's settings.
        prior: the prior.
        population: particles that have learned nothing.
        numbers: the numbers of the words of :func:`words_of` in the vocabulary.
    """
    counts, logical = seed_counts(settings), np.array(numbers, np.int64)
    if not len(counts):
        return population
    topics, tp, particles = settings.topic_count, len(prior.alpha), len(population.weight)
    rows = np.zeros((len(counts), row_length(prior)), np.int64)
    rows[:, :topics] = counts
    tables = (counts > 0).astype(np.int64)
    if prior.tables != NONE:
        rows[:, tp : tp + topics] = tables
        rows[:, 2 * tp] = tables.sum(axis=1)
        population.topic_tables[:, :topics] = tables.sum(axis=0)
        population.tables[:] = tables.sum()
    population.totals[:, :topics] = counts.sum(axis=0)
    nothing = np.zeros(0, np.int64)
    packed = Packed(np.arange(len(rows)), nothing, nothing.reshape(0, particles), rows)
    count, each = int(logical.max()) + 1, parts_each(population)
    if each:
        parts, packed = in_parts(packed, each, tp)
        logical, count = logical[parts // each] * each + parts % each, count * each
    words = unpack_table(population.words, logical, count, packed)
    return population._replace(words=words)


def shares_without_weight(settings: ParticleSettings, totals: LongArray) -> FloatArray:
    """Return the factors that scale topics to the tokens that they really have, as float64[T].

    P(w | z) is a ratio of the two, so it stays what it is. The share of a topic in a model is then
    that of its tokens, and not of the strength of its seed.

    Args:
        settings: the learner's settings.
        totals: int64[Tp], n_z with the prior tokens.
    """
    given, factors = seed_counts(settings).sum(axis=0), np.ones(settings.topic_count)
    for topic in np.flatnonzero(given).tolist():
        # A topic without tokens of its own counts as one token.
        factors[topic] = max(int(totals[topic] - given[topic]), 1) / int(totals[topic])
    return factors
