"""A draw of topic weights leaves their posterior distribution invariant.

A, gamma and the weight of the first of two topics are drawn from their posterior distribution given
the topics of 26 documents, on a fine grid. A draw
(:mod:`beam_topics.model.learners.particles.topic_weights`) must not change their distribution; A
stays as it is. The planted bugs count a token as a table, take gamma for gamma / T, leave the
weights as they are while gamma is drawn for others, and count the tables of the even part as those
of pi.
"""

import numpy as np
import pytest
from alarm import agrees_between
from populations import KEY
from scipy.special import betaln, gammaln
from weighted_topics import COUNTS, ROWS, all_tables, grid, mixed, weight_in

from beam_topics.model.kernels.random import TOPIC_WEIGHTS
from beam_topics.model.learners.particles import topic_weights
from beam_topics.model.learners.particles.kernels.particles import Draws
from beam_topics.model.learners.particles.kernels.topic_weights import RATE
from beam_topics.model.learners.particles.topic_weights import drawn_alpha

REPLICAS = 6000


def posterior_draws(generator):
    """Return float64[REPLICAS, 3]: A, gamma and pi_1 from their posterior distribution."""
    (log_a, wide_a), (log_g, wide_g), (logit, wide_p) = (
        grid(-6, 9.5, 120),
        grid(-9, 9.5, 140),
        grid(-7, 14, 200),
    )
    a, g = np.exp(log_a)[:, None, None], np.exp(log_g)[None, :, None]
    p = (1 / (1 + np.exp(-logit)))[None, None, :]
    log = np.log(a) - RATE * a + np.log(g) - RATE * g - betaln(g / 2, g / 2)
    log = log + g / 2 * (np.log(p) + np.log1p(-p))
    for row, times in ROWS.items():
        log = log + times * (gammaln(a) - gammaln(a + sum(row)))
        for weight, tokens in zip(mixed(p), row, strict=True):
            log = log + times * (gammaln(a * weight + tokens) - gammaln(a * weight))
    mass = np.exp(log - log.max()).ravel()
    cells = generator.choice(len(mass), REPLICAS, p=mass / mass.sum())
    places = np.unravel_index(cells, log.shape)
    jitter = generator.random((3, REPLICAS)) - 0.5
    return np.stack(
        [
            np.exp(log_a[places[0]] + wide_a * jitter[0]),
            np.exp(log_g[places[1]] + wide_g * jitter[1]),
            1 / (1 + np.exp(-logit[places[2]] - wide_p * jitter[2])),
        ],
        axis=1,
    )


def statistics(values):
    a, g, p = np.asarray(values).T
    return np.stack([a / (1 + a), g / (1 + g), p, np.abs(p - 0.5), a * p / (1 + a)], axis=1)


def is_invariant(seed=1):
    starts = posterior_draws(np.random.default_rng(seed))
    after = []
    for number, (a, g, p) in enumerate(starts.tolist()):
        names = Draws(*KEY, number, TOPIC_WEIGHTS), 0, 0
        alpha, gamma, _ = drawn_alpha(COUNTS, a * np.array(mixed(p)), g, names)
        after.append((alpha.sum(), gamma, weight_in(alpha)))
    # Other starts, so that the two samples are independent.
    others = posterior_draws(np.random.default_rng(seed + 1))
    return agrees_between(statistics(others), statistics(after))


def test_a_draw_leaves_the_posterior_invariant():
    assert is_invariant()


def tokens_as_tables(counts, alpha, draws, particle, index):
    return counts.sum(axis=1).astype(np.int64), counts.sum(axis=0).astype(np.int64), index


def whole_gamma(of_topics, spread, *names):
    return draw_weights(of_topics, 2 * spread, *names)


def fixed_weights(of_topics, spread, draws, particle, index):
    return np.array([0.5, 0.5]), index


draw_weights = topic_weights.draw_weights


@pytest.mark.parametrize(
    ("name", "bug"),
    [
        ("count_tables", tokens_as_tables),
        ("draw_weights", whole_gamma),
        ("draw_weights", fixed_weights),
        ("tables_of_weights", all_tables),
    ],
)
def test_a_planted_bug_is_found(monkeypatch, name, bug):
    monkeypatch.setattr(topic_weights, name, bug)
    assert not is_invariant()
