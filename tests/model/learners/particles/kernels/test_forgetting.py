"""Tokens that are forgotten, beside the slow twin, and the law of what is left."""

import math

import forgetting_twin
import numpy as np
import pytest
from alarm import agrees_in_counts, agrees_in_means
from populations import KEY
from restart_twin import KINDS, TEXTS, law_of_tables, pair_of
from twins import Particle

from beam_topics.model.kernels.random import FORGETTING, FORGOTTEN_TOPIC
from beam_topics.model.learners.particles.kernels.canonical_rows import tokens_by_word
from beam_topics.model.learners.particles.kernels.forgetting import choose_forgotten, forget_tokens
from beam_topics.model.learners.particles.kernels.particles import PAGE, Draws

# The documents that the history still has.
SLOTS = [4, 0, 1]


class Forgetting:
    """Three particles and their twins, before and after tokens are forgotten."""

    def __init__(self, kind, discount):
        self.pair = pair_of(kind, discount)
        self.words, twin = self.pair.words, self.pair.twins[0]
        slots, pages = np.array(SLOTS), self.pair.history.pages
        self.begins, self.places = tokens_by_word(pages, slots, self.words)
        self.held = forgetting_twin.held_tokens(twin, SLOTS, self.words)
        self.counts = [sum(row) for row in twin.words]
        self.tokens = [token for held in self.held for token in held]

    def choose(self, log_survival, sequence=1):
        draws = Draws(*KEY, sequence, FORGETTING)
        return choose_forgotten(self.pair.population, self.begins, log_survival, draws)

    def forget(self, chosen, others, sequence=1):
        pair, draws = self.pair, Draws(*KEY, sequence, FORGOTTEN_TOPIC)
        pair.room(self.words, PAGE)
        parts = self.begins, self.places, chosen, others, draws, 0, pair.particles, 0
        forget_tokens(pair.population, pair.prior, *parts)

    def assert_same(self):
        population, topics, tp = (
            self.pair.population,
            self.pair.topics,
            len(self.pair.prior.alpha),
        )
        for p, twin in enumerate(self.pair.twins):
            rows = [self.pair.row(population.words, p, w) for w in range(self.words)]
            assert [row[:topics].tolist() for row in rows] == twin.words
            assert population.totals[p, :topics].tolist() == twin.totals
            assert population.topic_tables[p, :topics].tolist() == twin.topic_tables
            assert population.tables[p] == sum(twin.topic_tables)
            if self.pair.prior.tables:
                assert [row[tp : tp + topics].tolist() for row in rows] == twin.tables
                assert [row[2 * tp] for row in rows] == [sum(tables) for tables in twin.tables]


@pytest.mark.parametrize(("kind", "discount"), KINDS)
@pytest.mark.parametrize("log_survival", [-0.05, -0.7, -9.0])
def test_tokens_are_forgotten_as_the_twin_says(kind, discount, log_survival):
    both = Forgetting(kind, discount)
    chosen, others = both.choose(log_survival)
    expected = forgetting_twin.choose_forgotten(
        both.counts, both.held, log_survival, KEY, 1, FORGETTING
    )
    assert ([both.tokens[k] for k in chosen], others.tolist()) == expected
    both.forget(chosen, others)
    for p, twin in enumerate(both.pair.twins):
        forgetting_twin.forget_tokens(twin, both.held, *expected, (KEY, p, 1, FORGOTTEN_TOPIC))
    both.assert_same()


def test_everything_can_be_forgotten():
    both = Forgetting("sampled", 0.4)
    chosen, others = both.choose(-1e9)
    assert len(chosen) + others.sum() == sum(both.counts) == sum(map(len, TEXTS))
    both.forget(chosen, others)
    population = both.pair.population
    assert not population.totals.any() and not population.topic_tables.any()
    assert not any(both.pair.row(population.words, 1, w).any() for w in range(both.words))


def survivors(log_survival, rounds=600):
    """Tokens of each word that survive: of the history, and others."""
    both, found = Forgetting("sampled", 0.4), []
    for sequence in range(rounds):
        chosen, others = both.choose(log_survival, sequence)
        words = np.searchsorted(both.begins, chosen, side="right") - 1
        died = np.bincount(words, minlength=both.words)
        held = np.diff(both.begins)
        found.append([*(held - died), *(np.array(both.counts) - held - others)])
    return found


@pytest.mark.statistical
@pytest.mark.parametrize(("error", "found"), [(0.0, True), (0.05, False)])
def test_expected_counts_fade_exactly(error, found):
    both = Forgetting("sampled", 0.4)
    held = np.diff(both.begins)
    before = np.array([*held, *(np.array(both.counts) - held)])
    survived = survivors(-0.3)
    # A column without variance has no standard error.
    some = before > 0
    expected = before[some] * math.exp(-0.3 - error)
    assert agrees_in_means(np.array(survived)[:, some], expected) == found


def left_over(bug, rounds=4000):
    """Tables of three tokens of a word that are left of six."""
    found = np.zeros(4)
    for seed in range(rounds):
        particle = Particle([0.5], [1.0], 1.2, discount=0.3, kind="sampled", base_a=2.0)
        generator = np.random.default_rng(seed)
        for d in (0, 1):
            uniforms = generator.random(3), generator.random(3).tolist()
            particle.learn(d, [0, 0, 0], uniforms[0], table_uniforms=uniforms[1])
        particle.bug, held = bug, [[(1, 0), (1, 1), (1, 2)]]
        draws = (seed, 1), 0, 1, FORGOTTEN_TOPIC
        forgetting_twin.forget_tokens(particle, held, [(1, 0), (1, 2)], [1], draws)
        assert particle.words == [[3]]
        found[particle.tables[0][0]] += 1
    return found[1:]


@pytest.mark.statistical
@pytest.mark.parametrize("bug", [None, "tables closed in proportion"])
def test_the_tables_that_are_left_have_the_law_of_the_tokens_that_are_left(bug):
    assert agrees_in_counts(left_over(bug), law_of_tables()) == (bug is None)


def topics_of_one(bug, rounds=2000):
    """How often each topic loses the token, of others in topics 0, 0, 0 and 1."""
    found = np.zeros(2)
    for seed in range(rounds):
        particle = Particle([0.5, 0.5], [1.0], 1.2, bug=bug)
        for d, topics in enumerate([[0, 0], [0, 1], [1, 1]]):
            particle.texts[d], particle.topics[d], particle.documents[d] = [0, 0], topics, [0, 0]
            for t in topics:
                particle.count(d, 0, t, 1)
        before, draws = list(particle.totals), ((seed, 1), 0, 1, FORGOTTEN_TOPIC)
        forgetting_twin.forget_tokens(particle, [[(2, 0), (2, 1)]], [], [1], draws)
        found += np.array(before) - particle.totals
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("bug", [None, "history not left out"])
def test_each_other_token_is_equally_likely_to_be_forgotten(bug):
    assert agrees_in_counts(topics_of_one(bug), [3 / 4, 1 / 4]) == (bug is None)
