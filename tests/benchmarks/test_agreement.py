import numpy as np
import pytest
from scipy.stats import entropy

from beam_topics.model.errors import OptionError
from beam_topics.model.inference.mixtures import TopicMixture
from benchmarks.agreement import agreement, cosine, divergence, f1, major_topics

P, Q = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.1, 0.6, 0.1, 0.2])


def mixture(proportions, known=5):
    return TopicMixture("", "d", 0, "v", "m", np.asarray(proportions, float), known, 5)


def test_measures():
    assert cosine(P, Q) == pytest.approx((0.05 + 0.18 + 0.015 + 0.01) / np.sqrt(0.365 * 0.42))
    assert divergence(P, Q) == pytest.approx(entropy(P, Q))
    assert major_topics(P, 0.8) == {0, 1}
    assert major_topics(Q, 0.8) == {1, 3}
    assert f1(P, Q, 0.8) == 0.5
    assert (cosine(P, P), divergence(P, P), f1(P, P, 0.8)) == (pytest.approx(1), 0, 1)


def test_major_topics_are_the_fewest():
    assert major_topics(np.array([0.25] * 4), 0.75) in ({0, 1, 2}, {0, 1, 2, 3})
    assert major_topics(np.array([0.25] * 4), 0.6) == {0, 1, 2}
    assert major_topics(np.array([1.0]), 0.8) == {0}
    assert major_topics(np.full(10, 0.1), 0.999999) == set(range(10))


def test_means_over_documents_with_known_words():
    found = agreement(
        [mixture(P), mixture(Q), mixture(P, 0)], [mixture(Q), mixture(Q), mixture(Q, 0)]
    )
    assert found == {
        "documents": 2,
        "cosine": pytest.approx((1 + cosine(P, Q)) / 2),
        "kl": pytest.approx(divergence(P, Q) / 2),
        "f1": 0.75,
    }


def test_nothing_to_compare():
    assert agreement([], []) == {"documents": 0, "cosine": None, "kl": None, "f1": None}
    with pytest.raises(OptionError, match="mass: 1 was given; allowed is a share between 0 and 1"):
        agreement([], [], 1)
