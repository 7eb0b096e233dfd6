"""Particles learn a and a_0 where the settings ask for it and tables are sampled."""

from corpora import minibatches_of, topical
from learner_options import made

from model.learners import learner_for


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
    assert (concentrations(concentrations="fixed") == 1000.0).all()
    learned = concentrations()
    assert len(set(learned.ravel().tolist())) == learned.size
    assert (learned > 0).all()
    assert learned[:, 0].max() < 800


def test_minimal_tables_say_too_little():
    assert (concentrations(tables="minimal") == 1000.0).all()
