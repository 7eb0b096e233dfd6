import numpy as np
import pytest
from alarm import agrees_in_counts
from corpus_twin import sweeps_of
from made import random_snapshot
from scipy.stats import binom

from beam_topics.model.inference.kernels.mean_field import TopicWords
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.papers.kernels.hybrid import sample_document


def slow_repeat(snapshot, rows, tokens, theta, repeats, kept, uniforms):
    """Row by row: the word's own counts first, then the prior's part."""
    totals = snapshot.normalisers
    theta, result = theta.copy(), np.zeros(len(theta), np.int64)
    for repeat in range(repeats):
        counts = np.zeros(len(theta), np.int64)
        for i, v in enumerate(tokens):
            at = range(snapshot.offsets[rows[v]], snapshot.offsets[rows[v] + 1])
            topics = [int(snapshot.topics[k]) for k in at] + list(range(len(theta)))
            weights = [
                theta[snapshot.topics[k]] * (snapshot.counts[k] / totals[snapshot.topics[k]])
                for k in at
            ]
            own, smooth = (
                np.cumsum([0.0, *weights])[1:],
                np.cumsum(theta * (snapshot.prior.strength / totals)),
            )
            first = own[-1] if len(own) else 0.0
            base = snapshot.prior.base[rows[v]]
            x = uniforms[repeat, i] * (first + smooth[-1] * base)
            below = np.searchsorted(smooth, (x - first) / base, side="right")
            k = np.searchsorted(own, x, side="right") if x < first else len(own) + below
            counts[topics[min(k, len(topics) - 1)]] += 1
        theta = (snapshot.alpha + counts) / np.cumsum(snapshot.alpha + counts)[-1]
        if repeat >= repeats - kept:
            result += counts
    return result


def fast_repeat(snapshot, rows, tokens, theta, repeats, kept, key):
    totals = snapshot.normalisers
    model = TopicWords(
        snapshot.offsets,
        snapshot.topics,
        snapshot.counts / totals[snapshot.topics],
        snapshot.prior.strength / totals,
        snapshot.alpha,
    )
    return sample_document(
        tokens, rows, snapshot.prior.base[rows], model, theta, repeats, kept, key
    )


@pytest.mark.parametrize(
    ("topics", "n", "repeats", "kept"), [(1, 4, 2, 1), (5, 60, 4, 2), (12, 9, 3, 3), (3, 0, 2, 1)]
)
def test_equals_its_slow_twin(topics, n, repeats, kept):
    snapshot = random_snapshot(topics, words=20, topics=topics, alpha=np.linspace(0.05, 1, topics))
    generator = np.random.default_rng(n)
    rows, tokens = generator.permutation(20)[:6], generator.integers(0, 6, n).astype(np.int32)
    theta, key = generator.dirichlet(np.ones(topics)), stream_key(3, "document")
    slow = slow_repeat(snapshot, rows, tokens, theta, repeats, kept, sweeps_of(key, repeats, n))
    fast = fast_repeat(snapshot, rows, tokens, theta, repeats, kept, key)
    assert fast.tolist() == slow.tolist()
    assert fast.sum() == n * kept


def test_draws_given_theta_are_independent():
    snapshot = random_snapshot(1, words=6, topics=2)
    rows, tokens, theta = np.array([2]), np.zeros(3, np.int32), np.array([0.3, 0.7])
    phi = ((snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers)[0]
    share = theta[0] * phi[0] / (theta @ phi)
    found = [
        fast_repeat(snapshot, rows, tokens, theta, 1, 1, stream_key(seed, "d"))[0]
        for seed in range(6000)
    ]
    assert agrees_in_counts(np.bincount(found, minlength=4), binom.pmf(np.arange(4), 3, share))
    assert not agrees_in_counts(
        np.bincount(found, minlength=4), binom.pmf(np.arange(4), 3, theta[0])
    )
