import numpy as np
import pytest
from made import random_snapshot
from scipy.special import digamma

from model.kernels.jit import kernel
from model.kernels.variational import exp_digamma, infer_document


@kernel
def exp_digamma_of(x):
    return exp_digamma(x)


def slow_infer(phi, times, alpha, iterations):
    """The update as it is written: one phi for each word and topic."""
    gamma = alpha + times.sum() / len(alpha)
    for _ in range(iterations):
        share = phi * np.exp(digamma(gamma))
        gamma = alpha + times @ (share / share.sum(axis=1, keepdims=True))
    return gamma


def fast_infer(snapshot, rows, times, iterations, tolerance):
    totals = snapshot.normalisers
    sparse, smooth = snapshot.counts / totals[snapshot.topics], snapshot.prior.strength / totals
    topics = snapshot.offsets, snapshot.topics, sparse, smooth, snapshot.prior.base[rows]
    return infer_document(rows, times, *topics, snapshot.alpha, iterations, tolerance)


@pytest.mark.parametrize("x", [1e-3, 0.1, 0.5, 1.0, 2.5, 7.999, 8.0, 60.0, 1e5])
def test_exp_digamma(x):
    assert exp_digamma_of(x) == pytest.approx(np.exp(digamma(x)), rel=1e-12)


@pytest.mark.parametrize("iterations", [1, 2, 30])
def test_equals_its_slow_twin(iterations):
    snapshot = random_snapshot(3, words=20, topics=7, alpha=np.linspace(0.05, 1, 7))
    rows, times = np.array([4, 0, 17, 9]), np.array([3.0, 1, 1, 9])
    phi = (snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers
    slow = slow_infer(phi, times, snapshot.alpha, iterations)
    assert fast_infer(snapshot, rows, times, iterations, 1e-300) == pytest.approx(slow, rel=1e-10)


def test_stops_when_nothing_changes_any_more():
    snapshot = random_snapshot(3, words=20, topics=7)
    rows, times = np.array([4, 0, 17, 9]), np.array([3.0, 1, 1, 9])
    end = fast_infer(snapshot, rows, times, 2000, 1e-12)
    near = fast_infer(snapshot, rows, times, 2000, 1e-4)
    assert near.tolist() != end.tolist()
    assert near == pytest.approx(end, abs=0.05)
