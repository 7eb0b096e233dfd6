"""The filter and batch Gibbs against the enumeration of a tiny posterior.

The same statistic must find each planted bug. The estimate of the evidence times the weighted
particles is an unbiased estimate of P(w, z) for any number of particles, if the times of moves do
not depend on the particles. So the mean over many seeds is compared with the exact sums.
Rejuvenation after resampling only (Alg. 4 as printed) depends on the particles through the ESS, and
is unbiased only in the limit of many particles. Such variants resample after every token here.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from alarm import agrees_in_counts, agrees_in_means
from corpora import document_of, minibatches_of
from learner_options import made
from tiny import ALPHA, ASSIGNMENTS, BETA, JOINT, POSTERIOR, TEXTS, alike
from twins import Particle

from beam_topics.model.learners import learner_for
from beam_topics.model.papers import state as papers_state
from beam_topics.model.papers.kernels.copy_on_write import row_of
from beam_topics.model.papers.sample import draw_sample

BASE = {
    "learner": "particle-filter",
    "topics": 2,
    "alpha": ALPHA,
    "beta": BETA,
    "particles": 3,
    "vocabulary": "given",
    "vocabulary_file": ("w0", "w1"),
    "initial": "none",
    "moves": 2,
    "ess": 0.9,
    "rejuvenation": "document",
    "history": "full",
}
BY_TOKENS = {
    "rejuvenation": "resampling",
    "ess": 3,
    "rejuvenation_unit": "token",
}
VARIANTS = {
    "documents": {},
    "never moved": {"rejuvenation": "never", "history": None, "moves": None},
    "token units": {"rejuvenation_unit": "token"},
    "tokens": BY_TOKENS,
    "tokens, multinomial": {**BY_TOKENS, "resampling": "multinomial"},
    "moved after every token": {"rejuvenation": "tokens", "rejuvenation_unit": "token"},
}
STREAM = minibatches_of(
    [document_of([f"w{w}" for w in text], n) for n, text in enumerate(TEXTS)], 1
)
SAME = ((JOINT / JOINT.sum())[:, None] * alike(ASSIGNMENTS)).sum(0)
EXACT = np.concatenate([[1.0], SAME])


def settings_of(variant):
    return made({**BASE, **{k: v for k, v in VARIANTS[variant].items() if v is not None}})


def topics_of(state, particle):
    """Return the topics of all tokens, in order of arrival."""
    particles, found = state.particles, []
    for slot in state.history.slots():
        for page in state.history.pages_of(int(slot)):
            row = particles.topics.rows[row_of.py_func(particles.topics, particle, page)]
            found.append(row[: state.history.pages.length[slot]])
    return np.concatenate(found)


def estimates(variant, seeds):
    """Return unbiased estimates of (1, P(tokens i and j have one topic)).

    Each is multiplied by the evidence over the exact evidence.
    """
    found, one = [], settings_of(variant)
    learner = learner_for(one)
    for seed in range(seeds):
        state = learner.init(replace(one, seed=seed), "", 0)
        for minibatch in STREAM:
            learner.step(state, minibatch)
        evidence = state.evidence.mantissa * 2.0**state.evidence.exponent / JOINT.sum()
        same = np.zeros((3, 15))
        if len(state.history.slots()) == 3:
            same = alike([topics_of(state, p) for p in range(3)])
        found.append(evidence * np.concatenate([[1.0], state.particles.weight @ same]))
    return np.array(found)


@cache
def estimates_of(variant):
    return estimates(variant, 1500)


def width_of(variant):
    # Nothing is kept of documents that nobody visits.
    return 1 if variant == "never moved" else 16


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_filter_agrees_with_enumeration(variant):
    width = width_of(variant)
    assert agrees_in_means(estimates_of(variant)[:, :width], EXACT[:width])


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_filter_agrees_with_enumeration_over_many_seeds(variant):
    width = width_of(variant)
    assert agrees_in_means(estimates(variant, 30_000)[:, :width], EXACT[:width])


@pytest.mark.parametrize("bug", ["another prior", "resampling ignores weights"])
def test_a_bug_in_the_filter_is_found(bug, monkeypatch):
    def planted(particles, prior, pages, past, law, need, resampler, *others):
        if bug == "resampling ignores weights":
            resampler = resampler._replace(threshold=0.0)
        if bug == "another prior":
            prior = prior._replace(beta=2 * prior.beta)
        return filter_document(particles, prior, pages, past, law, need, resampler, *others)

    filter_document = papers_state.alg4.filter_document
    monkeypatch.setattr(papers_state.alg4, "filter_document", planted)
    assert not agrees_in_means(estimates("documents", 1500), EXACT)


def assignments_by_samples(chains, sweeps, **others):
    """Count how often batch Gibbs ends in each of the 64 assignments."""
    settings = made(BASE, learner="batch-gibbs", chains=1, sweeps=sweeps, **others)
    documents = [(np.array(text, np.int32), None) for text in TEXTS]
    return count([draw_sample(settings, f"{c}", documents, 2).z for c in range(chains)])


def assignments_by_twin(chains, sweeps, bug, seed=1):
    generator, ends = np.random.default_rng(seed), []
    for _ in range(chains):
        particle = Particle([ALPHA] * 2, [0.5] * 2, 2 * BETA, bug)
        for d, text in enumerate(TEXTS):
            particle.learn(d, text, generator.random(len(text)), evenly=True)
        for _ in range(sweeps):
            for d, text in enumerate(TEXTS):
                for i in range(len(text)):
                    particle.move(d, i, generator.random())
        ends.append(np.concatenate([particle.topics[d] for d in range(3)]))
    return count(ends)


def count(ends):
    return np.bincount(np.array(ends, np.int64) @ (2 ** np.arange(5, -1, -1)), minlength=64)


def test_the_enumeration_is_a_distribution_over_all_data():
    """Compare the closed form with the chain rule of the twin."""
    particle = Particle([ALPHA] * 2, [0.5] * 2, 2 * BETA)
    for d, text in enumerate(TEXTS):
        particle.learn(d, text, [0.3] * len(text))
    states = tuple(t for d in range(3) for t in particle.topics[d])
    assert particle.joint == pytest.approx(JOINT[ASSIGNMENTS.index(states)], rel=1e-12)


def test_batch_gibbs_agrees_with_enumeration():
    assert agrees_in_counts(assignments_by_samples(3000, 15), POSTERIOR)


@pytest.mark.parametrize("wrong", [{"alpha": 2 * ALPHA}, {"beta": 4 * BETA}])
def test_a_bug_in_batch_gibbs_is_found(wrong):
    others = {"sweeps": 15, **wrong}
    assert not agrees_in_counts(assignments_by_samples(3000, **others), POSTERIOR)


@pytest.mark.parametrize("bug", [None, "not taken out", "document not updated"])
def test_a_bug_in_moves_is_found(bug):
    assert agrees_in_counts(assignments_by_twin(4000, 8, bug), POSTERIOR) == (bug is None)
