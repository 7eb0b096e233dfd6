"""Removed words leave the state as if their tokens had never counted, and nothing grows."""

import numpy as np
import pytest
from corpora import awkward, document_of, minibatches_of, topical
from learner_options import made

from beam_topics.model.learners import learner_for
from beam_topics.model.learners.particles.forgetting import make_room_for_words
from beam_topics.model.learners.particles.kernels.copy_on_write import row_of
from beam_topics.model.learners.particles.kernels.particles import GONE
from beam_topics.model.learners.particles.priors import word_rows
from beam_topics.model.learners.particles.state import document_counts

SMALL = {
    "prior": "flat",
    "discount": 0.0,
    "topics": 3,
    "particles": 4,
    "resampling": "residual",
    "ess": 0.9,
    "initial": "none",
    "moves": 4,
    "newest": 30,
    "reservoir": 10,
    "max_words": 30,
}
VARIANTS = {
    "flat": {},
    "urn": {"prior": "urn"},
    "hierarchical": {"prior": "hierarchical"},
    "hierarchical, discount": {"prior": "hierarchical", "discount": 0.3},
    "by tokens": {
        "ess_check": "token",
        "rejuvenation": "resampling",
        "rejuvenation_unit": "token",
        "prior": "hierarchical",
    },
    "initial batch": {
        "initial": "batch",
        "initial_documents": 25,
        "chains": 2,
        "initial_sweeps": 2,
    },
}


def learned(variant, stream=None):
    settings = made(SMALL, **VARIANTS[variant])
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in stream or minibatches_of(awkward(), 6):
        learner.step(state, minibatch)
        yield state


def check(state):
    """Every count follows from the rows of the words, and those of documents from their tokens."""
    population, topics, tp = state.population, state.settings.topics, len(state.prior.alpha)
    for p in range(len(population.weight)):
        rows = word_rows(population, p, np.arange(len(state.vocabulary))).astype(np.int64)
        assert (rows >= 0).all()
        assert rows[:, :topics].sum(axis=0).tolist() == population.totals[p, :topics].tolist()
        if rows.shape[1] > tp:
            tables = rows[:, tp : tp + topics]
            assert tables.sum(axis=0).tolist() == population.topic_tables[p, :topics].tolist()
            assert rows[:, 2 * tp].tolist() == tables.sum(axis=1).tolist()
            assert tables.sum() == population.tables[p]
            assert ((tables > 0) == (rows[:, :topics] > 0)).all()
            assert (tables <= rows[:, :topics]).all()
        in_history = np.zeros_like(rows[:, :topics])
        for slot in state.history.slots().tolist():
            pages = state.history.pages_of(slot)
            words = state.history.words_of(slot)
            drawn = np.concatenate(
                [
                    population.topics.rows[row_of.py_func(population.topics, p, page)]
                    for page in pages
                ]
            )[: len(words)]
            known = words != GONE
            counts = document_counts(state, population, p, np.array([slot]))[0]
            assert np.bincount(drawn[known], minlength=topics).tolist() == counts.tolist()
            np.add.at(in_history, (words[known], drawn[known]), 1)
        assert (in_history <= rows[:, :topics]).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_mass_is_consistent_after_every_minibatch(variant):
    left, words = 0, set()
    for state in learned(variant):
        assert len(state.vocabulary) <= 30
        if state.waiting is None:
            check(state)
        left += len(words - set(state.vocabulary.words))
        words = set(state.vocabulary.words)
    assert left > 10


def test_words_in_use_stay():
    *_, state = learned(
        "hierarchical",
        minibatches_of([document_of(["sea", f"once{i}"] * 3, i) for i in range(200)], 5),
    )
    assert state.vocabulary.words[0] == "sea"
    assert set(state.vocabulary.words[-5:]) == {f"once{i}" for i in range(195, 200)}


def test_a_stream_in_which_every_word_is_new_is_learned_in_bounded_memory():
    documents = [document_of([f"w{i}x{k}" for k in range(20)], i) for i in range(400)]
    sizes, learner = [], learner_for(made(SMALL))
    for state in learned("hierarchical", minibatches_of(documents, 4)):
        assert len(state.vocabulary) <= 30
        sizes.append(learner.nbytes(state))
    assert max(sizes[20:]) <= 1.5 * sizes[20]
    assert len(learner.save(state)) < 200_000


def test_a_minibatch_of_more_words_than_there_are_places():
    settings = made(SMALL, prior="hierarchical", max_words=5)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for start in (0, 50):
        info = learner.step(
            state, minibatches_of([document_of([f"w{start + i}" for i in range(20)])], 1)[0]
        )
        assert (len(state.vocabulary), info.unknown_tokens, info.tokens) == (5, 15, 20)
        check(state)
    assert list(state.vocabulary.words) == [f"w{50 + i}" for i in range(5)]


def test_a_given_vocabulary_never_loses_a_word():
    settings = made(SMALL, vocabulary="given", vocabulary_file=("w1", "absent"))
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(topical(30), 5):
        make_room_for_words(state, minibatch.words)
        learner.step(state, minibatch)
    assert list(state.vocabulary.words) == ["w1", "absent"]
