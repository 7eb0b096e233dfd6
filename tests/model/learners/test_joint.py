"""The joint probability that particles keep incrementally, against the closed form, after everything that changes it."""

import numpy as np
import pytest
from corpora import awkward, minibatches_of
from tiny import log_joint

from model.kernels.random import stream_key
from model.kernels.sharing import row_of
from model.learners import learner_for
from model.learners.cloud import dense_counts, joint
from model.learners.sparse_chains import SparseChain
from model.settings import LearnerSettings

KEPT = {"topics": 4, "particles": 5, "ess": 0.9, "newest": 10_000, "reservoir": 0, "max_words": 500, "initial_documents": 0, "moves": 6}
VARIANTS = {
    "documents": {},
    "token units": {"unit": "token"},
    "tokens": {"ess_check": "token", "rejuvenation": "resampling", "unit": "token"},
    "incremental": {"learner": "incremental-gibbs"},
    "initial batch": {"initial_documents": 20, "chains": 3, "initial_sweeps": 5},
}


def closed(state, particle):
    settings, table = state.settings, state.cloud.documents
    words = dense_counts(state.cloud, particle, len(state.vocabulary), settings.topics)
    rows = [row_of.py_func(table, particle, int(slot)) for slot in state.history.slots()]
    documents = table.rows[rows][:, : settings.topics]
    assert documents.sum() == words.sum() == state.tokens
    return log_joint(words, documents, [settings.alpha] * settings.topics, settings.prior_words, settings.beta)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_joint_is_what_the_counts_say(variant):
    settings = LearnerSettings(**{**KEPT, **VARIANTS[variant]})
    learner = learner_for(settings)
    state, resampled = learner.init(settings, "", 0), 0
    for number, minibatch in enumerate(minibatches_of(awkward(), 12)):
        resampled += learner.step(state, minibatch).resamplings
        if number == 3:
            state = learner.load(settings, "", 0, learner.save(state))
        if state.waiting is None:
            for particle in range(settings.particles):
                assert joint(state.cloud, particle).log() == pytest.approx(closed(state, particle), rel=1e-11)
    assert resampled or settings.learner == "incremental-gibbs"
    summary = learner.summary(state)
    assert summary.posterior.log() == pytest.approx(max(closed(state, p) for p in range(settings.particles)), rel=1e-11)
    assert learner.snapshot(state).counts.sum() == state.tokens


@pytest.mark.parametrize("topics", [4, 70])
def test_the_joint_of_sparse_chains_is_what_their_counts_say(topics):
    settings = LearnerSettings(learner="batch-gibbs", sampler="sparse", topics=topics, particles=3, sweeps=3, max_words=500)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(awkward(), 12):
        learner.step(state, minibatch)
    posterior, chain = learner.summary(state).posterior, state.chain[0]
    words = learner.snapshot(state).rows(np.arange(len(state.vocabulary)))
    truth = log_joint(words, chain.in_documents, [settings.alpha] * topics, settings.prior_words, settings.beta)
    assert posterior.log() == pytest.approx(truth, rel=1e-11)
    prior, documents = (np.full(topics, settings.alpha), state.prior.a, state.prior.base[: len(words)]), [t for t, _ in state.waiting]
    others = [SparseChain(documents, *prior, stream_key(1, f"\0chain {number}")) for number in range(3)]
    for other in [*others] * 4:
        other.sweep()
    assert posterior == max((other.joint() for other in others), key=lambda joint: joint.order())


def test_one_count_in_another_topic_would_be_noticed():
    settings = LearnerSettings(**KEPT)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    learner.step(state, minibatches_of(awkward()[:12], 12)[0])
    truth = closed(state, 0)
    row = row_of.py_func(state.cloud.words, 0, 0)
    counts = state.cloud.words.rows[row]
    counts[np.argmax(counts)] -= 1
    counts[int(np.argmax(counts) == 0)] += 1
    assert closed(state, 0) != pytest.approx(truth, rel=1e-6)
