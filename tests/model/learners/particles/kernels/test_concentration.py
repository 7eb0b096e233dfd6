"""Draws of gamma and beta variables, and of a and a_0 given the tables, against grids."""

import numpy as np
import pytest
from alarm import ALARM, agrees_in_means
from scipy import stats

from beam_topics.model.learners.particles.kernels.particles import Draws
from beam_topics.model.learners.particles.kernels.topic_weights import (
    RATE,
    SHAPE,
    draw_a,
    draw_a_0,
    gamma,
    log_beta,
    log_joint_terms,
)

NAMED = Draws(1, 2, 3, 4)
TOKENS, TABLES = np.array([40, 7, 1, 0, 300]), np.array([9, 4, 1, 0, 25])
SHARED, BASE = np.array([20, 1, 0, 5, 3, 10]), np.array([0.2, 0.01, 0.1, 0.001, 0.05, 0.3])
GRID = np.exp(np.linspace(np.log(1e-3), np.log(1e4), 40_000))


def drawn(draw, count=20_000):
    """Return successive values; each takes the uniforms after those of the one before."""
    found, index = np.empty(count), 0
    for k in range(count):
        found[k], index = draw(index)
    return found


@pytest.mark.parametrize("shape", [1.0, 1.7, 30.0, 1e6])
def test_gamma(shape):
    found = drawn(lambda index: gamma(shape, NAMED, 5, index))
    assert stats.kstest(found, stats.gamma(shape).cdf).pvalue > ALARM
    assert not stats.kstest(found, stats.gamma(shape + 0.2 * shape**0.5).cdf).pvalue > ALARM


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (4.0, 250.0)])
def test_beta(first, second):
    found = np.exp(drawn(lambda index: log_beta(first, second, NAMED, 5, index)))
    assert stats.kstest(found, stats.beta(first, second).cdf).pvalue > ALARM
    assert not stats.kstest(found, stats.beta(first * 1.2, second).cdf).pvalue > ALARM


def test_draws_are_named():
    one, index = gamma(3.0, NAMED, 5, 7)
    assert gamma(3.0, NAMED, 5, 7) == (one, index)
    assert index >= 10
    assert (
        len(
            {
                one,
                gamma(3.0, NAMED, 6, 7)[0],
                gamma(3.0, NAMED._replace(sequence=4), 5, 7)[0],
                gamma(3.0, NAMED, 5, index)[0],
            }
        )
        == 4
    )


def mean_of_log(terms):
    """Return the mean of ln a under exp(terms) times the gamma prior, on an even grid of ln a."""
    logs = np.array([terms(a) for a in GRID]) + SHAPE * np.log(GRID) - RATE * GRID
    masses = np.exp(logs - logs.max())
    return float((masses * np.log(GRID)).sum() / masses.sum())


def chain(draw, length=12_000, apart=6):
    """Return ln a of every n-th state of a chain, without the first hundred."""
    a, index, found = 1.0, 0, []
    for step in range(length):
        a, index = draw(a, index)
        if step > 100 and step % apart == 0:
            found.append(np.log(a))
    return np.array(found)


@pytest.mark.parametrize("discount", [0.0, 0.3])
def test_a(discount):
    exact = mean_of_log(lambda a: log_joint_terms(TOKENS, TABLES, SHARED, BASE, a, 5.0, discount))
    found = chain(lambda a, index: draw_a(a, TOKENS, TABLES, discount, NAMED, 5, index))
    assert agrees_in_means(found, exact)
    assert not agrees_in_means(
        found,
        mean_of_log(
            lambda a: log_joint_terms(TOKENS, TABLES - (TABLES > 1), SHARED, BASE, a, 5.0, discount)
        ),
    )


def test_a_0():
    exact = mean_of_log(lambda a_0: log_joint_terms(TOKENS, TABLES, SHARED, BASE, 5.0, a_0, 0.0))
    found = chain(lambda a_0, index: draw_a_0(a_0, SHARED, BASE, NAMED, 5, index))
    assert agrees_in_means(found, exact)
    # As if every word had one table on the level below, however often the topics share it.
    assert not agrees_in_means(
        found,
        mean_of_log(
            lambda a_0: log_joint_terms(TOKENS, TABLES, np.minimum(SHARED, 1), BASE, 5.0, a_0, 0.0)
        ),
    )


@pytest.mark.parametrize("discount", [0.0, 0.3])
def test_log_terms_are_those_of_the_next_tokens(discount):
    """A token that opens a table multiplies them by the opening weights of the two levels."""
    before = log_joint_terms(TOKENS, TABLES, SHARED, BASE, 2.0, 3.0, discount)
    tokens, tables, shared = TOKENS.copy(), TABLES.copy(), SHARED.copy()
    tokens[1], tables[1], shared[0] = 8, 5, 21
    # A new table for word 0 in topic 1; its G is in what does not depend on a and a_0, unless the
    # word is new there.
    opened = (2.0 + discount * 4) / (2.0 + 7) * (20 + 3.0 * 0.2) / (39 + 3.0)
    assert np.isclose(
        log_joint_terms(tokens, tables, shared, BASE, 2.0, 3.0, discount) - before,
        np.log(opened),
        rtol=1e-10,
    )
