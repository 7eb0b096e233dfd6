"""The ``none`` share, by hand and with a planted bug."""

import math

import numpy as np
import pytest
from blocks import one_word_lists
from made import random_snapshot, snapshot_of

from beam_topics.model.inference.features import NumberedDocuments
from beam_topics.model.inference.serving import NoneShares, base_probabilities


def documents_of(snapshot, *texts):
    return NumberedDocuments(snapshot, one_word_lists(texts))


def by_hand(snapshot, words):
    """The share with plain products."""
    rows = [snapshot.numbers[word] for word in words if word in snapshot.numbers]
    phi = (snapshot.rows(rows) + snapshot.prior.shares(np.array(rows))) / snapshot.normalisers
    alpha, mean, model = snapshot.alpha, np.zeros(snapshot.topic_count), 1.0
    for i, row in enumerate(phi):
        weights = row * (alpha + mean)
        model *= weights.sum() / (alpha.sum() + i)
        mean += weights / weights.sum()
    base = base_probabilities(snapshot)[rows].prod() + len(snapshot.words) ** -float(len(rows))
    return base / (model + base)


def test_it_is_the_share_by_hand():
    snapshot = random_snapshot()
    words = [*snapshot.words[:3], "unknown", snapshot.words[0]]
    (found,) = NoneShares(snapshot).of(documents_of(snapshot, words))
    assert found == pytest.approx(by_hand(snapshot, words), rel=1e-12)


def test_the_base_is_the_mean_of_the_topics():
    snapshot = random_snapshot()
    everything = np.arange(len(snapshot.words))
    phi = (snapshot.rows(everything) + snapshot.prior.shares(everything)) / snapshot.normalisers
    weights = snapshot.totals / snapshot.totals.sum()
    assert base_probabilities(snapshot) == pytest.approx(phi @ weights, rel=1e-12)


def test_documents_without_known_words_and_long_ones():
    """No topic explains what has no word, and no product leaves the range of a float."""
    snapshot = random_snapshot()
    many = [snapshot.words[n % len(snapshot.words)] for n in range(5000)]
    found = NoneShares(snapshot).of(documents_of(snapshot, [], ["unknown"], many))
    assert found[:2].tolist() == [1.0, 1.0]
    assert 0 <= found[2] <= 1 and not math.isnan(found[2])


def test_nonsense_is_none_and_documents_of_topics_are_not():
    rng = np.random.default_rng(3)
    words, topics = tuple(f"w{n}" for n in range(200)), 10
    counts = np.zeros((200, topics))
    for topic in range(topics):
        counts[topic * 20 : topic * 20 + 20, topic] = rng.integers(20, 200, 20)
    snapshot = snapshot_of(counts, words)
    phi, base = counts / counts.sum(axis=0), counts.sum(axis=1) / counts.sum()

    def drawn(p):
        return [words[n] for n in rng.choice(200, 40, p=p)]

    own = []
    for _ in range(200):
        theta = rng.dirichlet(np.full(topics, 0.1))
        own.append(drawn(phi @ theta))
    frequent = [drawn(base) for _ in range(200)]
    even = [drawn(np.full(200, 1 / 200)) for _ in range(200)]
    shares = NoneShares(snapshot)
    assert (shares.of(documents_of(snapshot, *own)) > 0.5).mean() < 0.05
    for nonsense in (frequent, even):
        assert (shares.of(documents_of(snapshot, *nonsense)) > 0.5).mean() >= 0.95
