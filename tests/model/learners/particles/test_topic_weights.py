"""Learned weights of topics: the joint, what is refused, and what becomes of unused topics."""

import numpy as np
import pytest
from corpora import awkward, minibatches_of, topical
from learner_options import made
from tiny import log_joint

from beam_topics.model.compositions import compose
from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.learners.particles.population import joint
from beam_topics.model.learners.particles.priors import base_probabilities, word_rows
from beam_topics.model.learners.particles.settings import MAX_TOPICS
from beam_topics.model.learners.particles.state import document_counts
from beam_topics.model.learners.particles.stored_state import weights_from_bytes, weights_to_bytes

LEARNED = {
    "topics": "auto",
    "max_topics": 4,
    "prior": "flat",
    "newest": 10_000,
    "reservoir": 0,
    "max_words": 500,
    "initial": "batch",
    "initial_documents": 20,
    "chains": 3,
    "moves": 6,
}


def learned(documents, **others):
    given = {name: value for name, value in {**LEARNED, **others}.items() if value is not None}
    settings = made(**given)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(documents, 10):
        learner.step(state, minibatch)
    return learner, state


def test_the_joint_is_that_of_the_weights():
    _, state = learned(awkward())
    counts = word_rows(state.population, 0, np.arange(len(state.vocabulary)))[:, :4]
    documents = document_counts(state, state.population, 0, state.history.slots())
    alpha = state.prior.alpha[:4].tolist()
    a, _ = state.population.concentration[0].tolist()
    base = base_probabilities(state.settings, None, state.vocabulary.words)
    truth = log_joint(counts, documents, alpha, a, base)
    assert joint(state.population, 0).log() == pytest.approx(truth, rel=1e-9)
    even = log_joint(counts, documents, [0.1] * 4, a, base)
    assert abs(even - truth) > 0.1


def test_weights_are_learned_and_even_ones_stay():
    _, state = learned(topical(60))
    assert len(set(state.prior.alpha[:4].tolist())) == 4
    assert state.prior.alpha_sum == pytest.approx(state.prior.alpha.sum())
    _, state = learned(topical(60), topics=4, max_topics=None)
    assert state.prior.alpha[:4].tolist() == [0.1] * 4


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (
            {"particles": 2},
            "--particles: 2 was given",
        ),
        (
            {"history": "full", "newest": None, "reservoir": None},
            "--history: 'full' was given",
        ),
        (
            {"rejuvenation": "never", "moves": None, "newest": None, "reservoir": None},
            "--rejuvenation: 'never' was given",
        ),
    ],
)
def test_refused(others, message):
    with pytest.raises(OptionError) as refusal:
        learned([], **others)
    text = str(refusal.value)
    assert "--topics=auto" in text and "Give a number of topics." in text
    assert message in text


@pytest.mark.parametrize("name", ["o-lda", "incremental-gibbs", "batch-gibbs", "infvoc"])
def test_learners_without_weights_refuse_auto(name):
    with pytest.raises(OptionError) as refusal:
        compose(LEARNER, {"learner": name, "topics": "auto"})
    assert str(refusal.value) == (
        f"--topics: 'auto' was given; allowed is a number with --learner={name}."
        " Give a number, or --learner=particle-filter."
    )


def test_a_bound_without_auto_is_refused():
    with pytest.raises(OptionError, match="--max_topics.* --topics is auto"):
        compose(LEARNER, {"max_topics": 30})


def test_the_bound_is_the_number_of_places():
    settings = compose(LEARNER, {"topics": "auto"})
    assert settings.topic_count == MAX_TOPICS and settings.to_json()["topics"] == "auto"
    assert type(settings).from_json(settings.to_json()) == settings
    with pytest.raises(OptionError, match="--topics: 'many' was given; allowed is 1 or more, or a"):
        compose(LEARNER, {"topics": "many"})


def test_bytes_and_damage():
    _, state = learned(topical(60))
    data, before = weights_to_bytes(state), state.prior.alpha.copy()
    state.prior.alpha[:] = 0
    weights_from_bytes(data, state)
    assert state.prior.alpha.tolist() == before.tolist()
    state.prior.alpha[0] = -1.0
    with pytest.raises(DamagedDataError, match="Dirichlet parameters of topics"):
        weights_from_bytes(weights_to_bytes(state), state)
    state.prior.alpha[:], state.gamma = before, float("nan")
    with pytest.raises(DamagedDataError, match="gamma of the weights"):
        weights_from_bytes(weights_to_bytes(state), state)
