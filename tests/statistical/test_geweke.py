"""Geweke's test of the moves.

(topics, words) are drawn from the prior; or the words are redrawn given the topics after each round
of moves. If moves leave P(z | w) invariant, both have the same distribution. The planted bugs are
moves of the twin. A move that does not take its token out slows the chains, and changes these
statistics too little to be seen; the enumeration finds it.
"""

import itertools
from bisect import bisect

import numpy as np
import pytest
from alarm import agrees_between
from populations import KEY
from twins import Particle, uniform

from beam_topics.model.kernels.random import MOVE
from beam_topics.model.learners.particles.history import History
from beam_topics.model.learners.particles.kernels.copy_on_write import own_row, row_of
from beam_topics.model.learners.particles.kernels.particles import Draws, Prior
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.table_counts import NONE, closing_probabilities
from beam_topics.model.learners.particles.population import new_population, with_capacity
from beam_topics.model.learners.particles.rejuvenation import Reservoir

LENGTHS, TOPICS, WORDS = (3, 2, 3), 2, 3
ALPHA, BASE, A = np.array([0.2, 0.3] + [0.0] * 6), np.array([0.5, 0.3, 0.2]), 0.9
PRIOR = Prior(ALPHA, 0.5, BASE, A, 0.0, 0.0, NONE, closing_probabilities(0.0, NONE))
DOCUMENT = np.repeat(np.arange(3), LENGTHS)
PAIRS = list(itertools.combinations(range(len(DOCUMENT)), 2))
UNITS = {
    "token": [(0, 0), (1, 1), (0, 2), (2, 0), (0, 1), (2, 2), (1, 0), (2, 1)],
    "document": [(0, -1), (2, -1), (1, -1)],
}


def prior_topics(generator):
    topics = []
    for length in LENGTHS:
        theta = generator.dirichlet(ALPHA[:TOPICS])
        topics += (generator.random(length) > theta[0]).astype(int).tolist()
    return topics


def words_given(topics, generator):
    ends = np.cumsum(generator.dirichlet(A * BASE, TOPICS), axis=1)[:, :-1].tolist()
    return [
        bisect(ends[t], u)
        for t, u in zip(topics, generator.random(len(topics)).tolist(), strict=True)
    ]


def split(values):
    return [
        values[end - length : end]
        for length, end in zip(LENGTHS, itertools.accumulate(LENGTHS), strict=True)
    ]


def moved_by_kernel(topics, words, units, round_number):
    """Return the topics after the kernel has visited the units, from counts written here."""
    history, population = History(Reservoir(newest=5)), new_population(PRIOR, 1, 1)
    slots = [history.begin(np.array(text, np.int32), None) for text in split(words)]
    population = with_capacity(
        population,
        writers=1,
        units=20,
        longest=10,
        words=WORDS,
        pages=len(history.pages.words),
        threads=1,
    )
    for slot, drawn, text in zip(slots, split(topics), split(words), strict=True):
        population.topics.rows[
            own_row(population.topics, 0, history.pages_of(slot)[0], 1, 0, False), : len(drawn)
        ] = drawn
        for t, w in zip(drawn, text, strict=True):
            row = population.words.rows[own_row(population.words, 0, w, 1, 0, True)]
            row[t] += 1
            population.totals[0, t] += 1
    where = (
        np.array([slots[d] for d, _ in units], np.int32),
        np.array([i for _, i in units], np.int64),
    )
    draws = Draws(*KEY, round_number, MOVE)
    move_units(population, PRIOR, history.pages, draws, *where, 0, 0, 1, 0)
    rows = [row_of.py_func(population.topics, 0, history.pages_of(slot)[0]) for slot in slots]
    return [
        int(t)
        for row, length in zip(rows, LENGTHS, strict=True)
        for t in population.topics.rows[row][:length]
    ]


def moved_by_twin(bug):
    def moved(topics, words, units, round_number):
        particle = Particle(ALPHA[:TOPICS].tolist(), BASE.tolist(), A, bug=bug)
        for d, (drawn, text) in enumerate(zip(split(topics), split(words), strict=True)):
            particle.texts[d], particle.topics[d], particle.documents[d] = text, drawn, [0] * TOPICS
            for t, w in zip(drawn, text, strict=True):
                particle.count(d, w, t, 1)
        single = [(d, i) for d, at in units for i in (range(LENGTHS[d]) if at < 0 else (at,))]
        for n, (d, i) in enumerate(single):
            particle.move(d, i, uniform(n, KEY, 0, round_number, MOVE))
        return [t for d in range(3) for t in particle.topics[d]]

    return moved


def statistics(topics, words):
    """Return the counts of topic 1 and word 0, and of pairs that agree in topic, word, or both.

    The pairs are counted within a document and between documents.
    """
    topic, word, pairs = np.array(topics), np.array(words), np.array(PAIRS).T
    same_topic, same_word = topic[pairs[0]] == topic[pairs[1]], word[pairs[0]] == word[pairs[1]]
    within = DOCUMENT[pairs[0]] == DOCUMENT[pairs[1]]
    sums = [
        part.sum()
        for kind in (same_topic, same_word, same_topic & same_word)
        for part in (kind[within], kind[~within])
    ]
    return [sum(topics), words.count(0), *sums]


def agrees(moved, units, replicas=1200, rounds=5, seed=1):
    generator = np.random.default_rng(seed)
    fresh, chained = [], []
    for replica in range(replicas):
        topics = prior_topics(generator)
        fresh.append(statistics(topics, words_given(topics, generator)))
        topics = prior_topics(generator)
        for n in range(rounds):
            topics = moved(topics, words_given(topics, generator), units, replica * rounds + n)
        chained.append(statistics(topics, words_given(topics, generator)))
    return agrees_between(fresh, chained)


@pytest.mark.parametrize("unit", UNITS)
def test_moves_leave_the_posterior_as_it_is(unit):
    assert agrees(moved_by_kernel, UNITS[unit])


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("unit", UNITS)
def test_moves_leave_the_posterior_as_it_is_in_long_chains(unit):
    assert agrees(moved_by_kernel, UNITS[unit], replicas=10_000, rounds=6)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("bug", ["document ignored", "document not updated"])
def test_a_bug_in_moves_is_found(unit, bug):
    assert not agrees(moved_by_twin(bug), UNITS[unit])
