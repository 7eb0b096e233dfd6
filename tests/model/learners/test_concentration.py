"""a and a_0 are drawn from their laws given the tables; the laws come from a grid."""

import numpy as np
import pytest
from alarm import agrees_in_means
from corpora import minibatches_of, topical

from model.learners import learner_for
from model.learners.concentration import RATE, SHAPE, _draw_a, _draw_a_0, log_terms
from model.settings import LearnerSettings

TOKENS, TABLES = np.array([40, 7, 1, 0, 300]), np.array([9, 4, 1, 0, 25])
SHARED, BASE = np.array([20, 1, 0, 5, 3, 10]), np.array([0.2, 0.01, 0.1, 0.001, 0.05, 0.3])
GRID = np.exp(np.linspace(np.log(1e-3), np.log(1e4), 40_000))


def mean_of_log(terms):
    """The mean of ln a under exp(terms) times the gamma law, on an even grid of ln a."""
    logs = np.array([terms(a) for a in GRID]) + SHAPE * np.log(GRID) - RATE * GRID
    masses = np.exp(logs - logs.max())
    return float((masses * np.log(GRID)).sum() / masses.sum())


def chain(draw, length=12_000, apart=6):
    """ln a of every so many-th state of a chain, the first hundred left out."""
    generator, a, found = np.random.default_rng(1), 1.0, []
    for step in range(length):
        a = draw(generator, a)
        if step > 100 and step % apart == 0:
            found.append(np.log(a))
    return np.array(found)


@pytest.mark.parametrize("discount", [0.0, 0.3])
def test_a(discount):
    exact = mean_of_log(lambda a: log_terms(TOKENS, TABLES, SHARED, BASE, a, 5.0, discount))
    found = chain(lambda generator, a: _draw_a(generator, a, TOKENS, TABLES, discount))
    assert agrees_in_means(found, exact)
    assert not agrees_in_means(found, mean_of_log(lambda a: log_terms(TOKENS, TABLES - (TABLES > 1), SHARED, BASE, a, 5.0, discount)))


def test_a_0():
    exact = mean_of_log(lambda a_0: log_terms(TOKENS, TABLES, SHARED, BASE, 5.0, a_0, 0.0))
    found = chain(lambda generator, a_0: _draw_a_0(generator, a_0, SHARED, BASE))
    assert agrees_in_means(found, exact)
    # As if every word had one table on the level below, however often the topics share it.
    assert not agrees_in_means(found, mean_of_log(lambda a_0: log_terms(TOKENS, TABLES, np.minimum(SHARED, 1), BASE, 5.0, a_0, 0.0)))


def concentrations(**others):
    settings = LearnerSettings(
        **{"topics": 3, "prior": "hierarchical", "discount": 0.0, "initial_documents": 10, "chains": 2, "initial_sweeps": 3, **others}
    )
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(topical(60), 10):
        learner.step(state, minibatch)
    return state.cloud.concentration


def test_learned_and_fixed():
    assert (concentrations(concentrations="fixed") == 1000.0).all()
    learned = concentrations()
    assert len(set(learned.ravel().tolist())) == learned.size
    assert (learned > 0).all()
    assert learned[:, 0].max() < 800


def test_minimal_tables_say_too_little():
    assert (concentrations(tables="minimal") == 1000.0).all()
