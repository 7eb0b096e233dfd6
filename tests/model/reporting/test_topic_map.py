import numpy as np
import pytest
from made import random_snapshot, snapshot_of

from beam_topics.model.reporting import figures, relevance
from beam_topics.model.reporting.relevance import distances


def test_the_distance_is_hellingers(monkeypatch):
    snapshot = random_snapshot(1)
    rows = np.arange(len(snapshot.words))
    p = (snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers
    whole = distances(snapshot)
    for a in range(5):
        for b in range(5):
            wanted = np.sqrt(0.5 * ((np.sqrt(p[:, a]) - np.sqrt(p[:, b])) ** 2).sum())
            assert whole[a, b] == pytest.approx(wanted if a != b else 0, abs=1e-5)
    monkeypatch.setattr(relevance, "_BLOCK", 7)
    assert np.abs(distances(snapshot) - whole).max() <= 2e-6


def test_topics_without_a_common_word_are_at_distance_1():
    apart = distances(snapshot_of([[9.0, 0.0], [0.0, 9.0]], beta=1e-12))
    assert apart.tolist() == [[0, pytest.approx(1, abs=1e-4)], [pytest.approx(1, abs=1e-4), 0]]


def test_points_of_a_plane_are_found_again():
    points = np.random.default_rng(2).normal(size=(8, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    found = figures.places(apart)
    again = np.linalg.norm(found[:, None] - found[None], axis=2)
    assert np.abs(again - apart).max() < 1e-4
    assert np.array_equal(found, figures.places(apart))


@pytest.mark.parametrize("topics", [1, 2, 3])
def test_few_topics_have_places(topics):
    apart = distances(random_snapshot(3, topics=topics))
    assert figures.places(apart).shape == (topics, 2)
    assert np.isfinite(figures.places(apart)).all()


def test_equal_topics_have_one_place():
    assert np.abs(figures.places(np.zeros((4, 4)))).max() == 0


def test_the_nearest_topics_come_first():
    apart = np.array([[0, 0.5, 0.2], [0.5, 0, 0.5], [0.2, 0.5, 0]])
    assert figures.nearest(apart, 0, 5, np.arange(3)) == [(2, 0.2), (1, 0.5)]
    assert figures.nearest(apart, 1, 1, np.arange(3)) == [(0, 0.5)]
    # Topics without a token are near to none.
    assert figures.nearest(apart, 0, 5, np.array([0, 1])) == [(1, 0.5)]
