import numpy as np
import pytest
from made import random_snapshot
from scipy.special import digamma, softmax

from beam_topics.model.inference.kernels.mean_field import (
    TopicWords,
    infer_document,
    infer_documents,
)


def slow_infer(phi, occurrences, alpha, iterations):
    """The update as it is written: one phi for each word and topic."""
    gamma = alpha + occurrences.sum() / len(alpha)
    for _ in range(iterations):
        share = phi * np.exp(digamma(gamma))
        gamma = alpha + occurrences @ (share / share.sum(axis=1, keepdims=True))
    return gamma


def fast_infer(snapshot, rows, occurrences, iterations, tolerance):
    totals = snapshot.normalisers
    sparse, smooth = snapshot.counts / totals[snapshot.topics], snapshot.prior.strength / totals
    model = TopicWords(snapshot.offsets, snapshot.topics, sparse, smooth, snapshot.alpha)
    base = snapshot.prior.base[rows]
    return infer_document(rows, occurrences, base, model, iterations, tolerance)


@pytest.mark.parametrize("iterations", [1, 2, 30])
def test_equals_its_slow_twin(iterations):
    snapshot = random_snapshot(3, words=20, topics=7, alpha=np.linspace(0.05, 1, 7))
    rows, occurrences = np.array([4, 0, 17, 9]), np.array([3, 1, 1, 9])
    phi = (snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers
    slow = slow_infer(phi, occurrences, snapshot.alpha, iterations)
    assert fast_infer(snapshot, rows, occurrences, iterations, 1e-300) == pytest.approx(
        slow, rel=1e-10
    )


def test_stops_when_nothing_changes_any_more():
    snapshot = random_snapshot(3, words=20, topics=7)
    rows, occurrences = np.array([4, 0, 17, 9]), np.array([3, 1, 1, 9])
    end = fast_infer(snapshot, rows, occurrences, 2000, 1e-12)
    near = fast_infer(snapshot, rows, occurrences, 2000, 1e-4)
    assert near.tolist() != end.tolist()
    assert near == pytest.approx(end, abs=0.05)


def test_documents_are_each_inferred_alone():
    snapshot = random_snapshot(3, words=20, topics=7)
    totals, rows, occurrences = (
        snapshot.normalisers,
        np.array([4, 0, 17, 9, 4]),
        np.array([3, 1, 1, 9, 2]),
    )
    model = TopicWords(
        snapshot.offsets,
        snapshot.topics,
        snapshot.counts / totals[snapshot.topics],
        snapshot.prior.strength / totals,
        snapshot.alpha,
    )
    given = rows, occurrences, snapshot.prior.base[rows], model, 20, 1e-6
    found = infer_documents(np.array([0, 3, 3, 5]), *given)
    parts = [
        fast_infer(snapshot, rows[here], occurrences[here], 20, 1e-6)
        for here in (slice(0, 3), slice(3, 3), slice(3, 5))
    ]
    assert found.tolist() == [part.tolist() for part in parts]


@pytest.mark.parametrize("iterations", [1, 2, 30])
def test_weights_below_every_number_are_those_of_logarithms(iterations):
    topics = 2000
    snapshot = random_snapshot(
        3, words=20, topics=topics, alpha=np.linspace(0.5, 1.5, topics) / topics
    )
    rows, occurrences = np.array([4]), np.array([1])
    logs = np.log((snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers)
    gamma = snapshot.alpha + 1 / topics
    assert np.exp(digamma(gamma)).max() == 0
    for _ in range(iterations):
        gamma = snapshot.alpha + occurrences @ softmax(logs + digamma(gamma), axis=1)
    assert fast_infer(snapshot, rows, occurrences, iterations, 1e-300) == pytest.approx(
        gamma, rel=1e-9
    )
