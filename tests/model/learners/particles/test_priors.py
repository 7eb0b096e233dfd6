"""What a particle says of words while it is one of several is what a snapshot of it says."""

import numpy as np
import pytest
from corpora import minibatches_of, topical
from learner_options import made

from beam_topics.model.learners import learner_for
from beam_topics.model.learners.particles.population import best_particle
from beam_topics.model.learners.particles.priors import word_probabilities

PRIORS = [
    {"prior": "flat"},
    {"prior": "urn"},
    {"prior": "hierarchical"},
    {"prior": "hierarchical", "concentrations": "fixed", "discount": 0.0},
    {"prior": "hierarchical", "tables": "minimal"},
]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_word_probabilities(prior):
    given = prior if prior["prior"] == "flat" else {**prior, "concentration": 100.0}
    settings = made(topics=3, initial_documents=10, chains=2, initial_sweeps=3, moves=2, **given)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(topical(40), 10):
        learner.step(state, minibatch)
    snapshot, some = learner.snapshot(state), np.array([0, 5, 3])
    said = (snapshot.rows(some) + snapshot.prior.shares(some)) / snapshot.normalisers
    assert np.allclose(
        word_probabilities(state.population, state.prior, best_particle(state.population), some),
        said,
        rtol=1e-12,
    )
    learned = settings.prior.learns_concentrations
    assert (state.population.concentration[:, 0] == state.prior.a).all() != learned
