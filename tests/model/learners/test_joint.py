"""The joint probability that particles update, against the closed form, after every operation."""

from functools import cache

import numpy as np
import pytest
from corpora import awkward, minibatches_of
from learner_options import made
from tiny import log_documents, log_joint

from beam_topics.model.kernels.random import stream_key
from beam_topics.model.learners import Hierarchical, IncrementalGibbs, learner_for
from beam_topics.model.learners.batch_gibbs.sparse_chains import SparseChain
from beam_topics.model.learners.particles.kernels.copy_on_write import row_of
from beam_topics.model.learners.particles.population import joint
from beam_topics.model.learners.particles.priors import base_probabilities, word_rows
from beam_topics.model.learners.particles.state import document_counts
from beam_topics.model.learners.particles.topic_weights import log_joint_terms

KEPT = {
    "prior": "flat",
    "discount": 0.0,
    "topics": 4,
    "particles": 5,
    "resampling": "residual",
    "ess": 0.9,
    "newest": 10_000,
    "reservoir": 0,
    "max_words": 500,
    "initial": "none",
    "moves": 6,
}
VARIANTS = {
    "documents": {},
    "token units": {"rejuvenation_unit": "token"},
    "tokens": {"ess_check": "token", "rejuvenation": "resampling", "rejuvenation_unit": "token"},
    "incremental": {"learner": "incremental-gibbs"},
    "initial batch": {
        "initial": "batch",
        "initial_documents": 20,
        "chains": 3,
        "initial_sweeps": 5,
    },
    "urn": {"prior": "urn"},
    "hierarchical": {"prior": "hierarchical"},
    "hierarchical, discount": {"prior": "hierarchical", "discount": 0.3},
    "hierarchical, initial batch": {
        "prior": "hierarchical",
        "initial": "batch",
        "initial_documents": 20,
        "chains": 3,
        "initial_sweeps": 5,
    },
}


def closed(state, particle):
    """Return ln P(w, z), and with tables ln P(w, z, numbers of tables)."""
    settings, population, tp = state.settings, state.population, len(state.prior.alpha)
    topics, words = (
        settings.topics,
        word_rows(population, particle, np.arange(len(state.vocabulary))),
    )
    documents = document_counts(state, population, particle, state.history.slots())
    counts = words[:, :topics]
    assert documents.sum() == counts.sum() == state.tokens
    a, a_0 = population.concentration[particle].tolist()
    base = base_probabilities(settings, state.characters, state.vocabulary.words)
    if not isinstance(settings.prior, Hierarchical):
        return log_joint(counts, documents, [settings.topic_alpha] * topics, a, base)
    tables = words[:, tp : tp + topics]
    terms = log_joint_terms(
        counts.sum(axis=0),
        tables.sum(axis=0),
        tables.sum(axis=1),
        base,
        a,
        a_0,
        settings.prior.discount,
    )
    pairs, discount = zip(counts.ravel(), tables.ravel(), strict=True), settings.prior.discount
    seatings = sum(log_stirling(int(n), int(t), discount) for n, t in pairs if n > 1)
    return log_documents(documents, [settings.topic_alpha] * topics) + terms + seatings


@cache
def stirling_row(n, discount):
    """Return ln S(n, t) for t = 0 .. n."""
    if n == 0:
        return np.zeros(1)
    before, t = stirling_row(n - 1, discount), np.arange(n)
    with np.errstate(divide="ignore"):
        joined = before + np.log(np.maximum(n - 1 - discount * t, 0.0))
    return np.logaddexp(np.append(-np.inf, before), np.append(joined, -np.inf))


def log_stirling(n, t, discount):
    for smaller in range(0, n, 200):  # so that the recursion stays shallow
        stirling_row(smaller, discount)
    return stirling_row(n, discount)[t]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_joint_is_what_the_counts_say(variant):
    settings = made(KEPT, **VARIANTS[variant])
    learner = learner_for(settings)
    state, resampled = learner.init(settings, "", 0), 0
    for number, minibatch in enumerate(minibatches_of(awkward(), 12)):
        resampled += learner.step(state, minibatch).resamplings
        if number == 3:
            state = learner.load(settings, "", 0, learner.save(state))
        if state.waiting is None:
            for particle in range(settings.particles):
                assert joint(state.population, particle).log() == pytest.approx(
                    closed(state, particle), rel=1e-11
                )
    assert resampled or isinstance(settings, IncrementalGibbs)
    summary = learner.summary(state)
    assert summary.posterior.log() == pytest.approx(
        max(closed(state, p) for p in range(settings.particles)), rel=1e-11
    )
    if not settings.prior.discount:
        assert learner.snapshot(state).counts.sum() == state.tokens


@pytest.mark.parametrize("topics", [4, 70])
def test_the_joint_of_sparse_chains_is_what_their_counts_say(topics):
    settings = made(
        learner="batch-gibbs",
        prior="flat",
        topics=topics,
        chains=3,
        sweeps=3,
        max_words=500,
    )
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(awkward(), 12):
        learner.step(state, minibatch)
    posterior, chain = learner.summary(state).posterior, state.chain[0]
    words = learner.snapshot(state).rows(np.arange(len(state.vocabulary)))
    base = np.full(len(words), 1 / settings.vocabulary.size)
    truth = log_joint(
        words, chain.in_documents, [settings.topic_alpha] * topics, state.prior.a, base
    )
    assert posterior.log() == pytest.approx(truth, rel=1e-11)
    prior, documents = (
        (np.full(topics, settings.topic_alpha), state.prior.a, base),
        [t for t, _ in state.waiting],
    )
    others = [
        SparseChain(documents, *prior, stream_key(1, f"\0chain {number}")) for number in range(3)
    ]
    for other in [*others] * 4:
        other.sweep()
    assert posterior == max((other.joint() for other in others), key=lambda joint: joint.order())


def test_one_count_in_another_topic_would_be_noticed():
    settings = made(KEPT)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    learner.step(state, minibatches_of(awkward()[:12], 12)[0])
    truth = closed(state, 0)
    row = row_of.py_func(state.population.words, 0, 0)
    counts = state.population.words.rows[row]
    counts[np.argmax(counts)] -= 1
    counts[int(np.argmax(counts) == 0)] += 1
    assert closed(state, 0) != pytest.approx(truth, rel=1e-6)
