import math

import numpy as np
import pytest

from beam_topics.model.evaluation.kernels import held_out
from beam_topics.model.learners.variational.kernels.variational_estep import (
    LocalSweeps,
    TopicWeights,
    WordRepeats,
    cumulate,
    fit_documents,
    sample_documents,
    score_documents,
)
from beam_topics.model.learners.variational.shared import KnownTokens

TOKENS = np.array([0, 1, 2, 1, 3, 3, 0, 2, 2, 2], np.int32)
OFFSETS = np.array([0, 4, 4, 9, 10])


def sampled(weights, alpha, burn_in, kept, slices=((0, 4),), sequence=3, main=None):
    sums, counts = np.empty_like(weights), np.zeros(weights.shape, np.int32)
    cumulate(weights, sums)
    main = np.empty(4, np.int32) if main is None else main
    topics, sweeps = TopicWeights(weights, sums, alpha), LocalSweeps(burn_in, kept, 1, 2, sequence)
    for first, last in slices:
        sample_documents(
            first, last, KnownTokens(np.arange(4), TOKENS, OFFSETS), topics, sweeps, counts, main
        )
    return counts


def test_slices_change_nothing_and_names_do():
    weights = np.random.default_rng(2).gamma(1.0, 1.0, (4, 5))
    whole = sampled(weights, 0.3, 2, 6)
    assert whole.sum(axis=1).tolist() == [12, 12, 24, 12]
    assert (sampled(weights, 0.3, 2, 6, ((2, 4), (0, 1), (1, 2))) == whole).all()
    assert (sampled(weights, 0.3, 2, 6, sequence=4) != whole).any()


def test_the_main_topic_is_the_one_that_a_document_has_most_often():
    weights = np.random.default_rng(2).gamma(1.0, 1.0, (4, 5))
    main = np.full(4, -7, np.int32)
    for d in (3, 0, 2, 1):
        counts = sampled(weights, 0.3, 2, 6, ((d, d + 1),), main=main).sum(axis=0)
        assert main[d] == (counts.argmax() if counts.any() else -1)
    assert main[1] == -1 and (main[[0, 2, 3]] >= 0).all()


def test_frequencies_are_those_of_the_enumerated_posterior():
    """Document 2 has three words of five tokens; its 2**5 assignments, by alpha and the weights."""
    weights, alpha, kept = np.array([[0.5, 0.1], [0.2, 0.3], [0.1, 0.6], [0.9, 0.2]]), 0.4, 60_000
    found = sampled(weights, alpha, 10, kept, ((2, 3),)) / kept
    tokens = TOKENS[OFFSETS[2] : OFFSETS[3]]
    expected, whole = np.zeros((4, 2)), 0.0
    for code in range(2 ** len(tokens)):
        states = [code >> i & 1 for i in range(len(tokens))]
        ones = sum(states)
        p = math.gamma(ones + alpha) * math.gamma(len(tokens) - ones + alpha)
        p *= math.prod(weights[v, k] for v, k in zip(tokens, states, strict=True))
        whole += p
        for v, k in zip(tokens, states, strict=True):
            expected[v, k] += p
    assert found == pytest.approx(expected / whole, abs=0.03)
    assert (
        np.abs(found - sampled(weights[:, ::-1].copy(), alpha, 10, kept, ((2, 3),)) / kept).max()
        > 0.1
    )


def test_the_score_is_the_first_moment():
    phi = np.random.default_rng(3).dirichlet(np.ones(4), 5).T.copy()
    alpha = np.full(5, 0.2)
    mantissa, exponent = score_documents(np.tile(TOKENS, 60), np.append(OFFSETS, 600), phi, 0.2)
    parts = [TOKENS[a:b] for a, b in zip(OFFSETS, OFFSETS[1:], strict=False)] + [
        np.tile(TOKENS, 60)[10:]
    ]
    expected = sum(np.log(held_out.first_moment(part, phi, alpha, 1.0)).sum() for part in parts)
    assert exponent < 0
    assert math.log(mantissa) + exponent * math.log(2) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("topics", [3, 2000])
def test_one_token_however_many_topics(topics):
    weights = np.full((1, topics), 0.25)
    weights[0, 1] = 0.5
    theta = np.zeros((1, topics))
    document = WordRepeats(np.zeros(1, np.int32), np.ones(1), np.array([0, 1]))
    fit_documents(0, 1, document, weights, 1 / topics, 100, theta)
    assert np.all(np.isfinite(theta)) and theta.argmax() == 1 and theta[0, 1] > 10 * theta[0, 0]
