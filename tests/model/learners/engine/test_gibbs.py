"""The learner gibbs: archives in any order, what it stores, and its figures."""

from dataclasses import replace
from math import lgamma, log

import numpy as np
import pytest
from corpora import document_of, learned, minibatches_of, topical
from learner_options import made

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.engine import holding, stored, stream
from beam_topics.model.learners.engine.epoch import epoch
from beam_topics.model.learners.engine.kernels.figures import log_joint
from beam_topics.model.learners.engine.state import State
from beam_topics.model.learners.states import pack_numbers
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import wire

DOCUMENTS = topical(60, words=40, topics=3, length=30)
ARCHIVE = made(learner="gibbs", topics=3, schedule="archive", sweeps=5)
STREAM = made(learner="gibbs", topics=3, moves=5, reservoir=30, births="off")


def model_of(settings, documents, size=10):
    state = learned(settings, minibatches_of(documents, size))
    snapshot = learner_for(settings).snapshot(state)
    table = snapshot.rows(np.arange(len(snapshot.words)))
    rows = {word: (*table[w], snapshot.prior.base[w]) for w, word in enumerate(snapshot.words)}
    return rows, snapshot.prior.strength.tolist(), snapshot.prior.unseen


def test_an_archive_is_learned_the_same_in_any_order_and_in_any_minibatches():
    model = model_of(ARCHIVE, DOCUMENTS)
    assert model == model_of(ARCHIVE, DOCUMENTS[::-1]) == model_of(ARCHIVE, DOCUMENTS, 7)
    other = [*DOCUMENTS[:-1], replace(DOCUMENTS[-1], ids=("another",))]
    assert model != model_of(ARCHIVE, other)


def test_an_archive_is_learned_once_for_each_minibatch(monkeypatch):
    calls = []
    learn = holding.archive
    monkeypatch.setattr(holding, "archive", lambda *args: (calls.append(1), learn(*args))[1])
    learner, (first, second) = learner_for(ARCHIVE), minibatches_of(DOCUMENTS, 30)
    state = learner.init(ARCHIVE, "", 0)
    learner.step(state, first)
    assert not calls
    for _ in range(2):
        learner.snapshot(state), learner.summary(state), learner.arrivals(state, 0, True)
    assert len(calls) == 1
    learner.step(state, second)
    learner.summary(state)
    assert len(calls) == 2


@pytest.mark.parametrize("schedule", [{"schedule": "archive"}, {}], ids=["archive", "stream"])
def test_documents_of_different_words_have_different_topics(schedule):
    settings = made(learner="gibbs", topics=6, **schedule)
    words = [[f"{'abc'[d % 3]}{((d % 10 + 1) * i) % 11}" for i in range(1, 25)] for d in range(60)]
    state = learned(
        settings, minibatches_of([document_of(one, d) for d, one in enumerate(words)], 10)
    )
    live, _, order = state.current()
    pairs = set(zip(live.main_topics().tolist(), (order % 3).tolist(), strict=True))
    assert len(pairs) == len({topic for topic, _ in pairs}) >= 3


def test_the_sample_is_bounded_and_counts_have_everything():
    state = learned(STREAM, minibatches_of(DOCUMENTS, 10))
    assert state.live.documents == len(state.labels) == len(state.marks) == 30
    assert state.live.totals.sum() == state.tokens == sum(len(d.tokens) for d in DOCUMENTS)
    held = [[DOCUMENTS[d].words[i] for i in DOCUMENTS[d].tokens] for d in state.marks]
    assert learner_for(STREAM).held(state) == held
    late = int(state.marks[20])
    assert learner_for(STREAM).held(state, late) == held[20:]
    assert learner_for(STREAM).held(state, late + 1) == held[21:]


def test_several_minibatches_in_one_call_are_steps_and_all_of_them_arrive():
    learner, minibatches = learner_for(STREAM), minibatches_of(DOCUMENTS, 7)
    one, other = learner.init(STREAM, "", 0), learner.init(STREAM, "", 0)
    for run in (minibatches[:1], minibatches[1:5], minibatches[5:]):
        tokens = one.tokens
        arrived = np.zeros((1, 2, 3))
        infos = []
        for minibatch in run:
            infos.append(learner.step(one, minibatch))
            arrived += learner.arrivals(one, 0).counts
        assert learner.steps(other, run) == infos
        assert learner.save(other) == learner.save(one)
        found = learner.arrivals(other, 0).counts
        assert (found == arrived).all() and found[0, 0].sum() == one.tokens - tokens


def test_figures_of_documents():
    state = State(3, seed=2, a=4.0)
    state.add_words(5)
    state.add_documents(np.array([0, 1, 1, 2, 4, 4, 3]), np.array([4, 0, 3]))
    epoch(state, np.arange(3), 1)
    state.z[:7] = [2, 1, 2, 1, 0, 2, 2]
    state.rows[:] = 0
    np.add.at(state.rows, (state.words[:7], state.z[:7]), 1)
    state.totals[:] = state.rows.sum(axis=0)
    assert state.main_topics().tolist() == [1, -1, 2]
    assert state.counts_from(0, 3).tolist() == [[1, 2, 4], [0, 1, 1]]
    assert state.counts_from(2, 3).tolist() == [[1, 0, 2], [0, 0, 1]]
    alpha, shares = state.alpha, state.a * state.base
    wanted = sum(
        lgamma(alpha.sum())
        - lgamma(alpha.sum() + sum(counts))
        + sum(lgamma(alpha[t] + n) - lgamma(alpha[t]) for t, n in enumerate(counts))
        for counts in ([0, 2, 2], [1, 0, 2])
    )
    for t in range(3):
        wanted += lgamma(state.a) - lgamma(state.a + state.totals[t])
        wanted += sum(lgamma(shares[w] + state.rows[w, t]) - lgamma(shares[w]) for w in range(5))
    parts = state.offsets[:4], state.z, state.rows, state.totals, shares, state.a, alpha
    assert log_joint(*parts) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("value", [0.0, -1e-300, -0.5, -700.0, -1e9])
def test_a_number_of_any_magnitude_by_its_logarithm(value):
    assert Scaled.from_log(value).log() == pytest.approx(value, rel=1e-9, abs=1e-12)


def damaged(header=None, blobs=None):
    """A saved state with other fields, or other parts by their places."""
    data = learner_for(STREAM).save(learned(STREAM, minibatches_of(DOCUMENTS, 10)))
    old, parts = wire.unpack(stored.MAGIC, data)
    for place, part in (blobs or {}).items():
        parts[place] = part
    return wire.pack(stored.MAGIC, {**old, **(header or {})}, *parts)


@pytest.mark.parametrize(
    ("header", "blobs", "said"),
    [
        ({"a": 0.0}, {}, None),
        ({"a": -1.0}, {}, "a of a saved learner"),
        ({"a": 1e-300}, {}, "a of a saved learner"),
        ({"a0": 0}, {}, "a0 of"),
        ({"reseated": 2**40}, {}, "reseated of"),
        ({"owed": 999}, {}, None),
        ({"owed": 1000}, {}, "owed of"),
        ({"owed": -1}, {}, "owed of"),
        ({"epochs": 2**41}, {}, "epochs of"),
        ({"documents": 5}, {}, "documents at hand of"),
        ({"labels": ["x"]}, {}, "labels of"),
        ({"labels": [1] * 30}, {}, "labels of"),
        ({"log_evidence": 1.0}, {}, "log evidence of"),
        ({"tokens": -1}, {}, "tokens of"),
        ({}, {4: pack_numbers([0])}, "counts of"),
        ({}, {6: b""}, "base of"),
        ({}, {7: wire.array_to_bytes([0.1, 0.1, float("nan")], "<f8")}, "alpha of"),
        ({}, {9: pack_numbers(np.arange(30)[::-1])}, "marks of"),
        ({}, {8: pack_numbers(np.full(31, 1))}, "documents"),
    ],
)
def test_a_damaged_state_is_refused(header, blobs, said):
    load = learner_for(STREAM).load
    if said is None:
        load(STREAM, "", 0, damaged(header, blobs))
        return
    with pytest.raises(DamagedDataError, match=said):
        load(STREAM, "", 0, damaged(header, blobs))


@pytest.mark.parametrize("births", ["on", "off"])
def test_owed_visits_are_saved_and_calls_of_the_learner_change_nothing(monkeypatch, births):
    monkeypatch.setattr(stream, "EARLY", 0)
    settings = made(learner="gibbs", topics=3, moves=5, births=births)
    learner, minibatches = learner_for(settings), minibatches_of(DOCUMENTS, 1)
    states = [learner.init(settings, "", 0, threads) for threads in (1, 3)]
    learner.steps(states[0], minibatches[:41])
    learner.steps(states[0], minibatches[41:])
    learner.steps(states[1], minibatches)
    other, owed = learner.init(settings, "", 0), []
    for minibatch in minibatches:
        other = learner.load(settings, "", 0, learner.save(other))
        learner.step(other, minibatch)
        owed.append(other.live.owed)
        # A document has topics as soon as it has come.
        assert other.live.totals.sum() == other.tokens
    assert max(owed) > 40 and 0 in owed
    assert {learner.save(state) for state in states} == {learner.save(other)}


@pytest.mark.parametrize("settings", [made(learner="gibbs", moves=0), ARCHIVE])
def test_where_nothing_is_visited_again_nothing_is_owed(settings):
    learner = learner_for(settings)
    data = learner.save(learned(settings, minibatches_of(DOCUMENTS, 10)))
    header, parts = wire.unpack(stored.MAGIC, data)
    with pytest.raises(DamagedDataError, match="owed of"):
        learner.load(settings, "", 0, wire.pack(stored.MAGIC, {**header, "owed": 1}, *parts))


def test_documents_with_topics_that_are_not_counted_are_refused():
    state = learned(STREAM, minibatches_of(DOCUMENTS, 10))
    w, t = int(state.live.words[0]), int(state.live.z[0])
    state.live.rows[w, t] = 0
    with pytest.raises(DamagedDataError, match="without its documents: found -"):
        learner_for(STREAM).load(STREAM, "", 0, learner_for(STREAM).save(state))


@pytest.mark.parametrize("wrong", [{"alpha": 1e-5}, {"topics": 70_000}])
def test_what_the_kernels_cannot_do_is_refused(wrong):
    with pytest.raises(OptionError, match="with --learner=gibbs"):
        made(learner="gibbs", **wrong)


def test_evidence_is_of_words_before_they_are_learned():
    state, learner = learner_for(STREAM).init(STREAM, "", 0), learner_for(STREAM)
    info = learner.step(state, minibatches_of([DOCUMENTS[0]], 1)[0])
    # Topics that have nothing agree on the first word, so its probability is G's: 1 / (W + 1).
    assert info.log_evidence < -log(len(set(DOCUMENTS[0].words)) + 1)
