import numpy as np
import pytest
from corpus_twin import corpus_of
from made import random_snapshot
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.gibbs2 import build_corpora, fit_alpha

TRUE = np.array([0.1, 0.8, 0.3])


def draws(documents=400, seed=1):
    generator = np.random.default_rng(seed)
    lengths = generator.integers(0, 60, documents)
    return np.array(
        [generator.multinomial(n, generator.dirichlet(TRUE)) for n in lengths], np.int32
    )


def log_likelihood(counts, alpha):
    lengths = counts.sum(axis=1)
    each = (
        gammaln(alpha.sum())
        - gammaln(alpha.sum() + lengths)
        + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=1)
    )
    return each.sum()


def test_a_step_is_minkas():
    counts, alpha = draws(), np.array([0.5, 0.5, 0.5])
    above = (digamma(alpha + counts) - digamma(alpha)).sum(axis=0)
    below = (digamma(alpha.sum() + counts.sum(axis=1)) - digamma(alpha.sum())).sum()
    assert fit_alpha(counts, alpha, 1) == pytest.approx(alpha * above / below, rel=1e-12)


def test_every_step_makes_the_counts_more_likely():
    counts, alpha, before = draws(), np.full(3, 2.0), -np.inf
    for _ in range(20):
        after = log_likelihood(counts, alpha)
        assert after > before
        alpha, before = fit_alpha(counts, alpha, 1), after


def test_many_steps_find_the_optimum_near_the_truth():
    counts = draws()
    found = fit_alpha(counts, np.full(3, 1.0), 500)
    best = minimize(lambda logs: -log_likelihood(counts, np.exp(logs)), np.zeros(3), tol=1e-9)
    assert found == pytest.approx(np.exp(best.x), rel=1e-3)
    assert found == pytest.approx(TRUE, rel=0.25)


def test_without_tokens_and_with_a_topic_that_is_never_used():
    alpha = np.array([0.3, 0.2])
    assert fit_alpha(np.zeros((4, 2), np.int32), alpha).tolist() == alpha.tolist()
    assert np.all(fit_alpha(np.array([[5, 0], [9, 0]], np.int32), alpha, 50) > 0)


def test_only_words_that_are_used_have_rows():
    snapshot = random_snapshot(words=1000)
    rows, (corpus, other) = build_corpora(
        numbered(snapshot, corpus_of([5], words=9)),
        numbered(snapshot, corpus_of([3], words=1200, seed=4)),
    )
    used = {
        word
        for block in (corpus_of([5], words=9), corpus_of([3], words=1200, seed=4))
        for word in block.words
    }
    assert [snapshot.words[row] for row in rows] == sorted(
        used & set(snapshot.words), key=snapshot.words.index
    )
    assert corpus.number != other.number
