"""The posterior of theta on tiny documents: Gibbs methods of inference against enumeration.

Two documents of three tokens and two topics have 64 assignments. Gibbs2 must draw from their joint
distribution, and Gibbs3 from that of each document alone. Gibbs1, whose model learned from the
second document, must draw from the distribution without the model's counts. Planted bugs must be
found.
"""

import itertools
from math import exp

import numpy as np
import pytest
from alarm import agrees_in_counts, agrees_in_means
from blocks import joined, mixtures_of_documents
from corpora import document_of
from corpus_twin import slow_passes
from learner_options import inferring
from made import snapshot_of
from scipy.special import gammaln
from sparse_twin import BUGS, slow_sparse

from beam_topics.model.inference import PublishedModel, inference_for

ALPHA = np.array([0.3, 0.7])
SNAPSHOT = snapshot_of([[3.0, 0.5], [0.0, 2.0], [1.0, 1.0]], alpha=ALPHA, beta=0.2)
TEXTS = [[0, 0, 1], [1, 2, 2]]
DOCUMENTS = [document_of([f"w{w}" for w in text], number) for number, text in enumerate(TEXTS)]


def joint(texts, states, base):
    """Return P(w, z), up to a constant, of assignments beside the counts ``base`` [W, T]."""
    words, log = base.copy(), 0.0
    for text, topics in zip(texts, states, strict=True):
        log += gammaln(ALPHA + np.bincount(topics, minlength=2)).sum()
        np.add.at(words, (text, topics), 1)
    betas = SNAPSHOT.prior.shares(np.arange(3))
    return exp(
        log
        + gammaln(words + betas).sum()
        - gammaln(words.sum(axis=0) + SNAPSHOT.prior.strength).sum()
    )


def law(texts, base):
    """Return P(n_d0 = k_d for all documents d), with one axis of 0 .. 3 for each document."""
    masses = np.zeros([len(text) + 1 for text in texts])
    for flat in itertools.product((0, 1), repeat=sum(map(len, texts))):
        at = iter(flat)
        states = [[next(at) for _ in text] for text in texts]
        masses[tuple(topics.count(0) for topics in states)] += joint(texts, states, base)
    return masses / masses.sum()


BASE = SNAPSHOT.rows(np.arange(3))
TOGETHER = law(TEXTS, BASE)
ALONE = np.multiply.outer(law(TEXTS[:1], BASE), law(TEXTS[1:], BASE))
AGAIN = law(TEXTS, np.zeros((3, 2)))


def run(name, seeds, documents=DOCUMENTS, **others):
    """Return int[seeds, documents]: n_d0 from theta, times the number of states."""
    found = []
    for seed in range(seeds):
        settings = inferring(name, seed=seed, **others)
        method = inference_for(settings)
        training = joined(DOCUMENTS[len(documents) :]) if "training" in method.needs else None
        model = PublishedModel(SNAPSHOT, "v", None, training)
        mixtures = mixtures_of_documents(settings, model, documents)
        found.append(
            [
                mixture.proportions[0] * (mixture.tokens + ALPHA.sum()) - ALPHA[0]
                for mixture in mixtures
            ]
        )
    return np.array(found)


def cells(found, shape):
    return np.bincount(
        np.ravel_multi_index(np.rint(found).astype(int).T, shape), minlength=np.prod(shape)
    )


@pytest.mark.parametrize(("name", "exact"), [("gibbs2", TOGETHER), ("gibbs3", ALONE)])
def test_last_states_have_the_enumerated_law(name, exact):
    found = cells(run(name, 4000, sweeps=10, states="last"), exact.shape)
    assert agrees_in_counts(found, exact.ravel())


@pytest.mark.parametrize(("name", "exact"), [("gibbs2", ALONE), ("gibbs3", TOGETHER)])
def test_the_two_laws_are_told_apart(name, exact):
    found = cells(run(name, 4000, sweeps=10, states="last"), exact.shape)
    assert not agrees_in_counts(found, exact.ravel())


@pytest.mark.parametrize(("name", "exact"), [("gibbs2", TOGETHER), ("gibbs3", ALONE)])
def test_averages_have_the_enumerated_mean(name, exact):
    mean = [(np.arange(4) * exact.sum(axis=1 - d)).sum() for d in range(2)]
    assert agrees_in_means(run(name, 1500, sweeps=30), mean)


def test_gibbs1_draws_without_the_models_counts():
    exact = AGAIN.sum(axis=1)
    found = cells(run("gibbs1", 3000, DOCUMENTS[:1], sweeps=30, states="last"), exact.shape)
    assert agrees_in_counts(found, exact)
    assert not agrees_in_counts(found, TOGETHER.sum(axis=1))


@pytest.mark.parametrize(
    "bug", [None, "own counts forgotten", "not taken out", "other documents forgotten"]
)
def test_enumeration_finds_a_planted_bug(bug):
    generator, found = np.random.default_rng(1), []
    for _ in range(5000):
        _, counts = slow_passes(
            SNAPSHOT, np.arange(3), TEXTS, 6, lambda d, sweep, n: generator.random(n).tolist(), bug
        )
        found.append([counts[0][0], counts[1][0]])
    assert agrees_in_counts(cells(np.array(found), TOGETHER.shape), TOGETHER.ravel()) == (
        bug is None
    )


@pytest.mark.parametrize("bug", [None, *BUGS])
def test_enumeration_finds_a_bug_in_sparse_sampling(bug):
    generator, found = np.random.default_rng(1), []
    for _ in range(5000):
        _, counts = slow_sparse(
            SNAPSHOT, np.arange(3), TEXTS, 6, lambda d, sweep, n: generator.random(n).tolist(), bug
        )
        found.append(counts[:, 0])
    assert agrees_in_counts(cells(np.array(found), TOGETHER.shape), TOGETHER.ravel()) == (
        bug is None
    )
