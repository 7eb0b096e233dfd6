"""An archive goes on as a stream: what it learned stays, and births know it as their past."""

import numpy as np
import pytest
from corpora import learned, minibatches_of, topical
from learner_options import made

from beam_topics.model.learners import learner_for
from beam_topics.model.learners.engine import learner as engine

DOCUMENTS = topical(120, words=60, topics=4, length=30)
ARCHIVE = made(learner="gibbs", topics=9, schedule="archive", sweeps=5)
STREAM = made(learner="gibbs", topics=9, moves=5, reservoir=50)
LEARNER = learner_for(STREAM)


def archive(count, size=10):
    return learned(ARCHIVE, minibatches_of(DOCUMENTS, size)[: count // size])


@pytest.mark.parametrize("count", [5, 40, 110])
@pytest.mark.parametrize("births", ["on", "off"])
def test_the_stream_begins_with_the_model_of_the_archive(count, births):
    size, others = 5 if count == 5 else 10, {"topics": 9, "births": births}
    of_archive = made(learner="gibbs", schedule="archive", sweeps=5, **others)
    settings = made(learner="gibbs", **others)
    state = learned(of_archive, minibatches_of(DOCUMENTS, size)[: count // size])
    model = LEARNER.snapshot(state)
    state = LEARNER.go_on(settings, state)
    same = LEARNER.snapshot(state)
    assert (same.words, same.prior.unseen) == (model.words, model.prior.unseen)
    for ours, theirs in (
        (same.counts, model.counts),
        (same.topics, model.topics),
        (same.alpha, model.alpha),
        (same.prior.base, model.prior.base),
        (same.prior.strength, model.prior.strength),
    ):
        assert np.array_equal(ours, theirs)
    assert state.documents == count and state.live.owed == 0


def test_it_has_the_same_bits_on_threads_after_loading_and_however_calls_are_grouped():
    minibatches = minibatches_of(DOCUMENTS, 10)
    states = [LEARNER.go_on(STREAM, archive(40)) for _ in range(2)]
    states[1] = LEARNER.load(STREAM, "", 0, LEARNER.save(states[1]), 3)
    LEARNER.steps(states[0], minibatches[4:])
    for minibatch in minibatches[4:]:
        LEARNER.step(states[1], minibatch)
        states[1] = LEARNER.load(STREAM, "", 0, LEARNER.save(states[1]), 3)
    assert LEARNER.save(states[0]) == LEARNER.save(states[1])


def test_topics_are_not_chosen_again(monkeypatch):
    monkeypatch.setattr(engine, "_begin", None)
    state = LEARNER.go_on(STREAM, archive(40))
    LEARNER.steps(state, minibatches_of(DOCUMENTS, 10)[4:])
    assert state.first == state.live.topics == 9


def test_a_sample_stays_in_reach_and_births_know_all_documents():
    of_sample = made(learner="gibbs", topics=9, reservoir=50, births="off")
    of_archive = made(learner="gibbs", topics=9, schedule="archive", sweeps=5, births="off")
    state = learned(of_archive, minibatches_of(DOCUMENTS, 10))
    tokens = state.live.tokens
    state = LEARNER.go_on(of_sample, state)
    assert state.live.documents == len(state.labels) == 50
    assert state.live.totals.sum() == tokens > state.live.tokens
    nursery = LEARNER.go_on(STREAM, archive(120)).nursery
    assert [past.seen for past in nursery.pasts] == [120]
    assert nursery.uses[1].sum() == tokens


@pytest.mark.parametrize(
    ("stream", "earlier", "found"),
    [
        (STREAM, ARCHIVE, True),
        (ARCHIVE, STREAM, False),
        (STREAM, STREAM, False),
        (STREAM, made(learner="gibbs", topics=8, schedule="archive"), False),
        (STREAM, made(learner="gibbs", topics=9, schedule="archive", births="off"), False),
        (STREAM, made(learner="infvoc", topics=9), False),
    ],
)
def test_only_an_archive_that_is_else_the_same_goes_on(stream, earlier, found):
    assert stream.goes_on_from(earlier) is found
