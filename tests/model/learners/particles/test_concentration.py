"""Particles learn a and a_0 where the settings ask for it and tables are sampled."""

from corpora import minibatches_of, topical
from learner_options import made

from beam_topics.model.learners import learner_for
from beam_topics.model.learners.particles.topic_priors import A_WORD


def concentrations(**others):
    settings = made(
        **{
            "topics": 3,
            "prior": "hierarchical",
            "discount": 0.0,
            "initial_documents": 10,
            "chains": 2,
            "initial_sweeps": 3,
            **others,
        }
    )
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(topical(60), 10):
        learner.step(state, minibatch)
    return state.population.concentration


def test_learned_and_fixed():
    fixed = concentrations(concentrations="fixed", concentration=1000.0)
    assert (fixed == 1000.0).all()
    learned = concentrations()
    assert len(set(learned.ravel().tolist())) == learned.size
    assert (learned > 0).all()
    assert learned[:, 0].max() < 800


def test_minimal_tables_say_too_little():
    assert (concentrations(tables="minimal", concentration=1000.0) == 1000.0).all()


def test_a_begins_at_a_tenth_of_the_first_words():
    assert concentrations(concentrations="fixed").tolist() == [[17 * A_WORD, 1000.0]]
