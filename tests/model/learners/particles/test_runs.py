"""Minibatches that are learned together come to the bits of one step for each."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from corpora import awkward, document_of, minibatches_of, topical
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_variants import small

from beam_topics.model.learners import learner_for
from beam_topics.model.learners.particles import particle_filter, stepping
from beam_topics.model.learners.particles.forgetting import make_room_for_words

# Concentrations are drawn less often than there are short documents.
SHORT = [document_of([f"w{number}", "w1"], number, "short") for number in range(20)]
DOCUMENTS = [*awkward()[:12], *SHORT, *topical(20, seed=6, first=60)]
SMALL_MINIBATCHES = minibatches_of(DOCUMENTS, 1)
# Options, and whether several minibatches can be learned in one call.
KINDS = {
    "flat": ({"prior": "flat"}, True),
    "two chains": ({"prior": "flat", "particles": 2}, True),
    "hierarchical": ({"prior": "hierarchical", "discount": 0.3}, True),
    "fixed concentrations": ({"prior": "hierarchical", "concentrations": "fixed"}, True),
    "urn": ({"prior": "urn"}, True),
    "full vocabulary": ({"prior": "hierarchical", "max_words": 40, "word_memory": 3}, True),
    "given": (
        {"prior": "flat", "vocabulary": "given", "vocabulary_file": ("w1", "w2", "absent")},
        True,
    ),
    "given, hierarchical": (
        {"prior": "hierarchical", "vocabulary": "given", "vocabulary_file": ("w1", "w2")},
        False,
    ),
    "initial batch": ({"prior": "hierarchical", "initial": "batch"}, True),
    "incremental": ({"learner": "incremental-gibbs", "prior": "flat"}, False),
}


def settings_of(kind):
    return small(**{"learner": "o-lda", "initial": "none", **KINDS[kind][0]})


@cache
def one_by_one(kind):
    """Saved state, witness, figures and arrivals after each minibatch."""
    learner, found = learner_for(settings_of(kind)), []
    state = learner.init(settings_of(kind), "", 0)
    for minibatch in SMALL_MINIBATCHES:
        info = learner.step(state, minibatch)
        counts = learner.arrivals(state, 0).counts
        found.append((learner.save(state), learner.witness(state), info, counts))
    return found


cuts = st.sets(st.integers(1, len(SMALL_MINIBATCHES) - 1)).map(sorted)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(cuts=cuts)
def test_runs_with_any_cuts_come_to_the_bits_of_steps(kind, cuts):
    learner, want = learner_for(settings_of(kind)), one_by_one(kind)
    state = learner.init(settings_of(kind), "", 0)
    for begin, end in pairwise([0, *cuts, len(SMALL_MINIBATCHES)]):
        infos = learner.steps(state, SMALL_MINIBATCHES[begin:end])
        saved, witness, _, _ = want[end - 1]
        assert infos == [info for _, _, info, _ in want[begin:end]]
        assert (learner.save(state), learner.witness(state)) == (saved, witness)
        came = np.sum([counts for *_, counts in want[begin:end]], axis=0)
        assert (learner.arrivals(state, 0).counts == came).all()


@pytest.mark.parametrize("kind", KINDS)
def test_minibatches_are_learned_together_where_nothing_comes_between(kind, monkeypatch):
    sizes = []

    def noted(state, minibatches):
        sizes.append(stepping.together(state, minibatches))
        return sizes[-1]

    monkeypatch.setattr(particle_filter, "together", noted)
    learner = learner_for(settings_of(kind))
    learner.steps(learner.init(settings_of(kind), "", 0), SMALL_MINIBATCHES)
    assert sum(sizes) == len(SMALL_MINIBATCHES)
    assert (max(sizes) > 1) == KINDS[kind][1]


def test_words_leave_between_runs():
    chosen = small(learner="o-lda", initial="none", prior="flat", max_words=40)
    state = learner_for(chosen).init(chosen, "", 0)
    words = [f"w{number}" for number in range(39)]
    state.vocabulary.extend(words)
    state.vocabulary.numbers(words)
    one = minibatches_of(topical(2, words=2, first=90), 1)
    room = state.vocabulary.limit - len(state.vocabulary)
    assert room == 1 and len({word for minibatch in one for word in minibatch.words}) > room
    assert stepping.together(state, one) == 1
    make_room_for_words(state, ["x", "y", "z"])
    assert stepping.together(state, one) == 2
