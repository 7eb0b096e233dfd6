"""Learning begins with fewer topics where fewer predict better."""

import numpy as np
import pytest
from corpora import document_of, minibatches_of

from beam_topics.model.learners import ParticleFilter, learner_for
from beam_topics.model.learners.particles import challengers, initial_batch
from beam_topics.model.learners.particles.challengers import (
    ERRORS,
    KEPT_OF_PARAMETER,
    LEAST_GAIN,
    absorptions_wanted,
    united_alpha,
)
from beam_topics.model.learners.particles.initial_batch import HELD_OUT, held_out_of

SUBJECTS, WORDS, TOPICS = 3, 6, 20


def disjoint(count, seed=5):
    """Documents of one subject each; no two subjects have a word in common."""
    draws = np.random.default_rng(seed).integers(WORDS, size=(count, 12))
    return [
        document_of([f"{'abc'[n % SUBJECTS]}{word}" for word in words], n, str(n % SUBJECTS))
        for n, words in enumerate(draws.tolist())
    ]


def learned(documents):
    settings = ParticleFilter(topics=TOPICS)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(documents, 20):
        learner.step(state, minibatch)
    return state


def topics_in_use(state):
    totals = np.sort(state.population.totals[0, :TOPICS])[::-1].cumsum()
    return int(np.searchsorted(totals, 0.95 * totals[-1]) + 1)


def test_three_subjects_get_three_topics():
    state = learned(disjoint(300))
    assert topics_in_use(state) == SUBJECTS
    # Topics that are empty keep a little of their weight, and the sum stays.
    alpha = state.prior.alpha[:TOPICS]
    assert alpha.sum() == pytest.approx(TOPICS * state.settings.topic_alpha)
    assert (alpha > 0).all()


@pytest.mark.parametrize("planted", ["no uniting", "no gain is enough"])
def test_a_planted_bug_leaves_the_topics_apart(monkeypatch, planted):
    if planted == "no uniting":
        monkeypatch.setattr(initial_batch, "unite_topics", lambda *given: False)
    else:
        monkeypatch.setattr(challengers, "LEAST_GAIN", 10.0)
    assert topics_in_use(learned(disjoint(300))) > 2 * SUBJECTS


def test_an_absorbed_topic_keeps_a_little_of_its_parameter():
    found = united_alpha(np.array([1.0, 2.0, 4.0]), [(0, 2), (2, 1)])
    assert found[0] == KEPT_OF_PARAMETER
    assert found[2] == KEPT_OF_PARAMETER * (4 + 1 - KEPT_OF_PARAMETER)
    assert found.sum() == 7


@pytest.mark.parametrize(
    ("gains", "wanted"),
    [
        ([], 0),
        # Not enough: less than the least gain, or within the error.
        ([(LEAST_GAIN / 2, 0.0)], 0),
        ([(0.2, 0.21 / ERRORS)], 0),
        ([(-1.0, 0.0), (-2.0, 0.0)], 0),
        ([(0.2, 0.01)], 1),
        # The best is the second, and the third is no more than an error worse.
        ([(0.1, 0.01), (0.3, 0.02), (0.29, 0.02), (0.1, 0.02)], 3),
    ],
)
def test_the_least_number_that_is_hardly_worse_than_the_best(gains, wanted):
    assert absorptions_wanted(gains) == wanted


@pytest.mark.parametrize("documents", [0, 1, 3, 4, 5, 10, 200, 1001])
def test_a_fifth_is_held_out_over_the_whole_batch(documents):
    held = held_out_of(documents)
    assert len(held) == documents
    assert abs(held.sum() - HELD_OUT * documents) <= 1
    if documents >= 10:
        halves = held[: documents // 2].sum(), held[documents // 2 :].sum()
        assert abs(halves[0] - halves[1]) <= 2


@pytest.mark.parametrize("period", [2, 3, 5, 7])
def test_subjects_that_take_turns_are_held_out_alike(period):
    held = np.flatnonzero(held_out_of(200))
    counts = np.bincount(held % period, minlength=period)
    assert counts.max() - counts.min() <= 6
