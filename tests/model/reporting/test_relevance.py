"""Probability, lift, relevance and FREX against their definitions, word by word."""

import math

import numpy as np
import pytest
from made import random_snapshot, snapshot_of

from beam_topics.model.reporting.relevance import topic_shares, word_statistics


def probabilities(snapshot):
    """float64[W, T], P(w | z)."""
    counts = snapshot.rows(np.arange(len(snapshot.words)))
    return (counts + snapshot.prior.shares(np.arange(len(snapshot.words)))) / snapshot.normalisers


def test_the_statistics_are_those_of_the_definitions():
    snapshot = random_snapshot(4)
    found, p = word_statistics(snapshot), probabilities(snapshot)
    marginal = p @ topic_shares(snapshot)
    seen = 0
    for topic in range(snapshot.topic_count):
        at = found.span(topic)
        for place in range(at.start, at.stop):
            word = found.words[place]
            assert found.counts[place] == snapshot.rows([word])[0, topic] > 0
            assert found.probability[place] == pytest.approx(p[word, topic], abs=1e-12)
            assert found.lift[place] == pytest.approx(p[word, topic] / marginal[word], abs=1e-9)
            assert found.exclusivity[place] == pytest.approx(p[word, topic] / p[word].sum())
            seen += 1
    assert seen == len(snapshot.counts)


def test_the_pairs_of_a_topic_are_in_the_order_of_its_top_words():
    snapshot = random_snapshot(5)
    found = word_statistics(snapshot)
    for topic, words in enumerate(snapshot.top_words(100)):
        assert [snapshot.words[w] for w in found.words[found.span(topic)]] == words


@pytest.mark.parametrize("weight", [0.0, 0.35, 1.0])
def test_relevance_is_that_of_sievert_and_shirley(weight):
    snapshot = random_snapshot(6)
    found = word_statistics(snapshot)
    at = found.span(2)
    wanted = [
        weight * math.log(p) + (1 - weight) * math.log(lift)
        for p, lift in zip(found.probability[at], found.lift[at], strict=True)
    ]
    assert found.relevance(2, weight) == pytest.approx(wanted)
    first = found.by_relevance(2, weight, 3)
    assert [place - at.start for place in first] == sorted(
        range(len(wanted)), key=lambda n: -wanted[n]
    )[:3]


def test_frex_is_a_harmonic_mean_of_two_ranks():
    # Three words of topic 0; the second one is in topic 1, too, and the third one more so.
    snapshot = snapshot_of([[2.0, 0.0], [8.0, 8.0], [4.0, 30.0]], beta=1e-9)
    found = word_statistics(snapshot)
    by_word = dict(zip(found.words[found.span(0)].tolist(), found.frex[found.span(0)], strict=True))
    # Ranks of exclusivity: word 0, 1, 2 from the top; of frequency: 1, 2, 0.
    assert by_word[0] == pytest.approx(1 / (0.5 / 1 + 0.5 * 3))
    assert by_word[1] == pytest.approx(1 / (0.5 * 3 / 2 + 0.5 / 1))
    assert by_word[2] == pytest.approx(1 / (0.5 * 3 + 0.5 * 3 / 2))


def test_candidates_hold_the_first_words_of_every_weight():
    found = word_statistics(random_snapshot(8, words=200))
    weights = (0.0, 0.5, 1.0)
    chosen = set(found.candidates(1, weights, 5).tolist())
    for weight in weights:
        assert set(found.by_relevance(1, weight, 5).tolist()) <= chosen
    assert set(found.by_frex(1, 5).tolist()) <= chosen
