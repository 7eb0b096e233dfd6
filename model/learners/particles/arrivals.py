"""Which topics newly learned documents have, before later visits change them.

A step notes the counts of its documents when it has visited them for the first time, just before
the history may drop them (:func:`note_arrivals`). :func:`arrivals` adds them up. The notes are no
part of the saved state: the log of the learner (:mod:`model.learner_log`) keeps the sums.
"""

from __future__ import annotations

import numpy as np

from model.learners.base import Arrivals
from model.learners.particles.kernels.arrivals import count_documents, sum_documents
from model.learners.particles.kernels.particles import Population
from model.learners.particles.population import best_particle
from model.learners.particles.state import ParticleState
from model.records import FloatArray, IntArray, LongArray


def note_arrivals(state: ParticleState, slots: IntArray) -> None:
    """Note the topics of documents whose slots are about to be released.

    Independent chains are noted one by one. Particles that are resampled have common ancestors, and
    the best of them is noted.

    Args:
        state: the learner's state.
        slots: int32[D], documents in the order in which they came.
    """
    chains, topics = state.settings.independent_chains, state.settings.topic_count
    particles = range(chains) if chains > 1 else [best_particle(state.population)]
    counts = np.empty((len(slots), chains, topics), np.int32)
    for chain, particle in enumerate(particles):
        counts[:, chain] = document_counts(state, state.population, particle, slots)
    state.arrived.append(counts)


def document_counts(
    state: ParticleState, population: Population, particle: int, slots: IntArray | LongArray
) -> IntArray:
    """Return int32[D, T], n_td of documents in one particle.

    Args:
        state: the learner's state, which has the documents.
        population: the particles.
        particle: the particle.
        slots: int[D], the documents.
    """
    counts = np.zeros((len(slots), state.settings.topic_count), np.int32)
    count_documents(population, state.history.pages, particle, slots, counts)
    return counts


def arrivals(state: ParticleState, after: int) -> Arrivals:
    """Return the tokens and documents of each topic, of documents that the last step learned.

    Args:
        state: the learner's state.
        after: documents that came before the one with this number do not count.
    """
    counts, none = state.arrived, (0, state.settings.independent_chains, state.settings.topic_count)
    joined = counts[0] if len(counts) == 1 else np.concatenate([np.zeros(none, np.int32), *counts])
    first = max(0, after - (state.documents - len(joined)))
    return Arrivals(sum_of_documents(joined[first:]), state.documents)


def sum_of_documents(counts: IntArray) -> FloatArray:
    """Return the tokens and documents of each topic.

    Args:
        counts: int32[D, C, T], the tokens of each topic in each document.

    Returns:
        float64[C, 2, T]. A document belongs to the topic with most of its tokens, the first of
        equals; without tokens to none.
    """
    sums = np.zeros((counts.shape[1], 2, counts.shape[2]))
    sum_documents(np.ascontiguousarray(counts, np.int32), sums)
    return sums
